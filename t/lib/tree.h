/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_TREE_H
#define PIER_T_LIB_TREE_H

/*
 * Files like those of sysfs, below a directory of the test's own: calls of the
 * library that have a parameter root read them.
 */

/* The file @path below @root, and what is above it; an old one is replaced. */
void tree_file(const char *root, const char *path, const char *text);

/* The link @path below @root to @target. */
void tree_link(const char *root, const char *path, const char *target);

/* Remove @path below @root, and what is below it; "": @root. */
void tree_remove(const char *root, const char *path);

#endif
