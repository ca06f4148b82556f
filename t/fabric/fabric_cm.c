/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <pier/error.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/limit.h"
#include "t/lib/loop.h"
#include "t/lib/tap.h"

/*
 * The contract of connection management in fabric/fabric.h in executable
 * form, on the device that PIER_DEVICE names: two channels of one process
 * connect over the device's own address.  Nothing here asks what kind of
 * device it is.
 */
#define PATIENCE (30000 * PIER__MS)

struct fabric_end {
	struct loop_end loop;
	struct pier__cm *cm;
	struct pier__cm_event event;	/* the last one */
	uint8_t data[256];		/* its private data */
};

static struct pier__fdev *fdev;
static const struct pier__fabric_cm *ops;
static struct fabric_end server, client;
static struct pier__cm_listener *listener;
static struct pier__cm_id *active, *passive;	/* client's, server's */

static bool succeeded(int err)
{
	if (err)
		tap_note("%s", pier_last_error());
	return IS(err, 0);
}

/* An address of the device, of IPv4 if there is one, with @port. */
static const struct sockaddr *own_address(uint16_t port)
{
	static struct sockaddr_in6 v6;
	static struct sockaddr_in v4;

	for (uint32_t i = 0; i < fdev->port.gid_count; i++) {
		const uint8_t *raw = fdev->port.gids[i].raw;

		if (memcmp(raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12))
			continue;
		v4.sin_family = AF_INET;
		v4.sin_port = htons(port);
		memcpy(&v4.sin_addr, raw + 12, 4);
		return (struct sockaddr *)&v4;
	}
	v6.sin6_family = AF_INET6;
	v6.sin6_port = htons(port);
	memcpy(&v6.sin6_addr, fdev->port.gids[0].raw, 16);
	return (struct sockaddr *)&v6;
}

static const struct sockaddr *any_address(uint16_t port)
{
	static struct sockaddr_in any;

	any.sin_family = AF_INET;
	any.sin_port = htons(port);
	any.sin_addr.s_addr = INADDR_ANY;
	return (struct sockaddr *)&any;
}

static bool end_open(struct fabric_end *end)
{
	memset(end, 0, sizeof(*end));
	return loop_end_open(fdev, 16, &end->loop) &&
	       succeeded(ops->create(end->loop.chan, IBV_MTU_4096, &end->cm));
}

static void end_close(struct fabric_end *end)
{
	if (end->cm)
		ops->destroy(end->cm);
	loop_end_close(&end->loop);
}

/* Take an event of @end, if there is one; its data is copied. */
static bool take(struct fabric_end *end)
{
	int err = ops->next(end->cm, &end->event);

	if (err == -EAGAIN || !succeeded(err))
		return false;
	if (end->event.kind == PIER__CM_REQUEST)
		end->event.listener->held--;
	memset(end->data, 0xee, sizeof(end->data));
	if (end->event.len)
		memcpy(end->data, end->event.data, end->event.len);
	return true;
}

/* Wait for the next event of @end, both being driven; it is of @kind. */
static bool wait_for(struct fabric_end *end, enum pier__cm_kind kind)
{
	struct pollfd fds[4] = {
		{ .fd = server.cm ? server.cm->fd : -1, .events = POLLIN },
		{ .fd = client.cm ? client.cm->fd : -1, .events = POLLIN },
	};
	uint64_t until = pier__now() + PATIENCE;

	while (!take(end)) {
		if (pier__now() > until)
			return OK(!"the event within 30 s");
		poll(fds, 2, 1000);
	}
	return IS(end->event.kind, kind);
}

static bool quiet(struct fabric_end *end)
{
	if (!take(end))
		return true;
	tap_note("event %d", end->event.kind);
	return OK(!"no event");
}

static bool move(struct fabric_end *end, struct pier__cm_id *id,
		 enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	uint16_t udp_port = 0;
	int mask;

	return succeeded(ops->qp_attr(id, state, &attr, &mask, &udp_port)) &&
	       succeeded(fdev->fabric->qp->qp_modify(end->loop.qp, &attr, mask,
						     udp_port));
}

static bool ready(struct fabric_end *end, struct pier__cm_id *id)
{
	return move(end, id, IBV_QPS_INIT) && move(end, id, IBV_QPS_RTR) &&
	       move(end, id, IBV_QPS_RTS);
}

static struct pier__cm_param param(const struct fabric_end *end,
				   const void *data, size_t len)
{
	return (struct pier__cm_param) {
		.qpn = end->loop.qp->qpn,
		.responder_resources = 4, .initiator_depth = 4,
		.retry_count = 6, .rnr_retry = 7,
		.data = data, .len = len,
	};
}

static bool open_ends(void)
{
	active = NULL;
	passive = NULL;
	listener = NULL;
	memset(&client, 0, sizeof(client));
	return end_open(&server) && end_open(&client);
}

static void close_ends(void)
{
	if (active)
		ops->release(active);
	if (passive)
		ops->release(passive);
	if (listener)
		ops->unlisten(listener);
	end_close(&client);
	end_close(&server);
}

static bool listen_any(int backlog)
{
	return succeeded(ops->listen(server.cm, any_address(0), backlog,
				     &server, &listener)) &&
	       OK(listener->port);
}

/* The client asks for @port with @len bytes of private data. */
static bool ask(uint16_t port, const void *data, size_t len)
{
	struct pier__cm_param p = param(&client, data, len);

	return succeeded(ops->resolve(client.cm, NULL, own_address(port), 2000,
				      &client, &active)) &&
	       wait_for(&client, PIER__CM_RESOLVED) &&
	       OK(client.event.id == active) &&
	       succeeded(ops->connect(active, &p));
}

static bool request(const void *data, size_t len)
{
	if (!listen_any(8) || !ask(listener->port, data, len) ||
	    !wait_for(&server, PIER__CM_REQUEST))
		return false;
	passive = server.event.id;
	return true;
}

static bool accept_it(const void *data, size_t len)
{
	struct pier__cm_param p = param(&server, data, len);

	return ready(&server, passive) && succeeded(ops->accept(passive, &p));
}

static bool connect_both(void)
{
	return request("hello", 5) && accept_it("welcome", 7) &&
	       wait_for(&client, PIER__CM_RESPONSE) && ready(&client, active) &&
	       succeeded(ops->establish(active)) &&
	       wait_for(&server, PIER__CM_ESTABLISHED);
}

/* Bytes of @from get to @to. */
static bool works(struct fabric_end *from, struct fabric_end *to)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE };
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)to->loop.buf + 512;
	wr.wr.rdma.rkey = to->loop.mr->rkey;
	memcpy(from->loop.buf, "over the connection", 20);
	memset(to->loop.buf + 512, 0, 20);
	if (!loop_post(&from->loop, &wr, 0, 20))
		return false;
	while (!loop_take(&from->loop, &wc))
		if (!loop_poll(&from->loop) || !loop_poll(&to->loop))
			return false;
	return IS(wc.status, IBV_WC_SUCCESS) &&
	       IS_STR((char *)to->loop.buf + 512, "over the connection");
}

static void two_ends_connect_and_data_flows_both_ways(void)
{
	if (open_ends() && connect_both()) {
		OK(works(&client, &server));
		OK(works(&server, &client));
		OK(quiet(&client) && quiet(&server));
	}
	close_ends();
}

static void either_end_can_disconnect(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (open_ends() && connect_both()) {
			succeeded(ops->disconnect(i ? active : passive));
			/* The other's manager answers when it is asked. */
			wait_for(i ? &server : &client,
				 PIER__CM_DISCONNECTED);
			wait_for(i ? &client : &server,
				 PIER__CM_DISCONNECTED);
			OK(quiet(&client) && quiet(&server));
		}
		close_ends();
	}
}

static void private_data_arrives_with_zeros_behind(void)
{
	uint8_t zeros[256] = { 0 };

	if (open_ends() && request("hello", 5)) {
		OK(server.event.len >= PIER__CM_REQ_DATA);
		OK(!memcmp(server.data, "hello", 5));
		OK(!memcmp(server.data + 5, zeros, PIER__CM_REQ_DATA - 5));
		if (accept_it("welcome", 7) &&
		    wait_for(&client, PIER__CM_RESPONSE)) {
			OK(client.event.len >= PIER__CM_REP_DATA);
			OK(!memcmp(client.data, "welcome", 7));
			OK(!memcmp(client.data + 7, zeros,
				   PIER__CM_REP_DATA - 7));
		}
	}
	close_ends();
}

/* Is the end of @end's connection reported, whatever the kind? */
static bool over(struct fabric_end *end)
{
	struct pollfd pfd = { .fd = end->cm->fd, .events = POLLIN };
	uint64_t until = pier__now() + PATIENCE;

	do {
		if (!take(end))
			poll(&pfd, 1, 100);
		else if (end->event.kind >= PIER__CM_REJECTED)
			return true;
	} while (pier__now() < until);
	return OK(!"an end within 30 s");
}

static void both_ends_know_their_addresses(void)
{
	const struct sockaddr_in *at;

	if (open_ends() && connect_both()) {
		at = (struct sockaddr_in *)&active->peer;
		IS(at->sin_family, own_address(0)->sa_family);
		if (at->sin_family == AF_INET)
			IS(ntohs(at->sin_port), listener->port);
		at = (struct sockaddr_in *)&passive->local;
		if (at->sin_family == AF_INET)
			IS(ntohs(at->sin_port), listener->port);
		OK(passive->peer.ss_family == active->local.ss_family);
	}
	close_ends();
}

static void a_rejection_says_its_reason_and_data(void)
{
	if (open_ends() && request(NULL, 0)) {
		succeeded(ops->reject(passive, "full", 5));
		if (wait_for(&client, PIER__CM_REJECTED)) {
			IS(client.event.reason, ROCE_REJ_CONSUMER);
			OK(client.event.len >= PIER__CM_REJ_DATA);
			IS_STR((char *)client.data, "full");
		}
		OK(quiet(&server));
	}
	close_ends();
}

static void no_listener_is_a_rejection(void)
{
	uint16_t port;

	if (open_ends() && listen_any(4)) {
		port = listener->port;
		ops->unlisten(listener);
		listener = NULL;
		if (ask(port, NULL, 0) &&
		    wait_for(&client, PIER__CM_REJECTED))
			IS(client.event.reason, ROCE_REJ_SERVICE_ID);
	}
	close_ends();
}

static void a_port_has_one_listener(void)
{
	struct pier__cm_listener *other = NULL;
	uint16_t port;

	if (open_ends() && listen_any(4)) {
		port = listener->port;
		IS(ops->listen(client.cm, any_address(port), 4, NULL, &other),
		   -EADDRINUSE);
		/* Another port is free. */
		IS(ops->listen(server.cm, any_address(0), 4, NULL, &other), 0);
		if (other) {
			OK(other->port != port);
			ops->unlisten(other);
		}
		/* And so is this one, then. */
		ops->unlisten(listener);
		IS(ops->listen(client.cm, any_address(port), 4, NULL,
			       &listener), 0);
	}
	close_ends();
}

static void a_listener_on_an_address_that_is_not_ours_is_refused(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	struct pier__cm_listener *none = NULL;

	name.sin_addr.s_addr = htonl(0xcb007101);	/* 203.0.113.1 */
	if (open_ends())
		IS(ops->listen(server.cm, (struct sockaddr *)&name, 4, NULL,
			       &none), -EADDRNOTAVAIL);
	close_ends();
}

static void several_listeners_get_what_is_theirs(void)
{
	struct pier__cm_listener *second = NULL;

	if (open_ends() && listen_any(4) &&
	    succeeded(
		    ops->listen(server.cm, any_address(0), 4, NULL, &second)) &&
	    ask(second->port, NULL, 0) && wait_for(&server, PIER__CM_REQUEST)) {
		passive = server.event.id;
		OK(server.event.listener == second);
	}
	if (second)
		ops->unlisten(second);
	close_ends();
}

static void what_no_message_holds_is_refused(void)
{
	char big[256] = { 0 };
	struct pier__cm_param p;

	if (open_ends() && listen_any(4) &&
	    succeeded(ops->resolve(client.cm, NULL, own_address(listener->port),
				   2000, &client, &active)) &&
	    wait_for(&client, PIER__CM_RESOLVED)) {
		p = param(&client, big, PIER__CM_REQ_DATA + 1);
		OK(ops->connect(active, &p) < 0);
		p = param(&client, big, PIER__CM_REQ_DATA);
		succeeded(ops->connect(active, &p));
		if (wait_for(&server, PIER__CM_REQUEST)) {
			passive = server.event.id;
			OK(ops->reject(passive, big,
				       PIER__CM_REJ_DATA + 1) < 0);
			p = param(&server, big, PIER__CM_REP_DATA + 1);
			OK(ops->accept(passive, &p) < 0);
			OK(accept_it(big, PIER__CM_REP_DATA));
			wait_for(&client, PIER__CM_RESPONSE);
		}
	}
	close_ends();
}

static void an_address_that_cannot_be_reached_is_reported(void)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_port = htons(7471),
	};
	int err;

	name.sin_addr.s_addr = htonl(0xf0000001);	/* 240.0.0.1 */
	if (open_ends()) {
		err = ops->resolve(client.cm, NULL, (struct sockaddr *)&name,
				   1000, NULL, &active);
		if (err)
			OK(err == -EHOSTUNREACH || err == -EINVAL);
		else if (wait_for(&client, PIER__CM_UNREACHABLE))
			OK(client.event.error < 0);
	}
	close_ends();
}

static int attr_of_request(void)
{
	struct ibv_qp_attr attr;
	uint16_t udp_port;
	int mask;

	return ops->qp_attr(passive, IBV_QPS_INIT, &attr, &mask, &udp_port);
}

static void a_request_whose_sender_disconnected_was_aborted(void)
{
	long long limit = limit_from_now();
	struct pier__cm_param p;

	if (open_ends() && request(NULL, 0)) {
		ops->release(active);
		active = NULL;
		/* The end may be reported, or only found by a call. */
		while (!attr_of_request())
			if (!take(&server) && !limit_nap(limit))
				break;
		IS(attr_of_request(), -ECONNABORTED);
		p = param(&server, NULL, 0);
		IS(ops->accept(passive, &p), -ECONNABORTED);
		LIKE(pier_last_error(), "given up");
		IS(ops->reject(passive, NULL, 0), -ECONNABORTED);
		LIKE(pier_last_error(), "given up");
	}
	close_ends();
}

/* Steps of a connection at which one end lets go. */
enum step { RESOLVED, ASKED, REQUESTED, ACCEPTED, CONNECTED, LEAVING, STEPS };

static bool go_to(enum step step)
{
	if (!open_ends() || !listen_any(4))
		return false;
	if (step == RESOLVED)
		return succeeded(ops->resolve(client.cm, NULL,
					      own_address(listener->port), 2000,
					      &client, &active)) &&
		       wait_for(&client, PIER__CM_RESOLVED);
	if (!ask(listener->port, NULL, 0))
		return false;
	if (step == ASKED)
		return true;
	if (!wait_for(&server, PIER__CM_REQUEST))
		return false;
	passive = server.event.id;
	if (step == REQUESTED)
		return true;
	if (!accept_it(NULL, 0) || !wait_for(&client, PIER__CM_RESPONSE))
		return false;
	if (step == ACCEPTED)
		return true;
	if (!ready(&client, active) || !succeeded(ops->establish(active)) ||
	    !wait_for(&server, PIER__CM_ESTABLISHED))
		return false;
	return step == CONNECTED || succeeded(ops->disconnect(active));
}

static void the_client_may_let_go_at_every_step(void)
{
	enum step step;

	for (step = RESOLVED; step < STEPS; step++) {
		if (go_to(step)) {
			ops->release(active);
			active = NULL;
			if (step >= ACCEPTED)
				OK(over(&server));
		}
		close_ends();
	}
}

static void the_server_may_let_go_at_every_step(void)
{
	enum step step;

	for (step = REQUESTED; step < STEPS; step++) {
		if (go_to(step)) {
			ops->release(passive);
			passive = NULL;
			OK(over(&client));
		}
		close_ends();
	}
}

static void a_listener_may_go_with_a_request_untold(void)
{
	if (go_to(ASKED)) {
		ops->unlisten(listener);
		listener = NULL;
		OK(over(&client));
	}
	close_ends();
}

static void disconnecting_twice_is_as_good_as_once(void)
{
	if (open_ends() && connect_both()) {
		succeeded(ops->disconnect(active));
		succeeded(ops->disconnect(active));
		wait_for(&server, PIER__CM_DISCONNECTED);
		wait_for(&client, PIER__CM_DISCONNECTED);
		succeeded(ops->disconnect(active));
		OK(quiet(&client) && quiet(&server));
	}
	close_ends();
}

static void one_connection_after_the_other_can_be_made(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		if (open_ends())
			connect_both();
		close_ends();
	}
}

int main(void)
{
	int err = loop_device(&fdev);

	if (err)
		return tap_skip_all(pier_last_error());
	ops = fdev->fabric->cm;
	if (!ops)
		return tap_skip_all("the device has no connection management");
	TEST(two_ends_connect_and_data_flows_both_ways);
	TEST(either_end_can_disconnect);
	TEST(private_data_arrives_with_zeros_behind);
	TEST(both_ends_know_their_addresses);
	TEST(a_rejection_says_its_reason_and_data);
	TEST(no_listener_is_a_rejection);
	TEST(a_port_has_one_listener);
	TEST(a_listener_on_an_address_that_is_not_ours_is_refused);
	TEST(several_listeners_get_what_is_theirs);
	TEST(what_no_message_holds_is_refused);
	TEST(an_address_that_cannot_be_reached_is_reported);
	TEST(a_request_whose_sender_disconnected_was_aborted);
	TEST(the_client_may_let_go_at_every_step);
	TEST(the_server_may_let_go_at_every_step);
	TEST(a_listener_may_go_with_a_request_untold);
	TEST(disconnecting_twice_is_as_good_as_once);
	TEST(one_connection_after_the_other_can_be_made);
	fdev->fabric->dev->close(fdev);
	return tap_done();
}
