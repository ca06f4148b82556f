/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fail.h"
#include "fabric/soft/io/dump.h"
#include "fabric/soft/stats/counters_file.h"
#include "fabric/soft/stats/recorder.h"

#define SECOND INT64_C(1000000000)

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "HUP", SIGHUP }, { "QUIT", SIGQUIT }, { "USR1", SIGUSR1 },
	{ "USR2", SIGUSR2 },
};

/* An eventfd, which is never closed, as the handler may run at any time. */
static int dump_fd = -1;

static void requested(int number)
{
	int err = errno;

	(void)number;
	eventfd_write(dump_fd, 1);	/* a full one is readable as well */
	errno = err;
}

/* 0: PIER_EVENTS names none. */
static int chosen(void)
{
	const char *text = secure_getenv("PIER_EVENTS");

	if (text && !strncmp(text, "SIG", 3))
		text += 3;
	for (size_t i = 0; text && i < sizeof(signals) / sizeof(*signals); i++)
		if (!strcmp(text, signals[i].name))
			return signals[i].number;
	return 0;
}

/* The program's handler remains. */
static void install(int number)
{
	struct sigaction action = { .sa_handler = requested,
				    .sa_flags = SA_RESTART };
	struct sigaction old;

	if (sigaction(number, NULL, &old) || old.sa_handler != SIG_DFL) {
		pier__log(PIER_LOG_WARNING, "soft", "PIER_EVENTS: the program "
			  "has its own handler of signal %d", number);
		return;
	}
	dump_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigemptyset(&action.sa_mask);
	if (dump_fd < 0 || sigaction(number, &action, NULL))
		pier__log(PIER_LOG_WARNING, "soft", "PIER_EVENTS: no handler "
			  "of signal %d: %s", number, pier_strerror(-errno));
}

int pier__soft_dump_fd(void)
{
	static bool looked;
	int number;

	if (!looked) {
		looked = true;
		number = chosen();
		if (number)
			install(number);
	}
	return dump_fd;
}

void pier__soft_dump_clear(void)
{
	eventfd_t count;

	eventfd_read(dump_fd, &count);
}

/* The time of day at which the monotonic clock had @at_ns, in microseconds. */
static void time_of(uint64_t at_ns, char ret[16])
{
	struct timespec now;
	struct tm tm;
	int64_t at;
	time_t seconds;

	clock_gettime(CLOCK_REALTIME, &now);
	at = now.tv_sec * SECOND + now.tv_nsec -
	     (int64_t)(pier__now() - at_ns);
	seconds = (time_t)(at / SECOND);
	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	snprintf(ret, 16, "%02u:%02u:%02u.%06u", (unsigned int)tm.tm_hour % 100,
		 (unsigned int)tm.tm_min % 100, (unsigned int)tm.tm_sec % 100,
		 (unsigned int)(at % SECOND / 1000));
}

static void print(const char *device, const struct pier_conn_event *event)
{
	char at[16];

	time_of(event->at_ns, at);
	fprintf(stderr, "pier: %.*s %s 0x%06" PRIx32 " %s%s%s, PSN %" PRIu32
		", %" PRIu32 " times\n",
		(int)sizeof(((struct soft_row *)0)->device), device, at,
		event->qpn, event->name, event->detail[0] ? " " : "",
		event->detail, event->psn, event->count);
}

/* The ring may be written meanwhile: what is written over is not printed. */
void pier__soft_dump(const struct soft_chan *chan)
{
	const struct soft_events *events = chan->ep->events;
	struct pier_conn_event event;
	uint64_t i;

	if (!events || !chan->row)
		return;
	for (i = pier__soft_event_first(events);
	     i < pier__soft_event_end(events); i++)
		if (pier__soft_event_get(events, i, &event))
			print(chan->row->device, &event);
	fflush(stderr);
}

void pier__soft_dump_conns(void)
{
	const struct soft_qp_events *events;
	struct pier_conn_event event;
	const char *device;
	unsigned int n;
	size_t i;

	for (i = 0; i < SOFT_ROWS_QP; i++) {
		events = pier__soft_conn_events(i, &device);
		for (n = 0; events && n < SOFT_QP_EVENTS; n++)
			if (pier__soft_qp_event_get(events, n, &event))
				print(device, &event);
	}
	fflush(stderr);
}

void pier__soft_dump_forked(void)
{
	int fd = dump_fd;

	if (fd < 0)
		return;
	dump_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	close(fd);
}
