/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the C library by which programs look for files, in front of
 * those.  The 64 of some is that of large files, which these are not.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dropin/files/files.h"


typedef int open_call(const char *path, int flags, mode_t mode);
typedef int openat_call(int dir, const char *path, int flags, mode_t mode);
typedef FILE *fopen_call(const char *path, const char *mode);
typedef int stat_call(const char *path, struct stat *ret);
typedef int access_call(const char *path, int mode);

/* Of fortified programs, without a mode. */
int __open_2(const char *path, int flags);

/* The C library's call of that name, which *@ret becomes once. */
static void find(void *ret, const char *name)
{
	void *call;

	memcpy(&call, ret, sizeof(call));
	if (call)
		return;
	call = dlsym(RTLD_NEXT, name);
	memcpy(ret, &call, sizeof(call));
}

/* The mode behind the last named argument, if there is one. */
static mode_t mode_of(int flags, va_list args)
{
	bool has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;

	return has_mode ? va_arg(args, mode_t) : 0;
}

static int open_by(open_call *call, const char *path, int flags, mode_t mode)
{
	struct dropin_file file;
	int fd = call(pier__dropin_file_open(path, &file), flags, mode);

	pier__dropin_file_close(&file);
	return fd;
}

int open(const char *path, int flags, ...)
{
	static open_call *call;
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	find(&call, "open");
	return open_by(call, path, flags, mode);
}

int __open_2(const char *path, int flags)
{
	return open(path, flags, 0);
}

static int openat_by(openat_call *call, int dir, const char *path, int flags,
		     mode_t mode)
{
	struct dropin_file file;
	int fd = call(dir, pier__dropin_file_open(path, &file), flags, mode);

	pier__dropin_file_close(&file);
	return fd;
}

int openat(int dir, const char *path, int flags, ...)
{
	static openat_call *call;
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	find(&call, "openat");
	return openat_by(call, dir, path, flags, mode);
}

static FILE *fopen_by(fopen_call *call, const char *path, const char *mode)
{
	struct dropin_file file;
	FILE *ret = call(pier__dropin_file_open(path, &file), mode);

	pier__dropin_file_close(&file);
	return ret;
}

FILE *fopen(const char *path, const char *mode)
{
	static fopen_call *call;

	find(&call, "fopen");
	return fopen_by(call, path, mode);
}

int stat(const char *path, struct stat *ret)
{
	static stat_call *call;
	struct dropin_file file;
	int err;

	find(&call, "stat");
	err = call(pier__dropin_file_open(path, &file), ret);
	pier__dropin_file_close(&file);
	return err;
}

int access(const char *path, int mode)
{
	static access_call *call;
	struct dropin_file file;
	int err;

	find(&call, "access");
	err = call(pier__dropin_file_open(path, &file), mode);
	pier__dropin_file_close(&file);
	return err;
}

/* musl has macros of these names. */
#ifdef __GLIBC__

typedef int stat64_call(const char *path, struct stat64 *ret);

int __open64_2(const char *path, int flags);

int open64(const char *path, int flags, ...)
{
	static open_call *call;
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	find(&call, "open64");
	return open_by(call, path, flags, mode);
}

int __open64_2(const char *path, int flags)
{
	return open64(path, flags, 0);
}

int openat64(int dir, const char *path, int flags, ...)
{
	static openat_call *call;
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	find(&call, "openat64");
	return openat_by(call, dir, path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	static fopen_call *call;

	find(&call, "fopen64");
	return fopen_by(call, path, mode);
}

int stat64(const char *path, struct stat64 *ret)
{
	static stat64_call *call;
	struct dropin_file file;
	int err;

	find(&call, "stat64");
	err = call(pier__dropin_file_open(path, &file), ret);
	pier__dropin_file_close(&file);
	return err;
}

#endif
