/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that describe devices, and what fork(2) needs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "dropin/dropin.h"

/* Not in the header for programs, but exported. */
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf,
			size_t size);

const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}

/* Returns the length, without a newline at the end; below 0: no file. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf,
			size_t size)
{
	char path[IBV_SYSFS_PATH_MAX];
	ssize_t len;
	int fd;

	if (!size || (size_t)snprintf(path, sizeof(path), "%s/%s", dir,
				      file) >= sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, buf, size);
	close(fd);
	if (len > 0 && buf[len - 1] == '\n')
		buf[--len] = '\0';
	else if (len >= 0 && (size_t)len < size)
		buf[len] = '\0';
	return (int)len;
}

/* Memory is not pinned: a child gets copies as of any other. */
int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}
