/* SPDX-License-Identifier: BSD-2-Clause */
#include "ops/comch_data.h"
#include "t/lib/freight.h"
#include "t/lib/tap.h"

/*
 * A message goes from the producer's memory to the consumer's: their devices
 * get the programs' buffers, and nothing else but a head for each message.
 */

#define LEN (1 << 20)
#define HEAD_MAX 64

static struct pier_dev *dev;
static struct talker server, client;
static struct freight consumer, producer;

/* What is posted on the queues of one of them. */
struct spy {
	struct pier__fabric_qp calls;	/* theirs, but for two */
	const struct pier__fabric_qp *real;
	const struct freight *freight;
	size_t in_place, elsewhere;	/* bytes, of the program's memory */
};

static struct spy spies[2];	/* the producer's, the consumer's */

static void look(struct spy *spy, const struct ibv_sge *sge, int n)
{
	uintptr_t mem = (uintptr_t)spy->freight->mem;

	for (; n > 0; n--, sge++) {
		if (sge->addr >= mem &&
		    sge->addr + sge->length <= mem + spy->freight->len)
			spy->in_place += sge->length;
		else
			spy->elsewhere += sge->length;
	}
}

static int post(struct pier__qp *qp, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad)
{
	for (struct ibv_send_wr *one = wr; one; one = one->next)
		if (one->opcode == IBV_WR_SEND)
			look(&spies[0], one->sg_list, one->num_sge);
	return spies[0].real->post(qp, wr, bad);
}

static int post_receive(struct pier__srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad)
{
	for (struct ibv_recv_wr *one = wr; one; one = one->next)
		look(&spies[1], one->sg_list, one->num_sge);
	return spies[1].real->srq_post(srq, wr, bad);
}

static struct spy *watch(struct spy *spy, const struct freight *freight)
{
	struct pier__queues *queues =
		pier__comch_data_of(freight->ctx)->owner.queues;

	spy->freight = freight;
	spy->in_place = spy->elsewhere = 0;
	spy->real = queues->fab;
	spy->calls = *queues->fab;
	queues->fab = &spy->calls;
	return spy;
}

static bool open_and_watch(void)
{
	if (!talker_pair(&server, &client, dev, NULL) ||
	    !freight_pair(&producer, &server, &consumer, &client, dev, LEN,
			  NULL))
		return false;
	watch(&spies[0], &producer)->calls.post = post;
	watch(&spies[1], &consumer)->calls.srq_post = post_receive;
	return true;
}

/* @count messages of LEN bytes, and their heads. */
static void were_posted_in_place(size_t count)
{
	for (int i = 0; i < 2; i++) {
		IS(spies[i].in_place, count * LEN);
		OK(spies[i].elsewhere <= count * HEAD_MAX);
	}
}

static void has_arrived(int count)
{
	talker_count(&consumer.done, count);
	talker_count(&producer.done, count);
	freight_holds(&consumer, (unsigned int)count, 0, LEN,
		      PIER_COMCH_IMM_MAX);
}

static void messages_are_sent_and_received_in_place(void)
{
	if (open_and_watch()) {
		for (int i = 1; i <= 3; i++) {
			IS(freight_receive(&consumer, 0, LEN), 0);
			IS(freight_produce(&producer, 1, (unsigned int)i, 0,
					   LEN, PIER_COMCH_IMM_MAX), 0);
			has_arrived(i);
			were_posted_in_place((size_t)i);
		}
	}
	freight_unpair(&producer, &server, &consumer, &client);
}

/* Before there is a connection for it, and a receive. */
static void a_message_that_waits_is_not_copied(void)
{
	if (open_and_watch()) {
		IS(freight_produce(&producer, 1, 1, 0, LEN,
				   PIER_COMCH_IMM_MAX), 0);
		IS(spies[0].in_place, 0);
		IS(freight_receive(&consumer, 0, LEN), 0);
		has_arrived(1);
		were_posted_in_place(1);
	}
	freight_unpair(&producer, &server, &consumer, &client);
}

int main(void)
{
	if (!OK(!pier_dev_open(NULL, &dev)))
		return tap_done();
	TEST(messages_are_sent_and_received_in_place);
	TEST(a_message_that_waits_is_not_copied);
	pier_dev_close(dev);
	return tap_done();
}
