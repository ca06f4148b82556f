/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/file.h"
#include "core/random.h"
#include "ops/service_file.h"

const char *pier__service_dir = "/dev/shm";

/* Fill the file of @fd, and give it its name. */
static int publish(struct pier__service_file *file, int fd,
		   const struct pier__service_image *image)
{
	char link[40];
	int err = pier__file_resize(fd, sizeof(*image));

	if (err)
		return err;
	if (pwrite(fd, image, sizeof(*image), 0) != sizeof(*image))
		return errno ? -errno : -ENOSPC;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	snprintf(file->path, sizeof(file->path),
		 "%s/pier-service.%u.%d.%016" PRIx64, pier__service_dir,
		 (unsigned int)geteuid(), file->pid, pier__random64());
	if (linkat(AT_FDCWD, link, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW))
		return -errno;
	return 0;
}

static int share(struct pier__service_file *file,
		 const struct pier__service_image *image)
{
	void *map;
	int err;

	file->fd = open(pier__service_dir, O_TMPFILE | O_RDWR | O_CLOEXEC,
			0600);
	if (file->fd < 0)
		return -errno;
	err = publish(file, file->fd, image);
	if (err)
		goto err_close;
	map = mmap(NULL, sizeof(*image), PROT_READ | PROT_WRITE, MAP_SHARED,
		   file->fd, 0);
	if (map == MAP_FAILED) {
		err = -errno;
		goto err_unlink;
	}
	file->image = map;
	return 0;

err_unlink:
	unlink(file->path);
err_close:
	close(file->fd);
	return err;
}

void pier__service_file_open(struct pier__service_file *file,
			     const struct pier_service *service)
{
	struct pier__service_image image = {
		.magic = PIER__SERVICE_FILE_MAGIC,
		.version = PIER__SERVICE_FILE_VERSION,
		.size = sizeof(image),
		.service = *service,
	};
	int err;

	memset(file, 0, sizeof(*file));
	file->pid = image.service.pid = getpid();
	snprintf(image.service.program, sizeof(image.service.program), "%s",
		 program_invocation_short_name);
	err = share(file, &image);
	if (err)
		pier__log(PIER_LOG_WARNING, "service", "it is not shown to "
			  "other processes: no file in %s: %s",
			  pier__service_dir, pier_strerror(err));
}

static void set32(uint32_t *at, uint32_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

void pier__service_file_set(struct pier__service_file *file, uint32_t exports,
			    uint32_t peers, uint64_t refused)
{
	struct pier_service *shown;

	if (!file->image)
		return;
	shown = &file->image->service;
	set32(&shown->exports, exports);
	set32(&shown->peers, peers);
	__atomic_store_n(&shown->refused, refused, __ATOMIC_RELAXED);
}

void pier__service_file_hide(const struct pier__service_file *file)
{
	if (file->image && file->pid == getpid())
		unlink(file->path);
}

void pier__service_file_close(struct pier__service_file *file)
{
	if (!file->image)
		return;
	pier__service_file_hide(file);
	munmap(file->image, sizeof(*file->image));
	close(file->fd);
	file->image = NULL;
}
