/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/mmap.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"

/*
 * From REQ and REP to "connected".  If both peers are pier, an end first
 * reads the other's private data if that did not fit into the message.  The
 * client then sends hello, which also replaces a lost RTU; the server sends it
 * if it had a blob to read.  An end with a blob waits for the other's hello,
 * which means that the blob has been read.
 */
#define LOOK (20 * PIER__MS)	/* for a hello that may never arrive */
#define LOOK_SOON (PIER__MS)	/* for one that must arrive */
#define ACCESS_ALL (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

void pier__blob_drop(struct pier__queues *queues, struct pier__blob *blob)
{
	if (blob->mr)
		queues->dev->fabric->dev->dereg(blob->mr);
	free(blob->mem);
	*blob = (struct pier__blob){ 0 };
}

static int blob_register(struct pier__queues *queues, struct pier__blob *blob,
			 int access)
{
	if (blob->mr)
		return 0;
	return queues->dev->fabric->dev->reg(queues->dev->fdev, blob->mem,
					     blob->len, access, &blob->mr);
}

int pier__handshake_check(const void *data, size_t len, size_t most)
{
	if (len > most)
		return pier__fail(-EMSGSIZE, "%zu bytes of private data: at "
				  "most %zu", len, most);
	if (len && !data)
		return pier__fail(-EINVAL, "%zu bytes of private data at NULL",
				  len);
	return 0;
}

int pier__handshake_data(struct pier_conn *conn, const void *data, size_t len,
			 size_t most)
{
	struct pier__blob *own = &conn->cm->own;
	uint8_t *mem;
	int err = pier__handshake_check(data, len, most);

	if (err)
		return err;
	mem = malloc(len + 1);
	if (!mem)
		return pier__fail(-ENOMEM, "no memory for %zu bytes of private "
				  "data", len);
	if (len)
		memcpy(mem, data, len);
	pier__blob_drop(conn->queues, own);
	own->mem = mem;
	own->len = len;
	return 0;
}

static int encode_frame(struct pier_conn *conn, uint8_t *field, size_t size)
{
	struct pier__queues *queues = conn->queues;
	struct pier__blob *own = &conn->cm->own;
	struct pier__cm_frame frame = {
		.ctl_addr = conn->local.ctl_addr,
		.ctl_rkey = conn->local.ctl_rkey,
		.nonce = (uint32_t)conn->local.nonce,
		.access = queues->cfg->access,
		.message = queues->dev->info.port.limits.message,
		.len = own->len,
		.data = own->mem,
		.blob_addr = (uintptr_t)own->mem,
	};

	memcpy(frame.dev_id, queues->dev->id, sizeof(frame.dev_id));
	if (!pier__cm_frame_fits(size, own->len)) {
		int err = blob_register(queues, own, IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_READ);

		if (err)
			return err;
		frame.blob_rkey = own->mr->rkey;
	}
	return pier__cm_frame_encode(&frame, field, size);
}

int pier__handshake_encode(struct pier_conn *conn, uint8_t *field, size_t size)
{
	const struct pier__rdmacm_conn *cm = conn->cm;
	bool raw = pier__rdmacm_is_active(conn) ? cm->attempt->raw :
						  cm->foreign;

	if (!raw)
		return encode_frame(conn, field, size);
	if (cm->own.len)
		memcpy(field, cm->own.mem, cm->own.len);
	return (int)cm->own.len;
}

static int keep_theirs(struct pier__rdmacm_conn *cm, const uint8_t *data,
		       size_t seen, size_t len)
{
	uint8_t *mem = malloc(len + 1);

	if (!mem)
		return pier__fail(-ENOMEM, "no memory for %zu bytes of private "
				  "data", len);
	if (seen)
		memcpy(mem, data, seen);
	free(cm->theirs.mem);
	cm->theirs.mem = mem;
	cm->theirs.len = len;
	cm->seen = seen;
	return 0;
}

static int keep_foreign(struct pier_conn *conn, const struct pier__cm_event *ev)
{
	conn->cm->foreign = true;
	conn->remote.access = ACCESS_ALL;	/* its rkeys have the limits */
	conn->remote.message = conn->queues->dev->info.port.limits.message;
	return keep_theirs(conn->cm, ev->data, ev->len, ev->len);
}

static int decode_frame(struct pier_conn *conn,
			const struct pier__cm_frame *frame)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	struct pier__end *remote = &conn->remote;

	memcpy(remote->dev_id, frame->dev_id, sizeof(remote->dev_id));
	remote->nonce = frame->nonce;
	remote->ctl_addr = frame->ctl_addr;
	remote->ctl_rkey = frame->ctl_rkey;
	remote->access = frame->access;
	remote->message = frame->message;
	cm->foreign = false;
	cm->to_read = frame->blob ? frame->len : 0;
	cm->blob_addr = frame->blob_addr;
	cm->blob_rkey = frame->blob_rkey;
	return keep_theirs(cm, frame->data, frame->data_len, frame->len);
}

int pier__handshake_decode(struct pier_conn *conn,
			   const struct pier__cm_event *ev)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	struct pier__cm_frame frame;
	int err = pier__cm_frame_decode(ev->data, ev->len, &frame);

	conn->remote.qpn = ev->qpn;
	conn->remote.rd_atomic = ev->initiator_depth;
	cm->initiator_depth = ev->initiator_depth;
	cm->responder_resources = ev->responder_resources;
	if (err == -ENOENT)
		return keep_foreign(conn, ev);
	return err ? err : decode_frame(conn, &frame);
}

static void read_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__rdmacm_conn *cm =
		pier__container_of(op, struct pier__rdmacm_conn, read_op);
	struct pier_conn *conn = cm->conn;

	conn->queues->ctl_inflight--;
	conn->ctl_kind = PIER__CTL_NONE;
	conn->queues->dev->fabric->dev->dereg(cm->theirs.mr);
	cm->theirs.mr = NULL;
	if (wc->status == IBV_WC_SUCCESS) {
		cm->packets_acked += pier__rdmacm_packets(conn, cm->to_read);
		cm->seen = cm->theirs.len;
		cm->to_read = 0;
	} else if (!pier__conn_recover(conn, wc)) {
		pier__conn_failed(conn, "the read of its private data", wc);
	}
	pier__conn_schedule(conn);
}

/* Read the peer's blob over the part that its message had. */
static int read_blob(struct pier_conn *conn)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	struct ibv_sge sge = {
		.addr = (uintptr_t)cm->theirs.mem,
		.length = (uint32_t)cm->to_read,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&cm->read_op,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = cm->blob_addr,
		.wr.rdma.rkey = cm->blob_rkey,
	};
	int err = blob_register(conn->queues, &cm->theirs,
				IBV_ACCESS_LOCAL_WRITE);

	if (err)
		return err;
	sge.lkey = cm->theirs.mr->lkey;
	cm->conn = conn;
	cm->read_op.done = read_done;
	return pier__conn_control_post(conn, PIER__CTL_READ, &wr);
}

bool pier__was_read(const struct pier__rdmacm_conn *cm)
{
	return cm->blob_addr && !cm->to_read;
}

/* One step of the handshake.  1: connected; 0: not yet. */
static int advance(struct pier_conn *conn, uint64_t now)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	int err = 0;

	if (conn->state != PIER__CONN_HELLO || now < conn->next_try)
		return 0;
	if (cm->foreign)
		return 1;
	if (cm->to_read && conn->peer_disconnected)
		return 0;		/* it would not be answered */
	if (cm->to_read)
		err = read_blob(conn);
	else if ((pier__rdmacm_is_active(conn) || pier__was_read(cm)) &&
		 !conn->hello_acked)
		err = pier__conn_control(conn, PIER__CTL_HELLO);
	else
		return !cm->own.mr || conn->hello_seen;
	return err == -EAGAIN ? 0 : err;
}

/* What the peer did not send in time. */
static const char *missing(const struct pier_conn *conn)
{
	if (conn->state == PIER__CONN_ACCEPTED)
		return "the peer never sent RTU";
	if (conn->cm->qp_resets)
		return "the peer does not answer: has it ended or stopped, "
		       "or is the network down?";
	return "the peer never sent hello";
}

uint64_t pier__handshake_step(struct pier_conn *conn, uint64_t now)
{
	struct pier__rdmacm_conn *cm = conn->cm;
	int err;

	if (!cm->foreign && !conn->hello_seen)
		conn->hello_seen = pier__conn_hello_seen(conn);
	if (conn->hello_seen && conn->state == PIER__CONN_ACCEPTED)
		pier__conn_transition(conn, PIER__CONN_HELLO);	/* RTU lost */
	err = advance(conn, now);
	if (err < 0)
		pier__rdmacm_fail(conn, err, "handshake", "%s",
				  pier_last_error());
	/* a peer that sends a goodbye was connected */
	if (err > 0 || (!cm->foreign && pier__conn_goodbye_seen(conn))) {
		pier__conn_transition(conn, PIER__CONN_UP);
		return now;
	}
	/* a disconnect may overtake the answer to a READ, which says why */
	if (!err && conn->peer_disconnected &&
	    conn->ctl_kind != PIER__CTL_READ)
		err = pier__rdmacm_fail(conn, -ECONNRESET, "handshake",
					"the peer has disconnected");
	if (!err && now >= conn->deadline)
		err = pier__rdmacm_fail(conn, -PIER_ENOHELLO, "handshake", "%s",
					missing(conn));
	if (err)
		pier__conn_fail(conn, err);
	if (err)
		return now;
	return now + (cm->own.mr ? LOOK_SOON : LOOK);
}
