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

int perf_drive_request(struct perf *perf)
{
	int err = perf_drive(perf);

	if (err || perf->open_conns == perf->conn_count)
		return err;
	err = perf_conns_error(perf);
	return err ? err : perf_err(perf, -ENOTCONN, "the peer disconnected "
				    "after %" PRIu64 " messages", perf->done);
}

/*
 * When the last messages were complete, as a peer is lost much later.  The
 * clock is read when there is nothing else to do; after all, before sleeping.
 */
static void note_finish(struct perf *perf, uint64_t before)
{
	bool idle = perf->done == before;

	if (perf->timed == perf->done || idle == !!perf->opts.events)
		return;
	perf->timed = perf->done;
	perf->finish = perf_now();
}

/* The engine's round, and then the clock, if something depends on it. */
static int bw_round(struct perf *perf, uint64_t until)
{
	uint64_t before = perf->done, now;
	int err = perf_drive_request(perf);

	if (!err && perf->opts.operation == PERF_CONNECT)
		err = perf_connect_round(perf);
	note_finish(perf, before);
	if (err || (until == UINT64_MAX && !perf->live))
		return err;
	now = perf_now();
	perf->is_over = now >= until;
	perf_watch(perf, now, perf->done);
	return 0;
}

/* Those that are established by then do not count. */
static int end_connects(struct perf *perf)
{
	uint64_t done = perf->done;
	int err = perf_connect_end(perf);

	perf->done = done;
	return err;
}

/* @count messages, or for @seconds. */
static int run_bw(struct perf *perf, uint64_t count, int seconds)
{
	uint64_t start, until = UINT64_MAX;
	int err = 0;

	if (perf->opts.both)
		err = perf_both_begin(perf);
	start = perf_now();
	if (seconds)
		until = start + (uint64_t)seconds * 1000000000;
	perf->finish = start;
	perf->timed = 0;
	perf_watch_begin(perf, start);
	perf_stream_begin(perf, count);
	while (!err && !perf_interrupted && perf->done < count &&
	       !(perf->is_over && perf->done == perf->submitted))
		err = bw_round(perf, until);
	if (!err || perf->timed != perf->done)
		perf->finish = perf_now();
	perf->elapsed = perf->finish - start;
	perf_watch_end(perf);
	if (!err && perf->opts.operation == PERF_CONNECT)
		err = end_connects(perf);
	return !err && perf->opts.both ? perf_both_end(perf) : err;
}

static int request_bw(struct perf *perf)
{
	int err;

	perf_stream_prepare(perf);
	err = run_bw(perf, (uint64_t)perf->opts.warmup, 0);
	perf->warmed = perf->done;
	perf->done = 0;
	if (!err && !perf_interrupted)
		err = run_bw(perf, perf_iterations(perf), perf->opts.seconds);
	return err;
}

/*
 * Latency: one message at a time, of the connections in turn.  A lap ends when
 * a read or write is complete, or when the echo of a send has arrived; the send
 * too must be complete before the next lap.
 */
static void lap_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (!perf_is_round(perf))
		perf->finish = perf_now();
	if (!perf_sent_ok(perf, task))
		return;
	if (slot->is_verified && perf_verify_done(slot, task))
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
	if (perf->opts.verify)
		perf_verify_received(slot, task);
	perf->done++;
}

/* Ctrl-C ends it early: then done is less than required. */
static int run_lap(struct perf *perf, uint64_t *ret_start)
{
	bool echo = perf->recv_count > 0;
	int err;

	perf->done = 0;
	perf->required = perf_is_round(perf) ? 2 : 1;
	if (echo)
		perf_submit(&perf->recvs[0], 0);
	*ret_start = perf_now();
	perf_submit(&perf->sends[perf->next_lap], 0);
	perf->next_lap = (perf->next_lap + 1) % perf->send_count;
	err = perf->err;
	while (!err && perf->done < perf->required && !perf_interrupted)
		err = perf_drive_request(perf);
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
	perf->elapsed = 0;
	perf_hist_reset(hist);
	perf_watch_begin(perf, begun);
	while (hist->count < count && perf->finish < until) {
		err = perf->opts.operation == PERF_CONNECT ?
		      perf_connect_lap(perf, &start) : run_lap(perf, &start);
		if (err || perf->done < perf->required)
			break;
		perf_hist_add(hist, perf->finish - start);
		perf->elapsed = perf->finish - begun;
		perf_watch(perf, perf->finish, hist->count);
	}
	perf->done = hist->count;
	perf_watch_end(perf);
	return err;
}

static int request_lat(struct perf *perf)
{
	int err;

	perf_set_done(perf, lap_done);
	if (perf->recv_count)
		pier_task_set_done(perf->recvs[0].task, echo_done,
				   &perf->recvs[0]);
	err = run_lat(perf, (uint64_t)perf->opts.warmup, 0);
	perf->warmed = perf->done;
	perf->done = 0;
	if (!err && !perf_interrupted)
		err = run_lat(perf, perf_iterations(perf), perf->opts.seconds);
	return err;
}

/* What was measured before an error is reported, too. */
static int request_size(struct perf *perf, uint64_t size)
{
	bool lat = perf->opts.measure == PERF_LAT;
	int err = perf_set_size(perf, size);

	perf->done = 0;
	if (!err)
		err = lat ? request_lat(perf) : request_bw(perf);
	if (perf->done)
		perf_report_row(perf);
	else if (!err && size == perf->opts.sizes[0])
		err = perf_err(perf, -EINTR, "interrupted before a message "
			       "was measured, after %" PRIu64 " of the %d of "
			       "--warmup", perf->warmed, perf->opts.warmup);
	return err;
}

int perf_request(struct perf *perf)
{
	int err = 0;

	perf_watch_start(perf);
	perf_report_begin(perf);
	if (perf->opts.both)
		err = perf_both_start(perf);
	for (int i = 0; !err && i < perf->opts.size_count; i++) {
		if (perf_interrupted)
			break;
		err = request_size(perf, perf->opts.sizes[i]);
	}
	perf_watch_stop();
	perf_report_end(perf);
	return err;
}
