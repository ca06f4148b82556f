/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/error.h>

#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/qpn.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* Endpoints for programs that know of a peer its QPN and GID alone. */
#define SECOND UINT64_C(1000000000)
#define PORT_LAST (SOFT_QPN_PORT_MIN + SOFT_QPN_PORTS - 1)
#define QPS_MAX ((int)SOFT_QPN_EACH - 128)
#define SENDS (2 * PAIR_WC)

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(uint16_t port)
{
	struct softpair_opts opts = { .port = port, .verbs = true };

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
}

/* Connect @qp, of end @i, to @qpn of @to, at the port that this carries. */
static void connect_by_qpn(int i, const struct softpair_end *to, uint32_t qpn,
			   struct soft_qp *qp)
{
	struct soft_addr src = vnet_addr(pair->end[i].io);
	struct soft_addr dst = vnet_addr(to->io);

	dst.port = pier__soft_qpn_port(qpn);
	IS(softpair_init(qp, &pair->opts), 0);
	IS(softpair_rtr_by(qp, &pair->opts, i, &src, &dst, qpn), 0);
	IS(softpair_rts_by(qp, &pair->opts, i), 0);
}

static void a_qpn_is_enough_to_find_its_qp(void)
{
	struct soft_qp *qp[2];

	open_pair(50123);
	qp[0] = softpair_qp(a);
	qp[1] = softpair_qp(b);
	connect_by_qpn(0, b, qp[1]->qpn, qp[0]);
	connect_by_qpn(1, a, qp[0]->qpn, qp[1]);
	IS(qp[0]->cwnd->addr.port, 50123);
	softpair_pattern(a->mem, 8, 1);
	IS(softpair_post(qp[0], &(struct ibv_send_wr){
		   .opcode = IBV_WR_RDMA_WRITE,
		   .send_flags = IBV_SEND_SIGNALED,
		   .sg_list = &(struct ibv_sge){ (uintptr_t)a->mem, 8,
						 a->mr.mr.lkey },
		   .num_sge = 1,
		   .wr.rdma = { (uintptr_t)b->mem, b->mr.mr.rkey } }), 0);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	OK(softpair_is_pattern(b->mem, 8, 1));
	pier__soft_qp_destroy(qp[0]);
	pier__soft_qp_destroy(qp[1]);
	softpair_close(pair);
}

static void the_port_of_a_qpn_without_the_top_bit_is_that_of_roce(void)
{
	IS(pier__soft_qpn_port(0x11), 4791);
	IS(pier__soft_qpn_port(0x7fffff), 4791);
	IS(pier__soft_qpn_port(0x800000), SOFT_QPN_PORT_MIN);
	IS(pier__soft_qpn_port(0xffffff), PORT_LAST);
	OK(!pier__soft_qpn_fits(SOFT_QPN_PORT_MIN - 1));
	OK(pier__soft_qpn_fits(SOFT_QPN_PORT_MIN));
	OK(pier__soft_qpn_fits(PORT_LAST));
	OK(!pier__soft_qpn_fits(PORT_LAST + 1));
}

/* Of the last port one number would be that of multicast. */
static void a_port_has_as_many_qps_as_numbers(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	static struct soft_qp *qp[QPS_MAX];
	struct soft_qp *more;
	int i;

	open_pair(PORT_LAST);
	for (i = 0; i < QPS_MAX - 1; i++) {	/* the pair has one */
		if (pier__soft_qp_create(a->cq, a->srq, &cap, &qp[i]))
			break;
		if (pier__soft_qpn_port(qp[i]->qpn) != PORT_LAST ||
		    qp[i]->qpn == 0xffffff)
			IS(qp[i]->qpn, 0);
	}
	IS(i, QPS_MAX - 1);
	IS(pier__soft_qp_create(a->cq, a->srq, &cap, &more), -ENOMEM);
	LIKE(pier_last_error(), "has 1920 QPs");
	while (i-- > 0)
		pier__soft_qp_destroy(qp[i]);
	softpair_close(pair);
}

/* As a program may that signals one request of many. */
static void a_send_queue_is_filled_with_a_short_completion_queue(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = SENDS, .max_send_sge = 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct soft_qp *qp;
	int i;

	open_pair(50000);
	IS(pier__soft_qp_create(a->cq, a->srq, &cap, &qp), 0);
	connect_by_qpn(0, b, b->qp->qpn, qp);
	for (i = 0; i < SENDS && !softpair_post(qp, &wr); i++)
		;
	IS(i, SENDS);
	IS(softpair_post(qp, &wr), -EAGAIN);
	LIKE(pier_last_error(), "8192 sends are posted");
	pier__soft_qp_destroy(qp);
	softpair_close(pair);
}

int main(void)
{
	TEST(a_qpn_is_enough_to_find_its_qp);
	TEST(the_port_of_a_qpn_without_the_top_bit_is_that_of_roce);
	TEST(a_port_has_as_many_qps_as_numbers);
	TEST(a_send_queue_is_filled_with_a_short_completion_queue);
	return tap_done();
}
