/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "perf.h"

/* Messages for bandwidth: so many are in flight until it is over. */

void perf_submit(struct perf_slot *slot, unsigned int flags)
{
	struct perf *perf = slot->perf;
	struct pier_buf *buf;
	int err;

	for (buf = slot->dst; buf; buf = pier_buf_next(buf))
		pier_buf_reset(buf);		/* all of it is tail space */
	if (slot->is_verified)
		perf_verify_fill(slot);
	err = perf_is_channel(perf) ? pier_task_try_submit(slot->task, flags) :
				      pier_task_submit(slot->task, flags);
	if (err == -EAGAIN && perf_is_channel(perf))
		perf_comch_defer(slot);
	else if (err)
		perf_fail(perf, err);
}

void perf_set_done(struct perf *perf, pier_task_fn *fn)
{
	for (int i = 0; i < perf->send_count; i++) {
		struct perf_slot *slot = &perf->sends[i];

		pier_task_set_done(slot->task, fn, slot);
		if (slot->check)
			pier_task_set_done(slot->check, fn, slot);
	}
}

uint64_t perf_batch(const struct perf *perf)
{
	if (perf->opts.batch)
		return (uint64_t)perf->opts.batch;
	return ((uint64_t)perf->conn_sends + 3) / 4;
}

/*
 * Bandwidth: every slot is submitted again as soon as it is done.  A quarter
 * of those of a connection are posted and complete together: with all in one
 * batch, nothing would be in flight while the next batch is built.
 */
static void submit_next(struct perf_slot *slot)
{
	struct perf *perf = slot->perf;
	uint64_t batch = perf_batch(perf);
	uint64_t *count = slot->conn ? &slot->conn->submitted :
				       &perf->submitted;

	if (perf->err || perf->is_over || perf->submitted == perf->required)
		return;
	perf->submitted++;
	if (slot->conn)
		slot->conn->submitted++;
	perf_submit(slot, *count % batch ? PIER_SUBMIT_MORE : 0);
}

static void message_done(struct pier_task *task, void *arg)
{
	struct perf_slot *slot = arg;
	struct perf *perf = slot->perf;

	if (!perf_sent_ok(perf, task))
		return;
	if (slot->is_verified && perf_verify_done(slot, task))
		return;
	perf->done++;
	submit_next(slot);
}

void perf_stream_prepare(struct perf *perf)
{
	perf_set_done(perf, message_done);
}

void perf_stream_begin(struct perf *perf, uint64_t count)
{
	perf->required = count;
	perf->submitted = perf->done = 0;
	perf->is_over = false;
	for (int i = 0; i < perf->conn_count; i++)
		perf->conns[i].submitted = 0;
	for (int i = 0; i < perf->send_count; i++)
		submit_next(&perf->sends[i]);
}
