/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "fabric/soft/io/chan.h"
#include "t/lib/counted.h"
#include "t/lib/shmpair.h"
#include "t/lib/tap.h"

/* What the thread that drove it has done is seen by this one. */
static void see(const struct peer *peer)
{
	pier__soft_ep_enter(shmpair_ep(peer));
	pier__soft_ep_leave(shmpair_ep(peer));
}

bool shmpair_begin(struct shmpair *pair, bool own, size_t len)
{
	struct peer *a = &pair->a, *b = &pair->b;
	long long limit = limit_from_now();

	memset(pair, 0, sizeof(*pair));
	peer_own_memory = own;
	setenv("PIER_SHM", "auto", 1);
	if (!IS(pier_dev_open("soft_lo", &pair->dev[0]), 0) ||
	    !IS(pier_dev_open("soft_lo", &pair->dev[1]), 0) ||
	    !peer_open(a, pair->dev[0], NULL, NULL, len) ||
	    !peer_open(b, pair->dev[1], a->pe, NULL, len) || !peer_join(a, b))
		return false;
	while ((!counted_conn(a->conn, "shm_connected") ||
		!counted_conn(b->conn, "shm_connected")) && peer_step(limit))
		;
	see(a);
	see(b);
	return OK(counted_conn(b->conn, "shm_connected"));
}

void shmpair_end(struct shmpair *pair)
{
	peer_unpair(&pair->a, &pair->b);
	pier_dev_close(pair->dev[0]);
	pier_dev_close(pair->dev[1]);
}

struct soft_ep *shmpair_ep(const struct peer *peer)
{
	return chan_of(peer->conn->queues->chan)->ep;
}

struct soft_qp *shmpair_qp(const struct peer *peer)
{
	return pier__soft_table_find(shmpair_ep(peer), peer->conn->qp->qpn);
}

int shmpair_write(struct peer *peer, size_t off, size_t len)
{
	struct pier_buf *src = peer_data(peer, off, len);
	struct pier_buf *dst = peer_far_tail(peer, off, len);
	int status = -EINPROGRESS, err;

	err = pier_rdma_write(peer->conn, src, dst, peer_done, &status);
	if (!err)
		err = peer_await(&status);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

int shmpair_read(struct peer *peer, size_t off, size_t len)
{
	struct pier_buf *dst = peer_tail(peer, off, len);
	struct pier_buf *src = peer_far_data(peer, off, len);
	int status = -EINPROGRESS, err;

	err = pier_rdma_read(peer->conn, src, dst, peer_done, &status);
	if (!err)
		err = peer_await(&status);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

bool shmpair_map(struct peer *peer)
{
	long long limit = limit_from_now();

	while (!counted_conn(peer->conn, "shm_direct") && peer_step(limit))
		if (!IS(shmpair_write(peer, 0, 8), 0))
			return false;
	return OK(counted_conn(peer->conn, "shm_direct"));
}
