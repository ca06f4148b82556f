/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "ops/comch_impl.h"
#include "t/lib/talker.h"
#include "t/lib/tap.h"

/* The receives of a server on a device that takes some of them only. */

#define QUEUE 4
#define BEFORE 16	/* clients for which it has receives from the first */
			/* one on */
#define CLIENTS (BEFORE + 2)

static struct pier_dev *dev;
static struct talker server, clients[CLIENTS];
static const struct pier__fabric_qp *fabric;
static int takes;	/* receives; after them it fails */

static int take_some(struct pier__srq *srq, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	if (!takes)
		return -EIO;
	takes--;
	return fabric->srq_post(srq, wr, bad);
}

static uint32_t posted(void)
{
	struct pier__list *pos, *tmp;
	uint32_t n = 0;

	PIER__LIST_EACH(pos, tmp, &server.comch->owner.queues->posted)
		n++;
	return n;
}

static bool connects(struct talker *client)
{
	return talker_client(client, dev, server.comch->name.text, NULL,
			     NULL) &&
	       talker_start(client);
}

/* It takes a part of the second block. */
static void is_rejected(struct talker *client)
{
	struct pier__queues *queues = server.comch->owner.queues;
	static struct pier__fabric_qp failing;
	uint32_t before = posted();

	fabric = queues->fab;
	failing = *fabric;
	failing.srq_post = take_some;
	takes = QUEUE + 1;
	queues->fab = &failing;
	if (talker_client(client, dev, server.comch->name.text, NULL, NULL)) {
		IS(pier_ctx_start(client->ctx, client->pe), -EINPROGRESS);
		talker_state(client, PIER_CTX_IDLE);
	}
	IS(client->connected, 0);
	IS(talker_rejected(&server), 1);
	IS(posted(), before + QUEUE + 1);
	queues->fab = fabric;
	talker_close(client);
}

static void what_could_not_be_posted_is_posted_for_the_next_client(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE,
					 .max_clients = CLIENTS };
	int i = 0;

	if (talker_server(&server, dev, talker_name(), &cfg) &&
	    talker_start(&server)) {
		while (i < BEFORE && connects(&clients[i]))
			i++;
		is_rejected(&clients[i]);
		while (i < CLIENTS && connects(&clients[i]))
			i++;
		IS(i, CLIENTS);
		IS(posted(), CLIENTS * (QUEUE + PIER__COMCH_RESERVE));
	}
	while (i)
		talker_close(&clients[--i]);
	talker_close(&server);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(what_could_not_be_posted_is_posted_for_the_next_client);
	pier_dev_close(dev);
	return tap_done();
}
