/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "ops/comch_call.h"
#include "t/lib/clerk.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Peers that do not keep to the protocol of requests: ends whose memory of it
 * is changed, so that the other one gets what it should not.
 */

#define QUEUE 4
#define LEN 100
#define MEM 65536

static struct pier_dev *dev;
static struct talker other;		/* another client of the server */
static struct ask asks[2 * QUEUE];

static bool open_all(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };

	if (!clerk_open(dev, &cfg, false) ||
	    !talker_client(&other, dev, clerk.name, NULL, NULL) ||
	    !talker_start(&other) ||
	    !talker_count(&clerk.server.connected, 2))
		return false;
	clerk.later = true;
	return true;
}

static void other_done(struct pier_task *task, void *arg)
{
	*(int *)arg += 1 + (pier_task_status(task) != 0);
}

/* The other client has its replies as ever. */
static void others_are_served(void)
{
	struct pier_task *task;
	char reply[8] = "";
	int done = 0;

	clerk.later = false;
	if (other.conn &&
	    IS(pier_comch_task_request(other.conn, "hello", 6, reply,
				       sizeof(reply), &task), 0)) {
		pier_task_set_done(task, other_done, &done);
		IS(pier_task_submit(task, 0), 0);
		talker_count(&done, 1);
		IS(done, 1);
		IS_STR(reply, "hello");
		pier_task_free(task);
	}
	IS(other.disconnected, 0);
}

static void close_all(void)
{
	others_are_served();
	talker_close(&other);
	clerk_close();
}

static void submit_all(int count)
{
	for (int i = 0; i < count; i++)
		ask_submit(&asks[i], 1, LEN);
}

/* The request of the handle that the server stored as number @i. */
static struct pier__comch_request *stored(int i)
{
	uint64_t index = clerk.handles[i] & ((UINT64_C(1) << 28) - 1);

	return &clerk.server.comch->recvs[index].request;
}

/* @talker has ended its connection because of that, and says how. */
static void is_noticed(const struct talker *talker, const char *part,
		       int count)
{
	const char *text;

	talker_count(&clerk.client.disconnected, 1);
	talker_count(&clerk.server.disconnected, 1);
	IS(talker_violations(talker), 1);
	LIKE(talker->end_text, part);
	if (talker == &clerk.client) {
		IS(pier_comch_error(clerk.client.comch, &text), -EPROTO);
		LIKE(text, part);
	}
	for (int i = 0; i < count; i++) {
		talker_count(&asks[i].done, 1);
		OK(asks[i].status < 0);
		pier_task_free(asks[i].task);
	}
}

static void replies_to_nothing_are_noticed(void)
{
	if (open_all()) {
		submit_all(1);
		talker_count(&clerk.requested, 1);
		stored(0)->head.id += 1u << 12;
		pier_comch_reply(clerk.server.comch, clerk.handles[0], "x", 1);
		is_noticed(&clerk.client, "no such request", 1);
	}
	close_all();
	if (open_all()) {
		submit_all(1);
		talker_count(&clerk.requested, 1);
		stored(0)->head.id = UINT32_MAX;
		pier_comch_reply(clerk.server.comch, clerk.handles[0], "x", 1);
		is_noticed(&clerk.client, "no such request", 1);
	}
	close_all();
}

static void a_second_reply_is_noticed(void)
{
	if (open_all()) {
		submit_all(2);
		talker_count(&clerk.requested, 2);
		stored(1)->head.id = stored(0)->head.id;
		pier_comch_reply(clerk.server.comch, clerk.handles[0], "x", 1);
		pier_comch_reply(clerk.server.comch, clerk.handles[1], "x", 1);
		talker_count(&asks[0].done, 1);
		IS(asks[0].status, 0);
		asks[0].status = -1;
		is_noticed(&clerk.client, "has its reply", 2);
	}
	close_all();
}

static void a_reply_that_is_too_long_is_noticed(void)
{
	struct pier_task *task = NULL;

	if (open_all() && ask_take(&asks[0], 1, LEN)) {
		task = asks[0].task;
		IS(pier_comch_task_set_request(task, NULL, 0, asks[0].reply,
					       8), 0);
		IS(pier_task_submit(task, 0), 0);
		talker_count(&clerk.requested, 1);
		stored(0)->head.reply_max = LEN;
		pier_comch_reply(clerk.server.comch, clerk.handles[0],
				 asks[0].msg, LEN);
		is_noticed(&clerk.client, "8 are allowed", 1);
		IS(asks[0].reply[0], 0);
	}
	close_all();
}

static void a_request_that_is_too_short_is_noticed(void)
{
	if (open_all() && ask_take(&asks[0], 1, LEN)) {
		IS(pier_task_submit(asks[0].task, PIER_SUBMIT_MORE), 0);
		((struct pier__comch_call *)asks[0].task)->send->sge.length =
			PIER__COMCH_REQUEST_HEAD - 1;
		pier_ctx_flush(clerk.client.ctx);
		is_noticed(&clerk.server, "a request of 23 bytes", 1);
		IS(clerk.requested, 0);
	}
	close_all();
}

static void requests_beyond_the_credits_are_noticed(void)
{
	struct pier_comch_conn *conn;

	if (open_all()) {
		conn = clerk.client.conn;
		conn->peer_queue = conn->credits = 2 * QUEUE;
		submit_all(2 * QUEUE);
		is_noticed(&clerk.server, "than it had credits for", 2 * QUEUE);
		IS(clerk.requested, QUEUE);
		IS(clerk.ended, QUEUE);
	}
	close_all();
}

/* The key of a hostile client's request, and its address. */
static void a_write_that_is_not_permitted_ends_the_connection(bool by_key)
{
	struct pier_buf_inventory *inv = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf *src = NULL, *dst = NULL;

	if (open_all() && ask_take(&asks[0], 1, LEN) &&
	    IS(pier_mmap_map(dev, NULL, MEM,
			     PIER_LOCAL_WRITE | PIER_REMOTE_WRITE, &mmap),
	       0)) {
		pier_buf_inventory_create(2, &inv);
		pier_buf_whole(inv, mmap, &src);
		pier_buf_empty(inv, mmap, &dst);
		IS(pier_comch_task_set_reply_buf(asks[0].task, dst), 0);
		IS(pier_task_submit(asks[0].task, 0), 0);
		talker_count(&clerk.requested, 1);
		if (by_key)
			stored(0)->head.rkey ^= 0x5a5a5a00;
		else
			stored(0)->head.addr += 1;
		IS(pier_comch_reply_buf(clerk.server.comch, clerk.handles[0],
					src), 0);
		talker_count(&asks[0].done, 1);
		OK(asks[0].status < 0);
		pier_task_free(asks[0].task);
		talker_count(&clerk.ended, 1);
		OK(clerk.status < 0);
		talker_count(&clerk.server.disconnected, 1);
		IS(pier_buf_refs(src) + pier_buf_refs(dst), 2);
	}
	pier_buf_put(src);
	pier_buf_put(dst);
	close_all();
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
}

static void wrong_keys_end_the_connection(void)
{
	a_write_that_is_not_permitted_ends_the_connection(true);
}

static void wrong_addresses_end_the_connection(void)
{
	a_write_that_is_not_permitted_ends_the_connection(false);
}

/* As if no request had come before. */
static void more_cancels_than_requests_are_noticed(void)
{
	struct pier_buf_inventory *inv = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf *dst = NULL;

	if (open_all() && ask_take(&asks[0], 1, LEN) &&
	    IS(pier_mmap_map(dev, NULL, MEM,
			     PIER_LOCAL_WRITE | PIER_REMOTE_WRITE, &mmap),
	       0)) {
		pier_buf_inventory_create(1, &inv);
		pier_buf_empty(inv, mmap, &dst);
		IS(pier_comch_task_set_reply_buf(asks[0].task, dst), 0);
		IS(pier_task_submit(asks[0].task, 0), 0);
		talker_count(&clerk.requested, 1);
		clerk.conn->received = 0;
		IS(pier_task_cancel(asks[0].task), 0);
		is_noticed(&clerk.server, "has cancelled 1 requests", 1);
	}
	pier_buf_put(dst);
	close_all();
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
}

/* The client's credits for the server are used up, and it returns none. */
static void return_no_credits(void)
{
	struct pier_comch_conn *conn = clerk.client.conn;

	conn->returning = true;
	for (unsigned int i = 0; i < QUEUE; i++)
		IS(talker_send(clerk.conn, i, LEN), 0);
	talker_count(&clerk.client.received, QUEUE);
	conn->owed = 0;
}

/* It does not wait for the answer to its cancel. */
static void cancel_unanswered(struct ask *ask)
{
	struct pier__comch_calls *calls = clerk.client.conn->calls;

	calls->cancel = NULL;
	calls->unanswered = false;
	IS(pier_task_cancel(ask->task), 0);
}

static void cancels_beyond_the_receives_are_noticed(void)
{
	struct pier_buf_inventory *inv = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf *dst[2] = { NULL };

	if (open_all() &&
	    IS(pier_mmap_map(dev, NULL, MEM,
			     PIER_LOCAL_WRITE | PIER_REMOTE_WRITE, &mmap),
	       0)) {
		pier_buf_inventory_create(2, &inv);
		for (int i = 0; i < 2 && ask_take(&asks[i], 1, LEN); i++) {
			pier_buf_empty(inv, mmap, &dst[i]);
			IS(pier_comch_task_set_reply_buf(asks[i].task, dst[i]),
			   0);
			IS(pier_task_submit(asks[i].task, 0), 0);
		}
		talker_count(&clerk.requested, 2);
		return_no_credits();
		cancel_unanswered(&asks[0]);
		clerk_pause();
		IS(clerk.server.disconnected, 0);
		cancel_unanswered(&asks[1]);
		is_noticed(&clerk.server, "before its last cancel was "
			   "answered", 2);
	}
	for (int i = 0; i < 2; i++)
		pier_buf_put(dst[i]);
	close_all();
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(replies_to_nothing_are_noticed);
	TEST(a_second_reply_is_noticed);
	TEST(a_reply_that_is_too_long_is_noticed);
	TEST(a_request_that_is_too_short_is_noticed);
	TEST(requests_beyond_the_credits_are_noticed);
	TEST(wrong_keys_end_the_connection);
	TEST(wrong_addresses_end_the_connection);
	TEST(more_cancels_than_requests_are_noticed);
	TEST(cancels_beyond_the_receives_are_noticed);
	pier_dev_close(dev);
	return tap_done();
}
