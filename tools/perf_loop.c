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

	if (err || !perf->conn ||
	    pier_conn_state(perf->conn) == PIER_CONN_CONNECTED)
		return err;
	if (pier_conn_error(perf->conn))
		return perf_err(perf, pier_conn_error(perf->conn), "%s",
				pier_conn_error_text(perf->conn));
	return perf_err(perf, -ENOTCONN, "the peer disconnected after "
			"%" PRIu64 " messages", perf->done);
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
	uint64_t batch = ((uint64_t)perf->send_count + 3) / 4;

	if (perf->opts.batch)
		batch = (uint64_t)perf->opts.batch;
	if (perf->err || perf->is_over || perf->submitted == perf->required)
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

/* The engine's round, and then the clock, if something depends on it. */
static int bw_round(struct perf *perf, uint64_t until)
{
	int err = drive(perf);
	uint64_t now;

	if (err || (until == UINT64_MAX && !perf->live))
		return err;
	now = perf_now();
	perf->is_over = now >= until;
	perf_watch(perf, now, perf->done);
	return 0;
}

/* @count messages, or for @seconds. */
static int run_bw(struct perf *perf, uint64_t count, int seconds)
{
	uint64_t start, until = UINT64_MAX;
	int err = 0;

	perf->required = count;
	perf->submitted = perf->done = 0;
	perf->is_over = false;
	start = perf_now();
	if (seconds)
		until = start + (uint64_t)seconds * 1000000000;
	perf_watch_begin(perf, start);
	for (int i = 0; i < perf->send_count; i++)
		submit_next(&perf->sends[i]);
	while (!err && !perf_interrupted && perf->done < count &&
	       !(perf->is_over && perf->done == perf->submitted))
		err = bw_round(perf, until);
	perf->elapsed = perf_now() - start;
	perf_watch_end(perf);
	return err;
}

static int request_bw(struct perf *perf)
{
	int err;

	for (int i = 0; i < perf->send_count; i++)
		pier_task_set_done(perf->sends[i].task, message_done,
				   &perf->sends[i]);
	err = run_bw(perf, (uint64_t)perf->opts.warmup, 0);
	perf->done = 0;
	if (!err && !perf_interrupted)
		err = run_bw(perf, perf_iterations(perf), perf->opts.seconds);
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

	if (!perf->recv_count)
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
	if (pier_recv_len(task) != perf->size)
		perf_err(perf, -EPROTO, "the echo has %" PRIu32 " bytes, not "
			 "%" PRIu64, pier_recv_len(task), perf->size);
	perf->done++;
}

/* Ctrl-C ends it early: then done is less than required. */
static int run_lap(struct perf *perf, uint64_t *ret_start)
{
	bool echo = perf->recv_count > 0;
	int err;

	perf->done = 0;
	perf->required = echo ? 2 : 1;
	if (echo)
		submit(&perf->recvs[0], 0);
	*ret_start = perf_now();
	submit(&perf->sends[0], 0);
	err = perf->err;
	while (!err && perf->done < perf->required && !perf_interrupted)
		err = drive(perf);
	return err;
}

/* @count laps, or for @seconds. */
static int run_lat(struct perf *perf, uint64_t count, int seconds)
{
	struct perf_hist *hist = &perf->hist;
	uint64_t start, begun = perf_now(), until = UINT64_MAX;
	int err = 0;

	if (seconds)
		until = begun + (uint64_t)seconds * 1000000000;
	perf->finish = begun;
	perf_hist_reset(hist);
	perf_watch_begin(perf, begun);
	while (hist->count < count && perf->finish < until) {
		err = run_lap(perf, &start);
		if (err || perf->done < perf->required)
			break;
		perf_hist_add(hist, perf->finish - start);
		perf_watch(perf, perf->finish, hist->count);
	}
	perf->done = hist->count;
	perf->elapsed = perf->finish - begun;
	perf_watch_end(perf);
	return err;
}

static int request_lat(struct perf *perf)
{
	int err;

	pier_task_set_done(perf->sends[0].task, lap_done, &perf->sends[0]);
	if (perf->recv_count)
		pier_task_set_done(perf->recvs[0].task, echo_done,
				   &perf->recvs[0]);
	err = run_lat(perf, (uint64_t)perf->opts.warmup, 0);
	perf->done = 0;
	if (!err && !perf_interrupted)
		err = run_lat(perf, perf_iterations(perf), perf->opts.seconds);
	return err;
}

static int request_size(struct perf *perf, uint64_t size)
{
	bool lat = perf->opts.measure == PERF_LAT;
	int err = perf_set_size(perf, size);

	perf->done = 0;
	if (!err)
		err = lat ? request_lat(perf) : request_bw(perf);
	if (err)
		return err;
	if (perf->done)
		perf_report_row(perf);
	else if (size == perf->opts.sizes[0])
		return perf_err(perf, -EINTR, "interrupted before a message "
				"was measured");
	return 0;
}

int perf_request(struct perf *perf)
{
	int err = 0;

	perf_watch_start(perf);
	perf_report_begin(perf);
	for (int i = 0; !err && i < perf->opts.size_count; i++) {
		if (perf_interrupted)
			break;
		err = request_size(perf, perf->opts.sizes[i]);
	}
	perf_watch_stop();
	if (!err)
		perf_report_end(perf);
	return err;
}
