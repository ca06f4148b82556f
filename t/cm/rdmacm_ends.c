/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "cm/rdmacm/private_data.h"
#include "cm/rdmacm/rdmacm.h"
#include "dev/dev_impl.h"
#include "t/lib/caller.h"
#include "t/lib/fakecm.h"
#include "t/lib/tap.h"

/*
 * A disconnect of the peer's, and what may come before or after it: why a READ
 * of private data failed, a refusal, requests without an answer.
 */

#define LEN 4096

static struct pier_dev *dev;
static const struct pier__fabric *real;
static struct pier__fabric with;
static struct pier__fabric_qp refusing;
static bool has_refused;	/* each queue pair, a write of its peer */
static struct caller client, server;

static bool fault(struct pier__qp *qp, struct pier__fault *ret)
{
	if (!has_refused)
		return real->qp->fault(qp, ret);
	*ret = (struct pier__fault){
		.status = IBV_WC_REM_ACCESS_ERR, .request = "write", .len = 8,
	};
	return true;
}

static bool begin(void)
{
	fakecm_hang_up = false;
	fakecm_data = NULL;
	return caller_pair(&client, &server, dev, NULL, LEN) &&
	       caller_listen(&server, 0);
}

static void end(void)
{
	caller_unpair(&client, &server);
}

/*
 * A request with a blob at an address that is not there, of a key of none.
 * @hang_up: the client sends no hello, but disconnects.
 */
static bool ask_with_no_blob(bool hang_up)
{
	static uint8_t field[56];
	struct pier__cm_frame frame = {
		.ctl_addr = 4096, .ctl_rkey = 1, .nonce = 5, .len = 4096,
		.access = PIER_REMOTE_READ, .message = 4096,
		.blob_addr = 0x1000, .blob_rkey = 12345,
		.data = (const uint8_t[4096]){ 0 },
	};

	if (!OK(pier__cm_frame_encode(&frame, field, sizeof(field)) > 0) ||
	    !begin())
		return false;
	fakecm_data = field;
	fakecm_hang_up = client.raw = hang_up;
	return caller_ask(&client, &server, NULL);
}

static void server_ended_with(int err, const char *text)
{
	IS(pier_conn_error(server.peer.conn), err);
	LIKE(pier_conn_error_text(server.peer.conn), text);
}

static void server_fails_with(int err, const char *text)
{
	OK(peer_count(&server.failures, 1));
	server_ended_with(err, text);
	IS(server.established, 0);
}

static void a_blob_that_cannot_be_read_fails_the_connection(void)
{
	if (ask_with_no_blob(false))
		server_fails_with(-PIER_EREMACCESS, "private data");
	end();
}

/* The server has posted the READ of the blob, and not polled its completion. */
static bool reads(void)
{
	long long limit = limit_from_now();

	while (!server.peer.conn || !server.peer.conn->cm->to_read ||
	       server.peer.conn->ctl_kind != PIER__CTL_READ)
		if (!peer_step(limit))
			return false;
	return true;
}

/* As if its DREQ had overtaken the NAK. */
static void a_failed_read_of_a_blob_goes_before_a_disconnect(void)
{
	struct pier_conn *conn;

	if (ask_with_no_blob(false) && OK(reads())) {
		conn = server.peer.conn;
		conn->peer_disconnected = true;
		pier__conn_step(conn, pier__pe_now(server.peer.pe));
		server_fails_with(-PIER_EREMACCESS, "private data");
	}
	end();
}

static void nothing_is_read_from_a_client_that_has_disconnected(void)
{
	if (ask_with_no_blob(true))
		server_fails_with(-ECONNRESET, "the peer has disconnected");
	end();
}

/* Whose device has given up before a step has looked for the disconnect. */
static void a_request_to_a_client_that_has_disconnected_is_cancelled(void)
{
	const struct ibv_wc wc = { .status = IBV_WC_RETRY_EXC_ERR };
	struct pier_conn *conn;

	if (begin() && caller_join(&client, &server, NULL)) {
		conn = server.peer.conn;
		conn->peer_disconnected = true;
		IS(pier__conn_failed(conn, "send", &wc), -ECANCELED);
		OK(peer_count(&server.disconnected, 1));
		IS(pier_conn_error(conn), 0);
		IS(server.failures, 0);
	}
	end();
}

/* Of both, which were connected, the client has gone as the server refused. */
static bool refuse_and_disconnect(void)
{
	if (!begin() || !caller_join(&client, &server, NULL))
		return false;
	server.peer.conn->peer_disconnected = has_refused = true;
	return true;
}

static void server_has_refused(void)
{
	has_refused = false;
	OK(peer_count(&server.disconnected, 1));
	server_ended_with(-ECONNRESET, "it refused a write of the peer's");
}

static void a_refusal_goes_before_the_disconnect_for_it(void)
{
	const struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };

	if (refuse_and_disconnect()) {
		IS(pier__conn_failed(server.peer.conn, "send", &wc),
		   -ECANCELED);
		server_has_refused();
	}
	end();
	if (refuse_and_disconnect()) {
		pier__conn_step(server.peer.conn,
				pier__pe_now(server.peer.pe));
		server_has_refused();
	}
	end();
}

int main(void)
{
	int err = pier_dev_open("soft_lo", &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	real = dev->fabric;
	with = *real;
	with.cm = &fakecm;
	refusing = *real->qp;
	refusing.fault = fault;
	with.qp = &refusing;
	dev->fabric = &with;
	TEST(a_blob_that_cannot_be_read_fails_the_connection);
	TEST(a_failed_read_of_a_blob_goes_before_a_disconnect);
	TEST(nothing_is_read_from_a_client_that_has_disconnected);
	TEST(a_request_to_a_client_that_has_disconnected_is_cancelled);
	TEST(a_refusal_goes_before_the_disconnect_for_it);
	dev->fabric = real;
	pier_dev_close(dev);
	return tap_done();
}
