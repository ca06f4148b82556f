/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy/copy_target.h"

#define TRIES 8		/* while other processes end or begin */
#define TEMP ".pier-"	/* and the digits of a digest */
#define TEMP_MODE ".m"	/* behind it: of the file that shows the mode */

void pier__copy_target_init(struct pier__copy_target *target)
{
	target->fd = -1;
}

bool pier__copy_target_is_temp(const char *leaf)
{
	size_t digits = 0;

	if (strncmp(leaf, TEMP, sizeof(TEMP) - 1))
		return false;
	leaf += sizeof(TEMP) - 1;
	while (isxdigit((unsigned char)leaf[digits]))
		digits++;
	leaf += digits;
	return digits == 2 * sizeof(struct pier__copy_digest) &&
	       (!*leaf || !strcmp(leaf, TEMP_MODE));
}

static int name_it(struct pier__copy_target *target, const char *leaf)
{
	struct pier__copy_digest digest;
	size_t len = strlen(leaf);
	int at;

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	if (!len || !strcmp(leaf, ".") || !strcmp(leaf, ".."))
		return -EISDIR;
	if (pier__copy_target_is_temp(leaf))
		return -EISNAM;
	memcpy(target->leaf, leaf, len + 1);
	pier__copy_hash_of(leaf, len, &digest);
	at = snprintf(target->temp, sizeof(target->temp), TEMP);
	for (size_t i = 0; i < sizeof(digest.byte); i++)
		at += snprintf(target->temp + at, 3, "%02x", digest.byte[i]);
	return 0;
}

static int create(const struct pier__copy_target *target, mode_t mode)
{
	int fd = openat(target->dir, target->temp, O_RDWR | O_CREAT | O_EXCL |
			O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

/* Is @st, a file that was opened, what has the temporary name now? */
static bool is_named(const struct pier__copy_target *target,
		     const struct stat *st)
{
	struct stat named;

	return !fstatat(target->dir, target->temp, &named,
			AT_SYMLINK_NOFOLLOW) &&
	       st->st_dev == named.st_dev && st->st_ino == named.st_ino;
}

/* Is @fd this user's file of the temporary name?  -EAGAIN: not any more. */
static int check_old(const struct pier__copy_target *target, int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(fd, &st))
		return -errno;
	if (!is_named(target, &st))
		return -EAGAIN;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return -EEXIST;
	return 0;
}

/*
 * The mode that a new file has here, by the umask or an ACL of the directory:
 * that of one which exists for a moment, while the temporary file is locked.
 */
static int mode_of_new(const struct pier__copy_target *target, mode_t mode,
		       mode_t *ret)
{
	char name[sizeof(target->temp) + sizeof(TEMP_MODE)];
	struct stat st;
	int fd, err = 0;

	snprintf(name, sizeof(name), "%s" TEMP_MODE, target->temp);
	unlinkat(target->dir, name, 0);
	fd = openat(target->dir, name, O_WRONLY | O_CREAT | O_EXCL |
		    O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || unlinkat(target->dir, name, 0))
		err = -errno;
	close(fd);
	*ret = st.st_mode & 0777;
	return err;
}

/* An earlier attempt may have had more rights, or fewer. */
static int renew_mode(const struct pier__copy_target *target, int fd,
		      mode_t mode)
{
	int err = mode_of_new(target, mode, &mode);

	if (!err && fchmod(fd, mode))
		err = -errno;
	return err;
}

static int open_temp(const struct pier__copy_target *target, int access)
{
	int fd = openat(target->dir, target->temp, access | O_NOFOLLOW |
			O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A process that died has given it the mode of the target already. */
static int open_closed(const struct pier__copy_target *target)
{
	int fd = open_temp(target, O_RDONLY), err;

	if (fd < 0)
		return fd;
	err = check_old(target, fd);
	if (!err && fchmod(fd, 0600))
		err = -errno;
	close(fd);
	return err ? err : open_temp(target, O_RDWR);
}

/*
 * Remove the temporary file that a process has left, or return it with @resume,
 * then with the rights of a new one.
 */
static int take_old(const struct pier__copy_target *target, mode_t mode,
		    bool resume)
{
	int fd = open_temp(target, O_RDWR), err;

	if (fd == -EACCES)
		fd = open_closed(target);
	if (fd < 0)
		return fd == -ENOENT ? -EAGAIN : fd == -ELOOP ? -EEXIST : fd;
	err = check_old(target, fd);
	if (!err && resume)
		err = renew_mode(target, fd, mode);
	if (!err && resume)
		return fd;
	if (!err)
		err = unlinkat(target->dir, target->temp, 0) ? -errno :
							       -EAGAIN;
	close(fd);
	return err;
}

/* Returns a new file, which no other process uses. */
static int open_new(const struct pier__copy_target *target, mode_t mode,
		    bool resume)
{
	int fd = -EAGAIN, err;

	for (int i = 0; i < TRIES && fd == -EAGAIN; i++) {
		fd = create(target, mode);
		if (fd == -EEXIST)
			fd = take_old(target, mode, resume);
	}
	if (fd < 0)
		return fd == -EAGAIN ? -EBUSY : fd;
	err = check_old(target, fd);
	if (!err)
		return fd;
	close(fd);
	return err == -EAGAIN ? -EBUSY : err;
}

int pier__copy_target_open(struct pier__copy_target *target, int dir,
			   const char *leaf,
			   const struct pier__copy_entry *entry, bool resume,
			   uint64_t *ret_len)
{
	struct stat st;
	int fd, err;

	target->dir = dir;
	target->offset = 0;
	target->size = entry->size;
	err = name_it(target, leaf);
	if (err)
		return err;
	if (!fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) &&
	    !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;
	fd = open_new(target, (entry->mode & 0777) | 0600, resume);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		err = -errno;
		close(fd);
		return err;
	}
	target->fd = fd;
	*ret_len = (uint64_t)st.st_size;
	return 0;
}

int pier__copy_target_start(struct pier__copy_target *target, uint64_t offset)
{
	if (offset > target->size || target->offset)
		return -EPROTO;
	if (ftruncate(target->fd, (off_t)offset))
		return -errno;
	target->offset = offset;
	return 0;
}

int pier__copy_target_write(struct pier__copy_target *target, const void *data,
			    size_t len)
{
	const char *at = data;
	ssize_t n;

	if (len > target->size - target->offset)
		return -EPROTO;
	while (len) {
		n = pwrite(target->fd, at, len, (off_t)target->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
		target->offset += (uint64_t)n;
	}
	return 0;
}

int pier__copy_target_reserve(struct pier__copy_target *target, size_t len,
			      uint64_t *ret)
{
	if (len > target->size - target->offset)
		return -EPROTO;
	*ret = target->offset;
	target->offset += len;
	return 0;
}

int pier__copy_target_hole(struct pier__copy_target *target, uint64_t len)
{
	if (len > target->size - target->offset)
		return -EPROTO;
	target->offset += len;
	return 0;
}

/* Without @preserve the mode is what the umask has made of it. */
static int set_attributes(int fd, const struct pier__copy_entry *entry,
			  bool preserve)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = entry->mtime, .tv_nsec = entry->mtime_ns },
	};
	mode_t lacks = 0600 & ~entry->mode;
	struct stat st;

	if (preserve && (fchmod(fd, entry->mode) || futimens(fd, times)))
		return -errno;
	if (!preserve && lacks &&
	    (fstat(fd, &st) || fchmod(fd, st.st_mode & 07777 & ~lacks)))
		return -errno;
	return 0;
}

/* Nothing but the file that was checked takes the place of the target. */
static int give_name(const struct pier__copy_target *target)
{
	struct stat st;

	if (fsync(target->fd) || fstat(target->fd, &st))
		return -errno;
	if (!is_named(target, &st))
		return -ESTALE;
	if (renameat(target->dir, target->temp, target->dir, target->leaf))
		return -errno;
	return 0;
}

int pier__copy_target_commit(struct pier__copy_target *target,
			     const struct pier__copy_entry *entry,
			     bool preserve)
{
	int err;

	if (target->offset != target->size)
		return -EPROTO;
	if (ftruncate(target->fd, (off_t)target->size))
		return -errno;
	err = set_attributes(target->fd, entry, preserve);
	if (!err)
		err = give_name(target);
	if (err)
		return err;
	close(target->fd);
	target->fd = -1;
	return 0;
}

void pier__copy_target_discard(struct pier__copy_target *target, bool keep)
{
	struct stat st;

	if (target->fd < 0)
		return;
	if (!keep && !fstat(target->fd, &st) && is_named(target, &st))
		unlinkat(target->dir, target->temp, 0);
	close(target->fd);
	target->fd = -1;
}
