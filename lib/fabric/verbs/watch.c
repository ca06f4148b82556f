/* SPDX-License-Identifier: BSD-2-Clause */
/* Removal of an open device, noticed by its sysfs entry. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "core/fail.h"
#include "fabric/verbs/watch.h"

#define KERNEL_GROUP 1		/* of uevents; 2 is udevd's */

/* After a uevent check again after 4 ms, 8 ms, and so on: 2 s in all. */
#define LOOKS 9
#define FIRST_LOOK 4

/* Device numbers are reused, inodes of sysfs are not.  0: there is none. */
static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

/* The kernel's uevents; -1: not permitted. */
static int listen_to_kernel(void)
{
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK,
		.nl_groups = KERNEL_GROUP,
	};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int add(int epoll_fd, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return -errno;
	return 0;
}

int pier__verbs_watch_open(struct ibv_context *ctx, bool async,
			   struct verbs_watch *ret)
{
	const char *name = ibv_get_device_name(ctx->device);
	struct verbs_watch watch = { .async = async ? ctx->async_fd : -1 };
	int err;

	snprintf(watch.entry, sizeof(watch.entry),
		 "/sys/class/infiniband_verbs/%s", ctx->device->dev_name);
	watch.fd = epoll_create1(EPOLL_CLOEXEC);
	if (watch.fd < 0)
		return pier__fail(-errno, "%s: no descriptor for its events: "
				  "%s", name, pier_strerror(errno));
	watch.timer = timerfd_create(CLOCK_MONOTONIC,
				     TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch.timer < 0) {
		err = -errno;
		close(watch.fd);
		return pier__fail(err, "%s: no timer for its events: %s", name,
				  pier_strerror(err));
	}
	watch.uevents = listen_to_kernel();
	watch.inode = inode_of(watch.entry);
	if (watch.uevents < 0 || !watch.inode)
		pier__log(PIER_LOG_INFO, "verbs", "%s: its removal may not be "
			  "noticed here until a request fails", name);
	err = add(watch.fd, watch.async);
	if (!err)
		err = add(watch.fd, watch.uevents);
	if (!err)
		err = add(watch.fd, watch.timer);
	if (err) {
		pier__verbs_watch_close(&watch);
		return pier__fail(err, "%s: its events cannot be watched: %s",
				  name, pier_strerror(err));
	}
	*ret = watch;
	return 0;
}

void pier__verbs_watch_close(struct verbs_watch *watch)
{
	if (watch->uevents >= 0)
		close(watch->uevents);
	close(watch->timer);
	close(watch->fd);
}

bool pier__verbs_watch_lost(struct verbs_watch *watch)
{
	if (!watch->lost && watch->inode)
		watch->lost = inode_of(watch->entry) != watch->inode;
	return watch->lost;
}

/*
 * Uevents may be of any device in the machine: their text is not read, only
 * that one has come.
 */
static bool drain(int fd)
{
	bool any = false;
	char byte;

	while (recv(fd, &byte, sizeof(byte), MSG_TRUNC) >= 0 ||
	       errno == ENOBUFS)
		any = true;
	return any;
}

static void look_later(struct verbs_watch *watch)
{
	long ms = FIRST_LOOK << (LOOKS - watch->looks);
	struct itimerspec at = {
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
	};

	watch->looks--;
	watch->waiting = true;
	timerfd_settime(watch->timer, 0, &at, NULL);
}

bool pier__verbs_watch_check(struct verbs_watch *watch)
{
	uint64_t expired;
	bool due;

	if (watch->lost)
		return true;
	due = watch->waiting &&
	      read(watch->timer, &expired, sizeof(expired)) > 0;
	if (due)
		watch->waiting = false;
	if (watch->uevents >= 0 && drain(watch->uevents)) {
		watch->looks = LOOKS;
		due = true;
	}
	if (due && !pier__verbs_watch_lost(watch) && watch->looks)
		look_later(watch);
	return watch->lost;
}

void pier__verbs_watch_ended(struct verbs_watch *watch)
{
	watch->lost = true;
	if (watch->async >= 0)	/* or it would be readable for ever */
		epoll_ctl(watch->fd, EPOLL_CTL_DEL, watch->async, NULL);
	watch->async = -1;
}
