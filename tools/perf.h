/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_PERF_H
#define PIER_TOOLS_PERF_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <pier/pier.h>

#include "tool.h"

enum perf_measure { PERF_LAT, PERF_BW };
enum perf_operation {
	PERF_SEND,
	PERF_SEND_IMM,
	PERF_WRITE,
	PERF_WRITE_IMM,
	PERF_READ,
	PERF_FETCH_ADD,
	PERF_COMPARE_SWAP,
	PERF_COPY,		/* by the CPU, without a peer */
};

/* Sizes of messages: the largest, and how many are measured in one run. */
#define PERF_SIZE_MAX (UINT64_C(1) << 31)
#define PERF_SIZES_MAX 64

/*
 * Without a number of messages: so many, or fewer if they have more than so
 * many bytes, but not less than the third.
 */
#define PERF_ITERATIONS UINT64_C(10000)
#define PERF_BYTES (UINT64_C(1) << 30)
#define PERF_ITERATIONS_MIN UINT64_C(100)

#define PERF_OUTSTANDING_MAX 4096

/* What a server without -s takes. */
#define PERF_SERVED (UINT64_C(64) << 20)

/*
 * What both ends send with a connection: the version of the protocol, the
 * parameters.  A rejection has a reason behind its prefix.
 */
#define PERF_VERSION 2
#define PERF_SPEC_SIZE 16
#define PERF_REPLY_SIZE 128
#define PERF_CPU_SIZE 64
#define PERF_REJECT "pier-perf: "
#define PERF_REJECT_MAX 140
#define PERF_BUSY "busy"

/* The begin of the responder's memory: its note, see perf_setup.c. */
#define PERF_NOTE_SIZE 4096

/* Of nanoseconds; perf_hist.c. */
#define PERF_BUCKETS (58 * 128)
struct perf_hist {
	uint64_t count, sum, min, max;
	uint64_t buckets[PERF_BUCKETS];
};

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
	uint64_t size;		/* bytes of the largest message */
	const char *size_list;	/* "64,4K"; NULL: none */
	int all;		/* the powers of two */
	uint64_t sizes[PERF_SIZES_MAX];
	int size_count;
	int iterations;		/* messages that are measured; 0: default */
	int seconds;		/* or so long; 0: iterations */
	int warmup;		/* messages before them */
	int cpu;		/* to run on; -1: any */
	int batch;		/* posted together; 0: a quarter */
	int inline_size;	/* bytes; 0: as many as cost nothing */
	int outstanding;	/* messages in flight, bandwidth only */
	int events;		/* sleep instead of polling */
	int respond;		/* be the passive side */
	int listen;		/* be the server, by address, and passive */
	int json, csv;
	int gbits;		/* Gbit/s instead of GB/s */
};

struct perf {
	struct pier_args args;
	struct perf_options opts;
	char address[TOOL_ADDRESS_MAX];	/* of --listen; "": any */
	bool stays;			/* serves any client, then the next */
	bool quiet;			/* it has printed where it listens */

	char device[TOOL_DEVICE_MAX];	/* that has it, if none is named */

	/* made by perf_setup() */
	struct pier_host *host;		/* owns dev and rdma; NULL: none */
	bool met;			/* a server's client is connected */
	uint64_t size_limit;		/* of a server's clients */
	struct perf_options given;	/* before the client's were taken */
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_dma *dma;		/* of copies alone */
	struct pier_mmap *local, *remote;
	struct pier_buf_inventory *inv;
	struct pier_conn *conn;
	struct perf_slot *sends;	/* sends, writes or reads */
	struct perf_slot *recvs;
	int send_count, recv_count;
	struct perf_hist hist;		/* of laps */
	json_t *results;		/* of the sizes so far, for JSON */

	/* while it runs */
	int note_status;		/* of reading the responder's note */
	int err;			/* the first failure */
	char reason[512];		/* its error message */
	uint64_t size;			/* bytes of the messages now */
	uint64_t required, submitted, done;	/* messages of this run */
	bool is_over;			/* no more are submitted */
	uint64_t finish;		/* when the last message was done */
	uint64_t idle_rounds, idle_since;
	struct perf_slot **free;	/* echoes that can be sent, a stack */
	int free_count;
	uint64_t owed;			/* echoes that wait for a free one */

	uint64_t echo_len;		/* their bytes */

	uint64_t elapsed;		/* nanoseconds of the measured run */
	uint64_t received;		/* messages, by the responder */
	uint64_t longest;		/* bytes of the longest of them */

	/* perf_watch.c */
	bool live;			/* a line is printed each second */
	uint64_t begun, ticked, next_tick, ticked_count;
};

const char *perf_measure_name(const struct perf *perf);
const char *perf_operation_name(const struct perf *perf);

/* perf_sizes.c: which are measured.  2: it is wrong, and was reported. */
int perf_sizes(struct perf *perf);

/* How many messages of this size; UINT64_MAX: the time ends it. */
uint64_t perf_iterations(const struct perf *perf);

/* perf_hist.c: laps, and the value that @permille of 1000 do not exceed. */
void perf_hist_reset(struct perf_hist *hist);
void perf_hist_add(struct perf_hist *hist, uint64_t value);
uint64_t perf_hist_rank(const struct perf_hist *hist, uint64_t permille);

/*
 * perf_watch.c: Ctrl-C sets perf_interrupted, from start to stop; a second one
 * ends the process.  begin and end are those of a run.
 */
extern volatile sig_atomic_t perf_interrupted;
void perf_watch_start(struct perf *perf);
void perf_watch_stop(void);
void perf_watch_begin(struct perf *perf, uint64_t now);
void perf_watch_print(struct perf *perf, uint64_t now, uint64_t count);
void perf_watch_end(struct perf *perf);

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

/* perf.c: words of the command line; below 0, NULL: there is no such one. */
int perf_measure_of(const char *word);
int perf_operation_of(const char *word);
const char *perf_measure_word(unsigned int measure);
const char *perf_operation_word(unsigned int operation);

/* perf_kind.c: what an operation needs.  The responder's receives; its echo. */
bool perf_receives(const struct perf *perf);
bool perf_echoes(const struct perf *perf);

/* An atomic; the source is the peer's memory; a write or a read. */
bool perf_is_atomic(const struct perf *perf);
bool perf_is_fetched(const struct perf *perf);
bool perf_is_plain(enum perf_operation operation);

/* Take a slot's task, whose buffers are there. */
int perf_take_task(struct perf *perf, struct perf_slot *slot);

/*
 * perf_cpu.c: run on --cpu.  The host and the processor of this thread as text,
 * and a warning if the peer's are the same.
 */
int perf_cpu_take(struct perf *perf);
void perf_cpu_print(char ret[PERF_CPU_SIZE]);
void perf_cpu_compare(const char *peer);

/* perf_plot.c: pier perf plot.  Returns the exit status. */
int perf_plot(int argc, char *argv[]);

/* perf_spec.c: the client's parameters, and what the server replies. */
void perf_spec_make(const struct perf *perf, char ret[PERF_SPEC_SIZE]);
int perf_spec_take(struct perf *perf, const void *data, size_t len);
void perf_reply_make(char ret[PERF_REPLY_SIZE]);
int perf_reply_take(struct perf *perf, const void *data, size_t len);

/* perf_host.c: a server, by address; and is it one on all devices? */
bool perf_is_server(const struct perf *perf);
bool perf_on_host(const struct perf *perf);

/* Listen; then wait for a client, which sets dev, rdma and conn. */
int perf_host_start(struct perf *perf);
int perf_host_meet(struct perf *perf);

/* The address of -g; "": none is given.  -ENODEV: the device has none such. */
int perf_gid_text(const struct perf *perf, char ret[TOOL_ADDRESS_MAX]);

/* perf_client.c: connect to a server, and get its memory. */
int perf_meet_server(struct perf *perf);

/* perf_setup.c: how many requests a context must take. */
void perf_config(const struct perf *perf, struct pier_rdma_config *ret);

/* Slots, memory and receives on dev, for rdma, which runs; and their end. */
int perf_prepare_device(struct perf *perf);
void perf_release_device(struct perf *perf);

/* Connect, compare options with the peer, create every task and buffer. */
int perf_setup(struct perf *perf);

/* Destroy all of it; also after an incomplete setup. */
void perf_teardown(struct perf *perf);

/* Let the engine run once; fails when the time is up. */
int perf_drive(struct perf *perf);

/* Without a peer: the copies of this process. */
int perf_setup_copy(struct perf *perf);

/* The requester's part: measures each size, and reports it. */
int perf_request(struct perf *perf);

/* Send messages of @size from now on. */
int perf_set_size(struct perf *perf, uint64_t size);

/* The responder's part: until the peer disconnects. */
int perf_respond(struct perf *perf);

/*
 * Print what was measured, as text, CSV or JSON: begin, a row for each size,
 * end.  The responder has its own report.
 */
void perf_report_begin(struct perf *perf);
void perf_report_row(struct perf *perf);
void perf_report_end(struct perf *perf);
void perf_report_served(const struct perf *perf);

/* The live line after this message? */
static inline void perf_watch(struct perf *perf, uint64_t now, uint64_t count)
{
	if (now >= perf->next_tick)
		perf_watch_print(perf, now, count);
}

static inline uint64_t perf_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
