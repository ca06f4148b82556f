/* SPDX-License-Identifier: BSD-2-Clause */
/* The queues and the memory of a stream, and the messages in them. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/clock.h"
#include "dropin/rsocket/rs.h"

#define RECEIVE (UINT64_C(1) << 63)	/* of a wr_id */
#define VALUE ((1u << RS_OP_SHIFT) - 1)
#define POLL 16
#define EVENTS_EVERY 256		/* polls */
#define CODE_SCALED 0x80		/* a number of iomaps: of 256 each */

static int buffers(struct rs *rs)
{
	size_t len = sizeof(*rs->table) + rs->rbuf_size;

	rs->send_ring = malloc(rs->sbuf_size);
	rs->table = calloc(1, len);
	rs->lens = calloc(rs->rq_size, sizeof(*rs->lens));
	if (!rs->send_ring || !rs->table || !rs->lens) {
		errno = ENOMEM;
		return -1;
	}
	rs->send_mr = ibv_reg_mr(rs->id->pd, rs->send_ring, rs->sbuf_size,
				 IBV_ACCESS_LOCAL_WRITE);
	rs->table_mr = ibv_reg_mr(rs->id->pd, rs->table, len,
				  IBV_ACCESS_LOCAL_WRITE |
				  IBV_ACCESS_REMOTE_WRITE);
	return rs->send_mr && rs->table_mr ? 0 : -1;
}

static int queues(struct rs *rs)
{
	uint32_t sends = rs->sq_size + RS_CONTROLS;
	uint32_t receives = rs->rq_size + RS_CONTROLS;
	struct epoll_event event = { .events = EPOLLIN };
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = sends, .max_recv_wr = receives,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = rs->inline_size },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};

	rs->comp = ibv_create_comp_channel(rs->id->verbs);
	if (!rs->comp || fcntl(rs->comp->fd, F_SETFL, O_NONBLOCK) ||
	    epoll_ctl(rs->fd, EPOLL_CTL_ADD, rs->comp->fd, &event))
		return -1;
	rs->cq = ibv_create_cq(rs->id->verbs, (int)(sends + receives), NULL,
			       rs->comp, 0);
	if (!rs->cq)
		return -1;
	init.send_cq = rs->cq;
	init.recv_cq = rs->cq;
	if (rdma_create_qp(rs->id, NULL, &init))
		return -1;
	rs->inline_size = init.cap.max_inline_data;
	return 0;
}

static int receive(struct rs *rs)
{
	struct ibv_recv_wr wr = { .wr_id = RECEIVE }, *bad;

	return ibv_post_recv(rs->id->qp, &wr, &bad);
}

int pier__rs_set_up(struct rs *rs)
{
	uint32_t i;

	if (buffers(rs) || queues(rs))
		return -1;
	for (i = 0; i < rs->rq_size + RS_CONTROLS; i++) {
		errno = receive(rs);
		if (errno)
			return -1;
	}
	rs->send_free = rs->sbuf_size;
	rs->sends = rs->sq_size;
	rs->controls = RS_CONTROLS;
	rs->returned = rs->rbuf_size / RS_HALVES;
	rs->free_at = rs->rbuf_size / RS_HALVES;
	rs->grant_range = 1;		/* 0 is in the hello */
	rs->landed = 1;
	rs->taken_end = (uint16_t)(rs->rq_size / 2);
	return 0;
}

static void unmap_all(struct rs *rs)
{
	int i;

	for (i = 0; i < RS_IOMAPS; i++) {
		if (rs->mapped[i].mr)
			ibv_dereg_mr(rs->mapped[i].mr);
		rs->mapped[i] = (struct rs_mapped){ 0 };
	}
	rs->any_pending = false;
}

void pier__rs_tear_down(struct rs *rs)
{
	if (rs->id && rs->id->qp)
		rdma_destroy_qp(rs->id);
	if (rs->cq)
		ibv_destroy_cq(rs->cq);
	if (rs->comp)
		ibv_destroy_comp_channel(rs->comp);
	unmap_all(rs);
	if (rs->send_mr)
		ibv_dereg_mr(rs->send_mr);
	if (rs->table_mr)
		ibv_dereg_mr(rs->table_mr);
	free(rs->send_ring);
	free(rs->table);
	free(rs->lens);
	rs->cq = NULL;
	rs->comp = NULL;
	rs->send_mr = NULL;
	rs->table_mr = NULL;
	rs->send_ring = NULL;
	rs->table = NULL;
	rs->lens = NULL;
}

void pier__rs_hello(const struct rs *rs, struct rs_hello *ret)
{
	*ret = (struct rs_hello){
		.version = RS_VERSION,
		.flags = (htobe32(1) == 1 ? RS_BIG_ENDIAN : 0) |
			 (rs->iomaps ? RS_HAS_IOMAP : 0),
		.credits = htobe16((uint16_t)rs->rq_size),
		.iomaps = (uint8_t)rs->iomaps,
		.table = { htobe64((uintptr_t)rs->table),
			   htobe32(rs->table_mr->rkey), htobe32(RS_HALVES) },
		.data = { htobe64((uintptr_t)rs->table->ring),
			  htobe32(rs->table_mr->rkey),
			  htobe32(rs->rbuf_size / RS_HALVES) },
	};
}

static struct rs_range range_of(const struct rs_range *from)
{
	return (struct rs_range){
		be64toh(from->addr), be32toh(from->key), be32toh(from->len),
	};
}

bool pier__rs_greeted(struct rs *rs, const struct rs_hello *from, size_t len)
{
	struct rs_hello hello;

	if (len < sizeof(hello))
		return false;
	memcpy(&hello, from, sizeof(hello));
	rs->peer_table = range_of(&hello.table);
	if (hello.version != RS_VERSION || rs->peer_table.len != RS_HALVES)
		return false;
	rs->swap = !(hello.flags & RS_BIG_ENDIAN) != (htobe32(1) != 1);
	rs->seq_end = be16toh(hello.credits);
	rs->target[0] = range_of(&hello.data);
	rs->peer_iomaps = hello.iomaps;
	if (hello.iomaps & CODE_SCALED)
		rs->peer_iomaps = (hello.iomaps & ~CODE_SCALED) << 8u;
	return true;
}

/* How many bytes of the send ring are free when it completes. */
static uint64_t wr_id_of(enum rs_op op, uint32_t staged)
{
	return (uint64_t)op << 32 | staged;
}

int pier__rs_post(struct rs *rs, enum rs_op op, uint32_t value,
		  const void *src, uint32_t len, uint64_t to, uint32_t key)
{
	bool staged = (const uint8_t *)src >= rs->send_ring &&
		      (const uint8_t *)src < rs->send_ring + rs->sbuf_size;
	struct ibv_sge sge = { (uintptr_t)src, len, rs->send_mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id_of(op, staged ? len : 0),
		.sg_list = &sge, .num_sge = len ? 1 : 0,
		.opcode = op == RS_WRITE ? IBV_WR_RDMA_WRITE :
					   IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = staged ? 0 : IBV_SEND_INLINE,
		.imm_data = htobe32((uint32_t)op << RS_OP_SHIFT | value),
		.wr.rdma = { .remote_addr = to, .rkey = key },
	}, *bad;

	if (op == RS_GRANT || op == RS_CONTROL)
		rs->controls--;
	else
		rs->sends--;
	errno = ibv_post_send(rs->id->qp, &wr, &bad);
	return errno ? -1 : 0;
}

void pier__rs_alive(struct rs *rs)
{
	uint64_t now = pier__now();

	if (rs->state != RS_CONNECTED || now < rs->alive_at)
		return;
	if (rs->alive_at && pier__rs_all_sent(rs))
		pier__rs_post(rs, RS_WRITE, 0, NULL, 0, rs->peer_table.addr,
			      rs->peer_table.key);
	rs->alive_at = now + RS_ALIVE_MS * PIER__MS;
}

static void sent(struct rs *rs, uint64_t wr_id)
{
	enum rs_op op = (enum rs_op)(wr_id >> 32);

	if (op == RS_GRANT || op == RS_CONTROL)
		rs->controls++;
	else
		rs->sends++;
	rs->send_free += (uint32_t)wr_id;
}

/* The peer has given us another half, in what it has written. */
static void granted(struct rs *rs)
{
	struct rs_range *range = &rs->target[rs->landed];

	*range = rs->table->range[rs->landed];
	if (rs->swap)
		*range = (struct rs_range){ __builtin_bswap64(range->addr),
					    __builtin_bswap32(range->key),
					    __builtin_bswap32(range->len) };
	rs->landed = (rs->landed + 1) % RS_HALVES;
}

static void controlled(struct rs *rs, uint32_t control)
{
	if (control == RS_DISCONNECT)
		rs->state = RS_DISCONNECTED;
	else if (control == RS_SHUTDOWN)
		rs->readable = false;
}

/* A peer that sends more than it may is no peer. */
static bool is_allowed(const struct rs *rs, uint32_t op, uint32_t value,
		       uint32_t len)
{
	switch (op) {
	case RS_DATA:
		return rs->count < rs->rq_size &&
		       value <= rs->rbuf_size - rs->bytes;
	case RS_GRANT:
		return !len || len == sizeof(struct rs_range);
	case RS_IOMAP:
		return value < rs->iomaps && len == sizeof(struct rs_iomap);
	default:
		return op == RS_CONTROL;
	}
}

static void received(struct rs *rs, uint32_t imm, uint32_t len)
{
	uint32_t value = imm & VALUE;
	int err;

	if (!is_allowed(rs, imm >> RS_OP_SHIFT, value, len)) {
		pier__rs_fail(rs, EPROTO);
		return;
	}
	switch (imm >> RS_OP_SHIFT) {
	case RS_DATA:
		rs->lens[(rs->first + rs->count++) % rs->rq_size] = value;
		rs->bytes += value;
		break;
	case RS_GRANT:
		rs->seq_end = (uint16_t)value;
		if (len)
			granted(rs);
		break;
	case RS_IOMAP:
		rs->taken++;		/* the table has it */
		break;
	case RS_CONTROL:
		controlled(rs, value);
		break;
	default:
		break;
	}
	err = receive(rs);
	if (err)
		pier__rs_fail(rs, err);
}

/* Of a peer that does not answer, or has ended the connection. */
static bool is_reset(enum ibv_wc_status status)
{
	return status == IBV_WC_WR_FLUSH_ERR || status == IBV_WC_RETRY_EXC_ERR;
}

static void handle(struct rs *rs, const struct ibv_wc *wc)
{
	if (wc->status) {
		if (rs->state == RS_CONNECTED)
			pier__rs_fail(rs, is_reset(wc->status) ? ECONNRESET :
								 EIO);
		return;
	}
	if (wc->wr_id & RECEIVE)
		received(rs, be32toh(wc->imm_data), wc->byte_len);
	else
		sent(rs, wc->wr_id);
}

void pier__rs_progress(struct rs *rs)
{
	struct ibv_wc wc[POLL];
	uint32_t done = 0;
	int n, i;

	if (!rs->cq || !(rs->polls++ % EVENTS_EVERY) ||
	    rs->state != RS_CONNECTED)
		pier__rs_events(rs);
	/* No more than were posted: a peer that floods does not keep us. */
	while (rs->cq && done < rs->rq_size + rs->sq_size &&
	       (n = ibv_poll_cq(rs->cq, POLL, wc)) > 0) {
		for (i = 0; i < n; i++)
			handle(rs, &wc[i]);
		done += (uint32_t)n;
	}
	if (!done)
		return;
	pier__rs_grant(rs);
	pier__rs_changed(rs);
}
