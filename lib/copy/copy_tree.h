/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_TREE_H
#define PIER_COPY_COPY_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Where paths begin, and whether they can leave it.  Any thread.
 */
struct pier__copy_tree {
	int fd;			/* a directory, or AT_FDCWD */
	bool beneath;		/* no path leads out of it, by ".." or link */
};

/*
 * Open @path, "" for the directory itself, as openat(2) with @flags and
 * @mode; it does not block.  Returns a descriptor, which the caller closes.
 * Errors: -errno, without a message: -EXDEV, it leads out of the tree;
 * -ENOSYS, this kernel (before Linux 5.6) cannot keep it inside.
 */
int pier__copy_tree_open(const struct pier__copy_tree *tree, const char *path,
			 int flags, mode_t mode);

/* What an error of the tree means. */
const char *pier__copy_tree_error(int err);

/*
 * Write the directory of @path and the last part of @path.  Both hold
 * PIER__RECORD_PATH + 1 bytes, as many as @path may have.
 */
void pier__copy_split(const char *path, char *ret_dir, char *ret_leaf);

/*
 * If @name, at @fd, is a symbolic link, write the path to which it leads; it is
 * in the directory of the path @dir.  *ret holds PIER__RECORD_PATH + 1 bytes.
 * Returns 1: it is one; 0: it is none, or nothing; -errno.
 */
#define PIER__COPY_LINKS 40	/* in a row, as the kernel follows */
int pier__copy_link(int fd, const char *name, const char *dir, char *ret);

/*
 * The name of the source @path, its last part; returns the length, 0 if that
 * is "." and the like.
 */
size_t pier__copy_name(const char *path, const char **ret);

/*
 * @path without "/" at its end, and with @from_root at its begin too; "." if
 * nothing remains.
 */
void pier__copy_trim(const char *path, bool from_root, char *ret);

#endif
