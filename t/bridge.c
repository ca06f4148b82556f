/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bridge to rdma-core: raw verbs and pier's objects in one program.  On a
 * device without verbs it says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>
#include <pier/verbs.h>

#include "peer.h"
#include "tap.h"

static struct pier_dev *dev;
static struct ibv_pd *pd;

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

static void keys_of_a_buffer_are_told(void)
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

static void a_device_opens_on_a_domain_of_the_program(void)
{
	struct ibv_pd *own, *told;
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
		IS(pier_dev_pd(second, &told), 0);
		OK(told == own);
		IS(pier_mmap_map(second, memory, sizeof(memory),
				 PIER_LOCAL_WRITE, &mmap), 0);
		pier_mmap_destroy(mmap);
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

static void ended_by_hand(const struct pier_conn *conn)
{
	static const char *const ends[] = {
		"the device has ended the connection to ",
		": it refused a request of the peer's, or the queue pair was "
		"moved to error by hand",
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
	struct pier_buf *near = peer_room(a, 0, 4096);
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

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (pier_dev_pd(dev, &pd))
		pd = NULL;
	TEST(a_device_without_verbs_says_so);
	TEST(keys_of_a_buffer_are_told);
	TEST(a_region_of_verbs_and_one_of_pier_share_a_domain);
	TEST(a_device_opens_on_a_domain_of_the_program);
	TEST(the_queue_pair_of_a_connection_can_be_queried);
	TEST(a_queue_pair_moved_to_error_ends_its_connection_only);
	pier_dev_close(dev);
	return tap_done();
}
