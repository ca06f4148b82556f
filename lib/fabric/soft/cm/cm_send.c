/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages sent: MRA, RTU, DREP, REJ, and the packet of each message. */
#include <string.h>

#include "core/random.h"
#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"
#include "fabric/soft/stats/recorder.h"

#define HOP_LIMIT 64
#define REJ_AGAIN 2
#define ANSWERS 3		/* to a REQ whose sender is not proven */
#define MRA_TIMEOUT 20		/* code: 4.3 s until the next repeat */

/* If the socket is full the message is lost, and retransmitted. */
static void send_to(struct soft_cm *cm, const struct in6_addr *src,
		    const struct in6_addr *dst, uint16_t port, uint8_t tclass,
		    const uint8_t *mad)
{
	struct soft_hdr hdr = {
		.opcode = SOFT_UD_SEND_ONLY, .pkey = ROCE_PKEY_DEFAULT,
		.qpn = ROCE_GSI_QPN, .src_qpn = ROCE_GSI_QPN,
		.psn = cm->psn, .qkey = ROCE_GSI_QKEY,
	};
	struct soft_io *io = cm->ep->io;
	struct soft_tx tx;

	tx.src.ip = *src;
	tx.src.port = io->port;
	tx.dst.ip = *dst;
	tx.dst.port = port;
	tx.tclass = tclass;
	tx.hop_limit = HOP_LIMIT;
	tx.payload_len = SOFT_MAD_LEN;
	tx.iov_count = 1;
	tx.iov[0].iov_base = (void *)(uintptr_t)mad;
	tx.iov[0].iov_len = SOFT_MAD_LEN;
	pier__soft_tx_datagram(cm->ep, io, &tx, &hdr);
	cm->psn = (cm->psn + 1) & 0xffffff;
}

/*
 * The source of a REQ may be forged.  All messages are of one length, so that
 * a victim gets at most ANSWERS times what the forger has sent.
 */
void pier__soft_cm_grant(struct soft_cm_conn *conn)
{
	if (conn->answers <= UINT8_MAX - ANSWERS)
		conn->answers += ANSWERS;
}

static bool may_send(struct soft_cm_conn *conn)
{
	if (!conn->passive || conn->proven)
		return true;
	if (!conn->answers)
		return false;
	conn->answers--;
	return true;
}

void pier__soft_cm_send(struct soft_cm_conn *conn, const uint8_t *mad)
{
	uint16_t port = conn->port ? conn->port : conn->handshake->service_port;

	if (!may_send(conn))
		return;
	pier__soft_ep_note(conn->cm->ep, conn->qpn, SOFT_EVENT_CM_SENT,
			   pier__soft_mad_attr(mad), 0);
	send_to(conn->cm, &conn->src, &conn->dst, port, conn->tclass, mad);
	if (!conn->port && conn->handshake->find.both_ports &&
	    port != ROCE_UDP_PORT)
		send_to(conn->cm, &conn->src, &conn->dst, ROCE_UDP_PORT,
			conn->tclass, mad);
}

void pier__soft_cm_answer(struct soft_cm *cm, const struct soft_rx *rx,
			  uint16_t port, const struct soft_mad *mad)
{
	uint8_t bytes[SOFT_MAD_LEN];

	pier__soft_mad_encode(mad, bytes);
	send_to(cm, &rx->dst.ip, &rx->src.ip, port, 0, bytes);
}

uint16_t pier__soft_cm_port_of(const struct soft_rx *rx)
{
	/* Soft peers send from their own port, to our own port. */
	return rx->dst.port == ROCE_UDP_PORT ? ROCE_UDP_PORT : rx->src.port;
}

uint16_t pier__soft_cm_guid_port(uint64_t guid)
{
	uint16_t port = (uint16_t)(guid >> 32);

	return guid >> 48 == SOFT_CM_PREFIX && port ? port : ROCE_UDP_PORT;
}

bool pier__soft_cm_port_ok(uint64_t guid, const struct soft_rx *rx)
{
	uint16_t port = pier__soft_cm_guid_port(guid);

	return port == ROCE_UDP_PORT || port == rx->src.port;
}

static void send_mad(struct soft_cm_conn *conn, struct soft_mad *mad)
{
	uint8_t bytes[SOFT_MAD_LEN];

	mad->local_id = conn->local_id;
	mad->remote_id = conn->remote_id;
	pier__soft_mad_encode(mad, bytes);
	pier__soft_cm_send(conn, bytes);
}

void pier__soft_cm_send_mra(struct soft_cm_conn *conn,
			    enum soft_mad_message message)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_MRA, .tid = conn->tid, .message = message,
		.service_timeout = MRA_TIMEOUT,
	};

	send_mad(conn, &mad);
}

void pier__soft_cm_send_rtu(struct soft_cm_conn *conn)
{
	struct soft_mad mad = { .attr = SOFT_MAD_RTU, .tid = conn->tid };

	send_mad(conn, &mad);
}

void pier__soft_cm_send_drep(struct soft_cm_conn *conn, uint64_t tid)
{
	struct soft_mad mad = { .attr = SOFT_MAD_DREP, .tid = tid };

	send_mad(conn, &mad);
}

static void put_guid(uint8_t *to, uint64_t guid)
{
	int i;

	for (i = 0; i < 8; i++)
		to[i] = (uint8_t)(guid >> (56 - 8 * i));
}

void pier__soft_cm_send_rej(struct soft_cm_conn *conn,
			    enum soft_mad_message message,
			    enum roce_rej_reason reason, const void *data,
			    size_t len)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REJ, .tid = conn->tid, .message = message,
		.reason = (uint16_t)reason, .data = data, .len = len,
		.local_id = conn->local_id, .remote_id = conn->remote_id,
	};

	if (reason == ROCE_REJ_TIMEOUT) {
		mad.info_len = 8;
		put_guid(mad.info, conn->cm->guid);
	}
	/* With OF_NONE no message comes that a copy of this would answer. */
	conn->sends = message == SOFT_MAD_OF_NONE ? REJ_AGAIN : 0;
	pier__soft_mad_encode(&mad, conn->handshake->mad);
	pier__soft_cm_send(conn, conn->handshake->mad);
}
