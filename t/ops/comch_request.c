/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "ops/comch_call.h"
#include "t/lib/clerk.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Requests on a Comm Channel, and their replies. */

#define MANY 2000
#define QUEUE 4
#define BIG 16
#define LEN 100
#define SHORT_MS 20

static struct pier_dev *dev;
static struct ask asks[BIG];

static void a_request_has_its_reply(void)
{
	static const size_t lens[] = { 0, 1, 17, 4080 };

	if (clerk_open(dev, NULL, false)) {
		for (unsigned int i = 0; i < 4; i++)
			if (ask_submit(&asks[0], i, lens[i]))
				ask_has(&asks[0], i, lens[i]);
		IS(clerk.requested, 4);
		talker_count(&clerk.ended, 4);
		IS(clerk.failed, 0);
	}
	clerk_close();
}

static void a_request_is_run_like_any_task(void)
{
	struct pier_task *task;
	char reply[8] = "";

	if (clerk_open(dev, NULL, true) &&
	    IS(pier_comch_task_request(clerk.client.conn, "hello", 6, reply,
				       sizeof(reply), &task), 0)) {
		IS(pier_task_type(task), PIER_TASK_COMCH_REQUEST);
		IS(pier_task_run(task, LIMIT_MS), 0);
		IS_STR(reply, "hello");
		IS(pier_comch_reply_len(task), 6);
		IS(pier_comch_task_set_request(task, "again", 6, reply,
					       sizeof(reply)), 0);
		IS(pier_task_once(task, LIMIT_MS), 0);
		IS_STR(reply, "again");
	}
	clerk_close();
}


static void submit_all(int count)
{
	for (int i = 0; i < count; i++)
		ask_submit(&asks[i], (unsigned int)i, LEN);
	talker_count(&clerk.requested, count);
}

static void reply_to(int i)
{
	uint8_t reply[LEN];

	for (size_t at = 0; at < LEN; at++)
		reply[at] = peer_byte((unsigned int)i, at);
	IS(pier_comch_reply(clerk.server.comch, clerk.handles[i], reply, LEN),
	   0);
}

static bool open_later(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };

	if (!clerk_open(dev, &cfg, false))
		return false;
	clerk.later = true;
	return true;
}

static void replies_come_later_in_any_order(void)
{
	static const int order[QUEUE] = { 2, 0, 3, 1 };

	if (open_later()) {
		submit_all(QUEUE);
		clerk_pause();
		IS(asks[0].done + asks[1].done + asks[2].done + asks[3].done,
		   0);
		for (int i = 0; i < QUEUE; i++) {
			reply_to(order[i]);
			ask_has(&asks[order[i]], (unsigned int)order[i], LEN);
		}
	}
	clerk_close();
}

static void is_void(uint64_t handle)
{
	struct pier_comch *comch = clerk.server.comch;

	IS(pier_comch_reply(comch, handle, "x", 1), -ESTALE);
	IS(pier_comch_refuse(comch, handle), -ESTALE);
	IS(pier_comch_reply_buf(comch, handle, NULL), -ESTALE);
	OK(!pier_comch_request_conn(comch, handle));
	IS(pier_comch_reply_max(comch, handle), 0);
	IS(pier_comch_reply_buf_max(comch, handle), 0);
}

static void a_request_is_replied_to_once(void)
{
	uint64_t handle;

	if (open_later()) {
		submit_all(1);
		handle = clerk.handles[0];
		OK(pier_comch_request_conn(clerk.server.comch, handle) ==
		   clerk.server.conn);
		IS(pier_comch_reply_max(clerk.server.comch, handle), 4080);
		reply_to(0);
		is_void(handle);
		ask_has(&asks[0], 0, LEN);
		talker_count(&clerk.ended, 1);
		IS(clerk.last == handle, true);
		is_void(handle);
		is_void(0);
		is_void(handle + 1);
		is_void(UINT64_MAX);
		clerk.later = false;
		if (ask_submit(&asks[0], 1, LEN))
			ask_has(&asks[0], 1, LEN);
		is_void(handle);
	}
	clerk_close();
}

static void a_refused_request_fails(void)
{
	if (open_later()) {
		submit_all(1);
		IS(pier_comch_refuse(clerk.server.comch, clerk.handles[0]), 0);
		talker_count(&asks[0].done, 1);
		LIKE(pier_task_error_text(asks[0].task), "refused");
		ask_ends(&asks[0], -EREMOTEIO);
	}
	clerk_close();
}

static void a_server_without_a_callback_is_named(void)
{
	if (clerk_open(dev, NULL, false)) {
		pier_comch_set_request_callbacks(clerk.server.comch, NULL,
						 NULL);
		if (ask_submit(&asks[0], 1, LEN)) {
			talker_count(&asks[0].done, 1);
			LIKE(pier_task_error_text(asks[0].task),
			     "takes no requests");
			ask_ends(&asks[0], -EOPNOTSUPP);
		}
		IS(talker_send(clerk.client.conn, 1, LEN), 0);
	}
	clerk_close();
}

static void a_late_reply_is_dropped(void)
{
	if (open_later() && ask_take(&asks[0], 1, LEN)) {
		IS(pier_task_set_timeout_ms(asks[0].task, SHORT_MS), 0);
		IS(pier_task_submit(asks[0].task, 0), 0);
		talker_count(&asks[0].done, 1);
		LIKE(pier_task_error_text(asks[0].task),
		     "not finished after 20 ms: no reply");
		ask_ends(&asks[0], -ETIMEDOUT);
		memset(asks[0].reply, 0x77, LEN);
		talker_count(&clerk.requested, 1);
		reply_to(0);
		talker_count(&clerk.ended, 1);
		clerk_pause();
		IS(asks[0].reply[0], 0x77);
		IS(clerk.failed, 0);
		clerk.later = false;
		for (unsigned int i = 0; i < 3 * QUEUE; i++)
			if (ask_submit(&asks[0], i, LEN))
				ask_has(&asks[0], i, LEN);
	}
	clerk_close();
}

static void a_cancelled_request_ends_in_a_later_round(void)
{
	if (open_later()) {
		submit_all(2);
		IS(pier_task_cancel(asks[0].task), 0);
		IS(asks[0].done, 0);
		IS(pier_task_cancel(asks[0].task), 0);
		ask_ends(&asks[0], -ECANCELED);
		reply_to(0);
		reply_to(1);
		ask_has(&asks[1], 1, LEN);
		talker_count(&clerk.ended, 2);
	}
	clerk_close();
}

static void submit_and_cancel_all(void)
{
	for (int i = 0; i < QUEUE; i++) {
		ask_submit(&asks[i], (unsigned int)i, LEN);
		IS(pier_task_cancel(asks[i].task), 0);
	}
	for (int i = 0; i < QUEUE; i++)
		ask_ends(&asks[i], -ECANCELED);
}

/* Replies to requests that were cancelled return credits, too. */
static void credits_return(void)
{
	struct pier_comch_conn *c = pier_comch_conn(clerk.client.comch);

	OK(talker_count((const int *)&c->credits, 1));
}

static void requests_are_cancelled_while_they_are_sent(void)
{
	if (open_later()) {
		submit_and_cancel_all();
		talker_count(&clerk.requested, QUEUE);
		for (int i = 0; i < QUEUE; i++)
			reply_to(i);
		talker_count(&clerk.ended, QUEUE);
		IS(clerk.failed, 0);
		credits_return();
		clerk.later = false;
		for (unsigned int i = 0; i < 3 * QUEUE; i++)
			if (ask_submit(&asks[0], i, LEN))
				ask_has(&asks[0], i, LEN);
	}
	clerk_close();
}

/* Their memory is not that of tasks. */
static void sends_without_tasks_end_with_the_connection(void)
{
	if (open_later()) {
		submit_and_cancel_all();
		pier_ctx_stop(clerk.client.ctx);
		talker_state(&clerk.client, PIER_CTX_IDLE);
		IS(pier_pe_inflight(clerk.client.pe), 0);
	}
	clerk_close();
}

static void sends_that_are_not_acknowledged_are_limited(void)
{
	struct pier__comch_call_send *free_ones;
	struct pier__comch_call_sends *sends;

	if (open_later()) {
		submit_all(1);
		clerk_pause();
		sends = clerk.client.comch->call_sends;
		free_ones = sends->free;
		sends->free = NULL;	/* as if all were in flight */
		if (ask_take(&asks[1], 1, LEN)) {
			IS(pier_task_submit(asks[1].task, 0), -EAGAIN);
			sends->free = free_ones;
			reply_to(0);
			ask_has(&asks[0], 0, LEN);
			talker_count(&clerk.client.writable, 1);
			IS(pier_task_submit(asks[1].task, 0), 0);
			talker_count(&clerk.requested, 2);
			reply_to(1);
			ask_has(&asks[1], 1, LEN);
		}
	}
	clerk_close();
}

static void one_that_is_waited_for_is_taken_back(void)
{
	struct pier_task *task;
	char reply[8] = "";

	if (!clerk_open(dev, NULL, true))
		return;
	clerk.later = true;
	if (IS(pier_comch_task_request(clerk.client.conn, "hello", 6, reply,
				       sizeof(reply), &task), 0))
		IS(pier_task_once(task, SHORT_MS), -ETIMEDOUT);
	IS(pier_comch_reply(clerk.server.comch, clerk.handles[0], "hi", 3), 0);
	talker_count(&clerk.ended, 1);
	IS(reply[0], 0);
	IS(pier_ctx_state(clerk.client.ctx), PIER_CTX_RUNNING);
	clerk_close();
}

/* The server's replies return the credits. */
static void more_than_the_server_takes_wait(void)
{
	if (open_later()) {
		submit_all(QUEUE);
		if (ask_take(&asks[QUEUE], QUEUE, LEN)) {
			IS(pier_task_submit(asks[QUEUE].task, 0), -EAGAIN);
			LIKE(pier_last_error(), "progress first");
			clerk_pause();
			IS(clerk.client.writable, 0);
			for (int i = 0; i < QUEUE; i++) {
				reply_to(i);
				ask_has(&asks[i], (unsigned int)i, LEN);
			}
			talker_count(&clerk.client.writable, 1);
			IS(pier_task_submit(asks[QUEUE].task, 0), 0);
			talker_count(&clerk.requested, QUEUE + 1);
			reply_to(QUEUE);
			ask_has(&asks[QUEUE], QUEUE, LEN);
		}
	}
	clerk_close();
}

/* Requests of which @count were replied to: as many can be submitted. */
static void a_reply_makes_a_request_possible(int queue, int count)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = (uint32_t)queue };

	if (clerk_open(dev, &cfg, false)) {
		clerk.later = true;
		submit_all(queue);
		for (int i = 0; i < count; i++) {
			reply_to(i);
			ask_has(&asks[i], (unsigned int)i, LEN);
		}
		if (ask_take(&asks[0], 0, LEN)) {
			if (pier_task_submit(asks[0].task, 0) == -EAGAIN) {
				talker_count(&clerk.client.writable, 1);
				IS(pier_task_submit(asks[0].task, 0), 0);
			}
			talker_count(&clerk.requested, queue + 1);
		}
	}
	pier_ctx_stop(clerk.client.ctx);
	ask_ends(&asks[0], -ECANCELED);
	for (int i = count; i < queue; i++)
		ask_ends(&asks[i], -ECANCELED);
	clerk_close();
}

static void requests_that_are_held_keep_no_credit_of_others(void)
{
	a_reply_makes_a_request_possible(QUEUE, 1);
	a_reply_makes_a_request_possible(BIG, 7);
}

static int completed;

static bool refused[QUEUE];

static void next(struct ask *ask)
{
	int err = pier_task_submit(ask->task, 0);

	refused[ask - asks] = err == -EAGAIN;
	if (err && err != -EAGAIN)
		clerk.client.wrong++;
}

static void again(struct pier_task *task, void *arg)
{
	struct ask *ask = arg;

	if (pier_task_status(task) || memcmp(ask->reply, ask->msg, 8)) {
		tap_note("%s", pier_task_error_text(task));
		clerk.client.wrong++;
		return;
	}
	memcpy(ask->msg, &completed, sizeof(completed));
	if (++completed <= MANY - QUEUE)
		next(ask);
}

static void submit_refused(struct talker *talker, struct pier_comch_conn *conn)
{
	(void)talker;
	(void)conn;
	for (int i = 0; i < QUEUE; i++)
		if (refused[i])
			next(&asks[i]);
}

/* A counter of the device, 0 if it does not count that. */
static uint64_t counter(const char *name)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t value = 0;

	if (!pier_dev_counters(dev, &counters))
		pier_counters_find(&counters, name, &value);
	return value;
}

static void many_flow_without_receiver_not_ready(void)
{
	uint64_t rnr = counter("rnr_received");

	if (open_later()) {
		clerk.later = false;
		completed = 0;
		clerk.client.on_writable = submit_refused;
		for (int i = 0; i < QUEUE; i++)
			if (ask_take(&asks[i], (unsigned int)i, 8)) {
				pier_task_set_done(asks[i].task, again,
						   &asks[i]);
				IS(pier_task_submit(asks[i].task, 0), 0);
			}
		talker_count(&completed, MANY - QUEUE + 1);
		clerk_pause();
		for (int i = 0; i < QUEUE; i++)
			IS(pier_task_free(asks[i].task), 0);
		talker_count(&clerk.ended, clerk.requested);
		IS(clerk.failed, 0);
		IS(counter("rnr_received"), rnr);
	}
	clerk_close();
}

static void messages_pass_beside_requests(void)
{
	if (open_later()) {
		submit_all(2);
		for (unsigned int i = 0; i < 3 * QUEUE; i++) {
			IS(talker_send(clerk.client.conn, i, LEN), 0);
			IS(talker_send(clerk.server.conn, i, LEN), 0);
		}
		talker_count(&clerk.server.received, 3 * QUEUE);
		talker_count(&clerk.client.received, 3 * QUEUE);
		reply_to(1);
		reply_to(0);
		ask_has(&asks[0], 0, LEN);
		ask_has(&asks[1], 1, LEN);
	}
	clerk_close();
}

static void requests_of_one_submit_are_posted_together(void)
{
	if (clerk_open(dev, NULL, false)) {
		for (int i = 0; i < QUEUE; i++)
			if (ask_take(&asks[i], (unsigned int)i, LEN))
				IS(pier_task_submit(asks[i].task,
						    PIER_SUBMIT_MORE), 0);
		pier_ctx_flush(clerk.client.ctx);
		for (int i = 0; i < QUEUE; i++)
			ask_has(&asks[i], (unsigned int)i, LEN);
	}
	clerk_close();
}

static void the_end_of_the_server_ends_requests(void)
{
	if (open_later()) {
		submit_all(QUEUE);
		pier_ctx_stop(clerk.server.ctx);
		for (int i = 0; i < QUEUE; i++) {
			talker_count(&asks[i].done, 1);
			LIKE(pier_task_error_text(asks[i].task), "no reply");
			ask_ends(&asks[i], -ECONNRESET);
		}
		talker_state(&clerk.server, PIER_CTX_IDLE);
		IS(clerk.ended, QUEUE);
		IS(clerk.status, -ECONNRESET);
		is_void(clerk.handles[0]);
		talker_state(&clerk.client, PIER_CTX_IDLE);
	}
	clerk_close();
}

static void the_end_of_a_client_ends_its_handles(void)
{
	if (open_later()) {
		submit_all(QUEUE);
		pier_ctx_stop(clerk.client.ctx);
		for (int i = 0; i < QUEUE; i++)
			ask_ends(&asks[i], -ECANCELED);
		talker_count(&clerk.ended, QUEUE);
		IS(clerk.status, -ECONNRESET);
		for (int i = 0; i < QUEUE; i++)
			is_void(clerk.handles[i]);
	}
	clerk_close();
}

static void misuse_is_refused(void)
{
	struct pier_comch_conn *conn;
	struct pier_task *task;
	char reply[8];

	if (clerk_open(dev, NULL, false)) {
		conn = clerk.client.conn;
		IS(pier_comch_task_request(clerk.server.conn, NULL, 0, NULL, 0,
					   &task), -EINVAL);
		IS(pier_comch_set_request_callbacks(clerk.client.comch, NULL,
						    NULL), -EINVAL);
		IS(pier_comch_task_request(conn, NULL, 1, NULL, 0, &task),
		   -EINVAL);
		IS(pier_comch_task_request(conn, NULL, 0, NULL, 1, &task),
		   -EINVAL);
		IS(pier_comch_task_send(conn, NULL, 0, &task), 0);
		IS(pier_comch_task_set_reply_buf(task, NULL), -EINVAL);
		IS(pier_comch_reply_len(task), 0);
		pier_task_free(task);
		IS(pier_comch_task_request(conn, asks[0].msg, 4081, reply, 8,
					   &task), 0);
		IS(pier_task_submit(task, 0), -EMSGSIZE);
		IS(pier_comch_task_set_request(task, NULL, 0, NULL, 0), 0);
		clerk.later = true;
		IS(pier_task_submit(task, 0), 0);
		IS(pier_comch_task_set_request(task, NULL, 0, NULL, 0),
		   -EBUSY);
		talker_count(&clerk.requested, 1);
		IS(pier_comch_reply(clerk.server.comch, clerk.handles[0], "a",
				    1), -EMSGSIZE);
		IS(pier_comch_reply(clerk.server.comch, clerk.handles[0],
				    NULL, 0), 0);
		talker_count(&clerk.ended, 1);
		clerk_pause();
		IS(pier_task_status(task), 0);
		pier_task_free(task);
	}
	clerk_close();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_request_has_its_reply);
	TEST(a_request_is_run_like_any_task);
	TEST(replies_come_later_in_any_order);
	TEST(a_request_is_replied_to_once);
	TEST(a_refused_request_fails);
	TEST(a_server_without_a_callback_is_named);
	TEST(a_late_reply_is_dropped);
	TEST(a_cancelled_request_ends_in_a_later_round);
	TEST(requests_are_cancelled_while_they_are_sent);
	TEST(sends_without_tasks_end_with_the_connection);
	TEST(sends_that_are_not_acknowledged_are_limited);
	TEST(one_that_is_waited_for_is_taken_back);
	TEST(more_than_the_server_takes_wait);
	TEST(requests_that_are_held_keep_no_credit_of_others);
	TEST(many_flow_without_receiver_not_ready);
	TEST(messages_pass_beside_requests);
	TEST(requests_of_one_submit_are_posted_together);
	TEST(the_end_of_the_server_ends_requests);
	TEST(the_end_of_a_client_ends_its_handles);
	TEST(misuse_is_refused);
	pier_dev_close(dev);
	return tap_done();
}
