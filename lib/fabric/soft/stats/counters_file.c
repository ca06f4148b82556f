/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/random.h"
#include "fabric/soft/stats/counters_file.h"

#define ROWS (SOFT_PAGE_EPS + SOFT_PAGE_QPS)

/* What the process itself knows: it takes nothing back out of the page. */
enum use { FREE, USED, ENDED };

static struct {
	pthread_mutex_t lock;
	pid_t pid;			/* whose it is: not a child's */
	int fd;				/* -1: others do not see it */
	char path[128];
	struct soft_page *page;		/* NULL: none yet */
	uint8_t use[ROWS];
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

const char *pier__soft_page_dir = "/dev/shm";

/*
 * Memory for [@at, @at + @len) of the file: a write to what the file system
 * has no room for would be a SIGBUS.
 */
static int reserve(const void *at, size_t len)
{
	off_t offset = (const char *)at - (const char *)own.page;

	if (own.fd < 0)
		return 0;
	return fallocate(own.fd, 0, offset, (off_t)len) ? -errno : 0;
}

void pier__soft_page_name(char *ret, size_t size, uid_t uid, pid_t pid,
			  uint64_t number)
{
	snprintf(ret, size, "pier.%u.%u.%016" PRIx64, (unsigned int)uid,
		 (unsigned int)pid, number);
}

/* Give the file of @fd its name: all of it is there by then. */
static int publish(int fd)
{
	char link[40], name[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	pier__soft_page_name(name, sizeof(name), geteuid(), own.pid,
			     pier__random64());
	snprintf(own.path, sizeof(own.path), "%s/%s", pier__soft_page_dir,
		 name);
	if (linkat(AT_FDCWD, link, AT_FDCWD, own.path, AT_SYMLINK_FOLLOW))
		return -errno;
	return 0;
}

static int fill(int fd)
{
	const size_t head = offsetof(struct soft_page, row);

	own.page = mmap(NULL, sizeof(*own.page), PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);
	if (own.page == MAP_FAILED) {
		own.page = NULL;
		return -errno;
	}
	own.fd = fd;
	if (reserve(own.page, head) || flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	memcpy(own.page->magic, SOFT_PAGE_MAGIC, sizeof(SOFT_PAGE_MAGIC));
	own.page->version = SOFT_PAGE_VERSION;
	own.page->size = sizeof(*own.page);
	pier__soft_page_self(own.page);
	return publish(fd);
}

static int share(void)
{
	int fd, err;

	fd = open(pier__soft_page_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = ftruncate(fd, sizeof(*own.page)) ? -errno : fill(fd);
	if (!err)
		return 0;
	own.fd = -1;
	if (own.page)
		munmap(own.page, sizeof(*own.page));
	own.page = NULL;
	own.path[0] = '\0';
	close(fd);
	return err;
}

/* Under the lock.  Errors: -ENOMEM. */
static int have_page(void)
{
	void *page;
	int err;

	if (own.page && own.pid == getpid())
		return 0;
	/* A child has its parent's: leave it, and the file, to the parent. */
	own.page = NULL;
	own.fd = -1;
	own.path[0] = '\0';
	own.pid = getpid();
	memset(own.use, FREE, sizeof(own.use));
	pier__soft_page_sweep();
	err = share();
	if (!err)
		return 0;
	pier__log(PIER_LOG_WARNING, "soft", "counters are not shown to other "
		  "processes: no file in %s: %s", pier__soft_page_dir,
		  pier_strerror(err));
	page = mmap(NULL, sizeof(*own.page), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	own.page = page;
	return 0;
}

static void set_kind(struct soft_row *row, enum soft_row_kind kind)
{
	__atomic_store_n(&row->kind, kind, __ATOMIC_RELEASE);
}

/* A child may have one of its parent's. */
static bool is_own(const struct soft_row *row)
{
	return own.pid == getpid() && row >= own.page->row &&
	       row < own.page->row + ROWS;
}

static bool is_on(const struct soft_row *row, const char *device)
{
	return strncmp(row->device, device, sizeof(row->device)) == 0;
}

/* A free row among [@from, @to), made anew. */
static struct soft_row *take(size_t from, size_t to, const char *device)
{
	struct soft_row *row;
	size_t i = from;

	while (i < to && own.use[i] != FREE)
		i++;
	if (i == to || reserve(&own.page->row[i], sizeof(*row)))
		return NULL;
	row = &own.page->row[i];
	memset(row, 0, sizeof(*row));
	snprintf(row->device, sizeof(row->device), "%s", device);
	own.use[i] = USED;
	return row;
}

static struct soft_row *take_ended(const char *device)
{
	size_t i;

	for (i = 0; i < SOFT_PAGE_EPS; i++) {
		if (own.use[i] == ENDED && is_on(&own.page->row[i], device)) {
			own.use[i] = USED;
			return &own.page->row[i];
		}
	}
	return NULL;
}

struct soft_row *pier__soft_page_ep(const char *device, uint16_t port)
{
	struct soft_row *row = NULL;

	pthread_mutex_lock(&own.lock);
	if (!have_page()) {
		row = take_ended(device);
		if (!row)
			row = take(0, SOFT_PAGE_EPS, device);
	}
	if (row) {
		row->local_port = port;
		set_kind(row, SOFT_ROW_EP);
	}
	pthread_mutex_unlock(&own.lock);
	return row;
}

struct soft_row *pier__soft_page_qp(const char *device, uint32_t qpn)
{
	struct soft_row *row = NULL;

	pthread_mutex_lock(&own.lock);
	if (!have_page())
		row = take(SOFT_PAGE_EPS, ROWS, device);
	if (row) {
		row->qpn = qpn;
		set_kind(row, SOFT_ROW_QP);
	}
	pthread_mutex_unlock(&own.lock);
	return row;
}

void pier__soft_page_put(struct soft_row *row)
{
	if (!row)
		return;
	pthread_mutex_lock(&own.lock);
	if (is_own(row)) {
		if (row < &own.page->row[SOFT_PAGE_EPS]) {
			own.use[row - own.page->row] = ENDED;
		} else {
			own.use[row - own.page->row] = FREE;
			set_kind(row, SOFT_ROW_FREE);
		}
	}
	pthread_mutex_unlock(&own.lock);
}

void pier__soft_page_peer(struct soft_row *row, const struct soft_addr *local,
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

void pier__soft_page_sum(const char *device, struct soft_counters *ret)
{
	const struct soft_row *row;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	pthread_mutex_lock(&own.lock);
	for (i = 0; own.page && i < SOFT_PAGE_EPS; i++) {
		row = &own.page->row[i];
		if (own.use[i] != FREE && is_on(row, device))
			pier__soft_sum(&row->counters, ret);
	}
	pthread_mutex_unlock(&own.lock);
}

/* The helper may still be running: the memory stays. */
__attribute__((destructor)) static void leave(void)
{
	if (own.path[0] && own.pid == getpid())
		unlink(own.path);
}
