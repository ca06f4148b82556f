/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "copy/copy_impl.h"
#include "core/fail.h"

int pier__copy_file_exists(const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		if (errno == ENOENT)
			return 0;
		return pier__fail(-errno, "copy: %s: %s", path,
				  pier_strerror(errno));
	}
	if (S_ISREG(st.st_mode))
		return 1;
	return pier__fail(S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL, "copy: %s "
			  "is not a regular file", path);
}

static int open_dir(const char *path)
{
	int fd = open(*path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return pier__fail(-errno, "copy: the directory %s: %s",
				  *path ? path : ".", pier_strerror(errno));
	return fd;
}

/* The directory and the name of the file to which @path leads. */
static int find_file(const char *path, char *ret_dir, char *ret_leaf)
{
	char at[PIER__RECORD_PATH + 1];
	int found = 1;

	strcpy(at, path);
	for (int i = 0; i <= PIER__COPY_LINKS && found > 0; i++) {
		pier__copy_split(at, ret_dir, ret_leaf);
		found = pier__copy_link(AT_FDCWD, at, ret_dir, at);
	}
	if (found > 0)
		found = -ELOOP;
	return !found ? 0 : pier__fail(found, "copy: the target %s: %s", path,
				       pier_strerror(found));
}

int pier__copy_session_receive_at(struct pier__copy_session *s,
				  const char *path, bool exact, bool many)
{
	char dir[PIER__RECORD_PATH + 1], leaf[PIER__RECORD_PATH + 1];
	struct pier__copy_tree tree = { .beneath = true };
	size_t len = strlen(path);
	struct stat st;
	int err;

	if (!len || len > PIER__RECORD_PATH)
		return pier__fail(-ENAMETOOLONG, "copy: a target of %zu bytes: "
				  "1 to %d are allowed", len,
				  PIER__RECORD_PATH);
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		strcpy(dir, path);
		strcpy(leaf, ".");
	} else {
		if (path[len - 1] == '/')
			return pier__fail(-ENOTDIR, "copy: the target %s is "
					  "not a directory that exists", path);
		err = find_file(path, dir, leaf);
		if (err)
			return err;
	}
	s->dir = open_dir(dir);
	if (s->dir < 0)
		return s->dir;
	tree.fd = s->dir;
	snprintf(s->receiver.prefix, sizeof(s->receiver.prefix), "%s%s", dir,
		 *dir && dir[strlen(dir) - 1] != '/' ? "/" : "");
	return pier__copy_receiver_open(&s->receiver, &tree, leaf, exact,
					many);
}
