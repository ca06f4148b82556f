/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/rendezvous_impl.h"
#include "cm/conn_impl.h"

/* A descriptor file of this end, which the peer removes when it reads it. */
struct desc_file {
	uint64_t dev, ino;
	char path[];
};

/* Remove it, if it is still the one written. */
static void sweep(void *arg)
{
	struct desc_file *file = arg;
	struct stat st;

	if (!stat(file->path, &st) && st.st_dev == file->dev &&
	    st.st_ino == file->ino)
		unlink(file->path);
	free(file);
}

void pier__desc_file_keep(struct pier_conn *conn, const char *path)
{
	struct desc_file *file;
	struct stat st;

	if (stat(path, &st))
		return;
	file = malloc(sizeof(*file) + strlen(path) + 1);
	if (!file)
		return;		/* one file stays behind */
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	strcpy(file->path, path);
	pier__conn_at_end(conn, sweep, file);
}
