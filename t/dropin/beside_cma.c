/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program for librdmacm, for real.sh: an id on a device of fake_rdmacm.c.
 * The argument is what it tries.  It prints what is not as it should be.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "t/dropin/fake_rdmacm.h"

#define TIME_S 20		/* then SIGALRM ends a call that goes on */

static int failed;
static struct rdma_event_channel *channel;

static void check(int ok, const char *what)
{
	failed |= !ok;
	if (!ok)
		printf("%s: errno %d\n", what, errno);
}

static struct sockaddr_in address(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(ip),
	};
}

static struct rdma_cm_id *id_new(void)
{
	struct rdma_cm_id *id = NULL;

	check(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP),
	      "rdma_create_id");
	return id;
}

static struct rdma_cm_id *real_new(void)
{
	struct sockaddr_in addr = address(FAKE_ADDRESS, 7471);
	struct rdma_cm_id *id = id_new();

	check(!rdma_bind_addr(id, (struct sockaddr *)&addr), "rdma_bind_addr");
	check(id->verbs && !strcmp(id->verbs->device->name, "fake0"),
	      "its device");
	return id;
}

/* Soft ids of the same channel go on: soft_lo is a name of fake_verbs.c. */
static void expect_soft(void)
{
	struct sockaddr_in addr = address(INADDR_LOOPBACK, 7471);
	struct rdma_cm_id *id = id_new();
	struct rdma_cm_event *event;

	check(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000),
	      "rdma_resolve_addr");
	if (rdma_get_cm_event(channel, &event)) {
		check(0, "rdma_get_cm_event");
		return;
	}
	check(event->event == RDMA_CM_EVENT_ADDR_ERROR && event->id == id,
	      "its event");
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
}

static void try_failure(void)
{
	struct sockaddr_in addr = address(FAKE_ADDRESS + 1, 7471);
	struct rdma_cm_id *id = real_new();
	struct rdma_cm_event *event;
	int i;

	expect_soft();
	check(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000),
	      "rdma_resolve_addr");
	for (i = 0; i < 2; i++) {
		errno = 0;
		check(rdma_get_cm_event(channel, &event) == -1 &&
		      errno == FAKE_ERROR, "an error of the channel");
		expect_soft();
	}
	rdma_destroy_id(id);
}

static void try_socket(void)
{
	struct sockaddr_in from = address(FAKE_ADDRESS, 7471);
	struct sockaddr_in to = address(FAKE_ADDRESS + 1, 7471);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	check(!rbind(fd, (struct sockaddr *)&from, sizeof(from)), "rbind");
	check(rconnect(fd, (struct sockaddr *)&to, sizeof(to)) == -1 &&
	      errno == FAKE_ERROR, "rconnect");
	check(!rclose(fd), "rclose");
}

/* The program clears the pointer in its id, as it does with rdma-core. */
static void try_destroyed_qp(void)
{
	struct rdma_cm_id *id = real_new();
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct rdma_cm_event *event;
	struct ibv_cq cq = { 0 };

	attr.send_cq = &cq;
	attr.recv_cq = &cq;
	check(!rdma_create_qp(id, NULL, &attr) && id->qp, "rdma_create_qp");
	check(!rdma_disconnect(id), "rdma_disconnect");
	check(!ibv_destroy_qp(id->qp), "ibv_destroy_qp");
	id->qp = NULL;
	if (rdma_get_cm_event(channel, &event)) {
		check(0, "rdma_get_cm_event");
		return;
	}
	check(event->event == RDMA_CM_EVENT_DISCONNECTED && event->id == id,
	      "the event");
	check(event->status == 0, "the queue pair of the host's id");
	rdma_ack_cm_event(event);
	check(!id->qp, "that of the program's");
	rdma_destroy_id(id);
}

int main(int argc, char *argv[])
{
	const char *what = argc > 1 ? argv[1] : "";

	alarm(TIME_S);
	channel = rdma_create_event_channel();
	check(channel != NULL, "rdma_create_event_channel");
	if (!strcmp(what, "failure"))
		try_failure();
	else if (!strcmp(what, "socket"))
		try_socket();
	else if (!strcmp(what, "destroyed_qp"))
		try_destroyed_qp();
	else
		check(0, "no such test");
	rdma_destroy_event_channel(channel);
	return failed;
}
