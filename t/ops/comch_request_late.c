/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "ops/comch_call.h"
#include "t/lib/clerk.h"
#include "t/lib/tap.h"

/* Cancelled requests with a buffer whose deadlines pass. */

#define LEN 4096
#define QUEUE 4

static struct pier_dev *dev;
static struct ask asks[QUEUE];

/* The memory of the client. */
static struct late_memory {
	struct pier_mmap *mmap;
	struct pier_buf_inventory *inv;
} into;

static bool open_all(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };

	memset(&into, 0, sizeof(into));
	if (!IS(pier_mmap_map(dev, NULL, (size_t)QUEUE * LEN,
			      PIER_LOCAL_WRITE | PIER_REMOTE_WRITE,
			      &into.mmap), 0) ||
	    !IS(pier_buf_inventory_create(QUEUE, &into.inv), 0))
		return false;
	return clerk_open(dev, &cfg, false);
}

static void close_all(void)
{
	clerk_close();
	pier_buf_inventory_destroy(into.inv);
	pier_mmap_destroy(into.mmap);
}

/* Part @i of the memory. */
static struct pier_buf *space(int i)
{
	uint8_t *mem = pier_mmap_addr(into.mmap);
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_addr(into.inv, into.mmap, mem + (size_t)i * LEN, LEN,
			    &buf), 0);
	return buf;
}

/* Submit a request whose reply goes to @buf. */
static void submit_with(struct ask *ask, struct pier_buf *buf)
{
	if (!ask_take(ask, 1, 10))
		return;
	IS(pier_comch_task_set_reply_buf(ask->task, buf), 0);
	IS(pier_task_submit(ask->task, 0), 0);
}

/* As a deadline that passes; the time of its cancel has passed before. */
static void a_deadline_alone_ends_no_connection(void)
{
	struct pier_buf *dst;

	if (open_all()) {
		clerk.later = true;
		dst = space(0);
		submit_with(&asks[0], dst);
		talker_count(&clerk.requested, 1);
		IS(pier_task_cancel(asks[0].task), 0);
		pier__task_force(asks[0].task);
		pier__task_force(asks[0].task);
		ask_ends(&asks[0], -ECANCELED);
		IS(clerk.client.disconnected, 0);
		pier_buf_put(dst);
		if (ask_submit(&asks[0], 1, 1)) {
			IS(pier_task_cancel(asks[0].task), 0);
			pier__task_force(asks[0].task);
			ask_ends(&asks[0], -ECANCELED);
		}
		IS(clerk.client.disconnected, 0);
	}
	close_all();
}

static struct pier__comch_call *call_of(const struct ask *ask)
{
	return (struct pier__comch_call *)ask->task;
}

/* Its time is over in the next round. */
static void pass_time(const struct ask *ask)
{
	call_of(ask)->deadline = 1;
	pier__pe_due(&clerk.client.comch->source, 1);
}

/* The server answers each at once; their deadlines pass before that. */
static void deadlines_of_cancels_that_wait_are_later(void)
{
	struct pier_buf *bufs[QUEUE];

	if (open_all()) {
		clerk.later = true;
		for (int i = 0; i < QUEUE; i++) {
			bufs[i] = space(i);
			submit_with(&asks[i], bufs[i]);
		}
		talker_count(&clerk.requested, QUEUE);
		for (int i = 0; i < QUEUE; i++)
			IS(pier_task_cancel(asks[i].task), 0);
		for (int i = 1; i < QUEUE; i++) {
			pier__task_force(asks[i].task);
			pass_time(&asks[i]);
		}
		pier_pe_progress(clerk.client.pe, 0);
		for (int i = 0; i < QUEUE; i++) {
			ask_ends(&asks[i], -ECANCELED);
			pier_buf_put(bufs[i]);
		}
		IS(talker_violations(&clerk.client), 0);
		IS(clerk.client.disconnected, 0);
	}
	close_all();
}

/* The acknowledgement of a cancel, which the test passes on. */
static struct pier__posted *held;

static void hold(struct pier__posted *posted)
{
	held = posted;
}

static void hold_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__comch_call *call =
		pier__container_of(op, struct pier__comch_call, cancel_op);

	if (pier__conn_done(call->conn->conn, &call->cancel_posted, wc))
		hold(&call->cancel_posted);
}

static void (*succeed)(struct pier__posted *posted);

/* The cancel of a request to @dst is answered, and not acknowledged. */
static bool open_unacknowledged(struct pier_buf **dst)
{
	long long limit = limit_from_now();
	struct pier__comch_call *call;

	if (!open_all() || !ask_take(&asks[0], 1, 1))
		return false;
	clerk.later = true;
	succeed = call_of(&asks[0])->cancel_posted.succeed;
	IS(pier_task_free(asks[0].task), 0);
	held = NULL;
	*dst = space(0);
	submit_with(&asks[0], *dst);
	talker_count(&clerk.requested, 1);
	call = call_of(&asks[0]);
	call->cancel_posted.succeed = hold;
	call->cancel_op.done = hold_done;
	IS(pier_task_cancel(asks[0].task), 0);
	while ((!held || !call->end) && talker_step(limit))
		;
	IS(asks[0].done, 0);
	return OK(call->end && held);
}

/* As its deadline that passes. */
static void force_unacknowledged(void)
{
	pier__task_force(asks[0].task);
	clerk_pause();
	IS(talker_violations(&clerk.client), 0);
}

/* Its time passes, and the connection ends. */
static void ends_unacknowledged(struct pier_buf *dst)
{
	long long limit = limit_from_now();
	const char *text;

	pass_time(&asks[0]);
	while (!talker_violations(&clerk.client) && talker_step(limit))
		;
	succeed(held);		/* as a flushed send, before the end */
	talker_count(&clerk.client.disconnected, 1);
	IS(pier_comch_error(clerk.client.comch, &text), -ETIMEDOUT);
	LIKE(text, "did not acknowledge the cancel");
	ask_ends(&asks[0], -ECANCELED);
	pier_buf_put(dst);
}

static void an_acknowledgement_after_the_deadline_is_in_time(void)
{
	struct pier_buf *dst;

	if (open_unacknowledged(&dst)) {
		force_unacknowledged();
		succeed(held);
		ask_ends(&asks[0], -ECANCELED);
		IS(talker_violations(&clerk.client), 0);
		IS(clerk.client.disconnected, 0);
		pier_buf_put(dst);
	}
	close_all();
}

static void a_cancel_that_is_not_acknowledged_ends_the_connection(void)
{
	struct pier_buf *dst;

	if (open_unacknowledged(&dst)) {
		force_unacknowledged();
		ends_unacknowledged(dst);
	}
	close_all();
}

/* Its task has no deadline that would force it. */
static void an_acknowledgement_has_a_time_without_a_deadline(void)
{
	long long limit = limit_from_now();
	struct pier_buf *dst;

	if (open_unacknowledged(&dst)) {
		pass_time(&asks[0]);
		while (!call_of(&asks[0])->overdue && talker_step(limit))
			;
		IS(talker_violations(&clerk.client), 0);
		ends_unacknowledged(dst);
	}
	close_all();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_deadline_alone_ends_no_connection);
	TEST(deadlines_of_cancels_that_wait_are_later);
	TEST(an_acknowledgement_after_the_deadline_is_in_time);
	TEST(a_cancel_that_is_not_acknowledged_ends_the_connection);
	TEST(an_acknowledgement_has_a_time_without_a_deadline);
	pier_dev_close(dev);
	return tap_done();
}
