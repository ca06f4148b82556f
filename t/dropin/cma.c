/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "core/clock.h"
#include "dropin/cma/cma.h"
#include "fabric/soft/cm/soft_cm.h"
#include "t/lib/tap.h"

/* Connections by rdma_cm between two ids of one process, without QPs. */
#define TIMEOUT_MS 2000
#define QPN 0x1000		/* and up: of no QPs, none is connected here */

static struct rdma_event_channel *ours, *theirs;
static struct rdma_cm_id *client, *listener;
static uint32_t last_qpn = QPN;

static atomic_size_t failing;	/* allocations of this size do, 0: none */
static atomic_uint failed;

/*
 * In the place of the C library's, also for the libraries.  ThreadSanitizer
 * calls it before it knows the thread.
 */
__attribute__((no_sanitize("thread")))
void *calloc(size_t count, size_t size)
{
	static void *(*volatile allocate)(size_t) = malloc;
	void *ret;

	if (size == failing && size) {
		failed++;
		return NULL;
	}
	if (size && count > SIZE_MAX / size)
		return NULL;
	ret = allocate(count * size);
	return ret ? memset(ret, 0, count * size) : NULL;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* The next event of @channel, which is @type. */
static struct rdma_cm_event *expect(struct rdma_event_channel *channel,
				    enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = NULL;

	IS(rdma_get_cm_event(channel, &event), 0);
	IS_STR(rdma_event_str(event->event), rdma_event_str(type));
	return event;
}

static void expect_only(struct rdma_event_channel *channel,
			enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *event = expect(channel, type);

	IS(event->status, status);
	IS(rdma_ack_cm_event(event), 0);
}

/* A client, whose route to @port is known. */
static void set_up_client(enum rdma_port_space ps, uint16_t port)
{
	struct sockaddr_in addr = loopback(port);

	ours = rdma_create_event_channel();
	IS(rdma_create_id(ours, &client, NULL, ps), 0);
	IS(rdma_resolve_addr(client, NULL, (struct sockaddr *)&addr,
			     TIMEOUT_MS), 0);
	expect_only(ours, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	IS(rdma_resolve_route(client, TIMEOUT_MS), 0);
	expect_only(ours, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

/* On a port that was free, which is returned. */
static uint16_t set_up_listener(enum rdma_port_space ps)
{
	struct sockaddr_in addr = loopback(0);

	theirs = rdma_create_event_channel();
	IS(rdma_create_id(theirs, &listener, NULL, ps), 0);
	IS(rdma_bind_addr(listener, (struct sockaddr *)&addr), 0);
	addr.sin_port = rdma_get_src_port(listener);
	OK(addr.sin_port);
	IS(rdma_listen(listener, 4), 0);
	IS(rdma_get_src_port(listener), addr.sin_port);
	OK(!listener->verbs);		/* it is a loopback address */
	return ntohs(rdma_get_src_port(listener));
}

static void set_up(void)
{
	set_up_client(RDMA_PS_TCP, set_up_listener(RDMA_PS_TCP));
}

static void clean_up(void)
{
	IS(rdma_destroy_id(client), 0);
	if (listener)
		IS(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(ours);
	rdma_destroy_event_channel(theirs);
}

static struct rdma_conn_param param(const char *text)
{
	return (struct rdma_conn_param){
		.private_data = text,
		.private_data_len = (uint8_t)(strlen(text) + 1),
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7, .qp_num = ++last_qpn,
	};
}

static void connect_with(const char *text)
{
	struct rdma_conn_param with = param(text);

	IS(rdma_connect(client, &with), 0);
}

static void private_data_arrive_on_both_sides(void)
{
	struct rdma_conn_param with;
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	set_up();
	connect_with("here");
	event = expect(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	OK(event->listen_id == listener);
	IS_STR(event->param.conn.private_data, "here");
	IS(event->param.conn.qp_num, last_qpn);
	IS(rdma_ack_cm_event(event), 0);
	with = param("there");
	IS(rdma_accept(server, &with), 0);
	event = expect(ours, RDMA_CM_EVENT_CONNECT_RESPONSE);
	IS_STR(event->param.conn.private_data, "there");
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_establish(client), 0);
	expect_only(theirs, RDMA_CM_EVENT_ESTABLISHED, 0);
	IS(rdma_disconnect(client), 0);
	expect_only(theirs, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect_only(ours, RDMA_CM_EVENT_DISCONNECTED, 0);
	IS(rdma_destroy_id(server), 0);
	clean_up();
}

static void a_rejection_has_its_reason_and_data(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	set_up();
	connect_with("here");
	event = expect(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_reject(server, "no", 3), 0);
	IS(rdma_destroy_id(server), 0);
	event = expect(ours, RDMA_CM_EVENT_REJECTED);
	IS(event->status, 28);		/* by the program, as IBTA numbers */
	IS_STR(event->param.conn.private_data, "no");
	IS(rdma_ack_cm_event(event), 0);
	clean_up();
}

static void the_end_of_a_listener_rejects_what_was_not_taken(void)
{
	struct pollfd pfd = { .events = POLLIN };

	set_up();
	pfd.fd = theirs->fd;
	connect_with("here");
	IS(poll(&pfd, 1, -1), 1);	/* the request is there */
	IS(rdma_destroy_id(listener), 0);
	listener = NULL;
	expect_only(ours, RDMA_CM_EVENT_REJECTED, 28);
	clean_up();
}

static void events_follow_an_id_to_another_channel(void)
{
	struct rdma_event_channel *third = rdma_create_event_channel();
	struct pollfd pfd = { .events = POLLIN };
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	set_up();
	pfd.fd = theirs->fd;
	connect_with("here");
	IS(poll(&pfd, 1, -1), 1);	/* the request is there */
	IS(rdma_migrate_id(listener, third), 0);
	OK(listener->channel == third);
	event = expect(third, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	OK(server->channel == third);
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_destroy_id(server), 0);
	expect_only(ours, RDMA_CM_EVENT_REJECTED, 28);
	clean_up();
	rdma_destroy_event_channel(third);
}

/* The request that @listener gets. */
static struct rdma_cm_id *requested(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	event = expect(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	IS(rdma_ack_cm_event(event), 0);
	return server;
}

static void the_end_of_timewait_is_reported_to_both(void)
{
	struct rdma_conn_param with;
	struct rdma_cm_id *server;

	set_up();
	connect_with("here");
	server = requested();
	with = param("there");
	IS(rdma_accept(server, &with), 0);
	expect_only(ours, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	IS(rdma_establish(client), 0);
	expect_only(theirs, RDMA_CM_EVENT_ESTABLISHED, 0);
	IS(rdma_disconnect(server), 0);
	expect_only(ours, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect_only(theirs, RDMA_CM_EVENT_DISCONNECTED, 0);
	expect_only(ours, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	expect_only(theirs, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	IS(rdma_destroy_id(server), 0);
	clean_up();
}

static void a_service_reports_its_queue_pair(void)
{
	struct rdma_conn_param with;
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	set_up_client(RDMA_PS_UDP, set_up_listener(RDMA_PS_UDP));
	IS(client->qp_type, IBV_QPT_UD);
	connect_with("here");
	event = expect(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	IS_STR(event->param.ud.private_data, "here");
	IS(rdma_ack_cm_event(event), 0);
	with = param("there");
	IS(rdma_accept(server, &with), 0);
	event = expect(ours, RDMA_CM_EVENT_ESTABLISHED);
	IS_STR(event->param.ud.private_data, "there");
	IS(event->param.ud.qp_num, last_qpn);
	IS(event->param.ud.qkey, RDMA_UDP_QKEY);
	IS(event->param.ud.ah_attr.is_global, 1);
	IS(event->param.ud.ah_attr.grh.dgid.raw[15], 1);
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_destroy_id(server), 0);
	clean_up();
}

static void a_service_that_rejects_is_unreachable(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	set_up_client(RDMA_PS_UDP, set_up_listener(RDMA_PS_UDP));
	connect_with("here");
	server = requested();
	IS(rdma_reject(server, "no", 3), 0);
	IS(rdma_destroy_id(server), 0);
	event = expect(ours, RDMA_CM_EVENT_UNREACHABLE);
	IS(event->status, 2);		/* by the program, as IBTA numbers */
	IS_STR(event->param.ud.private_data, "no");
	IS(rdma_ack_cm_event(event), 0);
	clean_up();
}

/* This program as a process that connects and ends. */
static int connect_and_exit(const char *port)
{
	struct rdma_conn_param with = param("here");

	set_up_client(RDMA_PS_TCP, (uint16_t)atoi(port));
	IS(rdma_connect(client, &with), 0);
	expect_only(ours, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	IS(rdma_establish(client), 0);
	return 0;
}

/* A listener on the port of @listener, of the same channel. */
static struct rdma_cm_id *listener_of(enum rdma_port_space ps, int err)
{
	struct sockaddr_in addr = loopback(ntohs(rdma_get_src_port(listener)));
	struct rdma_cm_id *id = NULL;

	IS(rdma_create_id(theirs, &id, NULL, ps), 0);
	IS(rdma_bind_addr(id, (struct sockaddr *)&addr), err ? -1 : 0);
	IS(err ? errno : rdma_listen(id, 4), err);
	return id;
}

/* The client's request comes to @listener. */
static void reject_one(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *server;

	connect_with("there");
	event = expect(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	OK(event->listen_id == listener);
	server = event->id;
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_reject(server, NULL, 0), 0);
	IS(rdma_destroy_id(server), 0);
	event = expect(ours, RDMA_CM_EVENT_REJECTED);
	IS(rdma_ack_cm_event(event), 0);
}

static void a_port_has_a_listener_of_each_kind(void)
{
	struct rdma_cm_id *other;

	set_up();
	other = listener_of(RDMA_PS_UDP, 0);
	IS(rdma_destroy_id(listener_of(RDMA_PS_IB, 0)), 0);
	IS(rdma_destroy_id(listener_of(RDMA_PS_UDP, EADDRINUSE)), 0);
	IS(rdma_destroy_id(listener_of(RDMA_PS_TCP, EADDRINUSE)), 0);
	IS(rdma_destroy_id(other), 0);
	reject_one();
	clean_up();
}

static void the_kind_of_a_request_chooses_the_listener(void)
{
	struct rdma_cm_id *other;

	set_up();
	other = listener_of(RDMA_PS_UDP, 0);
	reject_one();
	IS(rdma_destroy_id(other), 0);
	clean_up();
}

static void the_end_of_a_process_disconnects(void)
{
	struct rdma_conn_param with;
	struct rdma_cm_id *server;
	char port[8];
	int status;
	pid_t pid;

	snprintf(port, sizeof(port), "%u", set_up_listener(RDMA_PS_TCP));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "cma", port, NULL);
		_exit(1);
	}
	server = requested();
	with = param("there");
	IS(rdma_accept(server, &with), 0);
	expect_only(theirs, RDMA_CM_EVENT_ESTABLISHED, 0);
	expect_only(theirs, RDMA_CM_EVENT_DISCONNECTED, 0);
	IS(waitpid(pid, &status, 0), pid);
	IS(status, 0);
	IS(rdma_destroy_id(server), 0);
	IS(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(theirs);
}

/* An event that is lost is waited for for ever, but not here. */
static void expect_soon(struct rdma_event_channel *channel,
			enum rdma_cm_event_type type)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };

	if (IS(poll(&pfd, 1, 10 * TIMEOUT_MS), 1))
		expect_only(channel, type, 0);
}

static void events_of_a_connection_need_no_memory(void)
{
	struct rdma_conn_param with;
	struct rdma_cm_id *server;

	set_up();
	connect_with("here");
	server = requested();
	failing = sizeof(struct cma_event);
	with = param("there");
	IS(rdma_accept(server, &with), 0);
	expect_soon(ours, RDMA_CM_EVENT_CONNECT_RESPONSE);
	IS(rdma_establish(client), 0);
	expect_soon(theirs, RDMA_CM_EVENT_ESTABLISHED);
	IS(rdma_disconnect(client), 0);
	expect_soon(ours, RDMA_CM_EVENT_DISCONNECTED);
	expect_soon(theirs, RDMA_CM_EVENT_DISCONNECTED);
	failing = 0;
	IS(rdma_destroy_id(server), 0);
	clean_up();
}

static void send_nothing(struct rdma_cm_id *from, struct rdma_cm_id *to)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { 0 }, *bad_recv;
	struct ibv_wc wc;

	IS(ibv_post_recv(to->qp, &recv, &bad_recv), 0);
	IS(ibv_post_send(from->qp, &send, &bad_send), 0);
	while (!ibv_poll_cq(from->send_cq, 1, &wc))
		;
	IS(wc.status, IBV_WC_SUCCESS);
}

/* Nothing polls what has arrived before: it is waited for, but not for ever. */
static void a_disconnect_waits_for_what_is_not_polled(void)
{
	struct ibv_qp_init_attr mine = { .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC,
					 .sq_sig_all = 1 }, its = mine;
	struct rdma_cm_id *server;
	uint64_t begun;

	set_up();
	IS(rdma_create_qp(client, NULL, &mine), 0);
	connect_with("here");
	server = requested();
	IS(rdma_create_qp(server, NULL, &its), 0);
	IS(rdma_accept(server, NULL), 0);
	expect_only(ours, RDMA_CM_EVENT_ESTABLISHED, 0);
	expect_only(theirs, RDMA_CM_EVENT_ESTABLISHED, 0);
	send_nothing(client, server);
	begun = pier__now();
	IS(rdma_disconnect(client), 0);
	expect_only(theirs, RDMA_CM_EVENT_DISCONNECTED, 0);
	OK(pier__now() - begun >= SOFT_CM_EARLY_NS);
	rdma_destroy_qp(server);
	rdma_destroy_qp(client);
	IS(rdma_destroy_id(server), 0);
	clean_up();
}

/* @size: of what there is no memory for. */
static void request_again(size_t size)
{
	struct pollfd pfd = { .events = POLLIN };
	struct rdma_cm_id *server;

	set_up();
	failed = 0;
	failing = size;
	connect_with("here");
	while (!failed)
		sched_yield();
	failing = 0;
	pfd.fd = theirs->fd;
	if (IS(poll(&pfd, 1, 10 * TIMEOUT_MS), 1)) {
		server = requested();
		IS(rdma_reject(server, NULL, 0), 0);
		IS(rdma_destroy_id(server), 0);
		rdma_ack_cm_event(expect(ours, RDMA_CM_EVENT_REJECTED));
	}
	clean_up();
}

static void a_request_without_memory_comes_again(void)
{
	request_again(sizeof(struct cma_id));
	request_again(sizeof(struct cma_event));
}

static void fails(int result, int err)
{
	IS(result, -1);
	IS(errno, err);
}

static void calls_in_the_wrong_order_are_refused(void)
{
	struct rdma_conn_param with = param("x");
	struct sockaddr_in addr = loopback(0);
	struct rdma_cm_id *id;

	set_up();
	IS(rdma_create_id(ours, &id, NULL, RDMA_PS_TCP), 0);
	fails(rdma_connect(id, &with), EINVAL);
	fails(rdma_accept(id, &with), EINVAL);
	fails(rdma_reject(id, NULL, 0), EINVAL);
	fails(rdma_disconnect(id), EINVAL);
	fails(rdma_resolve_route(id, TIMEOUT_MS), EINVAL);
	fails(rdma_listen(listener, 1), EINVAL);
	fails(rdma_bind_addr(listener, (struct sockaddr *)&addr), EINVAL);
	fails(rdma_destroy_id(NULL), EINVAL);
	fails(rdma_ack_cm_event(NULL), EINVAL);
	IS(rdma_destroy_id(id), 0);
	clean_up();
}

static void what_is_missing_is_not_offered(void)
{
	struct rdma_cm_id *id;

	set_up();
	fails(rdma_create_id(ours, &id, NULL, RDMA_PS_IPOIB), EOPNOTSUPP);
	clean_up();
}

static void joins_only_groups_once(void)
{
	struct sockaddr_in group = loopback(0), host = loopback(0);
	struct rdma_cm_join_mc_attr_ex attr = { .addr = NULL };
	struct rdma_cm_event *event;

	group.sin_addr.s_addr = htonl(0xef010207);	/* 239.1.2.7 */
	set_up();
	fails(rdma_join_multicast(client, (struct sockaddr *)&group, NULL),
	      EINVAL);				/* of no datagrams */
	clean_up();
	set_up_client(RDMA_PS_UDP, set_up_listener(RDMA_PS_UDP));
	fails(rdma_join_multicast(client, (struct sockaddr *)&host, NULL),
	      EINVAL);
	fails(rdma_join_multicast(client, NULL, NULL), EINVAL);
	fails(rdma_join_multicast_ex(client, &attr, NULL), EINVAL);
	fails(rdma_leave_multicast(client, (struct sockaddr *)&group),
	      EADDRNOTAVAIL);
	IS(rdma_join_multicast(client, (struct sockaddr *)&group, &host), 0);
	fails(rdma_join_multicast(client, (struct sockaddr *)&group, NULL),
	      EADDRINUSE);
	event = expect(ours, RDMA_CM_EVENT_MULTICAST_JOIN);
	OK(event->param.ud.private_data == &host);
	IS(event->param.ud.qp_num, 0xffffff);
	IS(event->param.ud.qkey, RDMA_UDP_QKEY);
	IS(event->param.ud.ah_attr.grh.dgid.raw[12], 239);
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_leave_multicast(client, (struct sockaddr *)&group), 0);
	clean_up();
}

static void an_address_of_no_device_cannot_be_bound(void)
{
	struct sockaddr_in addr = loopback(0);
	struct rdma_cm_id *id;

	addr.sin_addr.s_addr = htonl(0xc6336401);	/* documentation's */
	set_up();
	IS(rdma_create_id(ours, &id, NULL, RDMA_PS_TCP), 0);
	fails(rdma_bind_addr(id, (struct sockaddr *)&addr), EADDRNOTAVAIL);
	IS(rdma_destroy_id(id), 0);
	clean_up();
}

int main(int argc, char *argv[])
{
	if (argc == 2)
		return connect_and_exit(argv[1]);
	TEST(private_data_arrive_on_both_sides);
	TEST(a_rejection_has_its_reason_and_data);
	TEST(the_end_of_a_listener_rejects_what_was_not_taken);
	TEST(events_follow_an_id_to_another_channel);
	TEST(the_end_of_timewait_is_reported_to_both);
	TEST(a_service_reports_its_queue_pair);
	TEST(a_service_that_rejects_is_unreachable);
	TEST(a_port_has_a_listener_of_each_kind);
	TEST(the_kind_of_a_request_chooses_the_listener);
	TEST(the_end_of_a_process_disconnects);
	TEST(events_of_a_connection_need_no_memory);
	TEST(a_disconnect_waits_for_what_is_not_polled);
	TEST(a_request_without_memory_comes_again);
	TEST(calls_in_the_wrong_order_are_refused);
	TEST(what_is_missing_is_not_offered);
	TEST(joins_only_groups_once);
	TEST(an_address_of_no_device_cannot_be_bound);
	return tap_done();
}
