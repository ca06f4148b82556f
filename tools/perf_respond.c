/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"

#define PASSIVE_NS 100000000	/* from one round of a passive server on */

void perf_count_received(struct perf *perf, struct perf_slot *slot,
			 const struct pier_task *task)
{
	uint64_t len = pier_recv_len(task);

	perf->received++;
	if (len > perf->longest)
		perf->longest = len;
	if (perf->opts.verify)
		perf_verify_received(slot, task);
}

static void keep_free(struct perf_slot *slot)
{
	slot->conn->free[slot->conn->free_count++] = slot;
}

/* Send the pending echoes of a connection, as far as sends are free. */
static void echo(struct perf_conn *conn)
{
	struct perf *perf = conn->perf;

	while (!perf->err && conn->owed && conn->free_count) {
		struct perf_slot *slot = conn->free[--conn->free_count];
		char *at = pier_buf_head(slot->src);
		int err;

		pier_buf_set_data(slot->src, at, conn->echo_len);
		if (slot->is_verified)
			perf_verify_fill(slot);
		err = pier_task_submit(slot->task, 0);
		if (err == -ENOTCONN) {	/* the peer ends it: so does the loop */
			keep_free(slot);
			return;
		}
		if (err)
			perf_fail(perf, err);
		conn->owed--;
	}
}

static void echo_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf_conn *conn = slot->conn;

	if (!perf_task_ok(slot->perf, task))
		return;
	keep_free(slot);
	echo(conn);
}

static void message_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;
	struct perf_conn *conn;
	uint64_t len;

	if (!perf_task_ok(perf, task))
		return;
	conn = pier_conn_user_data(pier_task_conn(task));
	len = pier_recv_len(task);
	perf_count_received(perf, slot, task);
	perf_submit(slot, 0);	/* before the echo: the peer sends again */
	if (perf->send_count && conn) {
		conn->echo_len = len;
		conn->owed++;
		echo(conn);
	}
}

/* Until the peer has ended all connections, or one has failed. */
static int serve(struct perf *perf, int (*round)(struct perf *perf))
{
	int err = perf->err;

	while (!err && perf->open_conns) {
		err = round(perf);
		if (!err && perf->open_conns < perf->conn_count)
			err = perf_conns_error(perf);
	}
	return err ? err : perf_conns_error(perf);
}

static int serve_sends(struct perf *perf)
{
	int i, err;

	for (i = 0; i < perf->send_count; i++) {
		pier_task_set_done(perf->sends[i].task, echo_done,
				   &perf->sends[i]);
		keep_free(&perf->sends[i]);
	}
	for (i = 0; i < perf->recv_count && !perf->err; i++) {
		pier_task_set_done(perf->recvs[i].task, message_done,
				   &perf->recvs[i]);
		perf_submit(&perf->recvs[i], 0);
	}
	err = serve(perf, perf_drive);
	if (err)
		return err;
	if (!perf->received)
		return perf_err(perf, -ENOMSG, "the peer disconnected without "
				"sending");
	return 0;
}

static int sleep_round(struct perf *perf)
{
	int err = pier_pe_wait(perf->pe, -1);

	return err ? perf_fail(perf, err) : 0;
}

/* The engine is run only to find the end. */
static int passive_round(struct perf *perf)
{
	const struct timespec pause = { .tv_nsec = PASSIVE_NS };
	int n;

	nanosleep(&pause, NULL);
	n = pier_pe_progress(perf->pe, 0);
	return n < 0 ? perf_fail(perf, n) : 0;
}

/* Until the peer disconnects, or Enter. */
static int serve_once(struct perf *perf)
{
	struct pier_conn *conns[PERF_CONNS_MAX];
	int err;

	for (int i = 0; i < perf->conn_count; i++)
		conns[i] = perf->conns[i].conn;
	if (!perf->opts.json)
		tool_message("pier perf: serving until the peer disconnects; "
			     "Enter or Ctrl-C ends it");
	err = pier_rendezvous_serve_many(conns,
					 (unsigned int)perf->conn_count);
	return err ? perf_fail(perf, err) : 0;
}

/* The device executes reads and writes: sleep until it is over. */
static int serve_memory(struct perf *perf)
{
	if (perf->opts.passive)
		return serve(perf, passive_round);
	return perf->stays ? serve(perf, sleep_round) : serve_once(perf);
}

/* As a requester, too. */
static int serve_both(struct perf *perf)
{
	int err = perf_both_start(perf);

	return err ? err : serve(perf, perf_both_round);
}

int perf_respond(struct perf *perf)
{
	int err;

	if (perf->opts.both)
		err = serve_both(perf);
	else if (perf->opts.operation == PERF_CONNECT || perf_is_channel(perf))
		err = serve(perf, perf_drive);
	else
		err = perf_receives(perf) ? serve_sends(perf) :
					    serve_memory(perf);
	if (!err)
		perf_report_served(perf);
	return err;
}
