/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/file.h"
#include "core/random.h"
#include "fabric/soft/stats/counters_file.h"

#define ROWS (SOFT_ROWS_EP + SOFT_ROWS_QP)

/* The process reads nothing back from the file, which others may write. */
enum use { FREE, USED, ENDED };

static struct {
	pthread_mutex_t lock;
	pid_t pid;			/* its process; a child makes its own */
	int fd;				/* -1: no other process sees the rows */
	char path[128];
	struct soft_counters_file *file;		/* NULL: none yet */
	uint8_t use[ROWS];
	bool records[SOFT_ROWS_QP];	/* its events have space in the file */
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

const char *pier__soft_counters_dir = "/dev/shm";

const char *pier__soft_counters_second(void)
{
	const char *dir = secure_getenv("PIER_COUNTERS_DIR");

	return dir && *dir ? dir : NULL;
}

/*
 * Allocate [@at, @at + @len) of the file: a write to a page for which the file
 * system has no space would raise SIGBUS.
 */
static int reserve(const void *at, size_t len)
{
	off_t offset = (const char *)at - (const char *)own.file;

	if (own.fd < 0)
		return 0;
	return fallocate(own.fd, 0, offset, (off_t)len) ? -errno : 0;
}

void pier__soft_counters_file_name(char *ret, size_t size, uid_t uid, pid_t pid,
				   uint64_t number)
{
	snprintf(ret, size, "pier.%u.%u.%016" PRIx64, (unsigned int)uid,
		 (unsigned int)pid, number);
}

/* Have @name also in the folder of files that remain. */
static void name_again(const char *name)
{
	const char *dir = pier__soft_counters_second();
	char path[PATH_MAX];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (link(own.path, path))
		pier__log(PIER_LOG_WARNING, "soft", "counters do not remain: "
			  "%s: %s", path, pier_strerror(errno));
}

/* Give the file of @fd, which is complete, its name. */
static int publish(int fd)
{
	char link[40], name[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	pier__soft_counters_file_name(name, sizeof(name), geteuid(), own.pid,
				      pier__random64());
	snprintf(own.path, sizeof(own.path), "%s/%s", pier__soft_counters_dir,
		 name);
	if (linkat(AT_FDCWD, link, AT_FDCWD, own.path, AT_SYMLINK_FOLLOW))
		return -errno;
	name_again(name);
	return 0;
}

static int fill(int fd)
{
	const size_t head = offsetof(struct soft_counters_file, row);

	own.file = mmap(NULL, sizeof(*own.file), PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);
	if (own.file == MAP_FAILED) {
		own.file = NULL;
		return -errno;
	}
	own.fd = fd;
	if (reserve(own.file, head) || flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	memcpy(own.file->magic, SOFT_COUNTERS_MAGIC,
	       sizeof(SOFT_COUNTERS_MAGIC));
	own.file->version = SOFT_COUNTERS_VERSION;
	own.file->size = sizeof(*own.file);
	pier__soft_counters_file_self(own.file);
	return publish(fd);
}

static int share(void)
{
	int fd, err;

	fd = open(pier__soft_counters_dir, O_TMPFILE | O_RDWR | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return -errno;
	err = pier__file_resize(fd, sizeof(*own.file));
	if (!err)
		err = fill(fd);
	if (!err)
		return 0;
	own.fd = -1;
	if (own.file)
		munmap(own.file, sizeof(*own.file));
	own.file = NULL;
	own.path[0] = '\0';
	close(fd);
	return err;
}

/* Under the lock.  Errors: -ENOMEM. */
static int have_file(void)
{
	void *file;
	int err;

	if (own.file && own.pid == getpid())
		return 0;
	/* After fork(2) the file is the parent's: the child makes its own. */
	own.file = NULL;
	own.fd = -1;
	own.path[0] = '\0';
	own.pid = getpid();
	memset(own.use, FREE, sizeof(own.use));
	pier__soft_counters_file_list(0, NULL);
	err = share();
	if (!err)
		return 0;
	pier__log(PIER_LOG_WARNING, "soft",
		  "counters are not shown to other "
		  "processes: no file in %s: %s",
		  pier__soft_counters_dir, pier_strerror(err));
	file = mmap(NULL, sizeof(*own.file), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (file == MAP_FAILED)
		return -errno;
	own.file = file;
	return 0;
}

static void set_kind(struct soft_row *row, enum soft_row_kind kind)
{
	__atomic_store_n(&row->kind, kind, __ATOMIC_RELEASE);
}

/* After fork(2) a row may be the parent's. */
static bool is_own(const struct soft_row *row)
{
	return own.pid == getpid() && row >= own.file->row &&
	       row < own.file->row + ROWS;
}

static bool is_on(const struct soft_row *row, const char *device)
{
	return strncmp(row->device, device, sizeof(row->device)) == 0;
}

/* Initialise a free row among [@from, @to). */
static struct soft_row *take(size_t from, size_t to, const char *device)
{
	struct soft_row *row;
	size_t i = from;

	while (i < to && own.use[i] != FREE)
		i++;
	if (i == to || reserve(&own.file->row[i], sizeof(*row)))
		return NULL;
	row = &own.file->row[i];
	memset(row, 0, sizeof(*row));
	snprintf(row->device, sizeof(row->device), "%s", device);
	own.use[i] = USED;
	if (i >= SOFT_ROWS_EP)
		own.records[i - SOFT_ROWS_EP] = false;
	return row;
}

static struct soft_row *take_ended(const char *device)
{
	size_t i;

	for (i = 0; i < SOFT_ROWS_EP; i++) {
		if (own.use[i] == ENDED && is_on(&own.file->row[i], device)) {
			own.use[i] = USED;
			return &own.file->row[i];
		}
	}
	return NULL;
}

struct soft_row *pier__soft_row_get_ep(const char *device, uint16_t port)
{
	struct soft_row *row = NULL;

	pthread_mutex_lock(&own.lock);
	if (!have_file()) {
		row = take_ended(device);
		if (!row)
			row = take(0, SOFT_ROWS_EP, device);
	}
	if (row) {
		row->local_port = port;
		set_kind(row, SOFT_ROW_EP);
	}
	pthread_mutex_unlock(&own.lock);
	return row;
}

struct soft_row *pier__soft_row_get_qp(const char *device, uint32_t qpn)
{
	struct soft_row *row = NULL;

	pthread_mutex_lock(&own.lock);
	if (!have_file())
		row = take(SOFT_ROWS_EP, ROWS, device);
	if (row) {
		row->qpn = qpn;
		set_kind(row, SOFT_ROW_QP);
	}
	pthread_mutex_unlock(&own.lock);
	return row;
}

struct soft_events *pier__soft_row_events(struct soft_row *row)
{
	struct soft_events *events = NULL;

	if (!row)
		return NULL;
	pthread_mutex_lock(&own.lock);
	if (is_own(row)) {
		events = &own.file->events[row - own.file->row];
		if (reserve(events, sizeof(*events)))
			events = NULL;
	}
	pthread_mutex_unlock(&own.lock);
	return events;
}

struct soft_qp_events *pier__soft_row_qp_events(struct soft_row *row)
{
	struct soft_qp_events *events = NULL;
	size_t i;

	pthread_mutex_lock(&own.lock);
	if (is_own(row)) {
		i = (size_t)(row - own.file->row) - SOFT_ROWS_EP;
		events = &own.file->qp_events[i];
		own.records[i] = !reserve(events, sizeof(*events));
		if (own.records[i])
			memset(events, 0, sizeof(*events));
		else
			events = NULL;
	}
	pthread_mutex_unlock(&own.lock);
	return events;
}

const struct soft_qp_events *pier__soft_conn_events(size_t i,
						    const char **ret_device)
{
	const struct soft_qp_events *events = NULL;

	pthread_mutex_lock(&own.lock);
	if (own.file && own.use[SOFT_ROWS_EP + i] == USED && own.records[i]) {
		events = &own.file->qp_events[i];
		*ret_device = own.file->row[SOFT_ROWS_EP + i].device;
	}
	pthread_mutex_unlock(&own.lock);
	return events;
}

/* The child makes a file of its own; a thread may have had the lock. */
void pier__soft_rows_forked(void)
{
	pthread_mutex_init(&own.lock, NULL);
}

void pier__soft_row_put(struct soft_row *row)
{
	if (!row)
		return;
	pthread_mutex_lock(&own.lock);
	if (is_own(row)) {
		if (row < &own.file->row[SOFT_ROWS_EP]) {
			own.use[row - own.file->row] = ENDED;
		} else {
			own.use[row - own.file->row] = FREE;
			set_kind(row, SOFT_ROW_FREE);
		}
	}
	pthread_mutex_unlock(&own.lock);
}

void pier__soft_row_peer(struct soft_row *row, const struct soft_addr *local,
			 const struct soft_addr *peer, uint32_t peer_qpn)
{
	if (!row)
		return;
	memcpy(row->local_ip, &local->ip, sizeof(row->local_ip));
	memcpy(row->peer_ip, &peer->ip, sizeof(row->peer_ip));
	row->local_port = local->port;
	row->peer_port = peer->port;
	row->peer_qpn = peer_qpn;
}

void pier__soft_rows_sum(const char *device, struct soft_counters *ret)
{
	const struct soft_row *row;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	pthread_mutex_lock(&own.lock);
	for (i = 0; own.file && i < SOFT_ROWS_EP; i++) {
		row = &own.file->row[i];
		if (own.use[i] != FREE && is_on(row, device))
			pier__soft_sum(&row->counters, ret);
	}
	pthread_mutex_unlock(&own.lock);
}

/* The helper may still be running: the file stays mapped. */
__attribute__((destructor)) static void leave(void)
{
	if (own.path[0] && own.pid == getpid())
		unlink(own.path);
}
