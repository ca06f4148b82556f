/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm/conn_impl.h"

/* Files that nobody took are removed, if they are still the ones written. */

void pier__conn_keep_desc_file(struct pier_conn *conn, const char *path)
{
	struct pier__desc_file *file;
	struct stat st;

	if (conn->desc_file || stat(path, &st))
		return;
	file = malloc(sizeof(*file) + strlen(path) + 1);
	if (!file)
		return;		/* one file stays behind */
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	strcpy(file->path, path);
	conn->desc_file = file;
}

void pier__conn_remove_desc_file(struct pier_conn *conn)
{
	struct pier__desc_file *file = conn->desc_file;
	struct stat st;

	if (!file)
		return;
	if (!stat(file->path, &st) && st.st_dev == file->dev &&
	    st.st_ino == file->ino)
		unlink(file->path);
	free(file);
	conn->desc_file = NULL;
}
