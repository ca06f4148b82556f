/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the kernel's connection manager can be opened. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <pier/error.h>

#include "fabric/verbs/cm_access.h"

#define NODE "/dev/infiniband/rdma_cm"

/* By opening it: mode bits do not show the device rules of a container. */
static int try_node(const char *root)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s" NODE, root);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int is_loaded(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/misc/rdma_cm", root);
	return !access(path, F_OK);
}

int pier__verbs_cm_check(const char *root, char *ret, size_t size)
{
	int err = try_node(root);

	if (!err)
		return 0;
	if (err != -ENOENT) {
		pier__verbs_cm_reason(err, ret, size);
		return err;
	}
	if (!is_loaded(root))
		return 0;
	snprintf(ret, size, "there is no " NODE ", though the kernel has "
		 "rdma_ucm: a container needs --device=/dev/infiniband");
	return -ENOENT;
}

void pier__verbs_cm_reason(int err, char *ret, size_t size)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		snprintf(ret, size, NODE " may not be opened (%s): chmod 666 "
			 "it, as rdma-core's udev rules do; a container needs "
			 "--device=/dev/infiniband", pier_strerror(err));
		return;
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		snprintf(ret, size, "there is no " NODE " (%s): modprobe "
			 "rdma_ucm, or connect by descriptors",
			 pier_strerror(err));
		return;
	default:
		snprintf(ret, size, NODE " cannot be opened: %s",
			 pier_strerror(err));
		return;
	}
}
