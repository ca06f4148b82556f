/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of an engine: callbacks one at a time, and tasks retrieved. */
#include <errno.h>

#include "core/clock.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Tasks completed together are reported singly if one is asked for. */
static void one_event_at_a_time_is_one_callback_at_a_time(void)
{
	struct pier_event event;
	struct pier_dev *dev;
	struct peer a, b;
	uint64_t end;
	int i, n, idle, events;

	if (pier_dev_open(NULL, &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	if (!peer_pair(&a, &b, dev, NULL, 4096))
		return;
	for (i = 0; i < 16; i++)
		IS(pier_rdma_receive(a.rdma, NULL, NULL, NULL), 0);
	IS(pier_ctx_stop(pier_rdma_ctx(a.rdma)), -EINPROGRESS);
	end = pier__now() + PEER_LIMIT_MS * PIER__MS;
	while (pier_ctx_pe(pier_rdma_ctx(a.rdma)) && pier__now() < end) {
		n = pier_pe_progress(a.pe, 1);
		idle = !pier_ctx_pe(pier_rdma_ctx(a.rdma));
		OK(n <= 1 + idle);
		for (events = 0; pier_pe_retrieve(a.pe, &event) == 0;
		     events++) {
			IS(event.status, -ECANCELED);
			pier_task_free(event.task);
		}
		OK(events <= 1);
	}
	peer_ctx(&a, PIER_CTX_IDLE);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
}

static void destroy_the_engine(struct pier_task *task, void *arg)
{
	struct peer *peer = arg;

	(void)task;
	if (peer->own_pe)
		pier_pe_destroy(peer->pe);
	peer->own_pe = false;
}

/* With contexts still running on it, which are stopped by that. */
static void an_engine_may_be_destroyed_in_a_callback(void)
{
	int status = -EINPROGRESS;
	struct pier_dev *dev;
	struct peer a, b;

	if (pier_dev_open(NULL, &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	if (!peer_pair(&a, &b, dev, NULL, 4096))
		return;
	IS(pier_rdma_receive(a.rdma, NULL, destroy_the_engine, &a), 0);
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &status), 0);
	IS(pier_rdma_send(b.conn, NULL, NULL, NULL), 0);
	while (a.own_pe)
		pier_pe_wait(a.pe, 10);
	IS(status, -ECANCELED);
	IS(pier_ctx_state(pier_rdma_ctx(a.rdma)), PIER_CTX_IDLE);
	IS(pier_ctx_state(pier_rdma_ctx(b.rdma)), PIER_CTX_IDLE);
	OK(!pier_ctx_pe(pier_rdma_ctx(a.rdma)));
	peer_unpair(&a, &b);
	pier_dev_close(dev);
}

/* A task of each kind of end, from a pair whose receive is too short. */
static void retrieve_has_four_outcomes(void)
{
	struct pier_event event = { NULL, 1 };
	struct pier_buf *src, *dst;
	struct pier_dev *dev;
	struct peer a, b;

	IS(pier_pe_retrieve(NULL, &event), -EINVAL);
	LIKE(pier_last_error(), "object is NULL");
	if (pier_dev_open(NULL, &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	if (!peer_pair(&a, &b, dev, NULL, 4096))
		return;
	IS(pier_pe_retrieve(a.pe, NULL), -EINVAL);
	LIKE(pier_last_error(), "without an event");
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	OK(!event.task && event.status == 1);

	IS(pier_rdma_receive(b.rdma, NULL, NULL, NULL), 0);
	IS(pier_rdma_send(a.conn, NULL, NULL, NULL), 0);
	OK(peer_quiet(&a) && peer_quiet(&b));
	IS(pier_pe_retrieve(a.pe, NULL), -EINVAL);	/* takes none */
	for (int i = 0; i < 2; i++) {
		IS(pier_pe_retrieve(a.pe, &event), 0);
		IS(event.status, 0);
		pier_task_free(event.task);
	}

	src = peer_data(&a, 0, 101);
	dst = peer_tail(&b, 0, 100);
	IS(pier_rdma_receive(b.rdma, dst, NULL, NULL), 0);
	IS(pier_rdma_send(a.conn, src, NULL, NULL), 0);
	OK(peer_quiet(&a) && peer_quiet(&b));
	for (int i = 0; i < 2; i++) {
		IS(pier_pe_retrieve(a.pe, &event), 0);
		OK(event.status < 0 && event.status != -EINPROGRESS);
		IS(event.status, pier_task_status(event.task));
		pier_task_free(event.task);
	}
	IS(pier_pe_retrieve(a.pe, &event), -EAGAIN);
	pier_buf_put(dst);
	pier_buf_put(src);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
}

int main(void)
{
	TEST(one_event_at_a_time_is_one_callback_at_a_time);
	TEST(an_engine_may_be_destroyed_in_a_callback);
	TEST(retrieve_has_four_outcomes);
	return tap_done();
}
