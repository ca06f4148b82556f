/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_PERF_H
#define PIER_TOOLS_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <pier/pier.h>

#include "tool.h"

enum perf_measure { PERF_LAT, PERF_BW };
enum perf_operation { PERF_SEND, PERF_WRITE, PERF_READ };

struct perf;

/* One message that can be in flight, and its reusable task. */
struct perf_slot {
	struct perf *perf;
	struct pier_task *task;
	struct pier_buf *src, *dst;	/* NULL: the task has none */
};

/* The options of the command line. */
struct perf_options {
	enum perf_measure measure;
	enum perf_operation operation;
	uint64_t size;		/* bytes of a message */
	int iterations;		/* messages that are measured */
	int warmup;		/* messages before them */
	int outstanding;	/* messages in flight, bandwidth only */
	int events;		/* sleep instead of polling */
	int respond;		/* be the passive side */
	int listen;		/* be the server, by address, and passive */
	int json;
};

struct perf {
	struct pier_args args;
	struct perf_options opts;
	char address[TOOL_ADDRESS_MAX];	/* of --listen; "": any */

	char device[TOOL_DEVICE_MAX];	/* that has it, if none is named */

	/* made by perf_setup() */
	struct pier_host *host;		/* owns dev and rdma; NULL: none */
	bool met;			/* conn was established there */
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_mmap *local, *remote;
	struct pier_buf_inventory *inv;
	struct pier_conn *conn;
	struct perf_slot *sends;	/* sends, writes or reads */
	struct perf_slot *recvs;
	int send_count, recv_count;
	uint64_t *laps;			/* nanoseconds, one an iteration */

	/* while it runs */
	int note_status;		/* of reading the responder's note */
	int err;			/* the first failure */
	char reason[512];		/* its error message */
	int required, submitted, done;	/* messages of this run */
	uint64_t finish;		/* when the last message was done */
	uint64_t idle_rounds, idle_since;
	struct perf_slot **free;	/* echoes that can be sent, a stack */
	int free_count;
	uint64_t owed;			/* echoes that wait for a free one */

	uint64_t elapsed;		/* nanoseconds of the measured run */
	uint64_t received;		/* messages, by the responder */
};

const char *perf_measure_name(const struct perf *perf);
const char *perf_operation_name(const struct perf *perf);

/*
 * Store the first failure and its message, of pier or of the tool itself.  Both
 * return @err.
 */
int perf_fail(struct perf *perf, int err);
int perf_err(struct perf *perf, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Has the finished @task succeeded?  Its failure is stored, unless it was
 * cancelled: then the error of the connection is the reason.
 */
bool perf_task_ok(struct perf *perf, const struct pier_task *task);

/*
 * perf_where.c: take the word after the operation, NULL: none, the server's
 * address or with --listen where to listen.  2: it is wrong, and was reported.
 */
int perf_where(struct perf *perf, const char *place);

/* The address of --listen is one of the device's: choose it. */
int perf_own_address(struct perf *perf);

/* For what it waits, and how to end it. */
void perf_print_waiting(const struct perf *perf);

/* perf_host.c: is this a server on all devices of its host? */
bool perf_on_host(const struct perf *perf);

/* Listen; then wait for a client, which sets dev, rdma and conn. */
int perf_host_start(struct perf *perf);
int perf_host_meet(struct perf *perf);

/* perf_setup.c: how many requests a context must take. */
void perf_config(const struct perf *perf, struct pier_rdma_config *ret);

/* Memory and receives on dev, for rdma, which runs; and their end. */
int perf_prepare_device(struct perf *perf);
void perf_release_device(struct perf *perf);

/* Connect, compare options with the peer, create every task and buffer. */
int perf_setup(struct perf *perf);

/* Destroy all of it; also after an incomplete setup. */
void perf_teardown(struct perf *perf);

/* Let the engine run once; fails when the time is up. */
int perf_drive(struct perf *perf);

/* The requester's part: fills in laps or elapsed. */
int perf_request(struct perf *perf);

/* The responder's part: until the peer disconnects. */
int perf_respond(struct perf *perf);

/* Print what was measured, as text or JSON. */
void perf_report(const struct perf *perf);

static inline uint64_t perf_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
