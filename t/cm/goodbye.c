/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "dev/dev_impl.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/helper.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * What a peer has sent is acknowledged before it receives the end of the
 * connection, although a program that polls may owe that for a while.
 */
#define LEN 4096
#define TRIES 50
#define PATIENCE (10000 * PIER__MS)

static struct pier_dev *dev;
static const struct pier__fabric *real;
static struct pier__fabric with;
static struct pier__fabric_qp watched;
static struct peer a, b;
static bool leaving;		/* b is about to end the connection */
static int owed;		/* times b owed something when it left */
static int late;		/* and still after its goodbye */

static bool owes(struct pier__qp *qp)
{
	struct soft_ep *ep = ((struct soft_chan *)qp->cq->chan)->ep;
	bool ret;

	pier__soft_ep_enter(ep);
	ret = pier__soft_ep_replies_pending(ep);
	pier__soft_ep_leave(ep);
	return ret;
}

static int watch_post(struct pier__qp *qp, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad)
{
	if (leaving && wr->opcode == IBV_WR_RDMA_WRITE)
		late += owes(qp);
	return real->qp->post(qp, wr, bad);
}

static void watch_acknowledge(struct pier__qp *qp)
{
	owed += owes(qp);
	real->qp->acknowledge(qp);
}

static void watch_dev(void)
{
	real = dev->fabric;
	with = *real;
	watched = *real->qp;
	watched.post = watch_post;
	watched.acknowledge = watch_acknowledge;
	with.qp = &watched;
	dev->fabric = &with;
}

static void leave(struct pier_task *task, void *arg)
{
	int *got = arg;

	*got = pier_task_status(task);
	leaving = true;
	pier_conn_destroy(b.conn);
	b.conn = NULL;
}

static bool is_trusted(const struct peer *peer)
{
	struct soft_chan *chan = (struct soft_chan *)peer->conn->queues->chan;
	bool ret;

	pier__soft_ep_enter(chan->ep);
	ret = chan->checking;
	pier__soft_ep_leave(chan->ep);
	return ret;
}

/*
 * Poll until the helper leaves it to b to acknowledge.  It may watch b's
 * socket, as b has waited for the connection, and then only a packet or this
 * makes it look for calls.
 */
static bool be_trusted(void)
{
	uint64_t until = pier__now() + PATIENCE;

	pier__soft_helper_check((struct soft_chan *)b.conn->queues->chan);
	do {
		pier_pe_progress(a.pe, 0);
		pier_pe_progress(b.pe, 0);
	} while (!is_trusted(&b) && pier__now() < until);
	return OK(is_trusted(&b));
}

static bool poll_until(const int *status)
{
	uint64_t until = pier__now() + PATIENCE;

	while (*status == -EINPROGRESS && pier__now() < until) {
		pier_pe_progress(a.pe, 0);
		pier_pe_progress(b.pe, 0);
	}
	return IS(*status, 0);
}

/* b leaves as soon as it has what a sends. */
static void one_try(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	leaving = false;
	memset(&b, 0, sizeof(b));
	if (!peer_open(&a, dev, NULL, NULL, LEN) ||
	    !peer_open(&b, dev, NULL, NULL, LEN) || !peer_join(&a, &b))
		return;
	IS(pier_rdma_receive(b.rdma, NULL, leave, &got), 0);
	if (be_trusted() &&
	    IS(pier_rdma_send(a.conn, NULL, peer_done, &sent), 0) &&
	    poll_until(&got))
		poll_until(&sent);
	peer_conn(a.conn, PIER_CONN_RESET);
	peer_unpair(&a, &b);
}

static void a_goodbye_leaves_nothing_unacknowledged(void)
{
	int i;

	watch_dev();
	for (i = 0; i < TRIES && tap_holds(); i++)
		one_try();
	dev->fabric = real;
	tap_note("%d times of %d it owed something", owed, i);
	OK(owed);
	IS(late, 0);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"))
		return tap_skip_all("a device of hardware owes nothing");
	TEST(a_goodbye_leaves_nothing_unacknowledged);
	pier_dev_close(dev);
	return tap_done();
}
