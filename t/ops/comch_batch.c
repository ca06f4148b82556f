/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/freight.h"
#include "t/lib/limit.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Messages of Comm Channels that are submitted with PIER_SUBMIT_MORE. */

#define BATCH 8
#define ROUNDS 20
#define SMALL 64

static struct pier_dev *dev;
static struct talker server, client;
static struct freight consumer, producer;
static struct pier_task *tasks[BATCH];
static struct pier_buf *bufs[BATCH];
static uint8_t numbers[BATCH];
static int completed, expected, wrong;

static void complete(struct pier_task *task, void *arg)
{
	(void)arg;
	IS(pier_task_status(task), 0);
	completed++;
}

/* Messages of a byte each, which is their number. */
static void take_number(struct talker *talker, struct pier_comch_conn *conn)
{
	(void)conn;
	wrong += talker->last_len != 1 ||
		 talker->last[0] != expected++ % BATCH;
}

static bool open_channel(void)
{
	completed = expected = wrong = 0;
	if (!talker_pair(&server, &client, dev, NULL))
		return false;
	server.on_received = take_number;
	for (int i = 0; i < BATCH; i++) {
		numbers[i] = (uint8_t)i;
		if (!IS(pier_comch_task_send(client.conn, &numbers[i], 1,
					     &tasks[i]), 0))
			return false;
		pier_task_set_done(tasks[i], complete, NULL);
	}
	return true;
}

static void free_tasks(void)
{
	for (int i = 0; i < BATCH; i++)
		IS(pier_task_free(tasks[i]), 0);
}

static void submit(unsigned int last)
{
	for (int i = 0; i < BATCH; i++)
		IS(pier_task_submit(tasks[i], i + 1 < BATCH ?
				    PIER_SUBMIT_MORE : last), 0);
}

/* Credits and answers go the other way and between them. */
static void deferred_messages_keep_their_order(void)
{
	int answered = 0;

	if (!open_channel())
		return;
	for (int i = 1; i <= ROUNDS; i++) {
		submit(i % 2 ? 0 : PIER_SUBMIT_MORE);
		IS(pier_comch_send(server.conn, "", 0, peer_done, &answered),
		   0);
		talker_count(&server.received, i * BATCH);
		talker_count(&client.received, i);
		talker_count(&completed, i * BATCH);
	}
	IS(wrong, 0);
	free_tasks();
	talker_unpair(&server, &client);
}

static void a_flush_sends_deferred_messages(void)
{
	if (!open_channel())
		return;
	submit(PIER_SUBMIT_MORE);
	for (int i = 0; i < 100; i++)
		pier_pe_progress(server.pe, 0);
	IS(server.received, 0);
	pier_ctx_flush(client.ctx);
	while (server.received < BATCH && talker_step(limit_from_now()))
		;
	IS(wrong, 0);
	talker_count(&completed, BATCH);
	free_tasks();
	talker_unpair(&server, &client);
}

static void deferred_messages_before_a_stop_are_delivered(void)
{
	if (!open_channel())
		return;
	submit(PIER_SUBMIT_MORE);
	IS(pier_ctx_stop(client.ctx), -EINPROGRESS);
	talker_count(&server.received, BATCH);
	talker_count(&completed, BATCH);
	IS(wrong, 0);
	free_tasks();
	talker_unpair(&server, &client);
}

static void take_imm(struct freight *freight, struct pier_task *task)
{
	(void)task;
	wrong += freight->imm_len != 1 ||
		 freight->imm[0] != expected++ % BATCH ||
		 freight->last_len != SMALL;
}

static bool open_producer(void)
{
	completed = expected = wrong = 0;
	if (!talker_pair(&server, &client, dev, NULL) ||
	    !freight_pair(&producer, &server, &consumer, &client, dev,
			  BATCH * SMALL, NULL))
		return false;
	consumer.on_done = take_imm;
	for (int i = 0; i < BATCH; i++) {
		numbers[i] = (uint8_t)i;
		IS(pier_buf_by_data(producer.inv, producer.mmap,
				    producer.mem + i * SMALL, SMALL, &bufs[i]),
		   0);
		IS(pier_comch_task_produce(producer.producer, bufs[i],
					   &numbers[i], 1, 1, &tasks[i]), 0);
		pier_task_set_done(tasks[i], complete, NULL);
	}
	return true;
}

static void close_producer(void)
{
	free_tasks();
	for (int i = 0; i < BATCH; i++)
		pier_buf_put(bufs[i]);
	freight_unpair(&producer, &server, &consumer, &client);
}

static void receive_a_batch(void)
{
	for (size_t i = 0; i < BATCH; i++)
		IS(freight_receive(&consumer, i * SMALL, SMALL), 0);
}

static void deferred_messages_of_a_producer_keep_their_order(void)
{
	if (!open_producer())
		return;
	for (int i = 1; i <= ROUNDS; i++) {
		receive_a_batch();
		submit(i % 2 ? 0 : PIER_SUBMIT_MORE);
		if (i % 4 == 0)
			pier_ctx_flush(producer.ctx);
		talker_count(&consumer.done, i * BATCH);
		talker_count(&completed, i * BATCH);
	}
	IS(wrong, 0);
	close_producer();
}

/* After a first one, so that the connection stands. */
static void deferred_messages_before_a_producers_stop_are_delivered(void)
{
	if (!open_producer())
		return;
	receive_a_batch();
	submit(0);
	talker_count(&completed, BATCH);
	receive_a_batch();
	submit(PIER_SUBMIT_MORE);
	IS(pier_ctx_stop(producer.ctx), -EINPROGRESS);
	talker_count(&consumer.done, 2 * BATCH);
	talker_count(&completed, 2 * BATCH);
	IS(wrong, 0);
	close_producer();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(deferred_messages_keep_their_order);
	TEST(a_flush_sends_deferred_messages);
	TEST(deferred_messages_before_a_stop_are_delivered);
	TEST(deferred_messages_of_a_producer_keep_their_order);
	TEST(deferred_messages_before_a_producers_stop_are_delivered);
	pier_dev_close(dev);
	return tap_done();
}
