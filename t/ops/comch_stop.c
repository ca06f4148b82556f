/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/freight.h"
#include "t/lib/tap.h"

/*
 * stop_on_task_error of producers; t/faults/comch_killed.c has that of a
 * server.  A consumer's receives do not fail before it stops.
 */
#define LEN 4096
#define SMALL 64
#define MANY 20

static struct pier_dev *dev;
static struct talker server, client;
static struct freight consumer, producer;

static bool open_both(uint32_t stop_on_task_error)
{
	struct pier_comch_data_config cfg = {
		.size = sizeof(cfg),
		.stop_on_task_error = stop_on_task_error,
	};

	return talker_pair(&server, &client, dev, NULL) &&
	       freight_pair(&producer, &server, &consumer, &client, dev, LEN,
			    &cfg);
}

static void close_both(void)
{
	freight_unpair(&producer, &server, &consumer, &client);
}

/* The one that is too long for the buffer comes first. */
static void send_too_long(void)
{
	IS(freight_receive(&consumer, 0, SMALL), 0);
	IS(freight_produce(&producer, 1, 1, 0, SMALL + 1, 0), 0);
	for (int i = 1; i < MANY; i++)
		IS(freight_produce(&producer, 1, 1, 0, SMALL, 0), 0);
}

static void all_have_ended(void)
{
	IS(producer.done + producer.failed, MANY);
	IS(pier_pe_inflight(producer.pe), 0);
	IS(pier_ctx_state(server.ctx), PIER_CTX_RUNNING);
	IS(pier_ctx_state(client.ctx), PIER_CTX_RUNNING);
}

/* The consumer has it too, but no task of it fails. */
static void a_failed_message_stops_a_producer_that_is_to_stop(void)
{
	const char *text;

	if (open_both(1)) {
		send_too_long();
		freight_state(&producer, PIER_CTX_IDLE);
		all_have_ended();
		IS(producer.done, 0);
		IS(pier_comch_producer_error(producer.producer, &text), 0);
		IS(pier_ctx_state(consumer.ctx), PIER_CTX_RUNNING);
		IS(consumer.done + consumer.failed, 0);
		IS(pier_ctx_start(producer.ctx, producer.pe), 0);
		IS(freight_produce(&producer, 1, 2, 0, SMALL, 0), 0);
		talker_count(&consumer.done, 1);
		talker_count(&producer.done, 1);
		freight_holds(&consumer, 2, 0, SMALL, 0);
	}
	close_both();
}

static void messages_that_wait_end_when_the_producer_stops(void)
{
	if (open_both(1)) {
		for (int i = 0; i < MANY; i++)
			IS(freight_produce(&producer, 1, 4, 0, LEN, 0), 0);
		talker_step(limit_from_now());
		IS(producer.done, 0);
		IS(pier_ctx_stop(consumer.ctx), -EINPROGRESS);
		freight_state(&producer, PIER_CTX_IDLE);
		all_have_ended();
		IS(producer.failed, MANY);
		freight_state(&consumer, PIER_CTX_IDLE);
	}
	close_both();
}

static void without_it_a_producer_runs_on(void)
{
	if (open_both(0)) {
		send_too_long();
		talker_count(&producer.failed, 1);
		IS(pier_ctx_state(producer.ctx), PIER_CTX_RUNNING);
	}
	close_both();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (pier_devinfo_has(pier_dev_info(dev), PIER_FEATURE_COMCH))
		return tap_skip_all(pier_last_error());
	TEST(a_failed_message_stops_a_producer_that_is_to_stop);
	TEST(messages_that_wait_end_when_the_producer_stops);
	TEST(without_it_a_producer_runs_on);
	pier_dev_close(dev);
	return tap_done();
}
