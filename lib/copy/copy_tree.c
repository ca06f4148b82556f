/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pier/error.h>

#include "copy/copy_record.h"
#include "copy/copy_tree.h"

#define TRIES 16	/* while others rename in the tree */

static int open_beneath(int fd, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)flags,
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long opened = -1;

	errno = EAGAIN;
	for (int i = 0; i < TRIES && opened < 0 && errno == EAGAIN; i++)
		opened = syscall(SYS_openat2, fd, path, &how, sizeof(how));
	return (int)opened;
}

int pier__copy_tree_open(const struct pier__copy_tree *tree, const char *path,
			 int flags, mode_t mode)
{
	int fd;

	if (!*path)
		path = ".";
	flags |= O_CLOEXEC;
	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	if (tree->beneath)
		fd = open_beneath(tree->fd, path, flags, mode);
	else
		fd = openat(tree->fd, path, flags, mode);
	return fd < 0 ? -errno : fd;
}

const char *pier__copy_tree_error(int err)
{
	switch (err) {
	case -EXDEV:
		return "the path leads out of the directory that is served";
	case -ENOSYS:
		return "openat2(2) of Linux 5.6 is required";
	default:
		return pier_strerror(err);
	}
}

void pier__copy_split(const char *path, char *ret_dir, char *ret_leaf)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	strcpy(ret_leaf, slash ? slash + 1 : path);
	if (slash && !len)
		len = 1;	/* the root */
	memcpy(ret_dir, path, len);
	ret_dir[len] = '\0';
}

int pier__copy_link(int fd, const char *name, const char *dir, char *ret)
{
	char text[PIER__RECORD_PATH + 1];
	const char *between = "/";
	ssize_t n = readlinkat(fd, name, text, sizeof(text));
	int len;

	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	if (!n || (size_t)n == sizeof(text))
		return -ENAMETOOLONG;
	text[n] = '\0';
	if (!*dir || text[0] == '/')
		dir = between = "";
	len = snprintf(ret, PIER__RECORD_PATH + 1, "%s%s%s", dir, between,
		       text);
	return len > PIER__RECORD_PATH ? -ENAMETOOLONG : 1;
}

size_t pier__copy_name(const char *path, const char **ret)
{
	size_t end = strlen(path), begin;

	while (end && path[end - 1] == '/')
		end--;
	begin = end;
	while (begin && path[begin - 1] != '/')
		begin--;
	*ret = path + begin;
	if (end - begin <= 2 && !strncmp(*ret, "..", end - begin))
		return 0;
	return end - begin;
}

void pier__copy_trim(const char *path, bool from_root, char *ret)
{
	size_t len;

	while (from_root && *path == '/')
		path++;
	len = strnlen(path, PIER__RECORD_PATH);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (!len) {
		path = ".";
		len = 1;
	}
	memcpy(ret, path, len);
	ret[len] = '\0';
}
