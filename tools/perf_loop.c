/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include "perf.h"

/* So many rounds without an event pass before the clock is looked at. */
#define IDLE_ROUNDS 4096

/* Polling has no timeout of its own: count time in which nothing happens. */
static int check_idle(struct perf *perf)
{
	uint64_t limit = (uint64_t)perf->args.timeout_ms * 1000000;
	uint64_t now;

	if (++perf->idle_rounds % IDLE_ROUNDS)
		return 0;
	now = perf_now();
	if (perf->idle_rounds == IDLE_ROUNDS)
		perf->idle_since = now;
	if (now - perf->idle_since <= limit)
		return 0;
	return perf_err(perf, -ETIMEDOUT, "the peer has sent nothing for %d "
			"ms", perf->args.timeout_ms);
}

int perf_drive(struct perf *perf)
{
	int n;

	if (perf->opts.events) {
		n = pier_pe_wait(perf->pe, perf->args.timeout_ms);
		return n ? perf_fail(perf, n) : perf->err;
	}
	n = pier_pe_progress(perf->pe, 0);
	if (n < 0)
		return perf_fail(perf, n);
	if (!n)
		return perf->err ? perf->err : check_idle(perf);
	perf->idle_rounds = 0;
	return perf->err;
}

/* As perf_drive(), for a requester, which fails when the peer disconnects. */
static int drive(struct perf *perf)
{
	int err = perf_drive(perf);

	if (err || pier_conn_state(perf->conn) == PIER_CONN_CONNECTED)
		return err;
	if (pier_conn_error(perf->conn))
		return perf_err(perf, pier_conn_error(perf->conn), "%s",
				pier_conn_error_text(perf->conn));
	return perf_err(perf, -ENOTCONN, "the peer disconnected after %d of "
			"%d messages", perf->done, perf->required);
}

static void submit(struct perf_slot *slot, unsigned int flags)
{
	struct perf *perf = slot->perf;
	int err;

	if (slot->dst)
		pier_buf_reset(slot->dst);	/* all of it is tail space */
	err = pier_task_submit(slot->task, flags);
	if (err)
		perf_fail(perf, err);
}

/*
 * Bandwidth: every slot is submitted again as soon as it is done.  A quarter
 * of them are posted and complete together: with all in one batch, nothing
 * would be in flight while the next batch is built.
 */
static void submit_next(struct perf_slot *slot)
{
	struct perf *perf = slot->perf;
	int batch = (perf->send_count + 3) / 4;

	if (perf->err || perf->submitted == perf->required)
		return;
	perf->submitted++;
	submit(slot, perf->submitted % batch ? PIER_SUBMIT_MORE : 0);
}

static void message_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (!perf_task_ok(perf, task))
		return;
	perf->done++;
	submit_next(slot);
}

static int run_bw(struct perf *perf, int count)
{
	uint64_t start;
	int i, err = 0;

	perf->required = count;
	perf->submitted = perf->done = 0;
	start = perf_now();
	for (i = 0; i < perf->send_count; i++)
		submit_next(&perf->sends[i]);
	while (!err && perf->done < count)
		err = drive(perf);
	perf->elapsed = perf_now() - start;
	return err;
}

static int request_bw(struct perf *perf)
{
	int i, err;

	for (i = 0; i < perf->send_count; i++)
		pier_task_set_done(perf->sends[i].task, message_done,
				   &perf->sends[i]);
	err = run_bw(perf, perf->opts.warmup);
	if (!err)
		err = run_bw(perf, perf->opts.iterations);
	return err;
}

/*
 * Latency: one message at a time.  A lap ends when a read or write is complete,
 * or when the echo of a send has arrived; the send too must be complete before
 * the next lap.
 */
static void lap_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (perf->opts.operation != PERF_SEND)
		perf->finish = perf_now();
	if (!perf_task_ok(perf, task))
		return;
	perf->done++;
}

static void echo_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	perf->finish = perf_now();
	if (!perf_task_ok(perf, task))
		return;
	if (pier_recv_len(task) != perf->opts.size)
		perf_err(perf, -EPROTO, "the echo has %" PRIu32 " bytes, not "
			 "%" PRIu64, pier_recv_len(task), perf->opts.size);
	perf->done++;
}

static int run_lap(struct perf *perf, uint64_t *ret)
{
	bool send = perf->opts.operation == PERF_SEND;
	uint64_t start;
	int err;

	perf->done = 0;
	perf->required = send ? 2 : 1;
	if (send)
		submit(&perf->recvs[0], 0);
	start = perf_now();
	submit(&perf->sends[0], 0);
	err = perf->err;
	while (!err && perf->done < perf->required)
		err = drive(perf);
	if (err)
		return err;
	*ret = perf->finish - start;
	return 0;
}

static int request_lat(struct perf *perf)
{
	uint64_t unused;
	int i, err = 0;

	pier_task_set_done(perf->sends[0].task, lap_done, &perf->sends[0]);
	if (perf->recv_count)
		pier_task_set_done(perf->recvs[0].task, echo_done,
				   &perf->recvs[0]);
	for (i = 0; !err && i < perf->opts.warmup; i++)
		err = run_lap(perf, &unused);
	for (i = 0; !err && i < perf->opts.iterations; i++)
		err = run_lap(perf, &perf->laps[i]);
	return err;
}

int perf_request(struct perf *perf)
{
	return perf->opts.measure == PERF_LAT ? request_lat(perf) :
					       request_bw(perf);
}
