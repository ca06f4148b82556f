/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fabric/soft/stats/counters_file.h"
#include "t/lib/tap.h"

/* The events of a counters file: of its connections, and what is none. */
static char dir[] = "/tmp/pier-events.XXXXXX";
static struct soft_counters_file file;

static void put_timeout(struct soft_event *ring, uint64_t number, uint32_t qpn,
			uint64_t at)
{
	ring[number] = (struct soft_event){
		.number = number, .at = at, .qpn = qpn, .count = 1,
		.kind = SOFT_EVENT_TIMEOUT,
	};
}

/* A device with a connection, which has @count timeouts. */
static void make_file(uint64_t count)
{
	struct soft_row *row = file.row;
	uint64_t i;

	memset(&file, 0, sizeof(file));
	memcpy(file.magic, SOFT_COUNTERS_MAGIC, sizeof(SOFT_COUNTERS_MAGIC));
	file.version = SOFT_COUNTERS_VERSION;
	file.size = sizeof(file);
	pier__soft_counters_file_self(&file);
	row[0].kind = SOFT_ROW_EP;
	strcpy(row[0].device, "soft_x");
	row[SOFT_ROWS_EP].kind = SOFT_ROW_QP;
	row[SOFT_ROWS_EP].qpn = 5;
	strcpy(row[SOFT_ROWS_EP].device, "soft_x");
	file.qp_events[0].count = count;
	for (i = 1; i <= count; i++)
		put_timeout(file.qp_events[0].event, i, 5, 20 * i);
}

/* As of a process that runs: its descriptor, which has the lock. */
static int put_file(char path[128])
{
	char name[64];
	int fd;

	pier__soft_counters_file_name(name, sizeof(name), geteuid(), getpid(),
				      1);
	snprintf(path, 128, "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	OK(fd >= 0);
	IS(write(fd, &file, sizeof(file)), sizeof(file));
	IS(flock(fd, LOCK_EX | LOCK_NB), 0);
	return fd;
}

/* How many events the device has; the QPN of the first one. */
static size_t read_events(uint32_t *ret_first)
{
	struct pier__counteds list = { 0 };
	char path[128];
	size_t count = 0;
	int fd = put_file(path);

	*ret_first = 0;
	IS(pier__soft_counters_file_list(0, &list), 0);
	if (OK(list.count))
		count = list.row[0].event_count;
	if (count)
		*ret_first = list.row[0].events[0].qpn;
	pier__counteds_free(&list);
	close(fd);
	unlink(path);
	return count;
}

/* By their time. */
static void events_of_connections_are_among_those_of_their_device(void)
{
	uint32_t first;

	make_file(2);
	file.events[0].count = 1;
	put_timeout(file.events[0].event, 1, 0, 30);
	IS(read_events(&first), 3);
	IS(first, 5);
	put_timeout(file.events[0].event, 1, 0, 10);
	IS(read_events(&first), 3);
	IS(first, 0);
}

static void events_of_all_connections_are_read(void)
{
	uint32_t first, i;

	make_file(1);
	for (i = 1; i < SOFT_ROWS_QP; i++) {
		file.row[SOFT_ROWS_EP + i] = file.row[SOFT_ROWS_EP];
		file.qp_events[i] = file.qp_events[0];
	}
	IS(read_events(&first), SOFT_ROWS_QP);
}

static void events_of_no_connection_are_omitted(void)
{
	struct soft_row *row = &file.row[SOFT_ROWS_EP];
	uint32_t first;

	make_file(1);
	IS(read_events(&first), 1);
	row->kind = SOFT_ROW_FREE;
	IS(read_events(&first), 0);
	row->kind = SOFT_ROW_QP;
	row->qpn = 0;
	IS(read_events(&first), 0);
	row->qpn = 5;
	strcpy(row->device, "soft_y");
	IS(read_events(&first), 0);
	memset(row->device, 'x', sizeof(row->device));
	IS(read_events(&first), 0);
}

static void events_that_no_process_writes_are_omitted(void)
{
	uint32_t first;

	make_file(1);
	file.qp_events[0].count = UINT64_MAX;
	IS(read_events(&first), 0);
	file.qp_events[0].count = 2;
	IS(read_events(&first), 1);
	memset(file.qp_events, 0xff, sizeof(file.qp_events));
	memset(file.events, 0xff, sizeof(file.events));
	IS(read_events(&first), 0);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 99;
	pier__soft_counters_dir = dir;
	TEST(events_of_connections_are_among_those_of_their_device);
	TEST(events_of_all_connections_are_read);
	TEST(events_of_no_connection_are_omitted);
	TEST(events_that_no_process_writes_are_omitted);
	rmdir(dir);
	return tap_done();
}
