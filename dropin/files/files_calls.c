/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the C library by which programs look for files, in front of
 * those.  The 64 of some is that of large files, which these are not.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dropin/files/files.h"


typedef int open_call(const char *path, int flags, mode_t mode);
typedef int openat_call(int dir, const char *path, int flags, mode_t mode);
typedef FILE *fopen_call(const char *path, const char *mode);
typedef int stat_call(const char *path, struct stat *ret);
typedef int fstatat_call(int dir, const char *path, struct stat *ret,
			 int flags);
typedef int faccessat_call(int dir, const char *path, int mode, int flags);
typedef char *realpath_call(const char *path, char *ret);
typedef char *realpath_chk_call(const char *path, char *ret, size_t size);
typedef int access_call(const char *path, int mode);

/* Of fortified programs, without a mode. */
int __open_2(const char *path, int flags);

static void find(void *ret, const char *name)
{
	pier__dropin_next(ret, name);
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

static int stat_by(stat_call *call, const char *path, struct stat *ret)
{
	struct dropin_file file;
	int err = call(pier__dropin_file_look(path, &file), ret);

	pier__dropin_file_close(&file);
	return err;
}

int stat(const char *path, struct stat *ret)
{
	static stat_call *call;

	find(&call, "stat");
	return stat_by(call, path, ret);
}

int lstat(const char *path, struct stat *ret)
{
	static stat_call *call;
	struct dropin_file file;
	int err;

	find(&call, "lstat");
	path = pier__dropin_file_look(path, &file);
	err = file.fd < 0 ? call(path, ret) : stat(path, ret);
	pier__dropin_file_close(&file);
	return err;
}

/* Flags for a file in place of another, which is no link. */
static int flags_of(const struct dropin_file *file, int flags)
{
	return file->fd < 0 ? flags : flags & ~AT_SYMLINK_NOFOLLOW;
}

int fstatat(int dir, const char *path, struct stat *ret, int flags)
{
	static fstatat_call *call;
	struct dropin_file file;
	int err;

	find(&call, "fstatat");
	path = pier__dropin_file_look(path, &file);
	err = call(dir, path, ret, flags_of(&file, flags));
	pier__dropin_file_close(&file);
	return err;
}

int faccessat(int dir, const char *path, int mode, int flags)
{
	static faccessat_call *call;
	struct dropin_file file;
	int err;

	find(&call, "faccessat");
	err = call(dir, pier__dropin_file_look(path, &file), mode, flags);
	pier__dropin_file_close(&file);
	return err;
}

/* As it is asked for, if it is there. */
char *realpath(const char *restrict path, char *restrict ret)
{
	static realpath_call *call;
	struct dropin_file file;
	const char *instead = pier__dropin_file_look(path, &file);
	bool own = file.fd >= 0 || (instead != path && instead != file.path);

	pier__dropin_file_close(&file);
	find(&call, "realpath");
	if (!own)
		return call(instead, ret);
	return ret ? strcpy(ret, path) : strdup(path);
}

#ifdef __GLIBC__

char *__realpath_chk(const char *path, char *ret, size_t size);

/* What realpath() is in programs that are built with _FORTIFY_SOURCE. */
char *__realpath_chk(const char *path, char *ret, size_t size)
{
	static realpath_chk_call *call;

	if (!ret || size >= PATH_MAX)
		return realpath(path, ret);
	find(&call, "__realpath_chk");
	return call(path, ret, size);	/* it ends the program */
}

#endif

int access(const char *path, int mode)
{
	static access_call *call;
	struct dropin_file file;
	int err;

	find(&call, "access");
	err = call(pier__dropin_file_look(path, &file), mode);
	pier__dropin_file_close(&file);
	return err;
}

/* musl has macros of these names. */
#ifdef __GLIBC__

typedef int stat64_call(const char *path, struct stat64 *ret);
typedef int fstatat64_call(int dir, const char *path, struct stat64 *ret,
			   int flags);
typedef int statx_call(int dir, const char *path, int flags,
		       unsigned int mask, struct statx *ret);

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

static int stat64_by(stat64_call *call, const char *path, struct stat64 *ret)
{
	struct dropin_file file;
	int err = call(pier__dropin_file_look(path, &file), ret);

	pier__dropin_file_close(&file);
	return err;
}

int stat64(const char *path, struct stat64 *ret)
{
	static stat64_call *call;

	find(&call, "stat64");
	return stat64_by(call, path, ret);
}

int lstat64(const char *path, struct stat64 *ret)
{
	static stat64_call *call;
	struct dropin_file file;
	int err;

	find(&call, "lstat64");
	path = pier__dropin_file_look(path, &file);
	err = file.fd < 0 ? call(path, ret) : stat64(path, ret);
	pier__dropin_file_close(&file);
	return err;
}

int fstatat64(int dir, const char *path, struct stat64 *ret, int flags)
{
	static fstatat64_call *call;
	struct dropin_file file;
	int err;

	find(&call, "fstatat64");
	path = pier__dropin_file_look(path, &file);
	err = call(dir, path, ret, flags_of(&file, flags));
	pier__dropin_file_close(&file);
	return err;
}

int statx(int dir, const char *restrict path, int flags, unsigned int mask,
	  struct statx *restrict ret)
{
	static statx_call *call;
	struct dropin_file file;
	int err;

	find(&call, "statx");
	path = pier__dropin_file_look(path, &file);
	err = call(dir, path, flags_of(&file, flags), mask, ret);
	pier__dropin_file_close(&file);
	return err;
}

/*
 * What stat() and its like are in programs that were built with a C library
 * before 2.33.  @version is that of the struct.
 */
typedef int xstat_call(int version, const char *path, void *ret);
typedef int fxstatat_call(int version, int dir, const char *path, void *ret,
			  int flags);

int __xstat(int version, const char *path, struct stat *ret);
int __lxstat(int version, const char *path, struct stat *ret);
int __fxstatat(int version, int dir, const char *path, struct stat *ret,
	       int flags);
int __xstat64(int version, const char *path, struct stat64 *ret);
int __lxstat64(int version, const char *path, struct stat64 *ret);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *ret,
		 int flags);

static int xstat_by(xstat_call *call, int version, const char *path, void *ret)
{
	struct dropin_file file;
	int err = call(version, pier__dropin_file_look(path, &file), ret);

	pier__dropin_file_close(&file);
	return err;
}

int __xstat(int version, const char *path, struct stat *ret)
{
	static xstat_call *call;

	find(&call, "__xstat");
	return xstat_by(call, version, path, ret);
}

int __xstat64(int version, const char *path, struct stat64 *ret)
{
	static xstat_call *call;

	find(&call, "__xstat64");
	return xstat_by(call, version, path, ret);
}

/* By @follow if it is a file in place of another. */
static int lxstat_by(xstat_call *call, xstat_call *follow, int version,
		     const char *path, void *ret)
{
	struct dropin_file file;
	int err;

	path = pier__dropin_file_look(path, &file);
	err = (file.fd < 0 ? call : follow)(version, path, ret);
	pier__dropin_file_close(&file);
	return err;
}

int __lxstat(int version, const char *path, struct stat *ret)
{
	static xstat_call *call, *follow;

	find(&call, "__lxstat");
	find(&follow, "__xstat");
	return lxstat_by(call, follow, version, path, ret);
}

int __lxstat64(int version, const char *path, struct stat64 *ret)
{
	static xstat_call *call, *follow;

	find(&call, "__lxstat64");
	find(&follow, "__xstat64");
	return lxstat_by(call, follow, version, path, ret);
}

static int fxstatat_by(fxstatat_call *call, int version, int dir,
		       const char *path, void *ret, int flags)
{
	struct dropin_file file;
	int err;

	path = pier__dropin_file_look(path, &file);
	err = call(version, dir, path, ret, flags_of(&file, flags));
	pier__dropin_file_close(&file);
	return err;
}

int __fxstatat(int version, int dir, const char *path, struct stat *ret,
	       int flags)
{
	static fxstatat_call *call;

	find(&call, "__fxstatat");
	return fxstatat_by(call, version, dir, path, ret, flags);
}

int __fxstatat64(int version, int dir, const char *path, struct stat64 *ret,
		 int flags)
{
	static fxstatat_call *call;

	find(&call, "__fxstatat64");
	return fxstatat_by(call, version, dir, path, ret, flags);
}

#endif
