/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
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
#include "ops/service_file.h"

#define SERVICES_MAX 4096	/* more files are not looked at */

struct pier_servicelist {
	size_t count, size;
	struct pier_service *service;
};

/* End @text within its @size, and make it fit for a terminal. */
static void make_plain(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

/* Is it one that process @pid writes?  Then its strings are made plain. */
static bool is_valid(struct pier__service_image *image, int pid)
{
	struct pier_service *service = &image->service;

	if (memcmp(image->magic, PIER__SERVICE_FILE_MAGIC,
		   sizeof(PIER__SERVICE_FILE_MAGIC)) ||
	    image->version != PIER__SERVICE_FILE_VERSION ||
	    image->size != sizeof(*image) || service->pid != pid ||
	    service->address_count > PIER_SERVICE_ADDRESSES)
		return false;
	make_plain(service->program, sizeof(service->program));
	make_plain(service->device, sizeof(service->device));
	for (int i = 0; i < PIER_SERVICE_ADDRESSES; i++)
		make_plain(service->address[i], sizeof(service->address[i]));
	return true;
}

static int add(struct pier_servicelist *list,
	       const struct pier_service *service)
{
	struct pier_service *more;

	if (list->count == list->size) {
		more = realloc(list->service,
			       (2 * list->size + 4) * sizeof(*more));
		if (!more)
			return pier__fail(-ENOMEM, "service: no memory for a "
					  "list");
		list->service = more;
		list->size = 2 * list->size + 4;
	}
	list->service[list->count++] = *service;
	return 0;
}

/* Add what the file of @fd shows, if it is valid and its process is alive. */
static int look_at(int fd, int dir, const char *name, unsigned int uid, int pid,
		   struct pier_servicelist *list)
{
	struct pier__service_image image;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != uid ||
	    (st.st_mode & 07777) != 0600)
		return 0;
	if (!flock(fd, LOCK_SH | LOCK_NB)) {	/* its process has ended */
		if (uid == geteuid())
			unlinkat(dir, name, 0);
		return 0;
	}
	if (pread(fd, &image, sizeof(image), 0) != sizeof(image) ||
	    !is_valid(&image, pid))
		return 0;
	return add(list, &image.service);
}

/* Is @name that of a service's file of @only, 0: of any process? */
static bool is_name(const char *name, int only, unsigned int *uid, int *pid)
{
	int at = 0;

	return sscanf(name, "pier-service.%u.%d.%n", uid, pid, &at) == 2 &&
	       at && *pid > 0 && (!only || *pid == only);
}

static int look(int dir, const char *name, int only,
		struct pier_servicelist *list)
{
	unsigned int uid;
	int pid, fd, err;

	if (!is_name(name, only, &uid, &pid))
		return 0;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;		/* another user's */
	err = look_at(fd, dir, name, uid, pid, list);
	close(fd);
	return err;
}

/* By process, then by device. */
static int compare(const void *a, const void *b)
{
	const struct pier_service *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return strcmp(one->device, other->device);
}

static int fill(struct pier_servicelist *list, int pid)
{
	DIR *dir = opendir(pier__service_dir);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return 0;		/* there are no files */
	while (!err && list->count < SERVICES_MAX && (entry = readdir(dir)))
		err = look(dirfd(dir), entry->d_name, pid, list);
	closedir(dir);
	if (list->count)
		qsort(list->service, list->count, sizeof(*list->service),
		      compare);
	return err;
}

int pier_servicelist_create(int pid, struct pier_servicelist **ret)
{
	struct pier_servicelist *list = calloc(1, sizeof(*list));
	int err;

	if (!list)
		return pier__fail(-ENOMEM, "service: no memory for a list");
	err = fill(list, pid);
	if (err) {
		pier_servicelist_destroy(list);
		return err;
	}
	*ret = list;
	return 0;
}

void pier_servicelist_destroy(struct pier_servicelist *list)
{
	if (!list)
		return;
	free(list->service);
	free(list);
}

size_t pier_servicelist_count(const struct pier_servicelist *list)
{
	if (!list)
		return 0;
	return list->count;
}

const struct pier_service *
pier_servicelist_get(const struct pier_servicelist *list, size_t i)
{
	return list && i < list->count ? &list->service[i] : NULL;
}
