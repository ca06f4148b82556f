/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.h"
#include "fabric/soft/stats/pcap.h"

/* In the byte order of the machine; readers detect it by the magic. */
struct head {
	uint32_t magic;		/* with nanoseconds */
	uint16_t major, minor;
	uint32_t zone, accuracy;
	uint32_t longest;	/* packet */
	uint32_t link;		/* packets begin with the IP header */
};

static const struct head our_head = {
	.magic = 0xa1b23c4d,
	.major = 2,
	.minor = 4,
	.longest = 65535,
	.link = 101,
};

struct record {
	uint32_t seconds, nanoseconds;
	uint32_t stored, length;
};

_Static_assert(sizeof(struct record) == PIER__PCAP_RECORD, "as the format");

/* Only a capture of this user may be overwritten.  @fd is locked. */
static int may_overwrite(int fd, const char *path)
{
	struct head head;
	struct stat st;

	if (fstat(fd, &st))
		return pier__fail(-errno, "%s: %s", path,
				  pier_strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1)
		return pier__fail(-EEXIST, "%s is there and no plain file of "
				  "user %u's", path, (unsigned int)geteuid());
	if (st.st_size && (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
			   memcmp(&head, &our_head, sizeof(head))))
		return pier__fail(-EEXIST, "%s is there and no capture: move "
				  "it away", path);
	return 0;
}

/* Errors: -EAGAIN, another process is writing to it. */
static int open_one(const char *path, int *ret)
{
	int fd, err;

	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
			O_CLOEXEC, 0600);
	if (fd < 0)
		return pier__fail(-errno, "cannot write %s: %s", path,
				  errno == ELOOP ? "it is a symbolic link" :
				  pier_strerror(errno));
	err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (!err)
		err = may_overwrite(fd, path);
	else if (err != -EAGAIN)
		pier__fail(err, "cannot lock %s: %s", path,
			   pier_strerror(err));
	if (!err && (fchmod(fd, 0600) || ftruncate(fd, 0)))
		err = pier__fail(-errno, "cannot write %s: %s", path,
				 pier_strerror(errno));
	if (err) {
		close(fd);
		return err;
	}
	*ret = fd;
	return 0;
}

int pier__pcap_open(const char *path, uint64_t *size, int *ret)
{
	char *own = NULL;
	int fd, err;

	err = open_one(path, &fd);
	if (err == -EAGAIN) {
		if (asprintf(&own, "%s.%d", path, (int)getpid()) < 0)
			return pier__fail(-ENOMEM, "no memory for a path");
		path = own;
		err = open_one(path, &fd);
		if (err == -EAGAIN)
			pier__fail(err, "%s is being written", path);
	}
	*size = 0;
	if (!err) {
		err = pier__pcap_append(fd, size, &our_head, sizeof(our_head));
		if (err) {
			pier__fail(err, "cannot write %s: %s", path,
				   pier_strerror(err));
			close(fd);
		}
	}
	if (!err) {
		pier__log(PIER_LOG_INFO, "soft", "capturing to %s", path);
		*ret = fd;
	}
	free(own);
	return err;
}

uint8_t *pier__pcap_record(uint8_t *p, const struct timespec *at, size_t len)
{
	struct record record = {
		.seconds = (uint32_t)at->tv_sec,
		.nanoseconds = (uint32_t)at->tv_nsec,
		.stored = (uint32_t)len,
		.length = (uint32_t)len,
	};

	memcpy(p, &record, sizeof(record));
	return p + sizeof(record);
}

int pier__pcap_append(int fd, uint64_t *size, const void *data, size_t len)
{
	const char *at = data, *end = at + len;
	int err = 0, cut;
	ssize_t n;

	while (!err && at < end) {
		n = write(fd, at, (size_t)(end - at));
		if (n > 0)
			at += n;
		else if (n == 0)
			err = -EIO;
		else if (errno != EINTR)
			err = -errno;
	}
	if (!err) {
		*size += len;
		return 0;
	}
	cut = ftruncate(fd, (off_t)*size);
	(void)cut;	/* then the last packet is cut off */
	return err;
}
