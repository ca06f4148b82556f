/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "dev/dev_impl.h"
#include "t/lib/freight.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Messages of producers to consumers of a Comm Channel. */

#define LEN (1 << 20)
#define SMALL 64
#define MANY 6

static struct pier_dev *dev;
static struct talker server, client;
static struct freight consumer, producer, others[2 * MANY];

/* A consumer of the client, and a producer of the server, which run. */
static bool open_large(size_t len, const struct pier_comch_data_config *cfg)
{
	return talker_pair(&server, &client, dev, NULL) &&
	       freight_pair(&producer, &server, &consumer, &client, dev, len,
			    cfg);
}

static bool open_with(const struct pier_comch_data_config *cfg)
{
	return open_large(LEN, cfg);
}

static void close_both(void)
{
	freight_unpair(&producer, &server, &consumer, &client);
}

static void has_passed(unsigned int seed, size_t len, size_t imm_len)
{
	talker_count(&consumer.done, (int)seed);
	freight_holds(&consumer, seed, 0, len, imm_len);
	talker_count(&producer.done, (int)seed);
}

static void messages_of_all_lengths_pass(void)
{
	static const size_t lens[] = { 1, 2, 4095, 4096, 4097, 65536, LEN };
	unsigned int seed = 0;

	if (open_with(NULL)) {
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			memset(consumer.mem, 0, LEN);
			IS(freight_receive(&consumer, 0, LEN), 0);
			IS(freight_produce(&producer, 1, ++seed, 0, lens[i],
					   i), 0);
			has_passed(seed, lens[i], i);
		}
	}
	close_both();
}

/* A message of @len bytes, with an immediate. */
static void pass(unsigned int seed, size_t len)
{
	memset(consumer.mem, 0, len);
	IS(freight_receive(&consumer, 0, len), 0);
	IS(freight_produce(&producer, 1, seed, 0, len, 32), 0);
	has_passed(seed, len, 32);
}

/* Of a device that can do less than others, so that memory suffices. */
static void a_message_is_as_long_as_the_limit_and_not_longer(void)
{
	uint64_t *limit = &dev->info.port.limits.message, saved = *limit, most;

	*limit = 8 * LEN;
	IS(pier_devinfo_limit(pier_dev_info(dev), PIER_LIMIT_COMCH_DATA, &most),
	   0);
	OK(most > 7 * LEN && most < 8 * LEN);
	if (open_large(8 * LEN, NULL)) {
		pass(1, LEN + 1);
		pass(2, 4 * LEN + 1);
		pass(3, most);
		IS(freight_produce(&producer, 1, 4, 0, most + 1, 0),
		   -EMSGSIZE);
		LIKE(pier_last_error(), "comch produce: ");
		LIKE(pier_last_error(), " bytes or more, at most ");
		pass(4, SMALL);
		IS(producer.failed + consumer.failed, 0);
	}
	close_both();
	*limit = saved;
}

/* The peer knows it as a power of two, and so does the program. */
static void a_limit_that_is_no_power_of_two_can_be_used(void)
{
	uint64_t *limit = &dev->info.port.limits.message, saved = *limit;
	uint64_t message, most;

	*limit = 8 * LEN - 1;
	IS(pier_devinfo_limit(pier_dev_info(dev), PIER_LIMIT_MESSAGE,
			      &message), 0);
	IS(message, 4 * LEN);
	IS(pier_devinfo_limit(pier_dev_info(dev), PIER_LIMIT_COMCH_DATA, &most),
	   0);
	if (open_large(8 * LEN, NULL)) {
		pass(1, most);
		IS(freight_produce(&producer, 1, 2, 0, most + 1, 0),
		   -EMSGSIZE);
		pass(2, SMALL);
		IS(producer.failed + consumer.failed, 0);
	}
	close_both();
	*limit = saved;
}

static void immediates_pass_without_buffers(void)
{
	unsigned int seed = 0;

	if (open_with(NULL)) {
		for (size_t len = 0; len <= PIER_COMCH_IMM_MAX; len++) {
			IS(freight_receive(&consumer, 0, 0), 0);
			IS(freight_produce(&producer, 1, ++seed, 0, 0, len),
			   0);
			has_passed(seed, 0, len);
		}
		IS(freight_produce(&producer, 1, 1, 0, 0,
				   PIER_COMCH_IMM_MAX + 1), -EMSGSIZE);
		LIKE(pier_last_error(), "33 bytes");
	}
	close_both();
}

/* Nothing is driven between the submits, nor after the first one. */
static void messages_wait_for_receives(void)
{
	int tasks = 200;

	if (open_with(NULL)) {
		for (int i = 0; i < tasks; i++)
			IS(freight_produce(&producer, 1, 7, 0, SMALL, 4), 0);
		for (int i = 0; i < 20; i++)
			talker_step(limit_from_now());
		IS(producer.done, 0);
		for (int i = 0; i < tasks; i++)
			IS(freight_receive(&consumer, 0, SMALL), 0);
		talker_count(&consumer.done, tasks);
		talker_count(&producer.done, tasks);
		freight_holds(&consumer, 7, 0, SMALL, 4);
		IS(consumer.failed + producer.failed, 0);
	}
	close_both();
}

static uint32_t expected;

/* They are numbered by their immediate, which is of pattern "seed". */
static void is_next(struct freight *freight, struct pier_task *task)
{
	(void)task;
	if (freight->consumer)
		IS(freight->imm[0], peer_byte(++expected, 0));
}

static void messages_arrive_in_their_order(void)
{
	uint32_t tasks = 200;

	if (open_with(NULL)) {
		expected = 0;
		consumer.on_done = is_next;
		for (uint32_t i = 0; i < tasks; i++)
			IS(freight_receive(&consumer, 0, SMALL), 0);
		for (uint32_t i = 0; i < tasks; i++)
			IS(freight_produce(&producer, 1, i + 1, 0, SMALL, 1),
			   0);
		talker_count(&consumer.done, (int)tasks);
		talker_count(&producer.done, (int)tasks);
		IS(expected, tasks);
	}
	close_both();
}

/* One end's consumer and the other's producer are on the ends' engines. */
static void engines_may_be_shared(void)
{
	memset(&consumer, 0, sizeof(consumer));
	memset(&producer, 0, sizeof(producer));
	if (talker_pair(&server, &client, dev, NULL) &&
	    freight_consumer(&consumer, dev, client.conn, LEN, NULL, &client) &&
	    freight_producer(&producer, dev, server.conn, LEN, NULL, &server) &&
	    freight_start(&producer) && freight_start(&consumer) &&
	    talker_count(&server.consumers, 1)) {
		IS(freight_receive(&consumer, 0, LEN), 0);
		IS(freight_produce(&producer, 1, 1, 0, LEN, 0), 0);
		has_passed(1, LEN, 0);
	}
	close_both();
}

static int total_done(const struct freight *all, int count)
{
	int done = 0;

	for (int i = 0; i < count; i++)
		done += all[i].done;
	return done;
}

/* Each of @count producers sends to each of as many consumers. */
static void send_all(struct freight *consumers, struct freight *producers,
		     int count)
{
	long long limit = limit_from_now();

	for (int i = 0; i < count * count; i++) {
		struct freight *to = &consumers[i % count];

		IS(freight_receive(to, (size_t)(i / count) * SMALL, SMALL), 0);
		IS(freight_produce(&producers[i / count],
				   pier_comch_consumer_id(to->consumer),
				   (unsigned int)(i + 1), 0, SMALL, 8), 0);
	}
	while (total_done(others, 2 * count) < 2 * count * count &&
	       talker_step(limit))
		;
	for (int i = 0; i < 2 * count; i++) {
		IS(others[i].done, count);
		IS(others[i].failed, 0);
	}
}

static void many_send_to_many(void)
{
	struct freight *consumers = others, *producers = others + MANY;
	bool ok = talker_pair(&server, &client, dev, NULL);

	memset(others, 0, sizeof(others));
	for (int i = 0; i < MANY && ok; i++)
		ok = freight_consumer(&consumers[i], dev, client.conn,
				      MANY * SMALL, NULL, &client) &&
		     freight_producer(&producers[i], dev, server.conn, SMALL,
				      NULL, &server) &&
		     freight_start(&producers[i]) &&
		     freight_start(&consumers[i]);
	if (ok && talker_count(&server.consumers, MANY))
		send_all(consumers, producers, MANY);
	for (int i = 0; i < 2 * MANY; i++)
		freight_close(&others[i]);
	IS(server.expired + server.consumers > 0, true);
	talker_unpair(&server, &client);
}

static void a_consumer_takes_max_peers_producers(void)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .max_peers = 1 };
	struct pier_comch_data_counters counters;
	struct freight *other = &others[0];

	memset(others, 0, sizeof(others));
	if (open_with(&cfg) &&
	    freight_producer(other, dev, server.conn, SMALL, NULL, NULL) &&
	    freight_start(other)) {
		IS(freight_receive(&consumer, 0, LEN), 0);
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
		talker_count(&producer.done, 1);
		IS(freight_produce(other, 1, 1, 0, SMALL, 0), 0);
		talker_count(&other->failed, 1);
		IS(other->status, -ENOSPC);
		LIKE(other->text, "max_peers");
		pier_comch_consumer_get_counters(consumer.consumer, &counters);
		IS(counters.rejected, 1);
		IS(counters.messages, 1);
		IS(counters.bytes, SMALL);
	}
	freight_close(other);
	close_both();
}

/* The receive waits on; the next message makes a new connection. */
static void a_message_longer_than_the_buffer_fails(void)
{
	struct pier_comch_data_counters counters;

	if (open_with(NULL)) {
		IS(freight_receive(&consumer, 0, SMALL), 0);
		IS(freight_produce(&producer, 1, 1, 0, SMALL + 1, 0), 0);
		talker_count(&producer.failed, 1);
		IS(producer.status, -EMSGSIZE);
		LIKE(producer.text, "65 bytes does not fit");
		IS(consumer.done + consumer.failed, 0);
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
		has_passed(1, SMALL, 0);
		pier_comch_consumer_get_counters(consumer.consumer, &counters);
		IS(counters.violations, 1);
		IS(counters.messages, 1);
		pier_comch_producer_get_counters(producer.producer, &counters);
		IS(counters.messages, 1);
		IS(counters.bytes, SMALL);
	}
	close_both();
}

static int last_error;

static void keep_error(struct freight *freight, struct pier_task *task)
{
	(void)freight;
	if (pier_task_status(task))
		last_error = pier_task_status(task);
}

/* Submitted before it is connected: it is not known yet what fits. */
static void a_message_that_waits_can_be_too_long_for_the_device(void)
{
	uint64_t *most = &dev->info.port.limits.message, saved = *most;

	if (open_with(NULL)) {
		producer.on_done = keep_error;
		IS(freight_receive(&consumer, 0, LEN), 0);
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
		IS(freight_produce(&producer, 1, 1, 0, LEN, 0), 0);
		IS(freight_produce(&producer, 1, 2, 0, SMALL, 0), 0);
		*most = 65536;
		talker_count(&producer.failed, 1);
		*most = saved;
		IS(last_error, -EMSGSIZE);
		LIKE(producer.text, "the device of consumer 1 takes");
		IS(freight_receive(&consumer, 0, LEN), 0);
		has_passed(2, SMALL, 0);
		IS(producer.failed, 1);
	}
	close_both();
}

static void destroy_producer(struct freight *freight, struct pier_task *task)
{
	(void)task;
	pier_comch_producer_destroy(freight->producer);
	freight->producer = NULL;
}

static void its_callback_may_destroy_the_producer(void)
{
	uint64_t *most = &dev->info.port.limits.message, saved = *most;

	if (open_with(NULL)) {
		producer.on_done = destroy_producer;
		IS(freight_receive(&consumer, 0, LEN), 0);
		IS(freight_produce(&producer, 1, 1, 0, LEN, 0), 0);
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
		*most = 65536;
		talker_count(&producer.failed, 1);
		*most = saved;
		OK(!producer.producer);
		freight_close(&producer);
		IS(producer.done + producer.failed, 2);
	}
	close_both();
}

static struct pier_buf *at(struct freight *freight, size_t off, size_t len,
			   bool data)
{
	struct pier_buf *buf = NULL;

	if (data)
		IS(pier_buf_by_data(freight->inv, freight->mmap,
				    freight->mem + off, len, &buf), 0);
	else
		IS(pier_buf_by_addr(freight->inv, freight->mmap,
				    freight->mem + off, len, &buf), 0);
	return buf;
}

static struct pier_buf *chain_of(struct freight *freight, bool data)
{
	struct pier_buf *head = at(freight, 0, 100, data);

	IS(pier_buf_chain(head, at(freight, 1000, 200, data)), 0);
	return head;
}

static void chains_are_gathered_and_scattered(void)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .chain = 2 };
	int sent = -EINPROGRESS, received = -EINPROGRESS;
	long long limit = limit_from_now();
	struct pier_buf *to, *from;

	if (open_with(&cfg)) {
		to = chain_of(&consumer, false);
		from = chain_of(&producer, true);
		memset(producer.mem, 1, 100);
		memset(producer.mem + 1000, 2, 200);
		IS(pier_comch_receive(consumer.consumer, to, peer_done,
				      &received), 0);
		IS(pier_comch_produce(producer.producer, from, NULL, 0, 1,
				      peer_done, &sent), 0);
		while ((sent == -EINPROGRESS || received == -EINPROGRESS) &&
		       talker_step(limit))
			;
		IS(sent, 0);
		IS(received, 0);
		IS(pier_buf_chain_data_len(to), 300);
		OK(!memcmp(consumer.mem, producer.mem, 1200));
		IS(pier_buf_chain(from, at(&producer, 0, 1, true)), 0);
		IS(pier_comch_produce(producer.producer, from, NULL, 0, 1,
				      peer_done, &sent), -EINVAL);
		LIKE(pier_last_error(), "more than 2 buffers");
		pier_buf_put(to);
		pier_buf_put(from);
	}
	close_both();
}

static void buffers_are_checked(void)
{
	struct pier_buf *other, *put;
	int status;

	if (open_with(NULL)) {
		other = at(&producer, 0, SMALL, false);
		IS(pier_comch_receive(consumer.consumer, other, peer_done,
				      &status), -EINVAL);
		LIKE(pier_last_error(), "not of the mmap of consumer 1");
		pier_buf_put(other);
		put = at(&producer, 0, SMALL, true);
		pier_buf_put(put);
		IS(pier_comch_produce(producer.producer, put, NULL, 0, 1,
				      peer_done, &status), -EINVAL);
		LIKE(pier_last_error(), "given back");
		IS(pier_comch_produce(producer.producer, NULL, NULL, 1, 1,
				      peer_done, &status), -EINVAL);
		LIKE(pier_last_error(), "at NULL");
	}
	close_both();
}

static void immediates_may_be_limited(void)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .imm_len = PIER_ZERO };

	if (open_with(&cfg)) {
		IS(freight_receive(&consumer, 0, SMALL), 0);
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 1), -EMSGSIZE);
		LIKE(pier_last_error(), "consumer 1 takes 0");
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
		has_passed(1, SMALL, 0);
	}
	close_both();
}

static void ignore(struct pier_task *task, void *arg)
{
	int *done = arg;

	IS(pier_task_status(task), 0);
	++*done;
}

static void tasks_are_used_again(void)
{
	struct pier_task *task = NULL, *another;
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .tasks = 1 };
	struct pier_buf *buf;
	int done = 0;

	if (open_with(&cfg) &&
	    IS(pier_comch_task_produce(producer.producer, NULL, "ab", 2, 9,
				       &task), 0)) {
		IS(pier_task_type(task), PIER_TASK_COMCH_PRODUCE);
		IS(pier_comch_task_produce(producer.producer, NULL, NULL, 0, 1,
					   &another), -ENOBUFS);
		pier_task_set_done(task, ignore, &done);
		IS(pier_task_submit(task, 0), -ENOENT);
		IS(pier_comch_task_set_consumer(task, 1), 0);
		IS(pier_task_submit(task, 0), 0);
		IS(pier_comch_task_set_imm(task, "c", 1), -EBUSY);
		IS(pier_comch_task_set_buf(task, NULL), -EBUSY);
		IS(freight_receive(&consumer, 0, SMALL), 0);
		talker_count(&done, 1);
		talker_count(&consumer.done, 1);
		IS(consumer.imm_len, 2);
		IS(consumer.imm[1], 'b');
		buf = at(&producer, 0, SMALL, true);
		IS(pier_comch_task_set_imm(task, "c", 1), 0);
		IS(pier_comch_task_set_buf(task, buf), 0);
		IS(freight_receive(&consumer, 0, SMALL), 0);
		IS(pier_task_submit(task, 0), 0);
		talker_count(&done, 2);
		talker_count(&consumer.done, 2);
		IS(consumer.imm_len, 1);
		IS(consumer.last_len, SMALL);
		pier_buf_put(buf);
		pier_task_free(task);
	}
	close_both();
}

/* A stop waits for what is in flight, and cancels what cannot be sent. */
static void a_stop_ends_all_tasks_once(void)
{
	struct pier_comch_data_config cfg = { .size = sizeof(cfg),
					      .drain_ms = 100 };

	if (open_with(&cfg)) {
		for (int i = 0; i < 100; i++)
			IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
		IS(freight_receive(&consumer, 0, SMALL), 0);
		talker_count(&producer.done, 1);
		IS(pier_ctx_stop_wait(producer.ctx, LIMIT_MS), 0);
		IS(producer.done + producer.failed, 100);
		IS(producer.status, -ECANCELED);
		IS(freight_receive(&consumer, 0, SMALL), 0);
		IS(pier_ctx_stop_wait(consumer.ctx, LIMIT_MS), 0);
		IS(consumer.done + consumer.failed, 2);
		IS(consumer.status, -ECANCELED);
	}
	close_both();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(messages_of_all_lengths_pass);
	TEST(a_message_is_as_long_as_the_limit_and_not_longer);
	TEST(a_limit_that_is_no_power_of_two_can_be_used);
	TEST(immediates_pass_without_buffers);
	TEST(messages_wait_for_receives);
	TEST(messages_arrive_in_their_order);
	TEST(engines_may_be_shared);
	TEST(many_send_to_many);
	TEST(a_consumer_takes_max_peers_producers);
	TEST(a_message_longer_than_the_buffer_fails);
	TEST(a_message_that_waits_can_be_too_long_for_the_device);
	TEST(its_callback_may_destroy_the_producer);
	TEST(chains_are_gathered_and_scattered);
	TEST(buffers_are_checked);
	TEST(immediates_may_be_limited);
	TEST(tasks_are_used_again);
	TEST(a_stop_ends_all_tasks_once);
	pier_dev_close(dev);
	return tap_done();
}
