/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "t/lib/freight.h"
#include "t/lib/tap.h"

/*
 * A Comm Channel on the main thread, and consumers and producers with an engine
 * and a thread each.
 */
#define ROUNDS 10
#define MESSAGES 50
#define SMALL 64
#define PAIRS 2

static struct pier_dev *dev;
static struct talker server, client;
static atomic_int ended;

/* One consumer or producer; its engine is the thread's own. */
struct runner {
	pthread_t thread;
	struct pier_pe *pe;
	struct pier_comch_consumer *consumer;
	struct pier_comch_producer *producer;
	uint32_t to;
	int done, failed;
	bool ok;
};

static void count(struct pier_task *task, void *arg)
{
	struct runner *runner = arg;

	if (pier_task_status(task))
		runner->failed++;
	else
		runner->done++;
}

static bool drive(struct runner *runner, struct pier_ctx *ctx, int want)
{
	long long limit = limit_now_ms() + (long long)LIMIT_MS * limit_slower();

	while (runner->done + runner->failed < want && limit_now_ms() < limit)
		pier_pe_wait(runner->pe, 100);
	return runner->done == want &&
	       pier_ctx_state(ctx) == PIER_CTX_RUNNING;
}

static bool consume(struct runner *runner)
{
	struct pier_ctx *ctx = pier_comch_consumer_ctx(runner->consumer);
	long long limit = limit_now_ms() + (long long)LIMIT_MS * limit_slower();

	if (pier_ctx_start(ctx, runner->pe) != -EINPROGRESS)
		return false;
	while (pier_ctx_state(ctx) == PIER_CTX_STARTING &&
	       limit_now_ms() < limit)
		pier_pe_wait(runner->pe, 100);
	for (int i = 0; i < MESSAGES; i++)
		if (pier_comch_receive(runner->consumer, NULL, count, runner))
			return false;
	return drive(runner, ctx, MESSAGES);
}

static bool produce(struct runner *runner)
{
	struct pier_ctx *ctx = pier_comch_producer_ctx(runner->producer);
	long long limit = limit_now_ms() + (long long)LIMIT_MS * limit_slower();
	int err = pier_ctx_start(ctx, runner->pe);

	for (int i = 0; i < MESSAGES && !err; i++) {
		do	/* until the main thread has received its id */
			err = pier_comch_produce(runner->producer, NULL, &i,
						 sizeof(i), runner->to, count,
						 runner);
		while (err == -ENOENT && limit_now_ms() < limit);
	}
	return !err && drive(runner, ctx, MESSAGES);
}

static void *run(void *arg)
{
	struct runner *runner = arg;

	runner->ok = runner->consumer ? consume(runner) : produce(runner);
	pier_comch_consumer_destroy(runner->consumer);
	pier_comch_producer_destroy(runner->producer);
	pier_pe_destroy(runner->pe);
	atomic_fetch_add(&ended, 1);
	return NULL;
}

/* Made on the main thread, which drives the connection. */
static bool make(struct runner *consumer, struct runner *producer)
{
	if (!IS(pier_pe_create(&consumer->pe), 0) ||
	    !IS(pier_pe_create(&producer->pe), 0) ||
	    !IS(pier_comch_consumer_create(client.conn, NULL,
					   &consumer->consumer), 0) ||
	    !IS(pier_comch_producer_create(server.conn, &producer->producer),
		0))
		return false;
	producer->to = pier_comch_consumer_id(consumer->consumer);
	return true;
}

static void each_has_a_thread(void)
{
	struct runner all[2 * PAIRS];
	bool ok = talker_pair(&server, &client, dev, NULL);

	for (int round = 0; round < ROUNDS && ok; round++) {
		int i;

		memset(all, 0, sizeof(all));
		atomic_store(&ended, 0);
		for (i = 0; i < 2 * PAIRS && ok; i += 2)
			ok = make(&all[i], &all[i + 1]);
		for (i = 0; i < 2 * PAIRS && ok; i++)
			ok = IS(pthread_create(&all[i].thread, NULL, run,
					       &all[i]), 0);
		while (ok && atomic_load(&ended) < 2 * PAIRS)
			talker_step(limit_from_now());
		for (i = 0; i < 2 * PAIRS && ok; i++) {
			pthread_join(all[i].thread, NULL);
			OK(all[i].ok);
			IS(all[i].done, MESSAGES);
		}
		ok = ok && tap_holds();
	}
	talker_count(&server.expired, server.consumers);
	IS(server.consumers, ROUNDS * PAIRS);
	talker_unpair(&server, &client);
}

/* Waits until it is idle, which the end of the connection makes it. */
static void *outlive(void *arg)
{
	struct runner *runner = arg;
	struct pier_ctx *ctx = pier_comch_consumer_ctx(runner->consumer);
	long long limit = limit_now_ms() + (long long)LIMIT_MS * limit_slower();

	runner->ok = pier_ctx_start(ctx, runner->pe) == -EINPROGRESS;
	while (pier_ctx_state(ctx) != PIER_CTX_IDLE && limit_now_ms() < limit)
		pier_pe_wait(runner->pe, 100);
	runner->ok = runner->ok && pier_ctx_state(ctx) == PIER_CTX_IDLE &&
		     pier_comch_consumer_error(runner->consumer, NULL);
	pier_comch_consumer_destroy(runner->consumer);
	pier_pe_destroy(runner->pe);
	return NULL;
}

static void the_connection_ends_while_they_run(void)
{
	struct runner runner;

	for (int round = 0; round < ROUNDS && tap_holds(); round++) {
		memset(&runner, 0, sizeof(runner));
		if (!talker_pair(&server, &client, dev, NULL) ||
		    !IS(pier_pe_create(&runner.pe), 0) ||
		    !IS(pier_comch_consumer_create(client.conn, NULL,
						   &runner.consumer), 0) ||
		    !IS(pthread_create(&runner.thread, NULL, outlive, &runner),
			0))
			return;
		talker_count(&server.consumers, 1);
		pier_comch_destroy(round % 2 ? server.comch : client.comch);
		if (round % 2)
			server.comch = NULL;
		else
			client.comch = NULL;
		talker_count(round % 2 ? &client.disconnected :
					 &server.disconnected, 1);
		pthread_join(runner.thread, NULL);
		OK(runner.ok);
		talker_unpair(&server, &client);
	}
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(each_has_a_thread);
	TEST(the_connection_ends_while_they_run);
	pier_dev_close(dev);
	return tap_done();
}
