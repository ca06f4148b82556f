/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/roce.h"
#include "fabric/soft/rc/qpn.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* Datagrams between two UD QPs, in virtual time. */
#define PORT (SOFT_QPN_PORT_MIN + 9)	/* that QPNs can carry */
#define SECOND UINT64_C(1000000000)
#define MTU 1024
#define QKEY 0x1234567u
#define AT 4096			/* where receives are */

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_qp *from, *to;
static struct soft_way way;
static uint32_t dest_qpn;

static int modify(struct soft_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .qkey = QKEY, .sq_psn = 77,
	};

	return pier__soft_qp_modify(qp, &attr, mask | IBV_QP_STATE, NULL, 0);
}

static struct soft_qp *ud_qp(struct softpair_end *end)
{
	struct soft_qp *qp = softpair_qp(end);

	pier__soft_ud_set(qp, MTU);
	IS(modify(qp, IBV_QPS_INIT,
		  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	IS(modify(qp, IBV_QPS_RTR, 0), 0);
	IS(modify(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	return qp;
}

static void open_pair(const char *ip_a, const char *ip_b)
{
	struct softpair_opts opts = {
		.ip = { ip_a, ip_b }, .port = PORT, .verbs = true,
	};

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	from = ud_qp(a);
	to = ud_qp(b);
	way = (struct soft_way){
		.io = a->io, .src = vnet_addr(a->io),
		.dst = vnet_addr(b->io).ip, .hop_limit = 64,
	};
	dest_qpn = to->qpn;
	softpair_pattern(a->mem, MTU, 1);
}

static void close_pair(void)
{
	pier__soft_qp_destroy(from);
	pier__soft_qp_destroy(to);
	softpair_close(pair);
}

static int send_with(uint32_t len, uint32_t qkey, enum ibv_wr_opcode opcode,
		     int flags)
{
	struct ibv_sge sge = softpair_sge(a, 0, len);
	struct ibv_send_wr wr = {
		.wr_id = 5, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = (unsigned int)flags | IBV_SEND_SIGNALED,
		.imm_data = 42,
		.wr.ud = { .remote_qpn = dest_qpn, .remote_qkey = qkey },
	};

	return pier__soft_ud_send(from, &wr, &way, vnet_addr(b->io).port);
}

static int send_one(uint32_t len)
{
	return send_with(len, QKEY, IBV_WR_SEND, 0);
}

static void check_arrival(uint32_t len)
{
	OK(softpair_wait(pair, 1, 1, SECOND));
	IS(b->wc[0].status, IBV_WC_SUCCESS);
	IS(b->wc[0].byte_len, len + SOFT_GRH_LEN);
	IS(b->wc[0].wc_flags & IBV_WC_GRH, IBV_WC_GRH);
	IS(b->wc[0].sl, IN6_IS_ADDR_V4MAPPED(&way.dst) ? 10 : 9);
	IS(b->wc[0].src_qp, from->qpn);
	IS(b->wc[0].qp_num, to->qpn);
	OK(softpair_is_pattern(b->mem + AT + SOFT_GRH_LEN, len, 1));
}

static void a_datagram_arrives_behind_its_grh(void)
{
	const uint8_t *ip;
	uint32_t sum = 0;
	int i;

	open_pair(NULL, NULL);
	ip = b->mem + AT + 20;
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_one(100), 0);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].wr_id, 5);
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	check_arrival(100);
	IS(ip[0], 0x45);
	IS(memcmp(ip + 12, &way.src.ip.s6_addr[12], 4), 0);
	IS(memcmp(ip + 16, &way.dst.s6_addr[12], 4), 0);
	for (i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	IS((sum & 0xffff) + (sum >> 16), 0xffff);
	close_pair();
}

static void the_grh_of_ipv6_has_both_gids(void)
{
	open_pair("2001:db8::1", "2001:db8::2");
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_one(MTU), 0);
	check_arrival(MTU);
	IS(b->mem[AT] >> 4, 6);
	IS(memcmp(b->mem + AT + 8, &way.src.ip, 16), 0);
	IS(memcmp(b->mem + AT + 24, &way.dst, 16), 0);
	close_pair();
}

static void inline_data_and_an_immediate_arrive(void)
{
	open_pair(NULL, NULL);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_with(7, QKEY, IBV_WR_SEND_WITH_IMM, IBV_SEND_INLINE), 0);
	check_arrival(7);
	IS(b->wc[0].wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
	IS(b->wc[0].imm_data, 42);
	close_pair();
}

static void is_dropped(void)
{
	uint64_t dropped = to->counters->dropped;

	OK(softpair_idle(pair));
	IS(softpair_poll(b), 0);
	IS(to->counters->dropped, dropped + 1);
}

static int last_event;

static void take_event(int type, void *async)
{
	OK(async == from);
	last_event = type;
}

static void notify_when_drained(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};

	last_event = -1;
	a->ep->event = take_event;
	pier__soft_qp_async(from, from);
	IS(pier__soft_qp_modify(from, &attr, IBV_QP_STATE |
				IBV_QP_EN_SQD_ASYNC_NOTIFY, NULL, 0), 0);
	IS(last_event, IBV_EVENT_SQ_DRAINED);
}

static void a_queue_that_is_drained_receives_and_goes_on(void)
{
	open_pair(NULL, NULL);
	IS(modify(to, IBV_QPS_SQD, 0), 0);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_one(100), 0);
	check_arrival(100);
	notify_when_drained();
	IS(send_one(100), -EINVAL);
	from->qkey = 1;
	IS(modify(from, IBV_QPS_SQD, IBV_QP_QKEY | IBV_QP_PKEY_INDEX), 0);
	IS(from->qkey, QKEY);
	IS(modify(from, IBV_QPS_SQD, IBV_QP_SQ_PSN), -EINVAL);
	IS(modify(from, IBV_QPS_RTS, IBV_QP_QKEY), 0);
	IS(send_one(100), 0);
	close_pair();
}

static void another_q_key_is_dropped(void)
{
	open_pair(NULL, NULL);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_with(8, QKEY + 1, IBV_WR_SEND, 0), 0);
	is_dropped();
	IS(to->state, IBV_QPS_RTS);
	close_pair();
}

static void the_top_bit_stands_for_the_q_key_of_the_qp(void)
{
	open_pair(NULL, NULL);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_with(8, 0x80000000u, IBV_WR_SEND, 0), 0);
	check_arrival(8);
	close_pair();
}

static void without_a_receive_a_datagram_is_dropped(void)
{
	open_pair(NULL, NULL);
	IS(send_one(8), 0);
	is_dropped();
	close_pair();
}

static void one_longer_than_the_receive_is_dropped(void)
{
	open_pair(NULL, NULL);
	IS(softpair_recv(b, 9, AT, SOFT_GRH_LEN + 7), 0);
	IS(send_one(8), 0);
	is_dropped();
	IS(send_one(7), 0);
	OK(softpair_wait(pair, 1, 1, SECOND));
	IS(b->wc[0].wr_id, 9);
	IS(b->wc[0].status, IBV_WC_SUCCESS);
	close_pair();
}

static void what_no_datagram_can_be_is_refused(void)
{
	open_pair(NULL, NULL);
	IS(send_one(MTU + 1), -EINVAL);
	IS(send_with(8, QKEY, IBV_WR_RDMA_WRITE, 0), -EINVAL);
	IS(modify(from, IBV_QPS_INIT, 0), -EINVAL);
	IS(modify(from, IBV_QPS_ERR, 0), 0);
	IS(send_one(8), 0);
	IS(softpair_poll(a), 1);
	IS(a->wc[0].status, IBV_WC_WR_FLUSH_ERR);
	close_pair();
}

static void receives_have_the_keys_of_their_queue(void)
{
	int here, there;

	open_pair(NULL, NULL);
	pier__soft_qp_protect(to, &here);
	pier__soft_srq_protect(b->srq, &there);
	b->mr.pd = &there;
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_one(100), 0);
	check_arrival(100);
	close_pair();
}

static void protect(const struct softpair_end *end, uint32_t off, int access)
{
	IS(mprotect(end->mem + off, 4096, access), 0);
}

static void a_datagram_of_unmapped_memory_is_an_error(void)
{
	open_pair(NULL, NULL);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	protect(a, 0, PROT_NONE);
	IS(send_one(100), 0);
	protect(a, 0, PROT_READ | PROT_WRITE);
	OK(softpair_idle(pair));
	IS(a->wcs, 1);
	IS(a->wc[0].wr_id, 5);
	IS(a->wc[0].status, IBV_WC_LOC_PROT_ERR);
	IS(from->state, IBV_QPS_ERR);
	IS(to->state, IBV_QPS_RTS);
	IS(b->wcs, 0);
	close_pair();
}

/* The sender's has left, and is complete. */
static void one_into_an_unmapped_receive_is_an_error_of_that(void)
{
	open_pair(NULL, NULL);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	protect(b, AT, PROT_NONE);
	IS(send_one(100), 0);
	OK(softpair_idle(pair));
	protect(b, AT, PROT_READ | PROT_WRITE);
	IS(a->wcs, 1);
	IS(a->wc[0].status, IBV_WC_SUCCESS);
	IS(from->state, IBV_QPS_RTS);
	IS(b->wcs, 1);
	IS(b->wc[0].wr_id, 9);
	IS(b->wc[0].status, IBV_WC_LOC_PROT_ERR);
	IS(to->state, IBV_QPS_ERR);
	close_pair();
}

/* In the network of this test a group is an address, of one endpoint. */
static void open_group(void)
{
	struct soft_io *io;

	open_pair(NULL, NULL);
	io = vnet_node(&pair->net, "239.1.1.1", vnet_addr(b->io).port);
	vnet_attach(io, b->ep);
	pier__soft_ep_add_io(b->ep, io);
	way.dst = vnet_addr(io).ip;
	dest_qpn = SOFT_QPN_GROUP;
	IS(pier__soft_group_attach(to, &way.dst), 0);
	IS(softpair_recv(b, 9, AT, 2048), 0);
}

static void what_is_sent_to_a_group_arrives(void)
{
	uint64_t dropped;

	open_group();
	IS(send_one(100), 0);
	check_arrival(100);
	IS(pier__soft_group_users(b->ep, &way.dst), 1);
	OK(pier__soft_group_detach(to, &way.dst));
	OK(!pier__soft_group_detach(to, &way.dst));
	IS(softpair_recv(b, 9, AT, 2048), 0);
	dropped = b->ep->counters->dropped;
	IS(send_one(100), 0);
	OK(softpair_idle(pair));
	IS(softpair_poll(b), 1);	/* as before */
	IS(b->ep->counters->dropped, dropped + 1);
	close_pair();
}

static void a_group_has_a_q_key(void)
{
	open_group();
	IS(send_with(100, QKEY + 1, IBV_WR_SEND, 0), 0);
	is_dropped();
	OK(pier__soft_group_detach(to, &way.dst));
	close_pair();
}

/* Neither that of one by the address of a group, nor the other way round. */
static void a_group_is_reached_by_its_own_number_alone(void)
{
	open_group();
	dest_qpn = to->qpn;
	IS(send_one(100), 0);
	is_dropped();
	OK(pier__soft_group_detach(to, &way.dst));
	close_pair();
	open_pair(NULL, NULL);
	dest_qpn = SOFT_QPN_GROUP;
	IS(pier__soft_group_attach(to, &way.dst), 0);
	IS(softpair_recv(b, 9, AT, 2048), 0);
	IS(send_one(100), 0);
	is_dropped();
	OK(pier__soft_group_detach(to, &way.dst));
	close_pair();
}

/* On lo there is no RoCE device. */
static void a_group_has_two_ports_but_on_lo(void)
{
	uint64_t sent;

	open_group();
	sent = a->ep->counters->tx_packets;
	IS(send_one(100), 0);
	IS(a->ep->counters->tx_packets, sent + 2);
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &way.src.ip);
	IS(send_one(100), 0);
	IS(a->ep->counters->tx_packets, sent + 3);
	OK(softpair_idle(pair));
	OK(pier__soft_group_detach(to, &way.dst));
	close_pair();
}

/* Not a soft device, whose QPN carries the port that it sends from. */
static void a_roce_device_reaches_a_group_at_its_port(void)
{
	struct in6_addr soft_group;
	struct soft_io *io;
	uint32_t qpn;

	open_group();
	soft_group = way.dst;
	io = vnet_node(&pair->net, "239.1.1.2", ROCE_UDP_PORT);
	vnet_attach(io, b->ep);
	pier__soft_ep_add_io(b->ep, io);
	way.dst = vnet_addr(io).ip;
	IS(pier__soft_group_attach(to, &way.dst), 0);
	qpn = from->qpn;
	from->qpn = pier__soft_qpn_of(PORT, 1);
	IS(send_one(100), 0);
	OK(softpair_idle(pair));
	IS(softpair_poll(b), 0);
	IS(b->ep->counters->duplicates, 1);
	from->qpn = qpn & ~SOFT_QPN_TOP;
	IS(send_one(100), 0);
	check_arrival(100);
	b->wcs = 0;
	IS(softpair_recv(b, 9, AT, 2048), 0);
	from->qpn = pier__soft_qpn_of(PORT + 1, 1);
	IS(send_one(100), 0);
	check_arrival(100);
	IS(b->ep->counters->duplicates, 1);
	from->qpn = qpn;
	OK(pier__soft_group_detach(to, &way.dst));
	OK(pier__soft_group_detach(to, &soft_group));
	close_pair();
}

int main(void)
{
	TEST(a_datagram_arrives_behind_its_grh);
	TEST(the_grh_of_ipv6_has_both_gids);
	TEST(inline_data_and_an_immediate_arrive);
	TEST(a_queue_that_is_drained_receives_and_goes_on);
	TEST(another_q_key_is_dropped);
	TEST(the_top_bit_stands_for_the_q_key_of_the_qp);
	TEST(without_a_receive_a_datagram_is_dropped);
	TEST(one_longer_than_the_receive_is_dropped);
	TEST(what_no_datagram_can_be_is_refused);
	TEST(receives_have_the_keys_of_their_queue);
	TEST(a_datagram_of_unmapped_memory_is_an_error);
	TEST(one_into_an_unmapped_receive_is_an_error_of_that);
	TEST(what_is_sent_to_a_group_arrives);
	TEST(a_group_has_a_q_key);
	TEST(a_group_is_reached_by_its_own_number_alone);
	TEST(a_group_has_two_ports_but_on_lo);
	TEST(a_roce_device_reaches_a_group_at_its_port);
	return tap_done();
}
