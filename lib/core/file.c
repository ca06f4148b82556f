/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/file.h"
#include "core/random.h"

static int write_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;

	while (len) {
		n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int pier__file_resize(int fd, size_t len)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && len > limit.rlim_cur)
		return -EFBIG;
	return ftruncate(fd, (off_t)len) ? -errno : 0;
}

/* close() reports writes that failed late, on a network file system. */
static int fill_new(const char *path, const void *data, size_t len, mode_t mode)
{
	int fd, err;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	err = pier__file_resize(fd, len);
	if (!err)
		err = write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

static int cannot_write(const char *path, int err)
{
	return pier__fail(err, "cannot write %s: %s", path, pier_strerror(err));
}

int pier__file_may_replace(const char *path)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return pier__fail(-EISDIR, "cannot replace %s: it is a "
				  "directory", path);
	return pier__fail(-EINVAL, "cannot replace %s: it is a device, FIFO or "
			  "socket, not a regular file", path);
}

int pier__file_remove(const char *path)
{
	int err = pier__file_may_replace(path);

	if (err || !unlink(path) || errno == ENOENT)
		return err;
	err = -errno;
	return pier__fail(err, "cannot remove %s: %s", path,
			  pier_strerror(err));
}

int pier__file_stage(const char *path, const void *data, size_t len,
		     mode_t mode, char **ret)
{
	char *tmp;
	int err = pier__file_may_replace(path);

	if (err)
		return err;
	if (asprintf(&tmp, "%s.%016" PRIx64, path, pier__random64()) < 0)
		return pier__fail(-ENOMEM, "no memory to write %s", path);
	err = fill_new(tmp, data, len, mode);
	if (err) {
		free(tmp);
		return cannot_write(path, err);
	}
	*ret = tmp;
	return 0;
}

int pier__file_commit(const char *path, const char *tmp)
{
	return rename(tmp, path) ? cannot_write(path, -errno) : 0;
}

int pier__file_write(const char *path, const void *data, size_t len,
		     mode_t mode)
{
	char *tmp;
	int err = pier__file_stage(path, data, len, mode, &tmp);

	if (err)
		return err;
	err = pier__file_commit(path, tmp);
	if (err)
		unlink(tmp);
	free(tmp);
	return err;
}

/* Read to the end of @fd.  Returns the length, @size + 1 if it is longer. */
static ssize_t read_all(int fd, void *buf, size_t size)
{
	size_t len = 0;
	char more;
	ssize_t n;

	for (;;) {
		if (len < size)
			n = read(fd, (char *)buf + len, size - len);
		else
			n = read(fd, &more, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
		if (!n || len > size)
			return (ssize_t)len;
	}
}

/* Returns a descriptor of the regular file @path. */
static int open_regular(const char *path)
{
	struct stat st;
	int fd, err;

	/* not blocking: a FIFO without a writer would block */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		return pier__fail(err, "cannot read %s: %s", path,
				  pier_strerror(err));
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return pier__fail(-EINVAL, "cannot read %s: not a regular "
				  "file", path);
	}
	return fd;
}

int pier__file_read(const char *path, void *ret, size_t size)
{
	ssize_t len;
	int fd = open_regular(path);

	if (fd < 0)
		return fd;
	if (size >= INT_MAX)
		size = INT_MAX - 1;
	len = read_all(fd, ret, size);
	close(fd);
	if (len < 0)
		return pier__fail((int)len, "cannot read %s: %s", path,
				  pier_strerror((int)len));
	if ((size_t)len > size)
		return pier__fail(-EFBIG, "cannot read %s: more than %zu "
				  "bytes", path, size);
	return (int)len;
}

static bool line_ends(FILE *file)
{
	int c = fgetc(file);

	return c == EOF || c == '\n';
}

void pier__file_line(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len;

	ret[0] = '\0';
	if (!file)
		return;
	if (!fgets(ret, (int)size, file))
		ret[0] = '\0';
	len = strcspn(ret, "\n");
	if (!ret[len] && !line_ends(file))
		len = 0;
	ret[len] = '\0';
	fclose(file);
}
