/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf.h"

/* Send the pending echoes, as far as sends are free. */
static void echo(struct perf *perf)
{
	while (!perf->err && perf->owed && perf->free_count) {
		struct perf_slot *slot = perf->free[--perf->free_count];
		char *at = pier_buf_head(slot->src);
		int err;

		pier_buf_set_data(slot->src, at, perf->echo_len);
		err = pier_task_submit(slot->task, 0);
		if (err == -ENOTCONN) {	/* the peer ends it: so does the loop */
			perf->free[perf->free_count++] = slot;
			return;
		}
		if (err)
			perf_fail(perf, err);
		perf->owed--;
	}
}

static void echo_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (!perf_task_ok(perf, task))
		return;
	perf->free[perf->free_count++] = slot;
	echo(perf);
}

static void post(struct perf_slot *slot)
{
	int err;

	pier_buf_reset(slot->dst);
	err = pier_task_submit(slot->task, 0);
	if (err)
		perf_fail(slot->perf, err);
}

static void message_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (!perf_task_ok(perf, task))
		return;
	perf->echo_len = pier_recv_len(task);
	if (perf->echo_len > perf->longest)
		perf->longest = perf->echo_len;
	perf->received++;
	post(slot);		/* before the echo: the peer sends again */
	if (perf->send_count) {
		perf->owed++;
		echo(perf);
	}
}

static int serve_sends(struct perf *perf)
{
	int i, err = 0;

	for (i = 0; i < perf->send_count; i++) {
		pier_task_set_done(perf->sends[i].task, echo_done,
				   &perf->sends[i]);
		perf->free[perf->free_count++] = &perf->sends[i];
	}
	for (i = 0; i < perf->recv_count && !perf->err; i++) {
		pier_task_set_done(perf->recvs[i].task, message_done,
				   &perf->recvs[i]);
		post(&perf->recvs[i]);
	}
	err = perf->err;
	while (!err && pier_conn_state(perf->conn) == PIER_CONN_CONNECTED)
		err = perf_drive(perf);
	if (err)
		return err;
	if (pier_conn_error(perf->conn))
		return perf_err(perf, pier_conn_error(perf->conn), "%s",
				pier_conn_error_text(perf->conn));
	if (!perf->received)
		return perf_err(perf, -ENOMSG, "the peer disconnected without "
				"sending");
	return 0;
}

/* The device executes reads and writes: sleep until it is over. */
static int serve_memory(struct perf *perf)
{
	int err = 0;

	if (!perf->stays) {
		if (!perf->opts.json)
			tool_message("pier perf: serving until the peer "
				     "disconnects; Enter or Ctrl-C ends it");
		err = pier_rendezvous_serve(perf->conn);
		return err ? perf_fail(perf, err) : 0;
	}
	while (!err && pier_conn_state(perf->conn) == PIER_CONN_CONNECTED)
		err = pier_pe_wait(perf->pe, -1);
	if (err)
		return perf_fail(perf, err);
	if (pier_conn_error(perf->conn))
		return perf_err(perf, pier_conn_error(perf->conn), "%s",
				pier_conn_error_text(perf->conn));
	return 0;
}

int perf_respond(struct perf *perf)
{
	int err = perf_receives(perf) ? serve_sends(perf) : serve_memory(perf);

	if (!err)
		perf_report_served(perf);
	return err;
}
