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
	PERF_CONNECT,
	PERF_COMCH,		/* messages of a Comm Channel */
	PERF_REQUEST,		/* its requests, and their replies */
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
#define PERF_OUTSTANDING_ALL 65536	/* on all connections */

/* Connections: of a client; made at a time, or of others, rejected. */
#define PERF_CONNS_MAX 256
#define PERF_CONNS_OTHERS 64
#define PERF_CONNS_CHANNEL 64	/* of a Comm Channel */

/* The memory with --verify. */
#define PERF_VERIFY_MAX (UINT64_C(1) << 30)

#define PERF_SGE_MAX 30

/* Receives of an end that sends no echo; for orders alone, see perf_both.c. */
#define PERF_RECVS 4096
#define PERF_ORDER_RECVS 16

/* What a server without -s takes. */
#define PERF_SERVED (UINT64_C(64) << 20)

/*
 * What both ends send with a connection: the version of the protocol, the
 * parameters.  A rejection has a reason behind its prefix.
 */
#define PERF_VERSION 5
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
struct perf_slot;

/* A connection to the peer. */
struct perf_conn {
	struct perf *perf;
	struct pier_conn *conn;
	uint64_t submitted;		/* of this run */
	struct perf_slot **free;	/* a stack: echoes that can be sent, */
					/* or messages without credits */
	int free_count;
	uint64_t owed;			/* echoes that wait for a free one */
	uint64_t echo_len;		/* their bytes */
	uint64_t sent, taken;		/* messages that were verified */
	struct pier_comch *comch;	/* of its messages and requests */
	struct pier_comch *back;	/* of its server's requests */
	struct pier_comch_conn *client;	/* of the server's comch; NULL: none */
};

/* One message that can be in flight, and its reusable task. */
struct perf_slot {
	struct perf *perf;
	struct perf_conn *conn;		/* NULL: of a copy, or any */
	struct pier_task *task;
	struct pier_buf *src, *dst;	/* NULL: the task has none */
	int index;

	/* perf_verify.c */
	bool is_verified;
	uint64_t seed;			/* chooses the bytes of the message */
	uint64_t count;			/* of atomics, of all sizes */
	struct pier_task *check;	/* reads back what is written */
	struct pier_buf *check_src, *check_dst;
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
	int outstanding;	/* in flight on a connection, bandwidth only */
	int connections;
	int both;		/* directions at once, bandwidth only */
	int sge;		/* pieces of a message's local memory */
	int verify;
	int events;		/* sleep instead of polling */
	int passive;		/* the server does not run its engine */
	int respond;		/* be the passive side */
	int listen;		/* be the server, by address, and passive */
	int json, csv;
	int gbits;		/* Gbit/s instead of GB/s */
	struct tool_faults faults;	/* of this end's device */
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
	struct perf_conn conns[PERF_CONNS_MAX];
	int conn_count;			/* 0: of a copy */
	int open_conns;			/* that have not ended */
	int established;		/* of a server's */
	uint64_t token;			/* of a client, perf_join.c */
	struct perf_slot *sends;	/* sends, writes or reads */
	struct perf_slot *recvs;
	struct perf_slot **free;	/* of all connections */
	int conn_sends, send_count, recv_count;
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
	uint64_t warmed;		/* messages of --warmup, of this size */
	uint64_t timed;			/* messages that were done then */
	uint64_t idle_rounds, idle_since;
	int next_lap;			/* its place in sends */
	struct pier_conn *laps[PERF_CONNS_OTHERS];	/* perf_connect.c */

	/* perf_both.c */
	struct perf_slot order;
	bool is_ordering;		/* it is in flight */
	/* Answers: of the server, still to be sent; at the client. */
	bool owes_start, has_started;
	bool owes_result, has_result;
	uint64_t counted;		/* messages of the server's result */
	uint64_t peer_messages, peer_elapsed;	/* the same, at the client */

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

/* The same of a message that this end has sent: has its reply its size? */
bool perf_sent_ok(struct perf *perf, const struct pier_task *task);

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

/* A latency is half of a round trip, which this end's receive ends. */
bool perf_is_round(const struct perf *perf);

/* It is of a Comm Channel. */
bool perf_is_channel(const struct perf *perf);

/* A send; an atomic; the source is the peer's memory; a write or a read. */
bool perf_is_send(const struct perf *perf);
bool perf_is_atomic(const struct perf *perf);
bool perf_is_fetched(const struct perf *perf);
bool perf_is_plain(enum perf_operation operation);

/*
 * perf_slots.c: how many are needed; memory for them; receives, and messages,
 * which need a connection; and their end.
 */
void perf_slots_count(struct perf *perf);
int perf_requests(const struct perf *perf);	/* of the requester */
int perf_slots_create(struct perf *perf);
int perf_slots_make_recvs(struct perf *perf);
int perf_slots_make_sends(struct perf *perf);
void perf_slots_destroy(struct perf *perf);

/* Send messages of @size from now on. */
int perf_set_size(struct perf *perf, uint64_t size);

/*
 * perf_conns.c: from now on open_conns is counted; the error of the first that
 * has failed, 0: none; the index of one, below 0: it is none of them; has one
 * ended?
 */
void perf_conns_watch(struct perf *perf);
int perf_conns_error(struct perf *perf);
int perf_conns_find(const struct perf *perf, const struct pier_conn *conn);
bool perf_conns_lost(const struct perf *perf);
void perf_conns_disconnect(struct perf *perf);
void perf_conns_destroy(struct perf *perf);

/*
 * perf_join.c: connections behind the first.  The server's token; the request
 * of one; accept or reject it, false: it is another request.
 */
#define PERF_JOIN_LAP 0xffff	/* the index of one of perf_connect.c */
int perf_join_start(struct perf *perf);
void perf_join_make(const struct perf *perf, int index,
		    char ret[PERF_SPEC_SIZE]);
bool perf_join_take(struct perf *perf, struct pier_conn *conn);

/*
 * perf_connect.c: make a connection and end it; *ret_start is its begin.  For
 * connections a second: a round of all, until done is required or it is over;
 * then end those that remain.
 */
int perf_connect_lap(struct perf *perf, uint64_t *ret_start);
int perf_connect_round(struct perf *perf);
int perf_connect_end(struct perf *perf);

/* The peer's address of the first connection.  False: it is not known. */
bool perf_peer_address(const struct perf *perf, char ret[TOOL_ADDRESS_MAX],
		       uint32_t *ret_port);

/*
 * perf_comch.c: a Comm Channel beside the connection: that of the server; that
 * of the client, connected; at a server that sends too, until its client is
 * there; its end, before slots are destroyed, and after.
 */
int perf_comch_serve(struct perf *perf);
int perf_comch_meet(struct perf *perf);
int perf_comch_await(struct perf *perf);
void perf_comch_stop(struct perf *perf);
void perf_comch_destroy(struct perf *perf);

/*
 * A task of @slot; submit it when there are credits; has a request succeeded?
 */
int perf_comch_task(struct perf_slot *slot, struct pier_task **ret);
void perf_comch_defer(struct perf_slot *slot);
int perf_comch_check(struct perf *perf, const struct pier_task *task);

/* Take a slot's task, whose buffers are there. */
int perf_take_task(struct perf *perf, struct perf_slot *slot);

/*
 * perf_cpu.c: run on --cpu.  The host and the processor of this thread as text,
 * and a warning if the peer's are the same.
 */
int perf_cpu_take(struct perf *perf);
void perf_cpu_print(char ret[PERF_CPU_SIZE]);
void perf_cpu_compare(const char *peer);

/*
 * perf_csv.c: is it what --csv has printed?  The same as what --json prints, as
 * far as a picture needs it, owned by the caller; NULL: *ret_line is wrong.
 */
bool perf_csv_is(FILE *file);
json_t *perf_csv_load(FILE *file, int *ret_line);

/* perf_plot.c: pier perf plot.  Returns the exit status. */
int perf_plot(int argc, char *argv[]);

/* perf_spec.c: the client's parameters, and what the server replies. */
void perf_spec_make(const struct perf *perf, char ret[PERF_SPEC_SIZE]);
int perf_spec_take(struct perf *perf, const void *data, size_t len);
void perf_reply_make(const struct perf *perf, char ret[PERF_REPLY_SIZE]);
int perf_reply_take(struct perf *perf, const void *data, size_t len);

/* perf_host.c: a server, by address; and is it one on all devices? */
bool perf_is_server(const struct perf *perf);
bool perf_on_host(const struct perf *perf);

/* Reject a request, for a reason. */
void perf_reject(struct pier_conn *conn, const char *text);

/* Listen; then wait for a client, which sets dev, rdma and conns. */
int perf_host_start(struct perf *perf);
int perf_host_meet(struct perf *perf);

/* The address of -g; "": none is given.  -ENODEV: the device has none such. */
int perf_gid_text(const struct perf *perf, char ret[TOOL_ADDRESS_MAX]);

/* perf_client.c: connect to a server, and get its memory. */
int perf_meet_server(struct perf *perf);

/* perf_setup.c: for its connections; 0: the default. */
uint32_t perf_ack_timeout(const struct perf *perf);

/* perf_setup.c: how many requests a context must take. */
void perf_config(const struct perf *perf, struct pier_rdma_config *ret);

/*
 * perf_memory.c: make local.  How many bytes a usual message may have, a
 * receive has, and the peer's memory must have; where message @i is in the
 * peer's memory, and where this end's is of messages, of receives, and of
 * messages that are read back.
 */
int perf_memory_map(struct perf *perf);
uint64_t perf_shared_size(const struct perf *perf);
uint64_t perf_recv_size(const struct perf *perf);
size_t perf_far_size(const struct perf *perf);
char *perf_far_at(const struct perf *perf, int i);
char *perf_near_at(const struct perf *perf, int i);
char *perf_recv_at(const struct perf *perf, int i);
char *perf_check_at(const struct perf *perf, int i);

/* Slots, memory and receives on dev, for rdma, which runs; and their end. */
int perf_prepare_device(struct perf *perf);
void perf_release_device(struct perf *perf);

/* Connect, compare options with the peer, create every task and buffer. */
int perf_setup(struct perf *perf);

/* Destroy all of it; also after an incomplete setup. */
void perf_teardown(struct perf *perf);

/*
 * Let the engine run once; fails when the time is up, and for a requester when
 * the peer disconnects.
 */
int perf_drive(struct perf *perf);
int perf_drive_request(struct perf *perf);

/*
 * perf_stream.c: submit a slot's task.  Messages for bandwidth: prepare the
 * slots once; submit up to @count messages, of which done are complete, until
 * is_over.
 */
void perf_submit(struct perf_slot *slot, unsigned int flags);
void perf_set_done(struct perf *perf, pier_task_fn *fn);	/* of sends */
uint64_t perf_batch(const struct perf *perf);	/* posted together, of bw */
void perf_stream_prepare(struct perf *perf);
void perf_stream_begin(struct perf *perf, uint64_t count);

/*
 * perf_both.c: both directions.  The client's memory, in its request, and at
 * the server.  Post the receives; then of the client the begin and the end of
 * a run, of the server a round.
 */
int perf_both_export(struct perf *perf, const void **ret, size_t *ret_len);
int perf_both_import(struct perf *perf);
int perf_both_start(struct perf *perf);
int perf_both_begin(struct perf *perf);
int perf_both_end(struct perf *perf);
int perf_both_round(struct perf *perf);

/*
 * perf_verify.c: the memory at @at that message @i of the peer reads; the
 * bytes of the next message of a slot.  Its @task is complete: true: it is
 * being read back, and completes once more.  A message was received.
 */
void perf_verify_lay(struct perf *perf, int i, char *at);
void perf_verify_fill(struct perf_slot *slot);
bool perf_verify_done(struct perf_slot *slot, const struct pier_task *task);
void perf_verify_received(struct perf_slot *slot, const struct pier_task *task);

/*
 * The same of a message of a Comm Channel; the bytes of the answer to the last
 * one.
 */
void perf_verify_message(struct perf_conn *conn, const void *msg, size_t len);
void perf_verify_answer(struct perf_conn *conn, char *ret, size_t len);

/* Count a message that was received, and verify it. */
void perf_count_received(struct perf *perf, struct perf_slot *slot,
			 const struct pier_task *task);

/* Without a peer: the copies of this process. */
int perf_setup_copy(struct perf *perf);

/* The requester's part: measures each size, and reports it. */
int perf_request(struct perf *perf);

/* The responder's part: until the peer disconnects. */
int perf_respond(struct perf *perf);

/*
 * Print what was measured, as text, CSV or JSON: begin, a row for each size,
 * end, also after an error.  The responder has its own report.
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
