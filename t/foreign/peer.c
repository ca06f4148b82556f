/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "t/foreign/pattern.h"

/*
 * A program of rdma-core's, which does not use pier: one connection with
 * as much private data as its messages hold, or one after the other.  It
 * prints what it has received.
 */
#define COUNT 12	/* of connections one after the other */

static struct rdma_event_channel *channel;

static void die(const char *what)
{
	fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct rdma_cm_event *next(void)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	printf("%s %d\n", rdma_event_str(event->event), event->status);
	fflush(stdout);
	return event;
}

static void print_data(const struct rdma_cm_event *event, size_t len,
		       enum pattern first)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	printf("private data: %u %s\n", conn->private_data_len,
	       pattern_is(conn->private_data, conn->private_data_len, len,
			  first) ? "as sent" : "changed");
}

static void expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next();

	if (event->event != type)
		exit(1);
	rdma_ack_cm_event(event);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	attr.send_cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	if (!attr.send_cq || rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
}

static struct sockaddr *resolve(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *res;

	if (getaddrinfo(host, port, &hints, &res))
		die(host);
	return res->ai_addr;
}

static struct rdma_conn_param param_of(const void *data, uint8_t len)
{
	return (struct rdma_conn_param) {
		.private_data = data, .private_data_len = len,
		.responder_resources = 4, .initiator_depth = 4,
		.retry_count = 6, .rnr_retry_count = 7,
	};
}

/* Status 3: rejected; what else goes wrong is 1. */
static int client(struct rdma_cm_id *id, struct sockaddr *dst)
{
	struct rdma_conn_param param;
	uint8_t data[PATTERN_REQ_LEN];
	struct rdma_cm_event *event;

	if (rdma_resolve_addr(id, NULL, dst, 5000))
		die("rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 5000))
		die("rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	pattern_fill(data, sizeof(data), PATTERN_REQ);
	param = param_of(data, sizeof(data));
	if (rdma_connect(id, &param))
		die("rdma_connect");
	event = next();
	if (event->event == RDMA_CM_EVENT_REJECTED) {
		print_data(event, event->status == 28 ? PATTERN_REJ_LEN : 0,
			   PATTERN_REJ);
		return 3;
	}
	if (event->event != RDMA_CM_EVENT_ESTABLISHED)
		return 1;
	print_data(event, PATTERN_REP_LEN, PATTERN_REP);
	rdma_ack_cm_event(event);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
	return 0;
}

static void listen_on(struct rdma_cm_id *id, struct sockaddr *addr)
{
	if (rdma_bind_addr(id, addr))
		die("rdma_bind_addr");
	if (rdma_listen(id, 16))
		die("rdma_listen");
	puts("listening");
	fflush(stdout);
}

static int server(struct rdma_cm_id *id, struct sockaddr *addr, bool reject)
{
	struct rdma_conn_param param;
	uint8_t data[PATTERN_REP_LEN];
	struct rdma_cm_event *event;

	listen_on(id, addr);
	event = next();
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 1;
	print_data(event, PATTERN_REQ_LEN, PATTERN_REQ);
	id = event->id;
	if (reject) {
		pattern_fill(data, PATTERN_REJ_LEN, PATTERN_REJ);
		if (rdma_reject(id, data, PATTERN_REJ_LEN))
			die("rdma_reject");
		return 0;
	}
	make_qp(id);
	pattern_fill(data, sizeof(data), PATTERN_REP);
	param = param_of(data, sizeof(data));
	if (rdma_accept(id, &param))
		die("rdma_accept");
	expect(RDMA_CM_EVENT_ESTABLISHED);
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	expect(RDMA_CM_EVENT_DISCONNECTED);
	return 0;
}

/* Never answer a request. */
static int hold(struct rdma_cm_id *id, struct sockaddr *addr)
{
	listen_on(id, addr);
	if (next()->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 1;
	puts("requested");
	fflush(stdout);
	pause();
	return 0;
}

static void destroy(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/* Accept all requests, until the time is up or a signal ends it. */
static _Noreturn void serve_many(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct rdma_conn_param param = param_of(NULL, 0);

	listen_on(id, addr);
	for (;;) {
		struct rdma_cm_event *event = next();
		enum rdma_cm_event_type type = event->event;
		bool over = type != RDMA_CM_EVENT_ESTABLISHED &&
			    type != RDMA_CM_EVENT_TIMEWAIT_EXIT;

		id = event->id;
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(id);
			over = rdma_accept(id, &param);
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			rdma_disconnect(id);
		}
		if (over)
			destroy(id);
	}
}

/* Connect, disconnect; was it established?  Prints what was reported. */
static bool connect_once(struct sockaddr *dst)
{
	struct rdma_conn_param param = param_of(NULL, 0);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	bool up;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, dst, 5000))
		die("rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 5000))
		die("rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	event = next();
	up = event->event == RDMA_CM_EVENT_ESTABLISHED;
	rdma_ack_cm_event(event);
	if (up && !rdma_disconnect(id))
		expect(RDMA_CM_EVENT_DISCONNECTED);
	destroy(id);
	return up;
}

static int connect_many(struct sockaddr *dst, int count)
{
	int up = 0;

	for (int i = 0; i < count; i++)
		up += connect_once(dst);
	printf("%d of %d up\n", up, count);
	return 0;
}

int main(int argc, char *argv[])
{
	struct sockaddr *addr;
	struct rdma_cm_id *id;

	if (argc != 4) {
		fputs("usage: peer client|server|reject|hold|serve|connect "
		      "ADDRESS PORT\n", stderr);
		return 2;
	}
	alarm(150);
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	addr = resolve(argv[2], argv[3]);
	if (!strcmp(argv[1], "client"))
		return client(id, addr);
	if (!strcmp(argv[1], "connect"))
		return connect_many(addr, COUNT);
	if (!strcmp(argv[1], "serve"))
		serve_many(id, addr);
	if (!strcmp(argv[1], "hold"))
		return hold(id, addr);
	return server(id, addr, !strcmp(argv[1], "reject"));
}
