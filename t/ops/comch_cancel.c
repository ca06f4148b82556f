/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/freight.h"
#include "t/lib/tap.h"

/* Messages of Comm Channels, and receives for them, that are taken back. */

#define LEN 4096
#define SHORT_MS 50

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

static void count(struct pier_task *task, void *arg)
{
	(void)task;
	++*(int *)arg;
}

static struct pier_task *message(int *done)
{
	struct pier_task *task = NULL;

	IS(pier_comch_task_produce(producer.producer, NULL, "m", 1,
				   server.consumer, &task), 0);
	pier_task_set_done(task, count, done);
	return task;
}

/* Does the next message arrive? */
static void passes(unsigned int seed)
{
	int received = consumer.done, sent = producer.done;

	IS(freight_receive(&consumer, 0, LEN), 0);
	IS(freight_produce(&producer, server.consumer, seed, 0, LEN, 32), 0);
	talker_count(&consumer.done, received + 1);
	freight_holds(&consumer, seed, 0, LEN, 32);
	talker_count(&producer.done, sent + 1);
}

/* The first message waits until there is a connection. */
static void a_message_that_waits_is_taken_back_alone(void)
{
	struct pier_task *first;
	int done = 0;

	if (open_both()) {
		first = message(&done);
		IS(pier_task_submit(first, 0), 0);
		IS(freight_produce(&producer, server.consumer, 1, 0, LEN, 32),
		   0);
		IS(pier_task_cancel(first), 0);
		IS(done, 0);
		IS(freight_receive(&consumer, 0, LEN), 0);
		talker_count(&producer.done, 1);
		IS(done, 1);
		IS(pier_task_status(first), -ECANCELED);
		LIKE(pier_task_error_text(first), "cancelled");
		talker_count(&consumer.done, 1);
		freight_holds(&consumer, 1, 0, LEN, 32);
		passes(2);
		pier_task_free(first);
	}
	close_both();
}

/* The message that was cancelled may be on its way, and arrive before it. */
static void passes_after_another(unsigned int seed)
{
	int received = consumer.done;

	IS(freight_receive(&consumer, 0, LEN), 0);
	IS(freight_produce(&producer, server.consumer, seed, 0, LEN, 32), 0);
	talker_count(&consumer.done, ++received);
	if (!consumer.last_len) {
		IS(freight_receive(&consumer, 0, LEN), 0);
		talker_count(&consumer.done, ++received);
	}
	freight_holds(&consumer, seed, 0, LEN, 32);
}

/* The next message makes a new connection. */
static void a_message_in_flight_ends_its_connection(void)
{
	struct pier_task *first;
	int done = 0;

	if (open_both()) {
		passes(1);
		first = message(&done);
		IS(pier_task_run(first, SHORT_MS), -ETIMEDOUT);
		LIKE(pier_last_error(), "cannot be recalled");
		IS(done, 1);
		passes_after_another(2);
		pier_task_free(first);
	}
	close_both();
}

/* As receives of RDMA contexts. */
static void a_receive_is_taken_back_or_its_context_stops(void)
{
	struct pier_task *task;
	int err;

	if (open_both()) {
		passes(1);
		IS(pier_comch_task_receive(consumer.consumer, NULL, &task), 0);
		IS(pier_task_submit(task, 0), 0);
		err = pier_task_cancel(task);
		if (err)
			IS(err, -EOPNOTSUPP);
		else
			IS(pier_task_wait(task, -1), -ECANCELED);
		if (!err)
			passes(2);
		IS(err ? pier_task_wait(task, SHORT_MS) :
			 pier_task_run(task, SHORT_MS), -ETIMEDOUT);
		IS(pier_task_free(task), 0);
	}
	close_both();
}

/* One of a channel itself is with the device at once. */
static void a_message_of_the_channel_ends_its_connection(void)
{
	struct pier_task *task;
	int err;

	if (open_both()) {
		IS(pier_comch_task_send(client.conn, "text", 4, &task), 0);
		IS(pier_task_submit(task, 0), 0);
		IS(pier_task_cancel(task), 0);
		err = pier_task_wait(task, -1);
		OK(err == -ECANCELED || !err);	/* it may have arrived */
		talker_count(&client.disconnected, 1);
		IS(client.end_error, -ECANCELED);
		talker_count(&server.disconnected, 1);
		pier_task_free(task);
	}
	close_both();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_message_that_waits_is_taken_back_alone);
	TEST(a_message_in_flight_ends_its_connection);
	TEST(a_receive_is_taken_back_or_its_context_stops);
	TEST(a_message_of_the_channel_ends_its_connection);
	pier_dev_close(dev);
	return tap_done();
}
