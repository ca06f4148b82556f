/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ping.h"
#include "tool.h"

#define PAUSE_US 100e3		/* before a rejected request is sent again */

static void print_error(struct ping *p, const char *what)
{
	if (p->once)
		snprintf(p->reason, sizeof(p->reason), "%s", what);
	else
		tool_message("pier ping: %s: %s", p->args.argv[0], what);
}

/* Drive the engine until @until, in ping_now()'s time, or stopped. */
static void drive(struct ping *p, double until)
{
	double left = until - ping_now();

	pier_pe_wait(p->pe, left > 0 ? (int)(left / 1e3) + 1 : 0);
}

static double deadline(const struct ping *p)
{
	return ping_now() + p->args.timeout_ms * 1e3;
}

/* Close the connection: the next round makes another one. */
static void close_conn(struct ping *p)
{
	pier_conn_disconnect(p->conn);
	pier_conn_destroy(p->conn);
	p->conn = NULL;
	pier_mmap_destroy(p->remote);
	p->remote = NULL;
}

static int connect_to(struct ping *p, double until)
{
	double left = (until - ping_now()) / 1e3;
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = p->args.argv[0],
		.port = TOOL_PORT,
		.timeout_ms = left > 1 ? (uint32_t)left : 1,
	};
	const void *desc;
	size_t len;
	int err;

	until += 1e6;		/* the context's timeout is first */
	err = pier_rdma_connect_to(p->rdma, &cfg, &p->conn);
	if (err)
		return err;
	while (pier_conn_state(p->conn) == PIER_CONN_INIT && !ping_stopped &&
	       ping_now() < until)
		drive(p, until);
	if (ping_stopped)
		return -EINTR;
	err = pier_conn_wait(p->conn, 0);
	snprintf(p->source, sizeof(p->source), "%s",
		 pier_conn_local_address(p->conn));
	p->rejected = pier_conn_reject_reason(p->conn);
	p->connected = !err;
	if (!err)
		err = pier_conn_private_data(p->conn, &desc, &len);
	if (!err)
		err = pier_mmap_create_from_export(p->dev, desc, len,
						   &p->remote);
	if (!err && pier_mmap_len(p->remote) < PING_MEMORY) {
		print_error(p, "the peer is not pier ping --listen");
		return -EPROTO;
	}
	p->is_ping = !err;
	return err;
}

/* Once, unless the output is for a program. */
static void print_waiting(struct ping *p)
{
	if (!p->json && !p->waiting)
		tool_message("pier ping: waiting %d s for pier ping --listen "
			     "on %s; Ctrl-C ends it",
			     (p->args.timeout_ms + 999) / 1000,
			     p->args.argv[0]);
	p->waiting = true;
}

/*
 * Does the failure mean that the peer has not started yet?  It may start until
 * @until; after that rounds without it are counted as lost.
 */
static bool may_start(struct ping *p, int err, double until)
{
	double next = ping_now() + PAUSE_US;

	if (p->once || p->begun > 0 ||
	    (err != -ECONNREFUSED && err != -EADDRINUSE))
		return false;
	print_waiting(p);
	while (!ping_stopped && ping_now() < next && ping_now() < until)
		drive(p, next < until ? next : until);
	return !ping_stopped && ping_now() < until;
}

/* Connect, unless there is a connection. */
static int ready(struct ping *p)
{
	double until = deadline(p);
	char reason[512] = "";
	int err;

	if (p->conn && pier_conn_state(p->conn) == PIER_CONN_CONNECTED)
		return 0;
	do {
		close_conn(p);
		err = connect_to(p, until);
		/* The last attempt may have no time for a reply. */
		if (err && err != -EINTR && (err != -ETIMEDOUT || !reason[0]))
			snprintf(reason, sizeof(reason), "%s",
				 pier_last_error());
	} while (may_start(p, err, until));
	if (!err)
		return 0;
	if (reason[0] && err != -EPROTO)
		print_error(p, reason);
	close_conn(p);
	return err;
}

static void op_done(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

/* A buffer of our own memory, and one of the peer's; either may fail. */
static int buffers(struct ping *p, enum ping_op op, struct pier_buf **ret_ours,
		   struct pier_buf **ret_theirs)
{
	char *ours = pier_mmap_addr(p->local);
	char *theirs = pier_mmap_addr(p->remote);
	size_t len = op == PING_ATOMIC ? 8 : p->size;
	bool read = op == PING_READ || op == PING_ATOMIC;
	int err;

	if (op == PING_ATOMIC)
		theirs += PING_WORD_AT;
	err = read ? pier_buf_by_addr(p->inv, p->local, ours, len, ret_ours) :
		     pier_buf_by_data(p->inv, p->local, ours, len, ret_ours);
	if (!err)
		err = op == PING_WRITE ?
			      pier_buf_by_addr(p->inv, p->remote, theirs, len,
					       ret_theirs) :
			      pier_buf_by_data(p->inv, p->remote, theirs, len,
					       ret_theirs);
	return err;
}

/*
 * The reply to a send is received into the second half of our memory.  A
 * receive that remains from a lost connection is used for the next one.
 */
static int expect_echo(struct ping *p)
{
	char *at = (char *)pier_mmap_addr(p->local) + PING_SIZE_MAX;
	int err = 0;

	if (p->echo == -EINPROGRESS)
		return 0;
	if (!p->echo_buf)
		err = pier_buf_by_addr(p->inv, p->local, at, PING_SIZE_MAX,
				       &p->echo_buf);
	if (err)
		return err;
	pier_buf_set_data(p->echo_buf, at, 0);
	err = pier_rdma_receive(p->rdma, p->echo_buf, op_done, &p->echo);
	if (!err)
		p->echo = -EINPROGRESS;
	return err;
}

/* The reply must be what was sent. */
static int check_echo(struct ping *p)
{
	const char *sent = pier_mmap_addr(p->local);

	if (pier_buf_data_len(p->echo_buf) == p->size &&
	    !memcmp(sent, sent + PING_SIZE_MAX, p->size))
		return 0;
	print_error(p, "the reply is not what was sent");
	return -EPROTO;
}

static int submit(struct ping *p, enum ping_op op, struct pier_buf *ours,
		  struct pier_buf *theirs)
{
	p->status = -EINPROGRESS;
	switch (op) {
	case PING_SEND:
		return pier_rdma_send(p->conn, ours, op_done, &p->status);
	case PING_WRITE:
		return pier_rdma_write(p->conn, ours, theirs, op_done,
				       &p->status);
	case PING_READ:
		return pier_rdma_read(p->conn, theirs, ours, op_done,
				      &p->status);
	default:
		return pier_rdma_fetch_add(p->conn, theirs, ours, 1, op_done,
					   &p->status);
	}
}

static bool pending(const struct ping *p, enum ping_op op)
{
	return p->status == -EINPROGRESS ||
	       (op == PING_SEND && p->echo == -EINPROGRESS);
}

/* End what is in flight; this closes the connection. */
static int give_up(struct ping *p)
{
	char reason[512];
	bool failed = pier_conn_error(p->conn) != 0;

	snprintf(reason, sizeof(reason), "%s", failed ?
		 pier_conn_error_text(p->conn) : "no reply in time");
	if (!ping_stopped)
		print_error(p, reason);
	close_conn(p);
	while (p->status == -EINPROGRESS)
		pier_pe_wait(p->pe, 100);
	return ping_stopped ? -EINTR : -ETIMEDOUT;
}

static int wait_done(struct ping *p, enum ping_op op)
{
	double until = deadline(p);

	while (pending(p, op) && !ping_stopped && ping_now() < until &&
	       (p->status == -EINPROGRESS || !p->status) &&
	       pier_conn_state(p->conn) == PIER_CONN_CONNECTED)
		drive(p, until);
	if (pending(p, op) || p->status)
		return give_up(p);
	return op == PING_SEND ? check_echo(p) : 0;
}

static void count(struct ping_stat *stat, double us)
{
	if (!stat->count || us < stat->min)
		stat->min = us;
	if (us > stat->max)
		stat->max = us;
	stat->count++;
	stat->sum += us;
	stat->squares += us * us;
}

static int round_trip(struct ping *p, enum ping_op op, double *ret_us)
{
	struct pier_buf *ours = NULL, *theirs = NULL;
	double begun;
	int err;

	err = buffers(p, op, &ours, &theirs);
	if (!err && op == PING_SEND)
		err = expect_echo(p);
	begun = ping_now();
	if (!err)
		err = submit(p, op, ours, theirs);
	if (err)
		print_error(p, pier_last_error());
	else
		err = wait_done(p, op);
	if (!err) {
		*ret_us = ping_now() - begun;
		count(&p->stats[op], *ret_us);
	}
	pier_buf_put(theirs);
	pier_buf_put(ours);
	return err;
}

static int one_round(struct ping *p)
{
	double us[PING_OPS] = { 0 };
	int op, err = ready(p);

	if (err == -EINTR)
		return err;
	p->sent++;
	memset(pier_mmap_addr(p->local), (int)p->sent, p->size);
	for (op = 0; op < PING_OPS && !err; op++)
		if (p->ops[op])
			err = round_trip(p, op, &us[op]);
	if (err == -EINTR)
		p->sent--;
	if (err)
		return err;
	p->answered++;
	ping_report_round(p, p->sent, us);
	return 0;
}

static int start(struct ping *p)
{
	int err;

	err = pier_ctx_start(pier_rdma_ctx(p->rdma), p->pe);
	if (!err)
		err = pier_mmap_alloc(p->dev, 2 * PING_SIZE_MAX, NULL,
				      &p->local);
	if (err)
		print_error(p, pier_last_error());
	return err;
}

/* There was no peer until the timeout or the stop. */
static int never_connected(struct ping *p, double begun)
{
	p->begun = begun;
	p->sent = 1;
	ping_report_all(p);
	return 1;
}

int ping_try(struct ping *p)
{
	int err = start(p);

	if (!err)
		err = ready(p);
	if (!err)
		err = one_round(p);
	close_conn(p);
	return err;
}

int ping_client(struct ping *p)
{
	double next;

	if (start(p))
		return 1;
	next = ping_now();
	if (ready(p))
		return never_connected(p, next);
	ping_report_begin(p);
	p->begun = next = ping_now();
	while (!ping_stopped) {
		one_round(p);
		if (p->count && p->sent >= (uint64_t)p->count)
			break;
		next += p->interval_us;
		while (!ping_stopped && ping_now() < next)
			drive(p, next);
	}
	ping_report_all(p);
	close_conn(p);
	return p->answered ? 0 : 1;
}
