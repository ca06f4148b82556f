/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* Attributes of the soft device's RC queue pairs that change in SQD. */
#define SECOND (1000 * PIER__MS)
#define SRC 4096
#define DST (PAIR_MEM / 2)

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(const struct softpair_opts *opts)
{
	static const struct softpair_opts plain;

	pair = softpair_open(opts ? opts : &plain, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

static void write_one(uint64_t wr_id)
{
	IS(softpair_send(a, wr_id, IBV_WR_RDMA_WRITE, SRC, 3000, b, DST), 0);
}

static bool some_sent(void *arg)
{
	(void)arg;
	return pair->net.sent >= 2;
}

/* Of @end, with its addresses. */
static int change(struct softpair_end *end, struct ibv_qp_attr *attr, int mask)
{
	struct soft_addr src = vnet_addr(end->io);

	attr->ah_attr.is_global = 1;
	return pier__soft_qp_modify(end->qp, attr, mask, &src, 0);
}

static void to_drained(struct softpair_end *end)
{
	IS(softpair_state(end->qp, IBV_QPS_SQD), 0);
	OK(softpair_idle(pair));
}

/* The time without an answer is that of the attributes set in SQD. */
static void the_timeout_may_change_in_sqd(void)
{
	struct ibv_qp_attr attr = { .timeout = 8, .retry_cnt = 3 };
	uint64_t start;

	open_pair(NULL);
	write_one(1);
	OK(softpair_wait(pair, 0, 1, SECOND));
	to_drained(a);
	write_one(2);
	IS(change(a, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT), 0);
	vnet_attach(b->io, NULL);
	pair->net.now += 12345;
	start = pair->net.now;
	IS(softpair_state(a->qp, IBV_QPS_RTS), 0);
	OK(softpair_wait(pair, 0, 2, SECOND));
	IS(a->wc[1].status, IBV_WC_RETRY_EXC_ERR);
	IS(pair->net.now - start, (UINT64_C(4096) << 8) * 4);
	softpair_close(pair);
}

static void rnr_retries_may_change_in_sqd(void)
{
	struct ibv_qp_attr attr = { .rnr_retry = 2 };

	open_pair(NULL);
	to_drained(a);
	IS(change(a, &attr, IBV_QP_RNR_RETRY), 0);
	IS(softpair_state(a->qp, IBV_QPS_RTS), 0);
	IS(softpair_send(a, 1, IBV_WR_SEND, SRC, 100, b, 0), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
	IS(counters(b)->rnr_sent, 3);
	softpair_close(pair);
}

/* What a READ of @a ends with. */
static enum ibv_wc_status read_ends_with(void)
{
	uint32_t n = softpair_poll(a);

	IS(softpair_send(a, 1, IBV_WR_RDMA_READ, SRC, 5000, b, DST), 0);
	OK(softpair_wait(pair, 0, n + 1, SECOND));
	return a->wc[n].status;
}

static void reads_in_flight_may_change_in_sqd(void)
{
	struct ibv_qp_attr attr = { .max_rd_atomic = 1 };
	uint32_t i;

	open_pair(NULL);
	for (i = 0; i < 6; i++)
		IS(read_ends_with(), IBV_WC_SUCCESS);
	to_drained(a);
	to_drained(b);
	IS(change(a, &attr, IBV_QP_MAX_QP_RD_ATOMIC), 0);
	IS(a->qp->req.rd_max, 1);
	attr.max_dest_rd_atomic = 1;
	IS(change(b, &attr, IBV_QP_MAX_DEST_RD_ATOMIC), 0);
	IS(softpair_state(a->qp, IBV_QPS_RTS), 0);
	for (i = 0; i < 6; i++)
		IS(read_ends_with(), IBV_WC_SUCCESS);
	attr.max_dest_rd_atomic = 0;
	IS(change(b, &attr, IBV_QP_MAX_DEST_RD_ATOMIC), 0);
	IS(read_ends_with(), IBV_WC_REM_INV_REQ_ERR);
	softpair_close(pair);
}

static void the_header_may_change_in_sqd_and_not_the_peer(void)
{
	struct ibv_qp_attr attr = { .ah_attr.grh.hop_limit = 9,
				    .ah_attr.grh.traffic_class = 0x20 };
	struct soft_addr dst;

	open_pair(NULL);
	dst = vnet_addr(b->io);
	memcpy(&attr.ah_attr.grh.dgid, &dst.ip, 16);
	IS(change(a, &attr, IBV_QP_AV), -EINVAL);
	to_drained(a);
	IS(change(a, &attr, IBV_QP_AV), 0);
	IS(a->qp->hop_limit, 9);
	IS(a->qp->tclass & SOFT_TCLASS_DSCP, 0x20);
	attr.ah_attr.grh.dgid.raw[15]++;
	IS(change(a, &attr, IBV_QP_AV), -EOPNOTSUPP);
	attr.ah_attr.grh.dgid.raw[15]--;
	IS(pier__soft_qp_modify(a->qp, &attr, IBV_QP_AV, &dst, 0),
	   -EOPNOTSUPP);
	IS(softpair_state(a->qp, IBV_QPS_RTS), 0);
	write_one(1);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	softpair_close(pair);
}

static void what_requests_need_changes_when_they_are_drained(void)
{
	struct ibv_qp_attr attr = { .timeout = 8, .min_rnr_timer = 3 };

	open_pair(NULL);
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, SRC, 500000, b, DST), 0);
	vnet_run(&pair->net, SECOND, some_sent, NULL);
	IS(softpair_state(a->qp, IBV_QPS_SQD), 0);
	IS(change(a, &attr, IBV_QP_TIMEOUT), -EBUSY);
	IS(change(a, &attr, IBV_QP_MIN_RNR_TIMER), 0);
	IS(softpair_send(a, 2, IBV_WR_RDMA_READ, SRC, 1, b, DST), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(change(a, &attr, IBV_QP_TIMEOUT), 0);
	IS(change(a, &attr, IBV_QP_MAX_QP_RD_ATOMIC), -EINVAL);
	attr.timeout = 32;
	IS(change(a, &attr, IBV_QP_TIMEOUT), -EINVAL);
	IS(a->qp->req.timeout, 8);
	attr.max_rd_atomic = SOFT_RD_ATOMIC + 1;
	IS(change(a, &attr, IBV_QP_MAX_QP_RD_ATOMIC), -EINVAL);
	softpair_close(pair);
}

static void the_only_migration_state_is_migrated(void)
{
	const int mask = IBV_QP_PATH_MIG_STATE;
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	open_pair(NULL);
	IS(change(a, &attr, mask), 0);
	attr.path_mig_state = IBV_MIG_REARM;
	IS(change(a, &attr, mask), -EINVAL);
	IS(change(a, &attr, IBV_QP_ALT_PATH), -EINVAL);
	to_drained(a);
	IS(change(a, &attr, mask), -EINVAL);
	attr.path_mig_state = IBV_MIG_MIGRATED;
	IS(change(a, &attr, mask), 0);
	attr.qp_state = IBV_QPS_RTS;
	IS(change(a, &attr, IBV_QP_STATE | mask), 0);
	softpair_close(pair);
}

int main(void)
{
	TEST(the_timeout_may_change_in_sqd);
	TEST(rnr_retries_may_change_in_sqd);
	TEST(reads_in_flight_may_change_in_sqd);
	TEST(the_header_may_change_in_sqd_and_not_the_peer);
	TEST(what_requests_need_changes_when_they_are_drained);
	TEST(the_only_migration_state_is_migrated);
	return tap_done();
}
