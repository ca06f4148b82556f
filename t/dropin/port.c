/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "t/lib/netns.h"
#include "t/lib/tap.h"

/*
 * What a program and its ids get when addresses and interfaces are removed, in
 * a network namespace of the test's own.
 */
#define DEVICE "soft_pt0"
#define STAYS 0x0a500001	/* 10.80.0.1 */
#define GOES 0x0a500002
#define WAIT_MS 20000

static struct ibv_context *context;
static struct rdma_event_channel *channel;

static struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *found = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			found = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return found;
}

/* One interface has the device, another one nothing. */
static bool set_up(void)
{
	return netns_ip("link set lo up") &&
	       netns_ip("link add pt0 type veth peer name pt1") &&
	       netns_ip("link set pt0 addrgenmode none") &&
	       netns_ip("link set pt1 addrgenmode none") &&
	       netns_ip("addr add 10.80.0.1/24 dev pt0") &&
	       netns_ip("addr add 10.80.0.2/24 dev pt0") &&
	       netns_ip("link set pt0 up") && netns_ip("link set pt1 up");
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { fd, POLLIN, 0 };

	return poll(&pfd, 1, timeout_ms) == 1;
}

/* All events that @from has. */
static void drain(struct ibv_context *from)
{
	struct ibv_async_event event;

	while (is_readable(from->async_fd, 0) &&
	       IS(ibv_get_async_event(from, &event), 0))
		ibv_ack_async_event(&event);
}

/* Wait until @from has had an event of @type. */
static void expect_async(struct ibv_context *from, enum ibv_event_type type)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };

	while (event.event_type != type) {
		if (!OK(is_readable(from->async_fd, WAIT_MS)) ||
		    !IS(ibv_get_async_event(from, &event), 0))
			return;
		ibv_ack_async_event(&event);
	}
}

static struct rdma_cm_id *id_new(void)
{
	struct rdma_cm_id *id = NULL;

	IS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	return id;
}

static struct sockaddr_in address(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(ip),
	};
}

static struct rdma_cm_id *bound_to(uint32_t ip)
{
	struct sockaddr_in addr = address(ip, 0);
	struct rdma_cm_id *id = id_new();

	IS(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	return id;
}

static struct rdma_cm_id *resolved_from(uint32_t ip)
{
	struct sockaddr_in from = address(ip, 0), to = address(STAYS, 4711);
	struct rdma_cm_id *id = id_new();
	struct rdma_cm_event *event;

	IS(rdma_resolve_addr(id, (struct sockaddr *)&from,
			     (struct sockaddr *)&to, WAIT_MS), 0);
	IS(rdma_get_cm_event(channel, &event), 0);
	IS(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	IS(rdma_ack_cm_event(event), 0);
	return id;
}

/* The next event of the channel is of @type and of one of both. */
static struct rdma_cm_id *expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_id *id = NULL;
	struct rdma_cm_event *event;

	if (!OK(is_readable(channel->fd, WAIT_MS)) ||
	    !IS(rdma_get_cm_event(channel, &event), 0))
		return NULL;
	IS(event->event, type);
	IS(event->status, 0);
	id = event->id;
	IS(rdma_ack_cm_event(event), 0);
	return id;
}

static void change_of_another_interface_is_no_event(void)
{
	if (!netns_ip("link set pt1 mtu 1400") ||
	    !netns_ip("addr add 10.81.0.1/24 dev pt1") ||
	    !netns_ip("addr del 10.81.0.1/24 dev pt1"))
		return;
	OK(netns_ip("addr add 10.80.0.3/24 dev pt0"));
	expect_async(context, IBV_EVENT_GID_CHANGE);
	OK(!is_readable(context->async_fd, 0));
	drain(context);
}

/* Each reads its own, in a mode of its own. */
static void librdmacm_and_the_program_get_each_event(void)
{
	struct rdma_cm_id *id = bound_to(STAYS);
	struct ibv_async_event event;
	int flags;

	OK(id->verbs != context);
	drain(context);
	drain(id->verbs);
	flags = fcntl(id->verbs->async_fd, F_GETFL);
	IS(fcntl(id->verbs->async_fd, F_SETFL, flags | O_NONBLOCK), 0);
	IS(fcntl(context->async_fd, F_GETFL) & O_NONBLOCK, 0);
	OK(netns_ip("addr del 10.80.0.3/24 dev pt0"));
	expect_async(context, IBV_EVENT_GID_CHANGE);
	expect_async(id->verbs, IBV_EVENT_GID_CHANGE);
	IS(ibv_close_device(context), 0);
	context = open_by_name(DEVICE);
	OK(fcntl(id->verbs->async_fd, F_GETFL) & O_NONBLOCK);
	IS(ibv_get_async_event(id->verbs, &event), -1);
	IS(errno, EAGAIN);
	IS(fcntl(id->verbs->async_fd, F_SETFL, flags), 0);
	IS(rdma_destroy_id(id), 0);
}

static void is_gid(struct ibv_context *at, int index, uint32_t ip)
{
	uint8_t want[16] = { 0 };
	union ibv_gid gid;

	if (ip) {
		memset(want + 10, 0xff, 2);
		ip = htonl(ip);
		memcpy(want + 12, &ip, sizeof(ip));
	}
	IS(ibv_query_gid(at, 1, index, &gid), 0);
	if (!IS(memcmp(gid.raw, want, sizeof(want)), 0))
		tap_note("index %d", index);
}

/* The first line of the file @name of the device. */
static void is_in_file(const char *name, const char *want)
{
	char path[128], line[64] = "";
	FILE *file;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/" DEVICE "/ports/1/%s", name);
	file = fopen(path, "re");
	if (!OK(file))
		return;
	if (fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = '\0';
	IS_STR(line, want);
	fclose(file);
}

/* Of another context, and in files. */
static void check_elsewhere(void)
{
	struct ibv_context *second = open_by_name(DEVICE);

	if (OK(second)) {
		is_gid(second, 1, 0);
		is_gid(second, 2, STAYS + 4);
		ibv_close_device(second);
	}
	is_in_file("gids/1", "0000:0000:0000:0000:0000:0000:0000:0000");
	is_in_file("gids/2", "0000:0000:0000:0000:0000:ffff:0a50:0005");
	is_in_file("gid_attrs/types/1", "IB/RoCE v1");
	is_in_file("gid_attrs/types/2", "RoCE v2");
}

static bool can_send_from(int index)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_ah *ah;
	bool can;

	IS(ibv_query_gid(context, 1, 0, &attr.grh.dgid), 0);
	attr.grh.sgid_index = (uint8_t)index;
	ah = ibv_create_ah(pd, &attr);
	can = ah;
	if (ah)
		ibv_destroy_ah(ah);
	ibv_dealloc_pd(pd);
	return can;
}

static void an_index_of_no_address_has_no_gid(void)
{
	struct ibv_gid_entry gids[4];
	struct ibv_port_attr port;

	OK(netns_ip("addr add 10.80.0.5/24 dev pt0"));
	is_gid(context, 1, GOES);
	is_gid(context, 2, STAYS + 4);
	OK(netns_ip("addr del 10.80.0.2/24 dev pt0"));
	is_gid(context, 2, STAYS + 4);
	is_gid(context, 1, 0);
	IS(ibv_query_gid_ex(context, 1, 1, gids, 0), ENODATA);
	IS(ibv_query_gid_ex(context, 1, 3, gids, 0), EINVAL);
	IS(ibv_query_gid_table(context, gids, 4, 0), 2);
	IS(gids[0].gid_index, 0);
	IS(gids[1].gid_index, 2);
	IS(ibv_query_port(context, 1, &port), 0);
	IS(port.gid_tbl_len, 3);
	OK(can_send_from(2));
	OK(!can_send_from(1));
	check_elsewhere();
	OK(netns_ip("addr add 10.80.0.2/24 dev pt0"));
	is_gid(context, 1, GOES);
	OK(netns_ip("addr del 10.80.0.5/24 dev pt0"));
	drain(context);
}

/* Not those of other addresses, and once. */
static void ids_of_an_address_get_an_event_when_it_is_removed(void)
{
	struct rdma_cm_id *stays = bound_to(STAYS), *bound = bound_to(GOES);
	struct rdma_cm_id *resolved = resolved_from(GOES), *first, *second;

	OK(netns_ip("addr del 10.80.0.2/24 dev pt0"));
	first = expect(RDMA_CM_EVENT_ADDR_CHANGE);
	second = expect(RDMA_CM_EVENT_ADDR_CHANGE);
	OK((first == bound && second == resolved) ||
	   (first == resolved && second == bound));
	drain(context);
	OK(netns_ip("addr add 10.80.0.4/24 dev pt0"));
	expect_async(context, IBV_EVENT_GID_CHANGE);
	OK(!is_readable(channel->fd, 0));
	OK(netns_ip("addr add 10.80.0.2/24 dev pt0"));
	OK(netns_ip("addr del 10.80.0.1/24 dev pt0"));
	OK(expect(RDMA_CM_EVENT_ADDR_CHANGE) == stays);
	OK(netns_ip("addr add 10.80.0.1/24 dev pt0"));
	IS(rdma_destroy_id(stays), 0);
	IS(rdma_destroy_id(bound), 0);
	IS(rdma_destroy_id(resolved), 0);
}

/* In how many calls of this thread GOES is removed; 0: in none. */
static _Thread_local int goes_in;
static struct rdma_cm_id *sees_it_go;

/* Until this returns the library looks for the way from an address. */
int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	int (*next)(int, struct sockaddr *, socklen_t *);
	int ret;

	*(void **)&next = dlsym(RTLD_NEXT, "getsockname");
	ret = next(fd, addr, len);
	if (goes_in && !--goes_in) {
		OK(netns_ip("addr del 10.80.0.2/24 dev pt0"));
		OK(expect(RDMA_CM_EVENT_ADDR_CHANGE) == sees_it_go);
	}
	return ret;
}

/* The address is looked for twice: for the id, and for its connection. */
static void an_id_gets_the_event_that_came_while_it_was_resolved(void)
{
	struct sockaddr_in from = address(GOES, 0), to = address(STAYS, 4711);
	struct rdma_cm_id *id = id_new();

	OK(netns_ip("addr replace 10.80.0.2/24 dev pt0"));
	sees_it_go = bound_to(GOES);
	drain(context);
	goes_in = 2;
	IS(rdma_resolve_addr(id, (struct sockaddr *)&from,
			     (struct sockaddr *)&to, WAIT_MS), 0);
	IS(goes_in, 0);
	OK(expect(RDMA_CM_EVENT_ADDR_CHANGE) == id);
	OK(expect(RDMA_CM_EVENT_ADDR_RESOLVED) == id);
	OK(!is_readable(channel->fd, 0));
	IS(rdma_destroy_id(id), 0);
	IS(rdma_destroy_id(sees_it_go), 0);
}

/* Its address may be seen to be removed before its interface. */
static struct rdma_cm_id *expect_removal(void)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	do {
		if (!OK(is_readable(channel->fd, WAIT_MS)) ||
		    !IS(rdma_get_cm_event(channel, &event), 0))
			return NULL;
		type = event->event;
		id = event->id;
		IS(rdma_ack_cm_event(event), 0);
	} while (type == RDMA_CM_EVENT_ADDR_CHANGE);
	IS(type, RDMA_CM_EVENT_DEVICE_REMOVAL);
	return id;
}

/* It is the last event. */
static void the_end_of_an_interface_is_that_of_its_device(void)
{
	struct rdma_cm_id *id = bound_to(STAYS), *any = bound_to(INADDR_ANY);

	OK(netns_ip("link del pt0"));
	OK(expect_removal() == id);
	expect_async(context, IBV_EVENT_DEVICE_FATAL);
	OK(!is_readable(channel->fd, 0));
	OK(!is_readable(context->async_fd, 0));
	IS(rdma_destroy_id(id), 0);
	IS(rdma_destroy_id(any), 0);
}

int main(void)
{
	time_t end = time(NULL) + WAIT_MS / 1000;

	if (!netns_enter())
		return tap_skip_all("no network namespace can be made");
	if (!set_up())
		return tap_skip_all("no interface can be made");
	while (!(context = open_by_name(DEVICE)) && time(NULL) < end)
		sched_yield();
	channel = rdma_create_event_channel();
	TEST(change_of_another_interface_is_no_event);
	TEST(librdmacm_and_the_program_get_each_event);
	TEST(an_index_of_no_address_has_no_gid);
	TEST(ids_of_an_address_get_an_event_when_it_is_removed);
	TEST(an_id_gets_the_event_that_came_while_it_was_resolved);
	TEST(the_end_of_an_interface_is_that_of_its_device);
	ibv_close_device(context);
	rdma_destroy_event_channel(channel);
	return tap_done();
}
