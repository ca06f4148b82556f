/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "dropin/cma/cma.h"
#include "fabric/soft/cm/soft_cm.h"
#include "t/lib/tap.h"

/* Event channels: which event is next, and who gets it; backlogs. */
#define TIMEOUT_MS 20000
#define CONNS 2

static struct rdma_event_channel *ours, *theirs;
static struct rdma_cm_id *listener, *client[CONNS], *server[CONNS];

static struct rdma_cm_event *expect(struct rdma_event_channel *channel,
				    enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = NULL;

	if (rdma_get_cm_event(channel, &event)) {
		printf("Bail out! no event\n");
		exit(1);
	}
	IS_STR(rdma_event_str(event->event), rdma_event_str(type));
	return event;
}

/* Returns its id. */
static struct rdma_cm_id *take(struct rdma_event_channel *channel,
			       enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = expect(channel, type);
	struct rdma_cm_id *id = event->id;

	IS(rdma_ack_cm_event(event), 0);
	return id;
}

/* On a port that was free. */
static void listen_with(int backlog)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	ours = rdma_create_event_channel();
	theirs = rdma_create_event_channel();
	IS(rdma_create_id(theirs, &listener, NULL, RDMA_PS_TCP), 0);
	IS(rdma_bind_addr(listener, (struct sockaddr *)&addr), 0);
	IS(rdma_listen(listener, backlog), 0);
}

static void listen_there(void)
{
	listen_with(CONNS);
}

static void resolve(struct rdma_cm_id *id)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = rdma_get_src_port(listener),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	IS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, TIMEOUT_MS),
	   0);
}

static void create_queues(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC,
					 .sq_sig_all = 1 };

	IS(rdma_create_qp(id, NULL, &attr), 0);
}

/* Client @i, with queue pairs. */
static void request(int i, struct rdma_conn_param *with)
{
	IS(rdma_create_id(ours, &client[i], NULL, RDMA_PS_TCP), 0);
	resolve(client[i]);
	take(ours, RDMA_CM_EVENT_ADDR_RESOLVED);
	IS(rdma_resolve_route(client[i], TIMEOUT_MS), 0);
	take(ours, RDMA_CM_EVENT_ROUTE_RESOLVED);
	create_queues(client[i]);
	IS(rdma_connect(client[i], with), 0);
}

static void connect_one(int i)
{
	struct rdma_conn_param with = { .retry_count = 7,
					.rnr_retry_count = 7 };

	request(i, &with);
	server[i] = take(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	create_queues(server[i]);
	IS(rdma_accept(server[i], &with), 0);
	take(ours, RDMA_CM_EVENT_ESTABLISHED);
	take(theirs, RDMA_CM_EVENT_ESTABLISHED);
}

static void destroy(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	IS(rdma_destroy_id(id), 0);
}

static void destroy_one(int i)
{
	destroy(client[i]);
	destroy(server[i]);
}

static void clean_up(void)
{
	IS(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(ours);
	rdma_destroy_event_channel(theirs);
}

/* The server gets a message that it does not poll. */
static void send_nothing(int i)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { 0 }, *bad_recv;
	struct ibv_wc wc;

	IS(ibv_post_recv(server[i]->qp, &recv, &bad_recv), 0);
	IS(ibv_post_send(client[i]->qp, &send, &bad_send), 0);
	while (!ibv_poll_cq(client[i]->send_cq, 1, &wc))
		;
	IS(wc.status, IBV_WC_SUCCESS);
}

/* Is the second of two disconnects reported while the first one waits? */
static bool is_overtaken(void)
{
	struct rdma_cm_id *first;

	listen_there();
	connect_one(0);
	connect_one(1);
	send_nothing(0);
	IS(rdma_disconnect(client[0]), 0);
	IS(rdma_disconnect(client[1]), 0);
	first = take(theirs, RDMA_CM_EVENT_DISCONNECTED);
	take(theirs, RDMA_CM_EVENT_DISCONNECTED);
	destroy_one(0);
	destroy_one(1);
	clean_up();
	return first == server[1];
}

/* On a host that is slow the second one may come after the wait. */
static void other_events_overtake_a_disconnect_that_waits(void)
{
	int tries = 20;

	while (tries && !is_overtaken())
		tries--;
	OK(tries);
}

/* Edges of @channel are reported by the epoll set that is returned. */
static int watch_edges(const struct rdma_event_channel *channel)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	int set = epoll_create1(EPOLL_CLOEXEC);

	IS(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	IS(epoll_ctl(set, EPOLL_CTL_ADD, channel->fd, &edge), 0);
	return set;
}

static void a_disconnect_that_has_waited_is_an_edge(void)
{
	struct rdma_cm_event *event = NULL;
	struct epoll_event edge;
	int set, more = 1;

	listen_there();
	connect_one(0);
	set = watch_edges(theirs);
	send_nothing(0);
	IS(rdma_disconnect(client[0]), 0);
	while (!event && more == 1) {
		more = epoll_wait(set, &edge, 1, TIMEOUT_MS);
		if (rdma_get_cm_event(theirs, &event))
			IS(errno, EAGAIN);
	}
	IS(more, 1);
	if (OK(event)) {
		IS(event->event, RDMA_CM_EVENT_DISCONNECTED);
		IS(rdma_ack_cm_event(event), 0);
	}
	close(set);
	destroy_one(0);
	clean_up();
}

/* A program that takes one event for each edge. */
static void each_event_is_an_edge(void)
{
	struct epoll_event edge;
	struct rdma_cm_id *id;
	int set, i;

	listen_there();
	set = watch_edges(ours);
	for (i = 0; i < CONNS; i++) {
		IS(rdma_create_id(ours, &id, NULL, RDMA_PS_TCP), 0);
		resolve(id);
		IS(epoll_wait(set, &edge, 1, TIMEOUT_MS), 1);
	}
	for (i = 0; i < CONNS; i++)
		IS(rdma_destroy_id(take(ours, RDMA_CM_EVENT_ADDR_RESOLVED)),
		   0);
	close(set);
	clean_up();
}

/* As the CM of the device has it. */
static uint32_t backlog_of(struct rdma_cm_id *id)
{
	const struct cma_listener *first;

	first = pier__container_of(cma_of(id)->listeners.next,
				   struct cma_listener, link);
	return ((const struct soft_cm_listener *)first->listener)->backlog;
}

static void a_backlog_is_from_1_to_1024(void)
{
	static const int given[] = { 1, 7, 1024, 0, -1, 1025, INT_MAX };
	static const uint32_t taken[] = { 1, 7, 1024, 1024, 1024, 1024, 1024 };
	size_t i;

	for (i = 0; i < sizeof(given) / sizeof(*given); i++) {
		listen_with(given[i]);
		IS(backlog_of(listener), taken[i]);
		clean_up();
	}
}

/* Two requests for one place: the second comes after the first was taken. */
static void requests_beyond_the_backlog_come_later(void)
{
	struct rdma_conn_param with = { 0 };
	struct rdma_cm_event *event;
	int i;

	listen_with(1);
	for (i = 0; i < CONNS; i++)
		request(i, &with);
	for (i = 0; i < CONNS; i++) {
		server[i] = take(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
		IS(rdma_reject(server[i], NULL, 0), 0);
		IS(rdma_destroy_id(server[i]), 0);
	}
	for (i = 0; i < CONNS; i++) {
		event = expect(ours, RDMA_CM_EVENT_REJECTED);
		IS(event->status, 28);		/* by the program */
		IS(rdma_ack_cm_event(event), 0);
		destroy(client[i]);
	}
	clean_up();
}

static void fails(int result, int err)
{
	IS(result, -1);
	IS(errno, err);
}

static void a_channel_that_was_destroyed_has_no_events(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id, *none;

	listen_there();
	IS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	resolve(id);
	rdma_destroy_event_channel(channel);	/* it has an event */
	fails(rdma_get_cm_event(channel, &event), EBADF);
	fails(rdma_create_id(channel, &none, NULL, RDMA_PS_TCP), EBADF);
	fails(rdma_migrate_id(listener, channel), EBADF);
	IS(rdma_destroy_id(id), 0);
	fails(rdma_get_cm_event(channel, &event), EBADF);
	clean_up();
}

/* Their peer has seen that the connection has ended: so have they. */
static void what_its_ids_get_is_no_event_of_another(void)
{
	struct rdma_event_channel *third;
	struct rdma_cm_event *event;

	listen_there();
	connect_one(0);
	rdma_destroy_event_channel(theirs);
	third = rdma_create_event_channel();
	IS(fcntl(third->fd, F_SETFL, O_NONBLOCK), 0);
	IS(rdma_disconnect(client[0]), 0);
	take(ours, RDMA_CM_EVENT_DISCONNECTED);
	fails(rdma_get_cm_event(theirs, &event), EBADF);
	fails(rdma_get_cm_event(third, &event), EAGAIN);
	IS(rdma_migrate_id(server[0], third), 0);
	take(third, RDMA_CM_EVENT_DISCONNECTED);
	destroy_one(0);
	IS(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(third);
	rdma_destroy_event_channel(ours);
}

int main(void)
{
	TEST(other_events_overtake_a_disconnect_that_waits);
	TEST(a_disconnect_that_has_waited_is_an_edge);
	TEST(each_event_is_an_edge);
	TEST(a_backlog_is_from_1_to_1024);
	TEST(requests_beyond_the_backlog_come_later);
	TEST(a_channel_that_was_destroyed_has_no_events);
	TEST(what_its_ids_get_is_no_event_of_another);
	return tap_done();
}
