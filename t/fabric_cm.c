/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <pier/error.h>

#include "core/clock.h"
#include "t/loop.h"
#include "t/tap.h"

/*
 * The contract of connection management in fabric/fabric.h in executable
 * form, on the device that PIER_DEVICE names: two channels of one process
 * connect over the device's own address.  Nothing here asks what kind of
 * device it is.
 */
#define PATIENCE (30000 * PIER__MS)

struct end {
	struct loop_end loop;
	struct pier__cm *cm;
	struct pier__cm_event event;	/* the last one */
	uint8_t data[256];		/* its private data */
};

static struct pier__fdev *fdev;
static const struct pier__fabric_cm *ops;
static struct end server, client;
static struct pier__cm_listener *listener;
static struct pier__cm_id *asked, *told;	/* client's, server's */

static bool said(int err)
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
	uint32_t i;

	for (i = 0; i < fdev->port.gid_count; i++) {
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

static bool end_open(struct end *end)
{
	memset(end, 0, sizeof(*end));
	return loop_end_open(fdev, 16, &end->loop) &&
	       said(ops->create(end->loop.chan, &end->cm));
}

static void end_close(struct end *end)
{
	if (end->cm)
		ops->destroy(end->cm);
	loop_end_close(&end->loop);
}

/* Take an event of @end, if there is one; its data is kept. */
static bool take(struct end *end)
{
	int err = ops->next(end->cm, &end->event);

	if (err == -EAGAIN)
		return false;
	if (!said(err))
		return false;
	memset(end->data, 0xee, sizeof(end->data));
	if (end->event.len)
		memcpy(end->data, end->event.data, end->event.len);
	return true;
}

/* Wait for the next event of @end, both being driven; it is of @kind. */
static bool wait_for(struct end *end, enum pier__cm_kind kind)
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

static bool quiet(struct end *end)
{
	if (!take(end))
		return true;
	tap_note("event %d", end->event.kind);
	return OK(!"nothing to tell");
}

static bool move(struct end *end, struct pier__cm_id *id,
		 enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	uint16_t udp_port = 0;
	int mask;

	return said(ops->qp_attr(id, state, &attr, &mask, &udp_port)) &&
	       said(fdev->fabric->qp->qp_modify(end->loop.qp, &attr, mask,
						udp_port));
}

static bool ready(struct end *end, struct pier__cm_id *id)
{
	return move(end, id, IBV_QPS_INIT) && move(end, id, IBV_QPS_RTR) &&
	       move(end, id, IBV_QPS_RTS);
}

static struct pier__cm_param param(const struct end *end, const void *data,
				   size_t len)
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
	asked = NULL;
	told = NULL;
	listener = NULL;
	memset(&client, 0, sizeof(client));
	return end_open(&server) && end_open(&client);
}

static void close_ends(void)
{
	if (asked)
		ops->release(asked);
	if (told)
		ops->release(told);
	if (listener)
		ops->unlisten(listener);
	end_close(&client);
	end_close(&server);
}

static bool listen_any(int backlog)
{
	return said(ops->listen(server.cm, any_address(0), backlog, &server,
				&listener)) && OK(listener->port);
}

/* The client asks for @port with @len bytes of private data. */
static bool ask(uint16_t port, const void *data, size_t len)
{
	struct pier__cm_param p = param(&client, data, len);

	return said(ops->resolve(client.cm, NULL, own_address(port), 2000,
				 &client, &asked)) &&
	       wait_for(&client, PIER__CM_RESOLVED) &&
	       OK(client.event.id == asked) &&
	       said(ops->connect(asked, &p));
}

static bool request(const void *data, size_t len)
{
	if (!listen_any(8) || !ask(listener->port, data, len) ||
	    !wait_for(&server, PIER__CM_REQUEST))
		return false;
	told = server.event.id;
	return true;
}

static bool accept_it(const void *data, size_t len)
{
	struct pier__cm_param p = param(&server, data, len);

	return ready(&server, told) && said(ops->accept(told, &p));
}

static bool connect_both(void)
{
	return request("hello", 5) && accept_it("welcome", 7) &&
	       wait_for(&client, PIER__CM_RESPONSE) &&
	       ready(&client, asked) && said(ops->establish(asked)) &&
	       wait_for(&server, PIER__CM_ESTABLISHED);
}

/* Bytes of @from get to @to. */
static bool works(struct end *from, struct end *to)
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
			said(ops->disconnect(i ? asked : told));
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
	fdev->fabric->dev->close(fdev);
	return tap_done();
}
