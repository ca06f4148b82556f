/* SPDX-License-Identifier: BSD-2-Clause */
/* UD: queue pairs of datagrams, which are sent once and not acknowledged. */
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "core/roce.h"
#include "core/sockaddr.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/qpn.h"

#define QKEY_OWN 0x80000000u	/* of a request: the QP's is meant */
#define IPV4_LEN 20
#define UDP_LEN 8
#define PROTO_UDP 17
#define HOP_LIMIT 64		/* sockets do not report what was left of it */
#define SL_IPV6 9		/* of a RoCE completion: the header, as mlx5 */
#define SL_IPV4 10		/* devices report it; UCX reads this */

void pier__soft_ud_set(struct soft_qp *qp, uint32_t mtu)
{
	qp->ud = true;
	qp->mtu = mtu;
}

void pier__soft_ud_modify(struct soft_qp *qp, const struct ibv_qp_attr *attr,
			  int mask)
{
	if (mask & IBV_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IBV_QP_SQ_PSN)
		qp->ud_psn = attr->sq_psn & SOFT_PSN_MASK;
}

static uint64_t length_of(const struct ibv_send_wr *wr)
{
	uint64_t length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

int pier__soft_ud_check(const struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	bool inlined = wr->send_flags & IBV_SEND_INLINE;
	uint64_t length;

	if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR)
		return pier__fail(-EINVAL, "request on QP %u in state %d",
				  qp->qpn, qp->state);
	if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
		return pier__fail(-EINVAL, "opcode %d of a datagram: a send",
				  wr->opcode);
	if (wr->num_sge < 0 || wr->num_sge > SOFT_TX_IOV ||
	    (!inlined && wr->num_sge > qp->send_sge))
		return pier__fail(-EINVAL, "request in %d pieces: at most %u",
				  wr->num_sge, qp->send_sge);
	length = length_of(wr);
	if (length > (inlined ? qp->inline_size : qp->mtu))
		return pier__fail(-EINVAL, "datagram of %llu bytes: at most %u",
				  (unsigned long long)length,
				  inlined ? qp->inline_size : qp->mtu);
	return 0;
}

/* Where the program has the bytes.  Returns false: a key does not cover it. */
static bool map(const struct soft_qp *qp, const struct ibv_send_wr *wr,
		struct soft_tx *tx)
{
	int n, i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		n = pier__soft_sge_map(qp, wr->sg_list,
				       (uint32_t)wr->num_sge, 0,
				       tx->payload_len, 0, tx->iov);
		tx->iov_count = n < 0 ? 0 : (uint32_t)n;
		return n >= 0 && !pier__soft_readable(qp->ep, tx->iov, n);
	}
	for (i = 0, n = 0; i < wr->num_sge; i++)
		if (wr->sg_list[i].length)
			tx->iov[n++] = (struct iovec){
				.iov_base = (void *)(uintptr_t)
					    wr->sg_list[i].addr,
				.iov_len = wr->sg_list[i].length,
			};
	tx->iov_count = (uint32_t)n;
	return true;
}

static void complete_send(struct soft_qp *qp, const struct ibv_send_wr *wr,
			  enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = wr->wr_id,
		.status = status,
		.opcode = IBV_WC_SEND,
	};

	if (status || wr->send_flags & IBV_SEND_SIGNALED)
		pier__soft_cq_push(qp, qp->cq, &wc);
}

static void fill_hdr(struct soft_qp *qp, const struct ibv_send_wr *wr,
		     struct soft_hdr *hdr)
{
	bool own = wr->wr.ud.remote_qkey & QKEY_OWN;

	hdr->opcode = wr->opcode == IBV_WR_SEND ? SOFT_UD_SEND_ONLY :
						  SOFT_UD_SEND_ONLY_IMM;
	hdr->solicited = wr->send_flags & IBV_SEND_SOLICITED;
	hdr->pkey = ROCE_PKEY_DEFAULT;
	hdr->qpn = wr->wr.ud.remote_qpn;
	hdr->psn = qp->ud_psn++ & SOFT_PSN_MASK;
	hdr->imm = wr->imm_data;
	hdr->qkey = own ? qp->qkey : wr->wr.ud.remote_qkey;
	hdr->src_qpn = qp->qpn;
}

int pier__soft_ud_send(struct soft_qp *qp, const struct ibv_send_wr *wr,
		       const struct soft_way *way, uint16_t udp_port)
{
	struct soft_hdr hdr = { 0 };
	struct soft_tx tx;
	int err = pier__soft_ud_check(qp, wr);

	if (err)
		return err;
	tx.payload_len = (uint32_t)length_of(wr);
	if (qp->unpolled >= qp->send_wr)
		return pier__fail(-EAGAIN, "QP %u: %u completions of sends are "
				  "to be taken, as many as it takes", qp->qpn,
				  qp->send_wr);
	if (qp->state == IBV_QPS_ERR) {
		complete_send(qp, wr, IBV_WC_WR_FLUSH_ERR);
		return 0;
	}
	if (!map(qp, wr, &tx)) {
		complete_send(qp, wr, IBV_WC_LOC_PROT_ERR);
		pier__soft_qp_fail(qp, IBV_WC_WR_FLUSH_ERR);
		return 0;
	}
	tx.src = way->src;
	tx.dst.ip = way->dst;
	tx.dst.port = udp_port;
	tx.tclass = way->tclass;
	tx.hop_limit = way->hop_limit;
	fill_hdr(qp, wr, &hdr);
	pier__soft_tx_datagram(qp->ep, way->io, &tx, &hdr);
	if (hdr.qpn == SOFT_QPN_GROUP &&
	    !pier__sockaddr_gid_is_loopback(way->src.ip.s6_addr)) {
		tx.dst.port = ROCE_UDP_PORT;	/* RoCE devices' */
		pier__soft_tx_datagram(qp->ep, way->io, &tx, &hdr);
	}
	complete_send(qp, wr, IBV_WC_SUCCESS);
	return 0;
}

static uint16_t checksum(const uint8_t *ip)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < IPV4_LEN; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~(sum + (sum >> 16));
}

static void put16(uint8_t *to, size_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

/* The IP header of @rx as it stands in a GRH: that of IPv4 at its end. */
static void fill_grh(const struct soft_rx *rx, uint8_t grh[SOFT_GRH_LEN])
{
	uint8_t *ip = grh + SOFT_GRH_LEN - IPV4_LEN;

	memset(grh, 0, SOFT_GRH_LEN);
	if (!IN6_IS_ADDR_V4MAPPED(&rx->src.ip)) {
		grh[0] = 0x60;
		put16(grh + 4, UDP_LEN + rx->len);
		grh[6] = PROTO_UDP;
		grh[7] = HOP_LIMIT;
		memcpy(grh + 8, &rx->src.ip, 16);
		memcpy(grh + 24, &rx->dst.ip, 16);
		return;
	}
	ip[0] = 0x45;
	put16(ip + 2, IPV4_LEN + UDP_LEN + rx->len);
	ip[6] = 0x40;			/* DF */
	ip[8] = HOP_LIMIT;
	ip[9] = PROTO_UDP;
	memcpy(ip + 12, &rx->src.ip.s6_addr[12], 4);
	memcpy(ip + 16, &rx->dst.ip.s6_addr[12], 4);
	put16(ip + 10, checksum(ip));
}

static enum ibv_wc_status fill_receive(const struct soft_qp *qp,
				       const struct soft_rwqe *rwqe,
				       const struct soft_packet *in,
				       const struct soft_rx *rx)
{
	uint8_t grh[SOFT_GRH_LEN];

	fill_grh(rx, grh);
	if (pier__soft_rwqe_fill(qp, rwqe, 0, grh, SOFT_GRH_LEN) ||
	    pier__soft_rwqe_fill(qp, rwqe, SOFT_GRH_LEN, in->data, in->len))
		return IBV_WC_LOC_PROT_ERR;
	return IBV_WC_SUCCESS;
}

/* A group has a QPN of its own, and that no other address. */
static bool is_way(const struct soft_hdr *hdr, const struct soft_rx *rx)
{
	return (hdr->qpn == SOFT_QPN_GROUP) ==
	       pier__sockaddr_is_group(&rx->dst.ip);
}

/* Is the packet for @qp? */
static bool is_for(const struct soft_qp *qp, const struct soft_hdr *hdr,
		   const struct soft_rx *rx)
{
	return (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS ||
		qp->state == IBV_QPS_SQD) &&
	       (hdr->opcode == SOFT_UD_SEND_ONLY ||
		hdr->opcode == SOFT_UD_SEND_ONLY_IMM) &&
	       is_way(hdr, rx) && pier__roce_pkey_is_default(hdr->pkey) &&
	       hdr->qkey == qp->qkey && pier__soft_icrc_ok(rx, UINT16_MAX);
}

/* Any host can send a datagram: one that does not fit takes no receive. */
static bool fits(const struct soft_srq *srq, uint32_t len)
{
	return srq && srq->first && srq->first->length >= SOFT_GRH_LEN + len;
}

void pier__soft_ud_receive(struct soft_qp *qp, const struct soft_packet *in,
			   const struct soft_rx *rx)
{
	struct soft_rwqe *rwqe = NULL;
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV,
		.byte_len = SOFT_GRH_LEN + in->len,
		.src_qp = in->hdr.src_qpn,
		.wc_flags = IBV_WC_GRH,
		.sl = IN6_IS_ADDR_V4MAPPED(&rx->src.ip) ? SL_IPV4 : SL_IPV6,
	};

	if (is_for(qp, &in->hdr, rx) && fits(qp->srq, in->len))
		rwqe = pier__soft_srq_take(qp->srq);
	if (!rwqe) {
		pier__soft_count(qp, SOFT_COUNTER(dropped));
		return;
	}
	wc.wr_id = rwqe->wr_id;
	wc.status = fill_receive(qp, rwqe, in, rx);
	if (in->hdr.opcode == SOFT_UD_SEND_ONLY_IMM) {
		wc.wc_flags |= IBV_WC_WITH_IMM;
		wc.imm_data = in->hdr.imm;
	}
	if (in->hdr.solicited)
		qp->recv_cq->solicited++;
	pier__soft_srq_give(qp->srq, rwqe);
	pier__soft_cq_push(qp, qp->recv_cq, &wc);
	if (wc.status)
		pier__soft_qp_fail(qp, IBV_WC_WR_FLUSH_ERR);
}
