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

/* Copy the file @name in @dir.  Returns its descriptor, or -1. */
static int open_file(int dir, const char *name, struct soft_counters_file *file,
		     struct stat *st)
{
	int fd;

	fd = openat(dir, name, OPEN_FLAGS);
	if (fd < 0)
		return -1;
	if (fstat(fd, st) || !S_ISREG(st->st_mode) ||
	    st->st_size != sizeof(*file) ||
	    pread(fd, file, sizeof(*file), 0) != sizeof(*file) ||
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

/* Add to the device of that name, from @from on.  False: there is none. */
static bool add_to_device(struct pier__counteds *list, size_t from,
			  const struct pier__counted *one)
{
	struct pier__counted *row;
	size_t i, j;

	for (i = from; i < list->count; i++) {
		row = &list->row[i];
		if (row->what.qpn || strcmp(row->what.device, one->what.device))
			continue;
		for (j = 0; j < one->count; j++)
			row->values[j] += one->values[j];
		return true;
	}
	return false;
}

/* Append the connections on @device. */
static int add_conns(const struct soft_counters_file *file, const char *device,
		     struct pier__counteds *list)
{
	struct pier__counted one;
	int i, err = 0;

	for (i = SOFT_ROWS_EP; !err && i < ROWS; i++) {
		if (file->row[i].kind != SOFT_ROW_QP || !file->row[i].qpn)
			continue;
		describe(file, &file->row[i], &one);
		if (!strcmp(one.what.device, device))
			err = pier__counteds_add(list, &one);
	}
	return err;
}

static int add_file(const struct soft_counters_file *file,
		    struct pier__counteds *list)
{
	struct pier__counteds devices = { 0 };
	struct pier__counted one;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < SOFT_ROWS_EP; i++) {
		if (file->row[i].kind != SOFT_ROW_EP)
			continue;
		describe(file, &file->row[i], &one);
		if (!add_to_device(&devices, 0, &one))
			err = pier__counteds_add(&devices, &one);
	}
	for (i = 0; !err && i < devices.count; i++) {
		err = pier__counteds_add(list, &devices.row[i]);
		if (!err)
			err = add_conns(file, devices.row[i].what.device, list);
	}
	free(devices.row);
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

/* Read one file, or remove it if its process is dead and this user's. */
static int look(int dir, const char *name, int pid,
		struct soft_counters_file *file, struct pier__counteds *list)
{
	struct stat st;
	int fd, err = 0;

	fd = open_file(dir, name, file, &st);
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

int pier__soft_counters_file_list(int pid, struct pier__counteds *list)
{
	struct soft_counters_file *file;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	dir = opendir(pier__soft_counters_dir);
	if (!dir)
		return 0;	/* there are no files */
	file = malloc(sizeof(*file));
	if (!file)
		err = pier__fail(-ENOMEM, "no memory for a counters file");
	while (!err && (entry = readdir(dir))) {
		if (list && list->count > COUNTED_MAX)
			break;
		if (list ? is_name(entry->d_name, pid) :
			   is_own(dirfd(dir), entry->d_name))
			err = look(dirfd(dir), entry->d_name, pid, file, list);
	}
	free(file);
	closedir(dir);
	return err;
}
