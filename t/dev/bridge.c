/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bridge to rdma-core: raw verbs and pier's objects in one program.  On a
 * device without verbs its calls fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>
#include <pier/verbs.h>

#include "dev/dev_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

static struct pier_dev *dev;
static struct ibv_pd *pd;

/*
 * libibverbs' calls, so that a receive queue can be reported as failed: rxe
 * never does so.
 */
static struct ibv_srq *first_srq;	/* made since it was NULL */
static struct ibv_srq *failed_srq;	/* to be reported, once */

struct ibv_srq *ibv_create_srq(struct ibv_pd *in, struct ibv_srq_init_attr *at)
{
	struct ibv_srq *(*real)(struct ibv_pd *, struct ibv_srq_init_attr *) =
		dlsym(RTLD_NEXT, "ibv_create_srq");
	struct ibv_srq *srq = real(in, at);

	if (!first_srq)
		first_srq = srq;
	return srq;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	int (*real)(struct ibv_context *, struct ibv_async_event *) =
		dlsym(RTLD_NEXT, "ibv_get_async_event");

	if (!failed_srq)
		return real(ctx, event);
	event->event_type = IBV_EVENT_SRQ_ERR;
	event->element.srq = failed_srq;
	failed_srq = NULL;
	return 0;
}

/* The kernel has no event of a failed receive queue and awaits no ack. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	void (*real)(struct ibv_async_event *) =
		dlsym(RTLD_NEXT, "ibv_ack_async_event");

	if (event->event_type != IBV_EVENT_SRQ_ERR)
		real(event);
}

static void a_device_without_verbs_says_so(void)
{
	struct pier_dev *other;
	struct ibv_pd *none;

	if (pd) {
		tap_note("%s", "this device has them");
		return;
	}
	IS(pier_dev_pd(dev, &none), -EOPNOTSUPP);
	LIKE(pier_last_error(), "no verbs device");
	IS(pier_dev_open_pd(NULL, 1, &other), -EINVAL);
}

static void keys_of_a_buffer_are_reported(void)
{
	static char memory[64];
	struct pier_buf_inventory *inv;
	struct pier_mmap *mmap;
	struct pier_buf *buf;
	uint32_t lkey = 0, rkey = 0;

	IS(pier_mmap_map(dev, memory, sizeof(memory), PIER_REMOTE_READ, &mmap),
	   0);
	IS(pier_buf_inventory_create(1, &inv), 0);
	IS(pier_buf_whole(inv, mmap, &buf), 0);
	IS(pier_buf_lkey(buf, dev, &lkey), 0);
	IS(pier_buf_rkey(buf, dev, &rkey), 0);
	OK(lkey != 0);
	OK(rkey != 0);
	pier_buf_put(buf);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
}

static void a_region_of_verbs_and_one_of_pier_share_a_domain(void)
{
	static char memory[4096];
	struct ibv_mr *mr;

	if (!pd) {
		tap_note("%s", "no verbs: nothing to share");
		return;
	}
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	if (!OK(mr != NULL))
		return;
	IS(ibv_dereg_mr(mr), 0);
}

#define ROUNDS 100
#define PIECES 16		/* raw requests of each kind in a round */
#define PIECE 64u
#define BLOCK (PIECES * PIECE)
#define MANY_SENDS 128		/* of raw requests and tasks together */

/*
 * Where things are in the memory of each side.  What is sent comes from the
 * requester's first two blocks, and from the owner's third and fourth.
 */
enum {
	RAW_OUT, TASK_OUT,	/* written to the same place over there */
	RAW_IN, TASK_IN,	/* read from the same place over there */
	BLOCKS,
};

/* Post a block in pieces, as pier_verbs(3) allows: no signal, no wr_id. */
static void post_raw(struct peer *peer, enum ibv_wr_opcode opcode, int block)
{
	struct pier_buf *near = peer_data(peer, block * BLOCK, BLOCK);
	struct pier_buf *far = peer_far_data(peer, block * BLOCK, BLOCK);
	struct ibv_send_wr wr = { .opcode = opcode, .num_sge = 1 }, *bad;
	struct ibv_sge sge = { .length = PIECE };
	struct ibv_qp *qp;
	uint32_t i;

	wr.sg_list = &sge;
	IS(pier_conn_qp(peer->conn, &qp), 0);
	IS(pier_buf_lkey(near, peer->dev, &sge.lkey), 0);
	IS(pier_conn_rkey(peer->conn, far, &wr.wr.rdma.rkey), 0);
	for (i = 0; i < PIECES; i++) {
		sge.addr = (uintptr_t)pier_buf_data(near) + i * PIECE;
		wr.wr.rdma.remote_addr = (uintptr_t)pier_buf_data(far) +
					 i * PIECE;
		IS(ibv_post_send(qp, &wr, &bad), 0);
	}
	pier_buf_put(far);
	pier_buf_put(near);
}

/* Both kinds in both ways at once; the last task's end is everything's. */
static bool raw_beside_tasks(struct peer *a, struct peer *b, int round)
{
	struct pier_buf *out = peer_data(a, TASK_OUT * BLOCK, BLOCK);
	struct pier_buf *far_out = peer_far_tail(a, TASK_OUT * BLOCK, BLOCK);
	struct pier_buf *in = peer_tail(a, TASK_IN * BLOCK, BLOCK);
	struct pier_buf *far_in = peer_far_data(a, TASK_IN * BLOCK, BLOCK);
	int written = -EINPROGRESS, read = -EINPROGRESS;
	unsigned int seed = (unsigned int)round;

	peer_fill(a, 2 * seed);
	peer_fill(b, 2 * seed + 1);
	post_raw(a, IBV_WR_RDMA_WRITE, RAW_OUT);
	IS(pier_rdma_write(a->conn, out, far_out, peer_done, &written), 0);
	post_raw(a, IBV_WR_RDMA_READ, RAW_IN);
	IS(pier_rdma_read(a->conn, far_in, in, peer_done, &read), 0);
	IS(peer_await(&written), 0);
	IS(peer_await(&read), 0);
	OK(peer_holds(b, 0, RAW_IN * BLOCK, 2 * seed, 0));
	OK(peer_holds(a, RAW_IN * BLOCK, 2 * BLOCK, 2 * seed + 1,
		      RAW_IN * BLOCK));
	OK(peer_holds(b, RAW_IN * BLOCK, 2 * BLOCK, 2 * seed + 1,
		      RAW_IN * BLOCK));
	pier_buf_put(far_in);
	pier_buf_put(in);
	pier_buf_put(far_out);
	pier_buf_put(out);
	return tap_holds();
}

/* On @on, which may be the program's own domain. */
static void mix(struct pier_dev *on)
{
	const struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .conn_send_queue = MANY_SENDS,
	};
	struct peer a, b;
	int i;

	if (!OK(peer_pair(&a, &b, on, &cfg, BLOCKS * BLOCK)))
		return;
	for (i = 0; i < ROUNDS && raw_beside_tasks(&a, &b, i); i++)
		;
	IS(i, ROUNDS);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

static void raw_requests_go_beside_tasks_on_one_queue_pair(void)
{
	if (pd)
		mix(dev);
	else
		tap_note("%s", "no verbs: no queue pair");
}

static void a_device_opens_on_a_domain_of_the_program(void)
{
	struct ibv_pd *own, *given;
	struct pier_dev *second;
	struct pier_mmap *mmap;
	static char memory[4096];

	if (!pd) {
		tap_note("%s", "no verbs: no domain");
		return;
	}
	own = ibv_alloc_pd(pd->context);
	if (!OK(own != NULL))
		return;
	if (IS(pier_dev_open_pd(own, 1, &second), 0)) {
		IS(pier_dev_pd(second, &given), 0);
		OK(given == own);
		IS(pier_mmap_map(second, memory, sizeof(memory),
				 PIER_LOCAL_WRITE, &mmap), 0);
		pier_mmap_destroy(mmap);
		mix(second);
		pier_dev_close(second);
	}
	IS(ibv_dealloc_pd(own), 0);
}

static void the_queue_pair_of_a_connection_can_be_queried(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pier_conn_path path;
	struct ibv_qp *qp;
	struct peer a, b;

	if (!OK(peer_pair(&a, &b, dev, NULL, 4096)))
		return;
	if (!pd) {
		IS(pier_conn_qp(a.conn, &qp), -EOPNOTSUPP);
	} else if (IS(pier_conn_qp(a.conn, &qp), 0)) {
		IS(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
		IS(attr.qp_state, IBV_QPS_RTS);
		IS(pier_conn_path(a.conn, &path), 0);
		IS(qp->qp_num, path.local_qpn);
	}
	peer_unpair(&a, &b);
}

#define TURNS 100
#define OVERRUN 256		/* completions; a queue of few has less room */

static void ended_by_hand(const struct pier_conn *conn)
{
	static const char *const ends[] = {
		"the device has ended the connection to ",
		": it refused a request of the peer's, or the program "
		"moved the queue pair to error",
	};

	peer_conn(conn, PIER_CONN_ERROR);
	IS(pier_conn_error(conn), -ECONNRESET);
	LIKE(pier_conn_error_text(conn), ends[0]);
	LIKE(pier_conn_error_text(conn), ends[1]);
}

/* Idle, or with a read under way. */
static bool move_to_error(struct peer *a, bool busy)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct pier_buf *near = peer_tail(a, 0, 4096);
	struct pier_buf *far = peer_far_data(a, 0, 4096);
	int status = -EINPROGRESS;
	struct ibv_qp *qp;

	if (IS(pier_conn_qp(a->conn, &qp), 0))
		IS(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	if (busy) {
		IS(pier_rdma_read(a->conn, far, near, peer_done, &status), 0);
		IS(peer_await(&status), -ECANCELED);
	}
	ended_by_hand(a->conn);
	IS(pier_ctx_inflight(pier_rdma_ctx(a->rdma)), 0);
	pier_buf_put(far);
	pier_buf_put(near);
	return tap_holds();
}

static void a_queue_pair_moved_to_error_ends_its_connection_only(void)
{
	const struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 128, .keepalive_ms = 50,
	};
	struct peer a, b;
	int i;

	if (!pd) {
		tap_note("%s", "no verbs: no queue pair");
		return;
	}
	if (!OK(peer_pair(&a, &b, dev, &cfg, 4096)))
		return;
	for (i = 0; i < TURNS && move_to_error(&a, i % 2); i++) {
		pier_conn_destroy(a.conn);
		pier_conn_destroy(b.conn);
		if (!peer_join(&a, &b))
			break;
	}
	IS(i, TURNS);
	peer_unpair(&a, &b);
}

/* Signalled, and so against the rules: more than there is room for. */
static void overrun(struct peer *peer)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_qp *qp;
	int i, rc = 0;

	IS(pier_conn_qp(peer->conn, &qp), 0);
	for (i = 0; i < OVERRUN && (!rc || rc == ENOMEM); ) {
		rc = ibv_post_send(qp, &wr, &bad);
		if (!rc)
			i++;
		else
			sched_yield();	/* it has them still to do */
	}
	IS(i, OVERRUN);
}

/*
 * @a's queues are dead: its connection ends with @text and its receive, whose
 * status @got is, too; @b does with another context.
 */
static void ends_alone(struct peer *a, struct peer *b,
		       const struct pier_rdma_config *cfg, const int *got,
		       const char *text)
{
	struct peer other = { 0 };

	peer_conn(a->conn, PIER_CONN_ERROR);
	IS(pier_conn_error(a->conn), -PIER_EDEVICE);
	LIKE(pier_conn_error_text(a->conn), text);
	pier_conn_destroy(a->conn);
	a->conn = NULL;
	IS(peer_await(got), -PIER_EDEVICE);
	IS(pier_ctx_inflight(pier_rdma_ctx(a->rdma)), 0);
	pier_conn_destroy(b->conn);
	b->conn = NULL;
	if (OK(peer_open(&other, dev, a->pe, cfg, 4096)))
		peer_join(&other, b);
	peer_close(&other);
}

static void a_completion_queue_overrun_by_hand_ends_its_context_only(void)
{
	const struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 2, .send_queue = 8,
		.recv_queue = 8, .conn_send_queue = 8,
	};
	struct peer a, b;
	int got = -EINPROGRESS;

	if (!pd) {
		tap_note("%s", "no verbs: no queue pair");
		return;
	}
	if (!OK(peer_pair(&a, &b, dev, &cfg, 4096)))
		return;
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &got), 0);
	overrun(&a);
	ends_alone(&a, &b, &cfg, &got, "entries has overflowed");
	peer_unpair(&a, &b);
}

static void a_receive_queue_that_fails_ends_its_context_only(void)
{
	struct peer a, b;
	int got = -EINPROGRESS;

	if (!pd) {
		tap_note("%s", "no verbs: no queue of the device's");
		return;
	}
	first_srq = NULL;
	if (!OK(peer_pair(&a, &b, dev, NULL, 4096)))
		return;
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &got), 0);
	failed_srq = first_srq;
	pier__dev_events(dev);
	OK(!failed_srq);
	ends_alone(&a, &b, NULL, &got, "the receive queue has failed");
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (pier_dev_pd(dev, &pd))
		pd = NULL;
	TEST(a_device_without_verbs_says_so);
	TEST(keys_of_a_buffer_are_reported);
	TEST(a_region_of_verbs_and_one_of_pier_share_a_domain);
	TEST(raw_requests_go_beside_tasks_on_one_queue_pair);
	TEST(a_device_opens_on_a_domain_of_the_program);
	TEST(the_queue_pair_of_a_connection_can_be_queried);
	TEST(a_queue_pair_moved_to_error_ends_its_connection_only);
	TEST(a_completion_queue_overrun_by_hand_ends_its_context_only);
	TEST(a_receive_queue_that_fails_ends_its_context_only);
	pier_dev_close(dev);
	return tap_done();
}
