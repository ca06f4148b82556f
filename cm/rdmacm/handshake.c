/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/mmap.h>

#include "cm/rdmacm/rdmacm.h"
#include "cm/wc_status.h"
#include "core/clock.h"
#include "core/fail.h"

/*
 * From the first word to "connected".  Between two piers: whoever has
 * something to read of the other's memory reads it; the client then says
 * hello, which also tells a server that lost the RTU; a server says it if it
 * had something to read.  Whoever has a blob waits for the other's hello
 * before it goes on, for only then has it been read.
 */
#define LOOK (20 * PIER__MS)	/* for a hello that may not come, and */
#define LOOK_SOON (PIER__MS)	/* for one that must */
#define ACCESS_ALL (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

void pier__blob_drop(struct pier__qset *qset, struct pier__blob *blob)
{
	if (blob->mr)
		qset->dev->fabric->dev->dereg(blob->mr);
	free(blob->mem);
	*blob = (struct pier__blob){ 0 };
}

static int blob_register(struct pier__qset *qset, struct pier__blob *blob,
			 int access)
{
	if (blob->mr)
		return 0;
	return qset->dev->fabric->dev->reg(qset->dev->fdev, blob->mem,
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
	struct pier__blob *own = &conn->side->own;
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
	pier__blob_drop(conn->qset, own);
	own->mem = mem;
	own->len = len;
	return 0;
}

static int say_frame(struct pier_conn *conn, uint8_t *field, size_t size)
{
	struct pier__qset *qset = conn->qset;
	struct pier__blob *own = &conn->side->own;
	struct pier__frame frame = {
		.ctl_addr = conn->us.ctl_addr,
		.ctl_rkey = conn->us.ctl_rkey,
		.nonce = (uint32_t)conn->us.nonce,
		.access = qset->cfg->access,
		.message = qset->dev->info.port.limits.message,
		.len = own->len,
		.data = own->mem,
		.blob_addr = (uintptr_t)own->mem,
	};

	memcpy(frame.dev_id, qset->dev->id, sizeof(frame.dev_id));
	if (!pier__frame_fits(size, own->len)) {
		int err = blob_register(qset, own, IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_READ);

		if (err)
			return err;
		frame.blob_rkey = own->mr->rkey;
	}
	return pier__frame_encode(&frame, field, size);
}

int pier__handshake_say(struct pier_conn *conn, uint8_t *field, size_t size)
{
	const struct pier__side *side = conn->side;
	bool raw = side->active ? side->attempt->raw : side->foreign;

	if (!raw)
		return say_frame(conn, field, size);
	if (side->own.len)
		memcpy(field, side->own.mem, side->own.len);
	return (int)side->own.len;
}

static int keep_theirs(struct pier__side *side, const uint8_t *data,
		       size_t seen, size_t len)
{
	uint8_t *mem = malloc(len + 1);

	if (!mem)
		return pier__fail(-ENOMEM, "no memory for %zu bytes of private "
				  "data", len);
	if (seen)
		memcpy(mem, data, seen);
	free(side->theirs.mem);
	side->theirs.mem = mem;
	side->theirs.len = len;
	side->seen = seen;
	return 0;
}

static int hear_foreign(struct pier_conn *conn,
			const struct pier__cm_event *ev)
{
	conn->side->foreign = true;
	conn->them.access = ACCESS_ALL;		/* its keys say what not */
	conn->them.message = conn->qset->dev->info.port.limits.message;
	return keep_theirs(conn->side, ev->data, ev->len, ev->len);
}

static int hear_frame(struct pier_conn *conn, const struct pier__frame *frame)
{
	struct pier__side *side = conn->side;
	struct pier__end *them = &conn->them;

	memcpy(them->dev_id, frame->dev_id, sizeof(them->dev_id));
	them->nonce = frame->nonce;
	them->ctl_addr = frame->ctl_addr;
	them->ctl_rkey = frame->ctl_rkey;
	them->access = frame->access;
	them->message = frame->message;
	side->foreign = false;
	side->to_read = frame->blob ? frame->len : 0;
	side->blob_addr = frame->blob_addr;
	side->blob_rkey = frame->blob_rkey;
	return keep_theirs(side, frame->data, frame->data_len, frame->len);
}

int pier__handshake_hear(struct pier_conn *conn,
			 const struct pier__cm_event *ev)
{
	struct pier__side *side = conn->side;
	struct pier__frame frame;
	int err = pier__frame_decode(ev->data, ev->len, &frame);

	conn->them.qpn = ev->qpn;
	conn->them.rd_atomic = ev->initiator_depth;
	side->serves = ev->initiator_depth;
	side->wants = ev->responder_resources;
	if (err == -ENOENT)
		return hear_foreign(conn, ev);
	return err ? err : hear_frame(conn, &frame);
}

static void read_done(struct pier__op *op, const struct ibv_wc *wc)
{
	struct pier__side *side =
		pier__container_of(op, struct pier__side, read_op);
	struct pier_conn *conn = side->conn;

	conn->qset->ctl_inflight--;
	side->reading = false;
	conn->qset->dev->fabric->dev->dereg(side->theirs.mr);
	side->theirs.mr = NULL;
	if (wc->status == IBV_WC_SUCCESS) {
		side->said += pier__side_packets(conn, side->to_read);
		side->seen = side->theirs.len;
		side->to_read = 0;
		side->was_read = true;
	} else if (!pier__conn_again(conn, wc)) {
		pier__conn_failed(conn, "the read of its private data", wc);
	}
	pier__conn_kick(conn);
}

/* Read the peer's blob over what its message had of it. */
static int read_blob(struct pier_conn *conn)
{
	struct pier__side *side = conn->side;
	struct ibv_sge sge = {
		.addr = (uintptr_t)side->theirs.mem,
		.length = (uint32_t)side->to_read,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)&side->read_op,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.remote_addr = side->blob_addr,
		.wr.rdma.rkey = side->blob_rkey,
	};
	int err = blob_register(conn->qset, &side->theirs,
				IBV_ACCESS_LOCAL_WRITE);

	if (err)
		return err;
	sge.lkey = side->theirs.mr->lkey;
	side->conn = conn;
	side->read_op.done = read_done;
	err = pier__conn_control_post(conn, &wr);
	if (!err)
		side->reading = true;
	return err;
}

static int say_hello(struct pier_conn *conn)
{
	return conn->ctl_kind == PIER__CTL_NONE ?
		       pier__conn_control(conn, PIER__CTL_HELLO) : 0;
}

/* One step on the way.  1: connected; 0: not yet. */
static int advance(struct pier_conn *conn, uint64_t now)
{
	struct pier__side *side = conn->side;
	int err = 0;

	if (!side->established || now < conn->next_try)
		return 0;
	if (side->foreign)
		return 1;
	if (side->to_read)
		err = side->reading ? 0 : read_blob(conn);
	else if ((side->active || side->was_read) && !conn->hello_acked)
		err = say_hello(conn);
	else
		return !side->own.mr || conn->hello_seen;
	return err == -EAGAIN ? 0 : err;
}

/* What a peer is lacking in that did not get us there in time. */
static const char *missing(const struct pier_conn *conn)
{
	if (!conn->side->established)
		return "the peer never said that it is ready";
	if (conn->side->agains)
		return "the peer does not answer: is it gone or stopped, or "
		       "the network between?";
	return "the peer never said hello";
}

uint64_t pier__handshake_step(struct pier_conn *conn, uint64_t now)
{
	struct pier__side *side = conn->side;
	int err;

	if (!side->foreign && !conn->hello_seen)
		conn->hello_seen = pier__conn_hello_seen(conn);
	if (conn->hello_seen)
		side->established = true;	/* the RTU was lost */
	err = advance(conn, now);
	if (err < 0)
		pier__side_why(conn, err, "handshake", "%s",
			       pier_last_error());
	/* who says goodbye was connected, did what it came for, and left */
	if (err > 0 || (!side->foreign && pier__conn_goodbye_seen(conn))) {
		pier__conn_become_up(conn, now);
		return now;
	}
	if (!err && side->over)
		err = pier__side_why(conn, -ECONNRESET, "handshake", "the peer "
				     "has disconnected");
	if (!err && now >= conn->deadline)
		err = pier__side_why(conn, -PIER_ENOHELLO, "handshake", "%s",
				     missing(conn));
	if (err)
		pier__conn_fail(conn, err);
	if (err)
		return now;
	return now + (side->own.mr ? LOOK_SOON : LOOK);
}
