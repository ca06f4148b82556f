/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm/conn_impl.h"

/* Files that nobody took are removed, if they are still the ones written. */

void pier__conn_leaves(struct pier_conn *conn, const char *path)
{
	struct pier__left *left;
	struct stat st;

	if (conn->left || stat(path, &st))
		return;
	left = malloc(sizeof(*left) + strlen(path) + 1);
	if (!left)
		return;		/* one file stays behind */
	left->dev = st.st_dev;
	left->ino = st.st_ino;
	strcpy(left->path, path);
	conn->left = left;
}

void pier__conn_sweep(struct pier_conn *conn)
{
	struct pier__left *left = conn->left;
	struct stat st;

	if (!left)
		return;
	if (!stat(left->path, &st) && st.st_dev == left->dev &&
	    st.st_ino == left->ino)
		unlink(left->path);
	free(left);
	conn->left = NULL;
}
