/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_SERVICE_FILE_H
#define PIER_OPS_SERVICE_FILE_H

#include <pier/service.h>

/*
 * The file in which a service is shown to other processes of the same user, and
 * root: mode 0600, on a file system in memory, complete when its name appears.
 * The process holds a lock on it (flock(2)) and removes it with the service;
 * that of a process that was killed is removed by the next reader.  Readers
 * check all of it.
 */
#define PIER__SERVICE_FILE_MAGIC "pier service"
#define PIER__SERVICE_FILE_VERSION 1

struct pier__service_image {
	char magic[16];
	uint32_t version;
	uint32_t size;			/* of all of it */
	struct pier_service service;
};

struct pier__service_file {
	int fd, pid;
	struct pier__service_image *image;	/* NULL: there is no file */
	char path[128];
};

/* The directory: /dev/shm; tests may set another. */
extern const char *pier__service_dir;

/*
 * Show @service, but for what identifies the process, which is filled in.
 * Without such a file system only a warning is logged.
 */
void pier__service_file_open(struct pier__service_file *file,
			     const struct pier_service *service);

/* Show other numbers.  One thread at a time. */
void pier__service_file_set(struct pier__service_file *file, uint32_t exports,
			    uint32_t peers, uint64_t refused);

/* Remove it; in a child of fork(2) it is the parent's, and stays. */
void pier__service_file_close(struct pier__service_file *file);

/* Only remove its name, at exit. */
void pier__service_file_hide(const struct pier__service_file *file);

#endif
