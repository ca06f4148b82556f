/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "t/lib/tap.h"

/* Ids with addresses of AF_IB: a GID and a service ID. */
#define TIMEOUT_MS 2000
#define QPN 0x1000		/* of no QP, none is connected here */
#define PORT_MASK 0xffff

static struct rdma_event_channel *ours, *theirs;

/* That of 127.0.0.1, or none. */
static struct sockaddr_ib name(enum rdma_port_space ps, uint16_t port,
			       bool loopback)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_sid = htobe64((uint64_t)ps << 16 | port),
		.sib_sid_mask = UINT64_MAX,
	};

	if (loopback)
		ib_addr_set(&ib.sib_addr, 0, 0, htobe32(0xffff),
			    htobe32(INADDR_LOOPBACK));
	return ib;
}

static bool is_name(const struct sockaddr *addr, struct sockaddr_ib wanted)
{
	struct sockaddr_ib ib;

	memcpy(&ib, addr, sizeof(ib));
	return IS(ib.sib_family, AF_IB) &&
	       IS(be64toh(ib.sib_sid), be64toh(wanted.sib_sid)) &&
	       OK(!ib_addr_cmp(&ib.sib_addr, &wanted.sib_addr));
}

static struct rdma_cm_id *id_new(struct rdma_event_channel *channel,
				 enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;

	IS(rdma_create_id(channel, &id, NULL, ps), 0);
	return id;
}

static struct rdma_cm_event *expect(struct rdma_event_channel *channel,
				    enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = NULL;

	IS(rdma_get_cm_event(channel, &event), 0);
	IS(event->event, type);
	return event;
}

static struct rdma_cm_id *listen_at(struct sockaddr_ib addr,
				    enum rdma_port_space ps)
{
	struct rdma_cm_id *id = id_new(theirs, ps);

	IS(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	OK(rdma_get_src_port(id));
	IS(rdma_listen(id, 4), 0);
	return id;
}

static struct rdma_cm_id *connect_to(struct sockaddr_ib addr,
				     enum rdma_port_space ps)
{
	struct rdma_conn_param param = {
		.private_data = "here", .private_data_len = 5,
		.qp_num = QPN,
	};
	struct rdma_cm_id *id = id_new(ours, ps);

	IS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, TIMEOUT_MS),
	   0);
	IS(rdma_ack_cm_event(expect(ours, RDMA_CM_EVENT_ADDR_RESOLVED)), 0);
	IS(rdma_resolve_route(id, TIMEOUT_MS), 0);
	IS(rdma_ack_cm_event(expect(ours, RDMA_CM_EVENT_ROUTE_RESOLVED)), 0);
	IS(rdma_connect(id, &param), 0);
	return id;
}

/* To a listener at @at, of which the client knows the GID. */
static void connect_by(struct sockaddr_ib at, enum rdma_port_space ps)
{
	struct rdma_cm_id *listener = listen_at(at, ps), *client, *server;
	uint16_t port = ntohs(rdma_get_src_port(listener));
	struct sockaddr_ib to = name(ps, port, true);
	struct rdma_cm_event *event;

	at.sib_sid = to.sib_sid;
	is_name(rdma_get_local_addr(listener), at);
	client = connect_to(to, ps);
	is_name(rdma_get_peer_addr(client), to);
	IS(rdma_get_local_addr(client)->sa_family, AF_IB);
	OK(!memcmp(client->route.addr.addr.ibaddr.dgid.raw,
		   to.sib_addr.sib_raw, 16));
	event = expect(theirs, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	IS_STR(event->param.conn.private_data, "here");
	is_name(rdma_get_local_addr(server), to);
	IS(rdma_get_peer_addr(server)->sa_family, AF_IB);
	IS(rdma_get_dst_port(server), rdma_get_src_port(client));
	IS(rdma_ack_cm_event(event), 0);
	IS(rdma_destroy_id(server), 0);
	IS(rdma_destroy_id(client), 0);
	IS(rdma_destroy_id(listener), 0);
}

static void a_client_connects_to_a_gid(void)
{
	connect_by(name(RDMA_PS_TCP, 0, true), RDMA_PS_TCP);
	connect_by(name(RDMA_PS_IB, 0, true), RDMA_PS_IB);
}

static void a_listener_without_a_gid_has_all(void)
{
	connect_by(name(RDMA_PS_TCP, 0, false), RDMA_PS_TCP);
}

static void fails(int ret, int err)
{
	IS(ret, -1);
	IS(errno, err);
}

/* Unless its mask leaves that out. */
static void a_service_id_of_another_port_space_is_refused(void)
{
	struct sockaddr_ib addr = name(RDMA_PS_UDP, 0, true);
	struct rdma_cm_id *id = id_new(ours, RDMA_PS_TCP);

	fails(rdma_bind_addr(id, (struct sockaddr *)&addr), EPROTONOSUPPORT);
	fails(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr,
				TIMEOUT_MS), EPROTONOSUPPORT);
	addr.sib_sid_mask = htobe64(PORT_MASK);
	IS(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	IS(rdma_destroy_id(id), 0);
}

static void a_gid_of_no_device_cannot_be_bound(void)
{
	struct sockaddr_ib addr = name(RDMA_PS_TCP, 0, true);
	struct rdma_cm_id *id = id_new(ours, RDMA_PS_TCP);

	addr.sib_addr.sib_raw[0] = 0xfe;
	fails(rdma_bind_addr(id, (struct sockaddr *)&addr), EADDRNOTAVAIL);
	IS(rdma_destroy_id(id), 0);
}

static void hosts_and_services_are_looked_up_as_gids(void)
{
	struct sockaddr_ib wanted = name(RDMA_PS_TCP, 4711, true);
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_FAMILY, .ai_family = AF_IB,
		.ai_port_space = RDMA_PS_TCP,
	}, *info;
	struct rdma_cm_id *id;

	if (IS(rdma_getaddrinfo("127.0.0.1", "4711", &hints, &info), 0)) {
		IS(info->ai_family, AF_IB);
		IS(info->ai_dst_len, sizeof(wanted));
		is_name(info->ai_dst_addr, wanted);
		rdma_freeaddrinfo(info);
	}
	hints.ai_flags |= RAI_PASSIVE;
	if (!IS(rdma_getaddrinfo("::ffff:127.0.0.1", "4711", &hints, &info),
		0))
		return;
	is_name(info->ai_src_addr, wanted);
	((struct sockaddr_ib *)info->ai_src_addr)->sib_sid =
		name(RDMA_PS_TCP, 0, true).sib_sid;
	if (IS(rdma_create_ep(&id, info, NULL, NULL), 0)) {
		IS(rdma_listen(id, 1), 0);
		OK(rdma_get_src_port(id));
		rdma_destroy_ep(id);
	}
	rdma_freeaddrinfo(info);
}

int main(void)
{
	ours = rdma_create_event_channel();
	theirs = rdma_create_event_channel();
	TEST(a_client_connects_to_a_gid);
	TEST(a_listener_without_a_gid_has_all);
	TEST(a_service_id_of_another_port_space_is_refused);
	TEST(a_gid_of_no_device_cannot_be_bound);
	TEST(hosts_and_services_are_looked_up_as_gids);
	rdma_destroy_event_channel(ours);
	rdma_destroy_event_channel(theirs);
	return tap_done();
}
