/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "t/lib/netns.h"
#include "t/lib/tap.h"

/*
 * UDP port 4791, where RoCE devices send to, in a network namespace of the
 * test's own: what takes it, and when it is given back.
 */
#define PORT 4791
#define DEVICE "soft_rp0"
#define ADDRESS "10.79.0.1"
#define WAIT_S 20

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

/* A socket on the port; -1: it is taken. */
static int take_port(void)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(PORT),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (!bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -1;
}

static bool is_free(void)
{
	int fd = take_port();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

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

/* Once. */
static bool set_up(void)
{
	static bool done;

	done = done || (netns_ip("link set lo up") &&
			netns_ip("link add rp0 type veth peer name rp1") &&
			netns_ip("addr add " ADDRESS "/24 dev rp0") &&
			netns_ip("link set rp0 up") &&
			netns_ip("link set rp1 up"));
	return done;
}

/* An interface may need a moment. */
static bool open_device(const char *name)
{
	time_t end = time(NULL) + WAIT_S;

	if (!set_up())
		return false;
	while (!(context = open_by_name(name)) && time(NULL) < end)
		sched_yield();
	if (!OK(context))
		return false;
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 8, NULL, NULL, 0);
	return OK(pd) && OK(cq);
}

static void close_device(void)
{
	if (!context)
		return;
	IS(ibv_destroy_cq(cq), 0);
	IS(ibv_dealloc_pd(pd), 0);
	IS(ibv_close_device(context), 0);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1,
	};

	IS(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				    IBV_QP_PORT | IBV_QP_QKEY), 0);
}

static struct ibv_qp *qp_new(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (OK(qp))
		to_init(qp);
	return qp;
}

static void move(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	IS(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static void receive_by(struct ibv_qp *qp)
{
	move(qp, IBV_QPS_RTR);
}

static union ibv_gid group(uint8_t number)
{
	union ibv_gid gid = { { 0 } };

	memset(gid.raw + 10, 0xff, 2);
	gid.raw[12] = 239;
	gid.raw[15] = number;
	return gid;
}

/* A program may receive before it sends, and have no address handle. */
static void a_queue_pair_of_datagrams_takes_it_when_it_can_receive(void)
{
	struct ibv_qp *qp;

	if (!open_device(DEVICE))
		return;
	qp = qp_new();
	OK(is_free());
	receive_by(qp);
	OK(!is_free());
	IS(ibv_destroy_qp(qp), 0);
	OK(is_free());
	close_device();
}

/* Also if it was reset, and receives again. */
static void it_is_given_back_with_the_last_of_them(void)
{
	struct ibv_qp *one, *two;

	if (!open_device(DEVICE))
		return;
	one = qp_new();
	two = qp_new();
	receive_by(one);
	receive_by(two);
	move(one, IBV_QPS_RESET);
	to_init(one);
	receive_by(one);
	IS(ibv_destroy_qp(one), 0);
	OK(!is_free());
	IS(ibv_destroy_qp(two), 0);
	OK(is_free());
	close_device();
}

/* Without queue pairs that receive. */
static void it_is_given_back_with_the_last_group(void)
{
	union ibv_gid first = group(1), second = group(2);
	struct ibv_qp *one, *two;

	if (!open_device(DEVICE))
		return;
	one = qp_new();
	two = qp_new();
	IS(ibv_attach_mcast(one, &first, 0), 0);
	OK(!is_free());
	IS(ibv_attach_mcast(two, &first, 0), 0);
	IS(ibv_attach_mcast(two, &second, 0), 0);
	IS(ibv_detach_mcast(one, &first, 0), 0);
	IS(ibv_detach_mcast(two, &first, 0), 0);
	OK(!is_free());
	IS(ibv_detach_mcast(two, &second, 0), 0);
	OK(is_free());
	IS(ibv_attach_mcast(one, &second, 0), 0);
	OK(!is_free());
	IS(ibv_destroy_qp(one), 0);
	OK(is_free());
	IS(ibv_destroy_qp(two), 0);
	close_device();
}

static void a_group_and_a_queue_pair_share_it(void)
{
	union ibv_gid gid = group(1);
	struct ibv_qp *one, *two;

	if (!open_device(DEVICE))
		return;
	one = qp_new();
	two = qp_new();
	receive_by(one);
	IS(ibv_attach_mcast(two, &gid, 0), 0);
	IS(ibv_destroy_qp(one), 0);
	OK(!is_free());
	IS(ibv_destroy_qp(two), 0);
	OK(is_free());
	close_device();
}

/* One that comes later may have it. */
static void nothing_fails_if_it_is_taken(void)
{
	struct ibv_qp *one, *two;
	int fd = take_port();

	if (!OK(fd >= 0) || !open_device(DEVICE))
		return;
	one = qp_new();
	receive_by(one);
	close(fd);
	OK(is_free());
	two = qp_new();
	receive_by(two);
	OK(!is_free());
	IS(ibv_destroy_qp(one), 0);
	OK(!is_free());
	IS(ibv_destroy_qp(two), 0);
	OK(is_free());
	close_device();
}

static void it_is_not_taken_on_lo(void)
{
	union ibv_gid gid = group(1);
	struct ibv_qp *qp;

	if (!open_device("soft_lo"))
		return;
	qp = qp_new();
	receive_by(qp);
	IS(ibv_attach_mcast(qp, &gid, 0), 0);
	OK(is_free());
	IS(ibv_destroy_qp(qp), 0);
	close_device();
}

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void bind_id(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	inet_pton(AF_INET, ADDRESS, &addr.sin_addr);
	channel = rdma_create_event_channel();
	IS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	IS(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
}

static void destroy_id(void)
{
	IS(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/* A queue pair, to @qpn of that host.  Returns whether it receives. */
static bool connect_to(uint32_t qpn, uint8_t host)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.path_mtu = IBV_MTU_1024, .dest_qp_num = qpn,
		.ah_attr = { .is_global = 1, .port_num = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	int err;

	if (!OK(qp))
		return false;
	IS(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	IS(ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid), 0);
	attr.ah_attr.grh.dgid.raw[15] = host;
	attr.qp_state = IBV_QPS_RTR;
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				       IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER |
				       IBV_QP_MAX_DEST_RD_ATOMIC);
	IS(ibv_destroy_qp(qp), 0);
	return !err;
}

/* librdmacm, which never closes a device, has it, too. */
static void queue_pairs_end_with_the_context_of_the_program(void)
{
	static struct ibv_qp *volatile qp;	/* not leaked */

	if (!open_device(DEVICE))
		return;
	bind_id();
	OK(id->verbs != context);
	qp = qp_new();
	receive_by(qp);
	OK(!is_free());
	IS(ibv_close_device(context), 0);
	OK(is_free());
	if (open_device(DEVICE))
		OK(id->verbs != context);
	close_device();
	destroy_id();
}

static void objects_of_another_context_are_refused(void)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!open_device(DEVICE))
		return;
	bind_id();
	init.send_cq = cq;
	init.recv_cq = cq;
	OK(!ibv_create_qp(id->pd, &init));
	IS(errno, EINVAL);
	IS(rdma_create_qp(id, pd, &init), -1);
	IS(errno, EINVAL);
	destroy_id();
	close_device();
}

/* The listener has taken it before. */
static void a_listener_and_a_queue_pair_of_the_program_share_it(void)
{
	if (!open_device(DEVICE))
		return;
	bind_id();
	IS(rdma_listen(id, 1), 0);
	OK(!is_free());
	OK(connect_to(17, 2));
	destroy_id();
	close_device();
}

/* It looks like that of a soft device. */
static void any_number_is_that_of_an_adapter_if_its_address_is_named(void)
{
	if (!open_device(DEVICE))
		return;
	OK(connect_to(0x923456, 2));
	OK(is_free());
	OK(connect_to(0x923456, 129));
	OK(!is_free());
	close_device();
}

int main(void)
{
	setenv("PIER_ROCE_PEERS", "fd00::1,10.79.0.128/25", 1);
	if (!netns_enter())
		return tap_skip_all("no network namespace can be made");
	TEST(a_queue_pair_of_datagrams_takes_it_when_it_can_receive);
	TEST(it_is_given_back_with_the_last_of_them);
	TEST(it_is_given_back_with_the_last_group);
	TEST(a_group_and_a_queue_pair_share_it);
	TEST(nothing_fails_if_it_is_taken);
	TEST(it_is_not_taken_on_lo);
	TEST(any_number_is_that_of_an_adapter_if_its_address_is_named);
	TEST(queue_pairs_end_with_the_context_of_the_program);
	TEST(objects_of_another_context_are_refused);
	TEST(a_listener_and_a_queue_pair_of_the_program_share_it);
	return tap_done();
}
