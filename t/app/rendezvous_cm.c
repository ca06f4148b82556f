/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/caller.h"
#include "t/lib/tap.h"

/*
 * Meeting by address with a server that does not behave: it listens on the
 * client's own engine, so that it answers while the client waits.
 */
#define LEN 4096

static struct pier_dev *dev;
static struct peer me;
static struct caller server;
static int asked;

/* Rejects the first request, and leaves all others without an answer. */
static void refuse_once(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	if (!asked++)
		IS(pier_conn_reject(conn, NULL, 0), 0);
}

static void is_over(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	pier_conn_destroy(conn);
}

static bool begin(void)
{
	asked = 0;
	memset(&me, 0, sizeof(me));
	memset(&server, 0, sizeof(server));
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       peer_open(&me, dev, NULL, NULL, LEN) &&
	       caller_open(&server, dev, me.pe, NULL, LEN) &&
	       IS(pier_rdma_set_conn_callbacks(server.peer.rdma, refuse_once,
					       NULL, is_over, is_over), 0) &&
	       caller_listen(&server, 0);
}

static void end(void)
{
	server.peer.conn = NULL;
	caller_close(&server);
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* An attempt that the timeout ends adds nothing to the error message. */
static void the_reason_of_the_last_whole_attempt_is_reported(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_conn *conn = NULL;

	if (begin()) {
		args.server_addr = caller_address(dev);
		args.listen_port = pier_listener_port(server.listener);
		args.timeout_ms = 2000;
		IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL),
		   -ECONNREFUSED);
		tap_note("%s", pier_last_error());
		LIKE(pier_last_error(), "not connected after 2 s: ");
		LIKE(pier_last_error(), "its program has rejected the request");
		IS(asked, 2);
	}
	end();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(the_reason_of_the_last_whole_attempt_is_reported);
	return tap_done();
}
