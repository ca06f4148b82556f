/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "cm/owner.h"
#include "cm/queues.h"
#include "cm/rdmacm/rdmacm.h"
#include "t/lib/caller.h"
#include "t/lib/tap.h"

/* Connections of a context that is not an RDMA context, to one that is. */

#define LEN 4096
#define TIMEOUT_MS 10000

static struct pier_dev *dev;

static const struct pier__queues_config cfg = {
	.max_conns = 2,
	.send_queue = 4,
	.conn_send_queue = 4,
	.recv_queue = 4,
	.send_chain = 1,
	.recv_chain = 1,
	.gid_index = PIER__GID_ANY,
	.drain_ms = 2000,
	.connect_timeout_ms = TIMEOUT_MS,
	.ack_timeout = 14,
	.retry_count = 6,
	.rnr_retry = 7,
	.min_rnr_timer = 12,
	.max_rd_atomic = 1,
	.hop_limit = 64,
};

/* The context: it has connections and nothing else. */
struct bare {
	struct pier_ctx ctx;
	struct pier__conn_owner owner;
	struct pier_conn *conn;
	int requests, established, failures, disconnected;
};

static struct bare bare;
static struct caller peer;

static int start(struct pier_ctx *ctx)
{
	struct bare *b = pier__container_of(ctx, struct bare, ctx);

	return pier__queues_create(&b->owner, dev, &cfg);
}

static void stop(struct pier_ctx *ctx)
{
	struct bare *b = pier__container_of(ctx, struct bare, ctx);

	pier__queues_stop(b->owner.queues);
}

static const struct pier__ctx_ops ops = {
	.start = start,
	.stop = stop,
};

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	OK(ctx_data == &bare);
	bare.requests++;
	bare.conn = conn;
	IS(pier_conn_accept(conn, NULL, 0), 0);
}

/* Count an event of a connection, which has the test's own user data. */
static void count(int *event, void *data, void *ctx_data)
{
	++*event;
	OK(data == &cfg);
	OK(ctx_data == &bare);
}

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	IS(pier_conn_state(conn), PIER_CONN_CONNECTED);
	count(&bare.established, data, ctx_data);
}

static void failed(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)conn;
	count(&bare.failures, data, ctx_data);
}

static void disconnected(struct pier_conn *conn, void *data, void *ctx_data)
{
	IS(pier_conn_state(conn), PIER_CONN_RESET);
	count(&bare.disconnected, data, ctx_data);
}

static bool run(void)
{
	return IS(pier_ctx_start(&bare.ctx, peer.peer.pe), 0);
}

static bool begin(void)
{
	memset(&bare, 0, sizeof(bare));
	pier__ctx_init(&bare.ctx, &ops, "bare");
	pier__conn_owner_init(&bare.owner, &bare.ctx, pier__ctx_stopped);
	bare.owner.callbacks = (struct pier__conn_callbacks){
		.request = requested,
		.established = established,
		.failure = failed,
		.disconnected = disconnected,
	};
	pier_ctx_set_user_data(&bare.ctx, &bare);
	return caller_open(&peer, dev, NULL, NULL, LEN) && run();
}

static bool halt(void)
{
	return IS(pier_ctx_stop_wait(&bare.ctx, TIMEOUT_MS), 0) &&
	       OK(!bare.owner.queues);
}

static void end(void)
{
	if (pier_ctx_state(&bare.ctx) != PIER_CTX_IDLE)
		halt();
	pier__conn_owner_destroy(&bare.owner);
	pier__listeners_destroy(&bare.owner);
	OK(pier__list_empty(&bare.owner.conns));
	OK(pier__list_empty(&bare.owner.listeners));
	caller_close(&peer);
}

static bool export(void)
{
	if (!IS(pier__conn_export(bare.owner.queues, cfg.gid_index, 0,
				  &bare.conn), 0))
		return false;
	pier_conn_set_user_data(bare.conn, (void *)(uintptr_t)&cfg);
	return true;
}

static bool join(void)
{
	return export() && peer_export(&peer.peer) &&
	       IS(pier__conn_connect(bare.conn, peer.peer.desc,
				     peer.peer.desc_len, TIMEOUT_MS), 0) &&
	       IS(pier_rdma_connect(peer.peer.conn, bare.conn->desc,
				    bare.conn->desc_len), 0) &&
	       IS(pier_conn_wait(bare.conn, TIMEOUT_MS), 0) &&
	       IS(pier_conn_wait(peer.peer.conn, TIMEOUT_MS), 0);
}

static void a_connection_knows_its_context(void)
{
	if (begin() && join()) {
		OK(pier_conn_ctx(bare.conn) == &bare.ctx);
		OK(!pier_conn_rdma(bare.conn));
		OK(pier_conn_ctx(peer.peer.conn) ==
		   pier_rdma_ctx(peer.peer.rdma));
		OK(pier_conn_rdma(peer.peer.conn) == peer.peer.rdma);
	}
	end();
}

static void rdma_tasks_want_a_connection_of_an_rdma_context(void)
{
	struct pier_task *task = NULL;

	if (begin() && join()) {
		IS(pier_rdma_task_send(bare.conn, NULL, &task), -EINVAL);
		LIKE(pier_last_error(), "RDMA context");
		OK(!task);
		IS(pier_rdma_send(bare.conn, NULL, NULL, NULL), -EINVAL);
	}
	end();
}

static void either_context_may_disconnect(void)
{
	for (int i = 0; i < 2; i++) {
		if (begin() && join()) {
			IS(bare.established, 1);
			IS(pier_conn_disconnect(i ? bare.conn :
						    peer.peer.conn), 0);
			OK(peer_count(&bare.disconnected, 1));
			OK(peer_count(&peer.disconnected, 1));
			IS(bare.failures, 0);
			pier_conn_destroy(bare.conn);
		}
		end();
	}
}

static void a_stop_ends_connections_and_keeps_what_is_not_destroyed(void)
{
	if (begin() && join() && halt()) {
		IS(pier_conn_state(bare.conn), PIER_CONN_RESET);
		OK(pier_conn_ctx(bare.conn) == &bare.ctx);
		IS(bare.disconnected, 1);
		OK(peer_count(&peer.disconnected, 1));
		if (run() && join())
			IS(bare.established, 2);
	}
	end();
}

static void a_failure_is_reported_to_the_owner(void)
{
	if (begin() && export() && peer_export(&peer.peer) &&
	    IS(pier__conn_connect(bare.conn, peer.peer.desc,
				  peer.peer.desc_len, 1), 0)) {
		OK(peer_count(&bare.failures, 1));
		IS(pier_conn_error(bare.conn), -PIER_ENOHELLO);
		IS(bare.established + bare.disconnected, 0);
	}
	end();
}

static void requests_by_address_come_to_the_owner(void)
{
	struct pier_listen_config at = { .size = sizeof(at) };
	struct pier_connect_config to = {
		.size = sizeof(to),
		.peer = caller_address(dev),
	};
	struct pier_listener *listener;

	if (!to.peer)
		tap_skip("the device has no address");
	else if (begin() && IS(pier__listen(bare.owner.queues, &at, NULL, NULL,
					    &listener), 0)) {
		to.port = pier_listener_port(listener);
		IS(pier_rdma_connect_to(peer.peer.rdma, &to, &peer.peer.conn),
		   0);
		OK(peer_count(&bare.requests, 1));
		pier_conn_set_user_data(bare.conn, (void *)(uintptr_t)&cfg);
		OK(pier_conn_ctx(bare.conn) == &bare.ctx);
		OK(!pier_conn_rdma(bare.conn));
		OK(peer_count(&bare.established, 1));
		OK(peer_count(&peer.established, 1));
		IS(pier_conn_disconnect(bare.conn), 0);
		OK(peer_count(&peer.disconnected, 1));
		OK(peer_count(&bare.disconnected, 1));
	}
	end();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_connection_knows_its_context);
	TEST(rdma_tasks_want_a_connection_of_an_rdma_context);
	TEST(either_context_may_disconnect);
	TEST(a_stop_ends_connections_and_keeps_what_is_not_destroyed);
	TEST(a_failure_is_reported_to_the_owner);
	TEST(requests_by_address_come_to_the_owner);
	pier_dev_close(dev);
	return tap_done();
}
