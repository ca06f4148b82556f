/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/freight.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Consumers and producers of a Comm Channel: their states and ends. */

#define LEN 4096

static struct pier_dev *dev;
static struct talker server, client;
static struct freight consumer, producer;

/* A consumer of the client, and a producer of the server, which run. */
static bool open_both(void)
{
	return talker_pair(&server, &client, dev, NULL) &&
	       freight_pair(&producer, &server, &consumer, &client, dev, LEN,
			    NULL);
}

static void close_both(void)
{
	freight_unpair(&producer, &server, &consumer, &client);
}

static void passes(unsigned int seed)
{
	int done = consumer.done, sent = producer.done;

	IS(freight_receive(&consumer, 0, LEN), 0);
	IS(freight_produce(&producer, server.consumer, seed, 0, LEN, 32), 0);
	talker_count(&consumer.done, done + 1);
	freight_holds(&consumer, seed, 0, LEN, 32);
	talker_count(&producer.done, sent + 1);
	IS(consumer.failed + producer.failed, 0);
}

static void a_message_passes_from_buffer_to_buffer(void)
{
	if (open_both()) {
		IS(server.consumer, pier_comch_consumer_id(consumer.consumer));
		passes(1);
		IS(consumer.from, pier_comch_producer_id(producer.producer));
	}
	close_both();
}

static bool went_through(const struct freight *freight, int count,
			 const enum pier_ctx_state *states)
{
	bool same = IS(freight->state_count, count);

	for (int i = 0; i < count && same; i++)
		same = IS(freight->states[i], states[i]);
	return same;
}

static void a_consumer_is_starting_until_its_peer_knows_it(void)
{
	static const enum pier_ctx_state states[] = {
		PIER_CTX_STARTING, PIER_CTX_RUNNING, PIER_CTX_STOPPING,
		PIER_CTX_IDLE,
	};

	memset(&producer, 0, sizeof(producer));
	if (talker_pair(&server, &client, dev, NULL) &&
	    freight_consumer(&consumer, dev, client.conn, LEN, NULL, NULL)) {
		IS(pier_comch_consumer_id(consumer.consumer), 1);
		IS(pier_ctx_start(consumer.ctx, consumer.pe), -EINPROGRESS);
		for (int i = 0; i < 10; i++)	/* its engine alone */
			pier_pe_progress(consumer.pe, 0);
		IS(pier_ctx_state(consumer.ctx), PIER_CTX_STARTING);
		IS(freight_receive(&consumer, 0, LEN), -ESHUTDOWN);
		freight_state(&consumer, PIER_CTX_RUNNING);
		talker_count(&server.consumers, 1);
		IS(server.consumer, 1);
		IS(client.consumers, 0);
		IS(pier_ctx_stop(consumer.ctx), -EINPROGRESS);
		freight_state(&consumer, PIER_CTX_IDLE);
		went_through(&consumer, 4, states);
		talker_count(&server.expired, 1);
		IS(pier_comch_consumer_error(consumer.consumer, NULL), 0);
	}
	close_both();
}

static void a_producer_runs_at_once(void)
{
	static const enum pier_ctx_state states[] = {
		PIER_CTX_RUNNING, PIER_CTX_STOPPING, PIER_CTX_IDLE,
	};

	memset(&consumer, 0, sizeof(consumer));
	if (talker_pair(&server, &client, dev, NULL) &&
	    freight_producer(&producer, dev, client.conn, LEN, NULL, NULL)) {
		IS(pier_comch_producer_id(producer.producer), 1);
		IS(pier_ctx_start(producer.ctx, producer.pe), 0);
		IS(freight_produce(&producer, 1, 1, 0, LEN, 0), -ENOENT);
		LIKE(pier_last_error(), "no consumer 1");
		IS(freight_produce(&producer, 0, 1, 0, LEN, 0), -ENOENT);
		IS(pier_ctx_stop_wait(producer.ctx, LIMIT_MS), 0);
		went_through(&producer, 3, states);
	}
	close_both();
}

static void a_start_can_be_stopped(void)
{
	memset(&producer, 0, sizeof(producer));
	if (talker_pair(&server, &client, dev, NULL) &&
	    freight_consumer(&consumer, dev, client.conn, LEN, NULL, NULL)) {
		IS(pier_ctx_start(consumer.ctx, consumer.pe), -EINPROGRESS);
		IS(pier_ctx_stop_wait(consumer.ctx, LIMIT_MS), 0);
		IS(freight_start(&consumer), true);
		talker_count(&server.consumers, 1);
		IS(server.expired, server.consumers - 1);
	}
	close_both();
}

/* The connection stays, in either direction, until they are destroyed. */
static void a_connection_with_consumers_is_not_stopped(void)
{
	if (open_both()) {
		IS(pier_ctx_stop(client.ctx), -EBUSY);
		LIKE(pier_last_error(), "consumer 1");
		IS(pier_ctx_stop_wait(server.ctx, LIMIT_MS), -EBUSY);
		LIKE(pier_last_error(), "producer 1");
		IS(pier_comch_disconnect(server.conn), -EBUSY);
		LIKE(pier_last_error(), "producer 1");
		passes(2);
		freight_close(&producer);
		freight_close(&consumer);
		talker_count(&server.expired, 1);
		IS(pier_ctx_stop_wait(client.ctx, LIMIT_MS), 0);
		IS(pier_ctx_stop_wait(server.ctx, LIMIT_MS), 0);
	}
	close_both();
}

static void they_stop_when_the_connection_ends(void)
{
	const char *text;

	if (open_both()) {
		IS(freight_receive(&consumer, 0, LEN), 0);
		pier_comch_destroy(client.comch);
		client.comch = NULL;
		freight_state(&consumer, PIER_CTX_IDLE);
		IS(pier_comch_consumer_error(consumer.consumer, &text),
		   -ECONNRESET);
		LIKE(text, "the connection to the peer has ended");
		IS(consumer.failed, 1);
		IS(consumer.status, -ECONNRESET);
		freight_state(&producer, PIER_CTX_IDLE);
		IS(pier_comch_producer_error(producer.producer, &text),
		   -ECONNRESET);
		IS(server.expired, 1);
		IS(server.disconnected, 1);
		IS(pier_ctx_start(producer.ctx, producer.pe), -ENOTCONN);
	}
	close_both();
}

/* Until the second message has been sent. */
static void drive_but_the_consumer(void)
{
	long long limit = limit_from_now();

	while (producer.done < 2 && limit_nap(limit)) {
		pier_pe_progress(producer.pe, 0);
		pier_pe_progress(server.pe, 0);
		pier_pe_progress(client.pe, 0);
	}
}


static void arrived_messages_are_received_first(void)
{
	for (int i = 0; i < 10 && tap_holds(); i++) {
		if (open_both()) {
			passes(3);	/* so that they are connected */
			IS(freight_receive(&consumer, 0, LEN), 0);
			IS(freight_receive(&consumer, 0, LEN), 0);
			IS(freight_produce(&producer, 1, 3, 0, LEN, 0), 0);
			drive_but_the_consumer();
			freight_close(&producer);
			pier_comch_destroy(server.comch);
			server.comch = NULL;
			talker_count(&client.disconnected, 1);
			freight_state(&consumer, PIER_CTX_IDLE);
			IS(consumer.done, 2);
			IS(consumer.failed, 1);
		}
		close_both();
	}
}

static void messages_to_an_expired_consumer_fail(void)
{
	if (open_both()) {
		for (int i = 0; i < 100; i++)
			IS(freight_produce(&producer, 1, 4, 0, LEN, 0), 0);
		talker_step(limit_from_now());
		IS(producer.done, 0);
		IS(pier_ctx_stop(consumer.ctx), -EINPROGRESS);
		talker_count(&producer.failed, 100);
		IS(producer.done, 0);
		IS(producer.status, -ECONNRESET);
		LIKE(producer.text, "consumer 1");
		LIKE(producer.text, "expired");
		talker_count(&server.expired, 1);
		IS(freight_produce(&producer, 1, 4, 0, LEN, 0), -ENOENT);
		LIKE(pier_last_error(), "no consumer 1");
		freight_state(&consumer, PIER_CTX_IDLE);
		IS(pier_ctx_state(producer.ctx), PIER_CTX_RUNNING);
		freight_start(&consumer);	/* again, of the same id */
		talker_count(&server.consumers, 2);
		IS(server.consumer, 1);
		producer.failed = 0;
		passes(5);
	}
	close_both();
}

static void stop_it(struct freight *freight, struct pier_task *task)
{
	(void)task;
	IS(pier_ctx_stop(freight->ctx), -EINPROGRESS);
}

static void contexts_are_stopped_in_callbacks(void)
{
	if (open_both()) {
		consumer.on_done = stop_it;
		producer.on_done = stop_it;
		IS(freight_receive(&consumer, 0, LEN), 0);
		IS(freight_produce(&producer, 1, 6, 0, LEN, 0), 0);
		talker_count(&consumer.done, 1);
		talker_count(&producer.done, 1);
		freight_state(&consumer, PIER_CTX_IDLE);
		freight_state(&producer, PIER_CTX_IDLE);
		IS(consumer.failed + producer.failed, 0);
	}
	close_both();
}

static void destroy_it(struct freight *freight, struct pier_task *task)
{
	(void)task;
	pier_comch_consumer_destroy(freight->consumer);
	pier_comch_producer_destroy(freight->producer);
	freight->consumer = NULL;
	freight->producer = NULL;
}

static void contexts_are_destroyed_in_callbacks(void)
{
	if (open_both()) {
		consumer.on_done = destroy_it;
		producer.on_done = destroy_it;
		IS(freight_receive(&consumer, 0, LEN), 0);
		IS(freight_produce(&producer, 1, 6, 0, LEN, 0), 0);
		talker_count(&consumer.done, 1);
		talker_count(&producer.done, 1);
		talker_count(&server.expired, 1);
		IS(consumer.failed + producer.failed, 0);
	}
	close_both();
}

static void ids_are_not_used_again_soon(void)
{
	struct pier_comch_consumer *some[4];

	memset(&consumer, 0, sizeof(consumer));
	memset(&producer, 0, sizeof(producer));
	if (talker_pair(&server, &client, dev, NULL)) {
		for (uint32_t i = 0; i < 4; i++) {
			IS(pier_comch_consumer_create(client.conn, NULL,
						      &some[i]), 0);
			IS(pier_comch_consumer_id(some[i]), i + 1);
		}
		pier_comch_consumer_destroy(some[0]);
		IS(pier_comch_consumer_create(client.conn, NULL, &some[0]), 0);
		IS(pier_comch_consumer_id(some[0]), 5);
		for (uint32_t i = 0; i < 4; i++)
			pier_comch_consumer_destroy(some[i]);
		pier_comch_consumer_destroy(NULL);
		pier_comch_producer_destroy(NULL);
	}
	talker_unpair(&server, &client);
}

#define IDS 65534

static uint32_t next_id(bool is_consumer)
{
	struct pier_comch_consumer *c = NULL;
	struct pier_comch_producer *p = NULL;
	uint32_t id;

	if (!is_consumer)
		IS(pier_comch_producer_create(client.conn, &p), 0);
	else
		IS(pier_comch_consumer_create(client.conn, consumer.mmap, &c),
		   0);
	id = is_consumer ? pier_comch_consumer_id(c)
			 : pier_comch_producer_id(p);
	pier_comch_consumer_destroy(c);
	pier_comch_producer_destroy(p);
	return id;
}

/* An id that is in use, below @first, is passed over. */
static void ids_go_round(bool is_consumer, uint32_t first)
{
	uint32_t last = first - 1, id, wrong = 0;

	for (int i = 0; i < 2 * IDS; i++) {
		id = next_id(is_consumer);
		wrong += id != (last == IDS ? first : last + 1);
		last = id;
	}
	IS(wrong, 0);
}

static void ids_are_from_1_to_65534(void)
{
	if (open_both() && IS(pier_comch_consumer_id(consumer.consumer), 1)) {
		ids_go_round(true, 2);
		ids_go_round(false, 1);
	}
	close_both();
}

static void there_are_at_most_1024(void)
{
	static struct pier_comch_producer *some[PIER_COMCH_CONSUMERS_MAX];
	struct pier_comch_producer *more = NULL;
	int i;

	if (talker_pair(&server, &client, dev, NULL)) {
		for (i = 0; i < PIER_COMCH_CONSUMERS_MAX && tap_holds(); i++)
			IS(pier_comch_producer_create(client.conn, &some[i]),
			   0);
		IS(pier_comch_producer_create(client.conn, &more), -ENOSPC);
		LIKE(pier_last_error(), "1024 producers");
		while (i)
			pier_comch_producer_destroy(some[--i]);
	}
	talker_unpair(&server, &client);
}

static void a_consumer_is_no_buffer_of_its_memory(void)
{
	struct pier_comch_consumer *some;
	struct pier_mmap *mmap;

	if (talker_pair(&server, &client, dev, NULL) &&
	    IS(pier_mmap_alloc(dev, LEN, NULL, &mmap), 0)) {
		IS(pier_comch_consumer_create(client.conn, mmap, &some), 0);
		IS(pier_mmap_buf_count(mmap), 0);
		IS(pier_mmap_stop(mmap), -EBUSY);
		LIKE(pier_last_error(), "in use by 1 Comm Channel consumer;");
		pier_comch_consumer_destroy(some);
		IS(pier_mmap_stop(mmap), 0);
		pier_mmap_destroy(mmap);
	}
	talker_unpair(&server, &client);
}

static void memory_is_checked(void)
{
	static const struct pier_mmap_config read_only = {
		.size = sizeof(read_only), .access = PIER_LOCAL_READ
	};
	struct pier_comch_consumer *none = NULL;
	struct pier_mmap *mmap;

	if (!talker_pair(&server, &client, dev, NULL) ||
	    !IS(pier_mmap_create(&mmap), 0))
		return;
	IS(pier_comch_consumer_create(client.conn, mmap, &none), -EINVAL);
	LIKE(pier_last_error(), "not started");
	pier_mmap_destroy(mmap);
	if (IS(pier_mmap_alloc(dev, LEN, &read_only, &mmap), 0)) {
		IS(pier_comch_consumer_create(client.conn, mmap, &none),
		   -EACCES);
		LIKE(pier_last_error(), "the mmap is memory with "
		     "PIER_LOCAL_READ, this needs PIER_LOCAL_WRITE");
		pier_mmap_destroy(mmap);
	}
	OK(!none);
	talker_unpair(&server, &client);
}

static uint64_t limit_of(enum pier_limit limit)
{
	uint64_t value = 0;

	IS(pier_devinfo_limit(pier_dev_info(dev), limit, &value), 0);
	return value;
}

static void configurations_are_checked(void)
{
	uint32_t chain = (uint32_t)limit_of(PIER_LIMIT_COMCH_CHAIN);
	const struct pier_comch_data_config bad[] = {
		{ .tasks = PIER_ZERO },
		{ .tasks = (1 << 20) + 1 },
		{ .max_peers = 1025 },
		{ .chain = chain + 1 },
		{ .chain = 65 },
		{ .imm_len = 33 },
		{ .connect_timeout_ms = PIER_ZERO },
		{ .drain_ms = PIER_ZERO },
		{ .ack_timeout = 32 },
	};
	struct pier_comch_data_config cfg = { .size = sizeof(cfg) };

	if (!open_both())
		return;
	IS(pier_comch_consumer_configure(consumer.consumer, &cfg), -EBUSY);
	IS(pier_ctx_stop_wait(consumer.ctx, LIMIT_MS), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cfg = bad[i];
		cfg.size = sizeof(cfg);
		if (!IS(pier_comch_consumer_configure(consumer.consumer, &cfg),
			-EINVAL))
			tap_note("number %zu", i);
	}
	pier_comch_consumer_get_config(consumer.consumer, &cfg);
	IS(cfg.tasks, 256);
	IS(cfg.max_peers, 64);
	IS(cfg.chain, 1);
	IS(cfg.imm_len, 32);
	IS(cfg.connect_timeout_ms, 10000);
	IS(cfg.drain_ms, 2000);
	IS(cfg.ack_timeout, 14);
	cfg.imm_len = PIER_ZERO;
	IS(pier_comch_consumer_configure(consumer.consumer, &cfg), 0);
	pier_comch_consumer_get_config(consumer.consumer, &cfg);
	IS(cfg.imm_len, PIER_ZERO);
	pier_comch_producer_get_config(producer.producer, &cfg);
	IS(cfg.tasks, 256);
	IS(pier_comch_producer_configure(producer.producer, &cfg), -EBUSY);
	close_both();
}

static void limits_are_those_of_the_device(void)
{
	OK(limit_of(PIER_LIMIT_COMCH_DATA) >= 1 << 20);
	OK(limit_of(PIER_LIMIT_COMCH_CHAIN) >= 1);
	IS(limit_of(PIER_LIMIT_COMCH_CONSUMERS), 1024);
	IS(limit_of(PIER_LIMIT_COMCH_IMM), 32);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_message_passes_from_buffer_to_buffer);
	TEST(a_consumer_is_starting_until_its_peer_knows_it);
	TEST(a_producer_runs_at_once);
	TEST(a_start_can_be_stopped);
	TEST(a_connection_with_consumers_is_not_stopped);
	TEST(they_stop_when_the_connection_ends);
	TEST(arrived_messages_are_received_first);
	TEST(messages_to_an_expired_consumer_fail);
	TEST(contexts_are_stopped_in_callbacks);
	TEST(contexts_are_destroyed_in_callbacks);
	TEST(ids_are_not_used_again_soon);
	TEST(ids_are_from_1_to_65534);
	TEST(there_are_at_most_1024);
	TEST(a_consumer_is_no_buffer_of_its_memory);
	TEST(memory_is_checked);
	TEST(configurations_are_checked);
	TEST(limits_are_those_of_the_device);
	pier_dev_close(dev);
	return tap_done();
}
