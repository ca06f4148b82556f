/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "ops/comch_data.h"
#include "t/lib/caller.h"
#include "t/lib/freight.h"
#include "t/lib/tap.h"

/* Producers of a Comm Channel that do not keep to its protocol. */

#define LEN 4096
#define HEAD PIER__COMCH_DATA_HEAD

static struct pier_dev *dev;
static struct talker server, client;
static struct freight consumer, producer;
static struct caller mallory;		/* by hand */
static struct pier__comch_announced to;
static uint8_t ask[PIER__COMCH_ASK + 1];
static size_t ask_len;

static void good_ask(uint32_t id)
{
	pier__comch_ask_encode(to.token, id, ask);
	ask_len = PIER__COMCH_ASK;
}

static bool open_all(void)
{
	memset(&consumer, 0, sizeof(consumer));
	memset(&producer, 0, sizeof(producer));
	if (!talker_pair(&server, &client, dev, NULL) ||
	    !freight_consumer(&consumer, dev, client.conn, LEN, NULL, NULL) ||
	    !freight_producer(&producer, dev, server.conn, LEN, NULL, NULL) ||
	    !freight_start(&producer) || !freight_start(&consumer) ||
	    !talker_count(&server.consumers, 1) ||
	    !caller_open(&mallory, dev, server.pe, NULL, LEN))
		return false;
	good_ask(1);
	return IS(pier__comch_dir_find(server.conn->dir, 1, &to), 0);
}

/* A well-behaved producer is served as ever, by the receive that waits. */
static void close_all(int receives)
{
	int done = consumer.done, sent = producer.done;

	if (!receives)
		IS(freight_receive(&consumer, 0, LEN), 0);
	IS(freight_produce(&producer, 1, 1, 0, LEN, 32), 0);
	talker_count(&consumer.done, done + 1);
	freight_holds(&consumer, 1, 0, LEN, 32);
	talker_count(&producer.done, sent + 1);
	IS(consumer.failed, 0);
	caller_close(&mallory);
	freight_close(&producer);
	freight_close(&consumer);
	talker_unpair(&server, &client);
}

static struct pier_comch_data_counters counters(void)
{
	struct pier_comch_data_counters counters;

	pier_comch_consumer_get_counters(consumer.consumer, &counters);
	return counters;
}

static bool call(void)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = caller_address(dev),
		.port = to.port,
		.data = ask,
		.data_len = ask_len,
	};

	return IS(pier_rdma_connect_to(mallory.peer.rdma, &cfg,
				       &mallory.peer.conn), 0);
}

static void is_rejected(void)
{
	int before = mallory.failures;
	uint64_t rejected = counters().rejected;

	if (call())
		talker_count(&mallory.failures, before + 1);
	IS(counters().rejected, rejected + 1);
	pier_conn_destroy(mallory.peer.conn);
	good_ask(1);
}

static void producers_without_the_token_are_rejected(void)
{
	if (open_all()) {
		good_ask(1);
		ask[4 + PIER__COMCH_TOKEN - 1] ^= 1;
		is_rejected();
		ask[4] ^= 1;
		is_rejected();
		ask[0] ^= 1;
		is_rejected();
		ask_len = 0;
		is_rejected();
		ask_len = PIER__COMCH_ASK - 1;
		is_rejected();
		ask_len = PIER__COMCH_ASK + 1;
		is_rejected();
		good_ask(0);
		is_rejected();
		good_ask(0xffff);
		is_rejected();
	}
	close_all(0);
}

/* The token of an earlier run is another one. */
static void a_token_is_for_one_run(void)
{
	if (open_all()) {
		good_ask(1);
		IS(pier_ctx_stop_wait(consumer.ctx, LIMIT_MS), 0);
		IS(freight_start(&consumer), true);
		talker_count(&server.consumers, 2);
		IS(pier__comch_dir_find(server.conn->dir, 1, &to), 0);
		is_rejected();
	}
	close_all(0);
}

static void ignore(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

/* As a producer that knows the token; then what it sends is noticed. */
static void is_noticed(uint32_t id, uint32_t imm_len, size_t len)
{
	int established = mallory.established;
	int over = mallory.disconnected;
	uint64_t violations = counters().violations;
	struct pier_buf *buf;
	uint32_t head[2] = { htonl(id), htonl(imm_len) };

	good_ask(1);
	if (!call() || !talker_count(&mallory.established, established + 1))
		return;
	memset(mallory.peer.mem, 0xff, LEN);
	memcpy(mallory.peer.mem, head, sizeof(head));
	buf = peer_data(&mallory.peer, 0, len);
	IS(pier_rdma_send(mallory.peer.conn, buf, ignore, NULL), 0);
	pier_buf_put(buf);
	talker_count(&mallory.disconnected, over + 1);
	if (!IS(counters().violations, violations + 1))
		tap_note("%u, %u, %zu bytes", id, imm_len, len);
	pier_conn_destroy(mallory.peer.conn);
}

static void messages_that_are_none_are_noticed(void)
{
	if (open_all()) {
		IS(freight_receive(&consumer, 0, LEN), 0);
		is_noticed(1, 0, 1);
		is_noticed(1, 0, HEAD - 1);
		is_noticed(0, 0, HEAD);
		is_noticed(0xffff, 0, HEAD);
		is_noticed(1, 33, HEAD);
		is_noticed(1, UINT32_MAX, HEAD);
		is_noticed(1, 33, LEN);
		IS(consumer.done + consumer.failed, 0);
	}
	close_all(1);
}

static void messages_longer_than_the_buffer_are_noticed(void)
{
	if (open_all()) {
		IS(freight_receive(&consumer, 0, 100), 0);
		is_noticed(1, 0, HEAD + 101);
		IS(freight_receive(&consumer, 0, 0), 0);
		is_noticed(1, 0, LEN);
		is_noticed(1, 0, LEN);
		IS(consumer.done + consumer.failed, 0);
		IS(freight_produce(&producer, 1, 1, 0, 0, 0), 0);
		IS(freight_produce(&producer, 1, 1, 0, 0, 0), 0);
		talker_count(&producer.done, 2);
	}
	close_all(0);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(producers_without_the_token_are_rejected);
	TEST(a_token_is_for_one_run);
	TEST(messages_that_are_none_are_noticed);
	TEST(messages_longer_than_the_buffer_are_noticed);
	pier_dev_close(dev);
	return tap_done();
}
