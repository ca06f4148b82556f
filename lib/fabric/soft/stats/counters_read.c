/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.h"
#include "fabric/soft/stats/counters_file.h"

/*
 * The writer of a file may be hostile, to root at least.  A mapped file could
 * be truncated meanwhile, so it is copied and then checked.
 */
#define ROWS (SOFT_ROWS_EP + SOFT_ROWS_QP)
#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define COUNTED_MAX 65536	/* devices and connections in all */

_Static_assert(sizeof(((struct pier__counted *)0)->values) >=
	       sizeof(struct soft_counters), "a place for each counter");

/* When the process @pid was started, in ticks; 0: there is none. */
static uint64_t start_of(uint32_t pid)
{
	char path[40], text[1024], *field;
	uint64_t start = 0;
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	/* The 22nd field; the second, the name, ends with the last bracket. */
	field = strrchr(text, ')');
	for (i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (field)
		start = strtoull(field, NULL, 10);
	return start;
}

static uint64_t pids_here(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

void pier__soft_counters_file_self(struct soft_counters_file *file)
{
	file->uid = geteuid();
	file->pid = (uint32_t)getpid();
	file->pids = pids_here();
	file->start = start_of(file->pid);
	snprintf(file->program, sizeof(file->program), "%s",
		 program_invocation_short_name);
}

/*
 * The lock is held by the process or by its children.  In our namespace of
 * process numbers the process itself must also run, with the same start time.
 */
static bool is_alive(int fd, const struct soft_counters_file *file)
{
	if (!flock(fd, LOCK_SH | LOCK_NB)) {
		flock(fd, LOCK_UN);
		return false;
	}
	return file->pids != pids_here() || file->start == start_of(file->pid);
}

static bool is_counters_file(const struct soft_counters_file *file,
			     const struct stat *st)
{
	return !memcmp(file->magic, SOFT_COUNTERS_MAGIC,
		       sizeof(SOFT_COUNTERS_MAGIC)) &&
	       file->version == SOFT_COUNTERS_VERSION &&
	       file->size == sizeof(*file) && file->uid == st->st_uid &&
	       file->pid && file->pid <= INT32_MAX;
}

/* Copy @len bytes of the file @name in @dir.  Returns its descriptor, or -1. */
static int open_file(int dir, const char *name, struct soft_counters_file *file,
		     size_t len, struct stat *st)
{
	int fd;

	fd = openat(dir, name, OPEN_FLAGS);
	if (fd < 0)
		return -1;
	if (fstat(fd, st) || !S_ISREG(st->st_mode) ||
	    st->st_size != sizeof(*file) ||
	    pread(fd, file, len, 0) != (ssize_t)len ||
	    !is_counters_file(file, st)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Printable characters only: the text is shown on a terminal. */
static void copy_text(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i]; i++)
		to[i] = isprint((unsigned char)from[i]) ? from[i] : '?';
	to[i] = '\0';
}

static void describe(const struct soft_counters_file *file,
		     const struct soft_row *row, struct pier__counted *one)
{
	bool qp = row->kind == SOFT_ROW_QP;
	size_t i;

	memset(one, 0, sizeof(*one));
	one->what.pid = (int)file->pid;
	one->what.pid_namespace = file->pids;
	one->what.start = file->start;
	copy_text(one->what.program, file->program, sizeof(one->what.program));
	copy_text(one->what.device, row->device, sizeof(one->what.device));
	if (qp) {
		one->what.qpn = row->qpn;
		one->what.peer_qpn = row->peer_qpn;
		one->what.local_port = row->local_port;
		one->what.peer_port = row->peer_port;
		memcpy(one->what.local_gid, row->local_ip, 16);
		memcpy(one->what.peer_gid, row->peer_ip, 16);
	}
	one->names = pier__soft_counter_names;
	one->count = qp ? SOFT_COUNTERS : SOFT_COUNTERS_EP;
	for (i = 0; i < one->count; i++)
		one->values[i] = pier__soft_counter(&row->counters, i);
}

static int by_time(const void *a, const void *b)
{
	uint64_t one = ((const struct pier_conn_event *)a)->at_ns;
	uint64_t other = ((const struct pier_conn_event *)b)->at_ns;

	return one < other ? -1 : one > other;
}

/* Have space for @more events of @dev. */
static int reserve_events(struct pier__counted *dev, size_t more)
{
	size_t size = dev->event_count + more;
	struct pier_conn_event *all;

	all = realloc(dev->events, size * sizeof(*all));
	if (!all)
		return pier__fail(-ENOMEM, "no memory for %zu events", size);
	dev->events = all;
	return 0;
}

/* Append the events of one endpoint to those of its device. */
static int add_events(const struct soft_events *events,
		      struct pier__counted *dev)
{
	uint64_t i, first = pier__soft_event_first(events);
	int err;

	if (!events->count)
		return 0;
	err = reserve_events(dev, SOFT_EVENTS);
	for (i = 0; !err && i < SOFT_EVENTS; i++)
		if (pier__soft_event_get(events, first + i,
					 &dev->events[dev->event_count]))
			dev->event_count++;
	return err;
}

/* The same of one connection. */
static int add_qp_events(const struct soft_qp_events *events,
			 struct pier__counted *dev)
{
	unsigned int i;
	int err;

	if (!events->count)
		return 0;
	err = reserve_events(dev, SOFT_QP_EVENTS);
	for (i = 0; !err && i < SOFT_QP_EVENTS; i++)
		if (pier__soft_qp_event_get(events, i,
					    &dev->events[dev->event_count]))
			dev->event_count++;
	return err;
}

/* Add to the device of that name.  NULL: there is none. */
static struct pier__counted *add_to_device(struct pier__counteds *list,
					   const struct pier__counted *one)
{
	struct pier__counted *row;
	size_t i, j;

	for (i = 0; i < list->count; i++) {
		row = &list->row[i];
		if (row->what.qpn || strcmp(row->what.device, one->what.device))
			continue;
		for (j = 0; j < one->count; j++)
			row->values[j] += one->values[j];
		return row;
	}
	return NULL;
}

static bool is_conn(const struct soft_row *row)
{
	return row->kind == SOFT_ROW_QP && row->qpn;
}

/* Append the events of the connections on @dev; all are in order then. */
static int add_conn_events(const struct soft_counters_file *file,
			   struct pier__counted *dev)
{
	char device[sizeof(dev->what.device)];
	int i, err = 0;

	for (i = 0; !err && i < SOFT_ROWS_QP; i++) {
		if (!is_conn(&file->row[SOFT_ROWS_EP + i]))
			continue;
		copy_text(device, file->row[SOFT_ROWS_EP + i].device,
			  sizeof(device));
		if (!strcmp(device, dev->what.device))
			err = add_qp_events(&file->qp_events[i], dev);
	}
	if (dev->event_count)
		qsort(dev->events, dev->event_count, sizeof(*dev->events),
		      by_time);
	return err;
}

/* Append the connections on @device. */
static int add_conns(const struct soft_counters_file *file, const char *device,
		     struct pier__counteds *list)
{
	struct pier__counted one;
	int i, err = 0;

	for (i = SOFT_ROWS_EP; !err && i < ROWS; i++) {
		if (!is_conn(&file->row[i]))
			continue;
		describe(file, &file->row[i], &one);
		if (!strcmp(one.what.device, device))
			err = pier__counteds_add(list, &one);
	}
	return err;
}

static int add_endpoint(const struct soft_counters_file *file, size_t i,
			struct pier__counteds *devices)
{
	struct pier__counted one, *dev;
	int err;

	describe(file, &file->row[i], &one);
	dev = add_to_device(devices, &one);
	if (!dev) {
		err = pier__counteds_add(devices, &one);
		if (err)
			return err;
		dev = &devices->row[devices->count - 1];
	}
	return add_events(&file->events[i], dev);
}

static int add_file(const struct soft_counters_file *file,
		    struct pier__counteds *list)
{
	struct pier__counteds devices = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; !err && i < SOFT_ROWS_EP; i++)
		if (file->row[i].kind == SOFT_ROW_EP)
			err = add_endpoint(file, i, &devices);
	for (i = 0; !err && i < devices.count; i++) {
		err = add_conn_events(file, &devices.row[i]);
		if (!err)
			err = pier__counteds_add(list, &devices.row[i]);
		if (err)
			break;
		devices.row[i].events = NULL;	/* the list owns them */
		err = add_conns(file, devices.row[i].what.device, list);
	}
	pier__counteds_free(&devices);
	return err;
}

/* Is @name "pier.UID.PID." and a random number? */
static bool is_name(const char *name, int pid)
{
	int whose, at = 0;
	unsigned int uid;

	return sscanf(name, "pier.%u.%d.%n", &uid, &whose, &at) == 2 && at &&
	       (!pid || whose == pid);
}

/* Is @name exactly what a process of this user would choose? */
static bool is_own_name(const char *name)
{
	unsigned int uid, pid;
	uint64_t number;
	char again[64];

	if (sscanf(name, "pier.%u.%u.%" SCNx64, &uid, &pid, &number) != 3)
		return false;
	pier__soft_counters_file_name(again, sizeof(again), geteuid(), pid,
				      number);
	return !strcmp(name, again);
}

/* Is @name in @dir a file of this user, by name and owner? */
static bool is_own(int dir, const char *name)
{
	struct stat st;

	return is_own_name(name) &&
	       !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_uid == geteuid();
}

/*
 * Remove the file of a dead process of another version of pier, whose contents
 * are unknown: name, owner and mode show that it is this user's.  Each version
 * locks its file before it names it, for the life of the process.
 */
static void sweep_foreign(int dir, const char *name)
{
	struct stat st;
	int fd;

	if (!is_own_name(name))
		return;
	fd = openat(dir, name, OPEN_FLAGS);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (st.st_mode & 07777) == 0600 && st.st_uid == geteuid() &&
	    !flock(fd, LOCK_SH | LOCK_NB))
		unlinkat(dir, name, 0);
	close(fd);
}

/* Read one file, whether its process has ended or not. */
static int look_any(int dir, const char *name, int pid,
		    struct soft_counters_file *file,
		    struct pier__counteds *list)
{
	struct stat st;
	int fd = open_file(dir, name, file, sizeof(*file), &st);

	if (fd < 0)
		return 0;
	close(fd);
	return !pid || (int)file->pid == pid ? add_file(file, list) : 0;
}

/* Read one file, or remove it if its process is dead and this user's. */
static int look(int dir, const char *name, int pid,
		struct soft_counters_file *file, struct pier__counteds *list)
{
	/* Who only removes files needs their heads. */
	size_t len = list ? sizeof(*file) :
			    offsetof(struct soft_counters_file, row);
	struct stat st;
	int fd, err = 0;

	fd = open_file(dir, name, file, len, &st);
	if (fd < 0) {
		sweep_foreign(dir, name);
		return 0;
	}
	if (!is_alive(fd, file)) {
		if (st.st_uid == geteuid())
			unlinkat(dir, name, 0);
	} else if (list && (!pid || (int)file->pid == pid)) {
		err = add_file(file, list);
	}
	close(fd);
	return err;
}

/* A folder that the user names exists; without the usual one are no files. */
static int no_folder(const char *second)
{
	int err = errno;

	return second ? pier__fail(-err, "PIER_COUNTERS_DIR: %s: %s", second,
				   pier_strerror(err)) : 0;
}

int pier__soft_counters_file_list(int pid, struct pier__counteds *list)
{
	struct soft_counters_file *file;
	const char *second = list ? pier__soft_counters_second() : NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	dir = opendir(second ? second : pier__soft_counters_dir);
	if (!dir)
		return no_folder(second);
	file = malloc(sizeof(*file));
	if (!file)
		err = pier__fail(-ENOMEM, "no memory for a counters file");
	while (!err && (entry = readdir(dir))) {
		if (list && list->count > COUNTED_MAX)
			break;
		if (list ? is_name(entry->d_name, pid) :
			   is_own(dirfd(dir), entry->d_name))
			err = (second ? look_any : look)(
				dirfd(dir), entry->d_name, pid, file, list);
	}
	if (!err && second && pid && !list->count)
		err = pier__fail(-ENOENT, "process %d has no counters file in "
				 "%s, the folder of PIER_COUNTERS_DIR", pid,
				 second);
	free(file);
	closedir(dir);
	return err;
}
