/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "mem/buf_impl.h"
#include "ops/comch_call.h"
#include "t/lib/clerk.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Replies that are written into the client's buffer. */

#define LONG (1u << 20)
#define SHORT 100
#define QUEUE 4
#define SHORT_MS 20

static struct pier_dev *dev;
static struct ask asks[QUEUE];

/* The memory of an end. */
static struct mapping {
	struct pier_mmap *mmap;
	struct pier_buf_inventory *inv;
	uint8_t *mem;
} from, into;

static bool area_open(struct mapping *area, uint32_t access)
{
	if (!IS(pier_mmap_map(dev, NULL, LONG, access, &area->mmap), 0) ||
	    !IS(pier_buf_inventory_create(2 * QUEUE, &area->inv), 0))
		return false;
	area->mem = pier_mmap_addr(area->mmap);
	return true;
}

static void area_close(struct mapping *area)
{
	pier_buf_inventory_destroy(area->inv);
	pier_mmap_destroy(area->mmap);
	memset(area, 0, sizeof(*area));
}

static bool open_all(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };

	if (!area_open(&from, PIER_LOCAL_WRITE) ||
	    !area_open(&into, PIER_LOCAL_WRITE | PIER_REMOTE_WRITE) ||
	    !clerk_open(dev, &cfg, false))
		return false;
	for (size_t i = 0; i < LONG; i++)
		from.mem[i] = peer_byte(7, i);
	memset(into.mem, 0, LONG);
	return true;
}

static void close_all(void)
{
	clerk_close();
	area_close(&from);
	area_close(&into);
}

/* The source of a reply of @len bytes. */
static struct pier_buf *data(size_t len)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_data(from.inv, from.mmap, from.mem, len, &buf), 0);
	return buf;
}

/* Part @i of @parts of the client's memory. */
static struct pier_buf *space(int i, int parts)
{
	struct pier_buf *buf = NULL;
	size_t len = LONG / (size_t)parts;

	IS(pier_buf_by_addr(into.inv, into.mmap, into.mem + (size_t)i * len,
			    len, &buf), 0);
	return buf;
}

/* Submit a request of 10 bytes whose reply goes to @buf. */
static void submit_with(struct ask *ask, struct pier_buf *buf)
{
	if (!ask_take(ask, 1, 10))
		return;
	IS(pier_comch_task_set_reply_buf(ask->task, buf), 0);
	if (!IS(pier_task_submit(ask->task, 0), 0))
		tap_note("%s", pier_last_error());
}

static bool holds(const struct pier_buf *buf, size_t at, size_t len)
{
	const uint8_t *mem = (const uint8_t *)pier_buf_data(buf) + at;

	for (size_t i = 0; i < len; i++)
		if (mem[i] != peer_byte(7, i))
			return IS(mem[i], peer_byte(7, i));
	return true;
}

static void long_replies_are_written_into_the_buffer(void)
{
	static const size_t lens[] = { 4081, 65537, LONG, 1 };
	struct pier_buf *src, *dst;

	if (open_all()) {
		clerk.later = true;
		for (int i = 0; i < 4; i++) {
			dst = space(0, 1);
			src = data(lens[i]);
			submit_with(&asks[0], dst);
			talker_count(&clerk.requested, i + 1);
			IS(pier_comch_reply_buf(clerk.server.comch,
						clerk.handles[i], src), 0);
			pier_buf_put(src);
			talker_count(&asks[0].done, 1);
			IS(pier_comch_reply_len(asks[0].task), lens[i]);
			IS(pier_buf_data_len(dst), lens[i]);
			holds(dst, 0, lens[i]);
			ask_ends(&asks[0], 0);
			pier_buf_put(dst);
		}
		talker_count(&clerk.ended, 4);
		IS(clerk.failed, 0);
		IS(pier_buf_inventory_free_count(from.inv), 2 * QUEUE);
	}
	close_all();
}

static void short_replies_are_appended_to_it(void)
{
	struct pier_buf *src = NULL, *dst = NULL;

	if (open_all()) {
		clerk.later = true;
		dst = space(0, 1);
		src = data(SHORT);
		for (int i = 0; i < 2; i++) {
			submit_with(&asks[0], dst);
			talker_count(&clerk.requested, i + 1);
			IS(pier_comch_reply_buf(clerk.server.comch,
						clerk.handles[i], src), 0);
			ask_ends(&asks[0], 0);
			IS(pier_buf_data_len(dst), (i + 1) * SHORT);
			holds(dst, (size_t)i * SHORT, SHORT);
		}
		IS(pier_buf_refs(dst), 1);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	close_all();
}

static void what_does_not_fit_is_refused(void)
{
	struct pier_comch *comch;
	struct pier_buf *src, *dst;

	if (open_all()) {
		clerk.later = true;
		comch = clerk.server.comch;
		src = data(LONG);
		dst = space(0, 2);
		submit_with(&asks[0], dst);
		submit_with(&asks[1], NULL);
		talker_count(&clerk.requested, 2);
		IS(pier_comch_reply_buf_max(comch, clerk.handles[0]),
		   LONG / 2);
		IS(pier_comch_reply_max(comch, clerk.handles[0]), 4080);
		IS(pier_comch_reply_buf_max(comch, clerk.handles[1]), 4080);
		IS(pier_comch_reply_buf(comch, clerk.handles[0], src),
		   -EMSGSIZE);
		IS(pier_comch_reply_buf(comch, clerk.handles[1], src),
		   -EMSGSIZE);
		IS(pier_comch_reply_buf(comch, clerk.handles[1], NULL),
		   -EINVAL);
		IS(pier_comch_reply(comch, clerk.handles[0], from.mem, 4081),
		   -EMSGSIZE);
		IS(pier_comch_reply(comch, clerk.handles[0], "x", 1), 0);
		IS(pier_comch_refuse(comch, clerk.handles[1]), 0);
		ask_ends(&asks[0], 0);
		ask_ends(&asks[1], -EREMOTEIO);
		pier_buf_put(src);
		src = data(1);
		if (ask_take(&asks[0], 1, 1)) {
			IS(pier_comch_task_set_reply_buf(asks[0].task, src),
			   0);
			IS(pier_task_submit(asks[0].task, 0), -EACCES);
			LIKE(pier_last_error(), "PIER_REMOTE_WRITE");
			pier_task_free(asks[0].task);
		}
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	close_all();
}

/* As a dma-buf is. */
static void memory_that_the_cpu_cannot_use_is_refused(void)
{
	struct pier_buf *dst;

	if (open_all() && ask_take(&asks[0], 1, 1)) {
		dst = space(0, 1);
		IS(pier_comch_task_set_reply_buf(asks[0].task, dst), 0);
		dst->mmap->cpu = false;
		IS(pier_task_submit(asks[0].task, 0), -EINVAL);
		LIKE(pier_last_error(), "CPU can use");
		dst->mmap->cpu = true;
		IS(pier_buf_refs(dst), 1);
		IS(pier_task_free(asks[0].task), 0);
		pier_buf_put(dst);
	}
	close_all();
}

static void a_buffer_has_one_request_at_a_time(void)
{
	struct pier_buf *dst;

	if (open_all()) {
		clerk.later = true;
		dst = space(0, 1);
		submit_with(&asks[0], dst);
		if (ask_take(&asks[1], 1, 1)) {
			IS(pier_comch_task_set_reply_buf(asks[1].task, dst),
			   0);
			IS(pier_task_submit(asks[1].task, 0), -EBUSY);
			LIKE(pier_last_error(), "another request");
			talker_count(&clerk.requested, 1);
			IS(pier_comch_reply(clerk.server.comch,
					    clerk.handles[0], "x", 1), 0);
			ask_ends(&asks[0], 0);
			IS(pier_task_submit(asks[1].task, 0), 0);
			talker_count(&clerk.requested, 2);
			IS(pier_comch_reply(clerk.server.comch,
					    clerk.handles[1], "y", 1), 0);
			ask_ends(&asks[1], 0);
		}
		IS(pier_buf_data_len(dst), 2);
		pier_buf_put(dst);
	}
	close_all();
}

static void cancelled_buffers_are_given_back(void)
{
	struct pier_buf *bufs[QUEUE], *src;

	if (open_all()) {
		clerk.later = true;
		src = data(LONG / QUEUE);
		for (int i = 0; i < QUEUE; i++) {
			bufs[i] = space(i, QUEUE);
			submit_with(&asks[i], bufs[i]);
		}
		talker_count(&clerk.requested, QUEUE);
		for (int i = 0; i < QUEUE; i++)
			IS(pier_task_cancel(asks[i].task), 0);
		for (int i = 0; i < QUEUE; i++)
			ask_ends(&asks[i], -ECANCELED);
		talker_count(&clerk.ended, QUEUE);
		IS(clerk.failed, QUEUE);
		IS(clerk.status, -ECANCELED);
		for (int i = 0; i < QUEUE; i++) {
			IS(pier_comch_reply_buf(clerk.server.comch,
						clerk.handles[i], src),
			   -ESTALE);
			IS(pier_buf_refs(bufs[i]), 1);
			IS(pier_buf_data_len(bufs[i]), 0);
			pier_buf_put(bufs[i]);
		}
		IS(into.mem[0], 0);
		pier_buf_put(src);
		clerk.later = false;
		if (ask_submit(&asks[0], 1, SHORT))
			ask_has(&asks[0], 1, SHORT);
	}
	close_all();
}

static void ignore(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

/* The server has no credit when it is to answer: its messages have them. */
static void cancels_among_messages_are_answered(void)
{
	struct pier_buf *bufs[QUEUE];
	int sent = 0;

	if (open_all()) {
		clerk.later = true;
		for (int i = 0; i < QUEUE; i++) {
			bufs[i] = space(i, QUEUE);
			submit_with(&asks[i], bufs[i]);
		}
		talker_count(&clerk.requested, QUEUE);
		for (int i = 0; i < QUEUE; i++)
			IS(pier_task_cancel(asks[i].task), 0);
		while (!pier_comch_send(clerk.conn, "x", 1, ignore, NULL))
			sent++;
		IS(sent, QUEUE);
		for (int i = 0; i < QUEUE; i++) {
			ask_ends(&asks[i], -ECANCELED);
			pier_buf_put(bufs[i]);
		}
		IS(clerk.conn->cancels, QUEUE);
		IS(talker_violations(&clerk.server), 0);
		IS(clerk.server.disconnected, 0);
	}
	close_all();
}

static void cancel_one(void)
{
	struct pier_buf *dst = space(0, 1);
	int count = clerk.requested;

	submit_with(&asks[0], dst);
	talker_count(&clerk.requested, count + 1);
	IS(pier_task_cancel(asks[0].task), 0);
	ask_ends(&asks[0], -ECANCELED);
	pier_buf_put(dst);
}

static void a_deadline_gives_the_buffer_back(void)
{
	struct pier_buf *dst;

	if (open_all() && ask_take(&asks[0], 1, 1)) {
		clerk.later = true;
		dst = space(0, 1);
		IS(pier_comch_task_set_reply_buf(asks[0].task, dst), 0);
		IS(pier_task_set_timeout_ms(asks[0].task, SHORT_MS), 0);
		IS(pier_task_submit(asks[0].task, 0), 0);
		ask_ends(&asks[0], -ETIMEDOUT);
		talker_count(&clerk.ended, 1);
		IS(clerk.status, -ECANCELED);
		pier_buf_put(dst);
	}
	close_all();
}

/*
 * The server has replied to all, so that each cancel crosses a reply, and it
 * does not receive: it has one receive for cancels.
 */
static void a_cancel_waits_until_the_last_one_was_received(void)
{
	long long limit = limit_from_now();
	struct pier_buf *bufs[QUEUE];

	if (open_all()) {
		clerk.later = true;
		for (int i = 0; i < QUEUE; i++) {
			bufs[i] = space(i, QUEUE);
			submit_with(&asks[i], bufs[i]);
		}
		talker_count(&clerk.requested, QUEUE);
		for (int i = 0; i < QUEUE; i++)
			IS(pier_comch_reply(clerk.server.comch,
					    clerk.handles[i], "x", 1), 0);
		for (int i = 0; i < QUEUE; i++)
			IS(pier_task_cancel(asks[i].task), 0);
		for (int i = 0; i < QUEUE; i++) {
			while (!asks[i].done && limit_holds(limit))
				pier_pe_wait(clerk.client.pe, 5);
			ask_ends(&asks[i], 0);
			pier_buf_put(bufs[i]);
		}
		clerk_pause();
		IS(clerk.conn->cancels, 1);
		cancel_one();
		IS(clerk.conn->cancels, 2);
	}
	close_all();
}

/* The time of the cancel passes while the program does something else. */
static void an_answer_that_has_arrived_is_in_time(void)
{
	struct pier_comch *client;
	struct pier_buf *dst;
	long long limit = limit_from_now();

	if (open_all()) {
		clerk.later = true;
		client = clerk.client.comch;
		dst = space(0, 1);
		submit_with(&asks[0], dst);
		talker_count(&clerk.requested, 1);
		IS(pier_task_cancel(asks[0].task), 0);
		while (!clerk.ended && limit_holds(limit))
			pier_pe_wait(clerk.server.pe, 5);
		((struct pier__comch_call *)asks[0].task)->deadline = 1;
		pier__pe_due(&client->source, 1);
		ask_ends(&asks[0], -ECANCELED);
		IS(talker_violations(&clerk.client), 0);
		IS(clerk.client.disconnected, 0);
		pier_buf_put(dst);
	}
	close_all();
}

/* The server's engine does not run: only the end revokes the right. */
static void a_buffer_that_is_not_given_back_ends_the_connection(void)
{
	long long limit = limit_from_now();
	struct pier_buf *dst;
	const char *text;

	if (open_all()) {
		clerk.later = true;
		dst = space(0, 1);
		submit_with(&asks[0], dst);
		talker_count(&clerk.requested, 1);
		IS(pier_task_cancel(asks[0].task), 0);
		while (!asks[0].done && limit_holds(limit))
			pier_pe_wait(clerk.client.pe, 5);
		ask_ends(&asks[0], -ECANCELED);
		IS(pier_comch_error(clerk.client.comch, &text), -ETIMEDOUT);
		LIKE(text, "give back");
		talker_count(&clerk.ended, 1);
		IS(pier_buf_refs(dst), 1);
		pier_buf_put(dst);
	}
	close_all();
}

/*
 * It waits for a credit when the program changes its buffer, and then frees
 * that: the memory is pier's, the buffer is the program's.
 */
static void a_reply_is_what_its_buffer_was_then(void)
{
	struct pier_buf *src, *dst;
	uint32_t credits;

	if (open_all()) {
		clerk.later = true;
		src = data(LONG / 2);
		dst = space(0, 1);
		submit_with(&asks[0], dst);
		talker_count(&clerk.requested, 1);
		credits = clerk.conn->credits;
		clerk.conn->credits = 0;
		IS(pier_comch_reply_buf(clerk.server.comch, clerk.handles[0],
					src), 0);
		IS(pier_buf_set_data(src, from.mem + 1, 0), 0);
		pier_buf_put(src);
		clerk_pause();
		IS(asks[0].done, 0);
		clerk.conn->credits = credits;
		pier__comch_check_writable(clerk.conn);
		ask_ends(&asks[0], 0);
		IS(pier_buf_data_len(dst), LONG / 2);
		holds(dst, 0, LONG / 2);
		talker_count(&clerk.ended, 1);
		IS(clerk.failed, 0);
		IS(into.mem[LONG / 2], 0);
		pier_buf_put(dst);
	}
	close_all();
}

/* The server's engine does not run; the client drains for a short time. */
static bool open_deaf(struct pier_buf **dst)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .drain_ms = SHORT_MS };

	*dst = NULL;
	if (!area_open(&from, PIER_LOCAL_WRITE) ||
	    !area_open(&into, PIER_LOCAL_WRITE | PIER_REMOTE_WRITE) ||
	    !clerk_open(dev, &cfg, false) || !ask_take(&asks[0], 1, 1))
		return false;
	clerk.later = true;
	*dst = space(0, 1);
	return IS(pier_comch_task_set_reply_buf(asks[0].task, *dst), 0);
}

static void the_connection_was_ended(struct pier_buf *dst)
{
	const char *text;

	IS(pier_comch_error(clerk.client.comch, &text), -ETIMEDOUT);
	LIKE(text, "give back");
	if (dst)
		IS(pier_buf_refs(dst), 1);
	pier_buf_put(dst);
}

static void a_deadline_that_the_server_ignores_ends_the_connection(void)
{
	long long limit = limit_from_now();
	struct pier_buf *dst;

	if (open_deaf(&dst)) {
		IS(pier_task_set_timeout_ms(asks[0].task, SHORT_MS), 0);
		IS(pier_task_submit(asks[0].task, 0), 0);
		while (!asks[0].done && limit_holds(limit))
			pier_pe_wait(clerk.client.pe, 5);
		LIKE(pier_task_error_text(asks[0].task),
		     "not finished after 20 ms: no reply: ");
		LIKE(pier_task_error_text(asks[0].task), "give back");
		ask_ends(&asks[0], -ETIMEDOUT);
		the_connection_was_ended(dst);
	}
	close_all();
}

static void a_wait_that_the_server_ignores_ends_the_connection(void)
{
	struct pier_buf *dst;

	if (open_deaf(&dst)) {
		IS(pier_task_once(asks[0].task, SHORT_MS), -ETIMEDOUT);
		LIKE(pier_last_error(), "give back");
		IS(asks[0].done, 1);
		the_connection_was_ended(dst);
	}
	close_all();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(long_replies_are_written_into_the_buffer);
	TEST(short_replies_are_appended_to_it);
	TEST(a_reply_is_what_its_buffer_was_then);
	TEST(what_does_not_fit_is_refused);
	TEST(memory_that_the_cpu_cannot_use_is_refused);
	TEST(a_buffer_has_one_request_at_a_time);
	TEST(cancelled_buffers_are_given_back);
	TEST(cancels_among_messages_are_answered);
	TEST(a_deadline_gives_the_buffer_back);
	TEST(a_cancel_waits_until_the_last_one_was_received);
	TEST(an_answer_that_has_arrived_is_in_time);
	TEST(a_buffer_that_is_not_given_back_ends_the_connection);
	TEST(a_deadline_that_the_server_ignores_ends_the_connection);
	TEST(a_wait_that_the_server_ignores_ends_the_connection);
	pier_dev_close(dev);
	return tap_done();
}
