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
		int err = pier_task_submit(slot->task, 0);

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
	if (pier_recv_len(task) != perf->opts.size) {
		perf_err(perf, -EPROTO, "the peer sends %" PRIu32 " bytes, "
			 "this end has -s %" PRIu64,
			 pier_recv_len(task), perf->opts.size);
		return;
	}
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

int perf_respond(struct perf *perf)
{
	int err;

	if (perf->opts.operation == PERF_SEND)
		return serve_sends(perf);
	/* The device executes reads and writes. */
	if (!perf->opts.json)
		tool_message("pier perf: serving until the peer disconnects; "
			     "Enter or Ctrl-C ends it");
	err = pier_rendezvous_serve(perf->conn);
	return err ? perf_fail(perf, err) : 0;
}
