/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t/lib/caller.h"
#include "t/lib/pair.h"
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

/* What a server's process binds, of which no port is bound twice. */
static in_port_t bound[64];
static int binds, again;

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	in_port_t port = ((const struct sockaddr_in *)addr)->sin_port;

	if (port && (addr->sa_family == AF_INET ||
		     addr->sa_family == AF_INET6)) {
		for (int i = 0; i < binds; i++)
			again += bound[i] == port;
		if (binds < (int)(sizeof(bound) / sizeof(*bound)))
			bound[binds++] = port;
	}
	return (int)syscall(SYS_bind, fd, addr, len);
}

static struct pier_args args_of_many(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	args.use_cm = true;
	args.listen_port = 7000 + getppid() % 3000;
	args.timeout_ms = 20000;
	return args;
}

static int come(struct pair *pair, void *arg)
{
	struct pier_args args = args_of_many();
	struct pier_conn *conn = NULL;
	char word[4];

	(void)arg;
	memset(&me, 0, sizeof(me));
	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !peer_open(&me, dev, NULL, NULL, LEN))
		return 1;
	args.server_addr = caller_address(dev);
	OK(pair_recv(pair, word, sizeof(word)) == 2);
	IS(pier_rendezvous(me.rdma, &args, NULL, &conn, NULL), 0);
	OK(pair_send(pair, "ok", 2));
	pair_recv(pair, word, sizeof(word));
	pier_conn_destroy(conn);
	peer_close(&me);
	pier_dev_close(dev);
	return 0;
}

static void several_clients_have_one_listener(void)
{
	struct pier_args args = args_of_many();
	struct pier_conn *conns[3] = { NULL };
	struct pair pairs[3];
	int i;

	for (i = 0; i < 3; i++)
		pair_start(&pairs[i], come, NULL);
	args.listen_port = 7000 + getpid() % 3000;
	memset(&me, 0, sizeof(me));
	if (IS(pier_dev_open(NULL, &dev), 0) &&
	    peer_open(&me, dev, NULL, NULL, LEN)) {
		for (i = 0; i < 3; i++)
			pair_send(&pairs[i], "go", 2);
		binds = again = 0;
		IS(pier_rendezvous_many(me.rdma, &args, 3, conns), 0);
		IS(again, 0);
		if (!strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft"))
			OK(binds > 0);
	}
	for (i = 0; i < 3; i++) {
		pair_send(&pairs[i], "go", 2);
		IS(pair_wait(&pairs[i]), 0);
		pier_conn_destroy(conns[i]);
	}
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(the_reason_of_the_last_whole_attempt_is_reported);
	TEST(several_clients_have_one_listener);
	return tap_done();
}
