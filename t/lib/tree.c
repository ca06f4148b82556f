/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "t/lib/tree.h"

/* @path below @root, whose directory exists then. */
static void place(const char *root, const char *path, char full[PATH_MAX])
{
	snprintf(full, PATH_MAX, "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
}

void tree_file(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	place(root, path, full);
	file = fopen(full, "w");
	if (!OK(file))
		return;
	fputs(text, file);
	fclose(file);
}

void tree_link(const char *root, const char *path, const char *target)
{
	char full[PATH_MAX];

	place(root, path, full);
	OK(!symlink(target, full));
}

void tree_remove(const char *root, const char *path)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s/%s'", root, path);
	if (system(command))
		tap_note("cannot remove %s/%s", root, path);
}
