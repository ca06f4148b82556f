/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_ENTRIES_H
#define PIER_T_LIB_ENTRIES_H

/*
 * How many entries the directory @path has, without "." and ".."; -1: none can
 * be read.  What this call opens is one of /proc/self/fd.
 */
int entries_in(const char *path);

#endif
