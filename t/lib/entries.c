/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>

#include "t/lib/entries.h"

int entries_in(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2;

	if (!dir)
		return -1;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}
