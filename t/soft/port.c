/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/soft.h"
#include "t/lib/nic.h"
#include "t/lib/tap.h"

/*
 * UDP port 4791, where RoCE devices send to.  One of them is played here:
 * packets to that port from another one.  In a network namespace of its own
 * where it may have one, else where the port is free.
 */
#define PATIENCE (10000 * PIER__MS)

static struct pier__fdev *fdev;
static struct loop_end end;
static struct nic nic;

static bool open_end(struct loop_end *ret)
{
	return loop_end_open(fdev, 16, ret);
}

static bool meet(void)
{
	nic.psn = NIC_PSN;
	return loop_connect(&end, NIC_QPN, ROCE_UDP_PORT);
}

/* No call drives the endpoint; the helper thread puts @data there. */
static void appears(const char *data)
{
	uint64_t until = pier__now() + PATIENCE;
	volatile uint8_t *at = end.buf;
	size_t i;

	for (i = 0; data[i] && pier__now() < until;) {
		if (at[i] == (uint8_t)data[i])
			i++;
		else
			sched_yield();
	}
	IS_STR((char *)end.buf, data);
}

static int bind_it(void)
{
	struct sockaddr_in6 name = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(ROCE_UDP_PORT),
	};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&name, sizeof(name))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void a_roce_device_reaches_a_program_that_polls(void)
{
	struct ibv_wc wc;

	if (!open_end(&end) || !meet() || !loop_recv(&end, 7, 64, 64))
		goto out_close;
	nic_send(&nic, &end, SOFT_SEND_ONLY, "from port 4791");
	if (loop_wait_alone(&end, &wc)) {
		IS(wc.status, IBV_WC_SUCCESS);
		IS(wc.wr_id, 7);
		IS_STR((char *)end.buf + 64, "from port 4791");
	}
out_close:
	loop_end_close(&end);
}

static void it_wakes_a_program_that_sleeps(void)
{
	struct pollfd pfd = { .events = POLLIN };
	struct ibv_wc wc;

	if (!open_end(&end) || !meet() || !loop_recv(&end, 7, 64, 64))
		goto out_close;
	pfd.fd = end.chan->fd;
	IS(fdev->fabric->qp->arm(end.cq), 0);
	IS(poll(&pfd, 1, 0), 0);
	nic_send(&nic, &end, SOFT_SEND_ONLY, "wake up");
	IS(poll(&pfd, 1, 10000), 1);
	fdev->fabric->qp->chan_clear(end.chan);
	if (loop_wait_alone(&end, &wc))
		IS_STR((char *)end.buf + 64, "wake up");
out_close:
	loop_end_close(&end);
}

static void it_is_served_while_the_program_does_nothing(void)
{
	if (open_end(&end) && meet()) {
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "from the helper");
		appears("from the helper");
		/* It has gone to sleep meanwhile. */
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "awake again");
		appears("awake again");
	}
	loop_end_close(&end);
}

static void it_is_served_while_the_program_sleeps_on(void)
{
	if (open_end(&end) && IS(fdev->fabric->qp->arm(end.cq), 0) &&
	    meet() && IS(fdev->fabric->qp->arm(end.cq), 0)) {
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "still asleep");
		appears("still asleep");
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "for ever");
		appears("for ever");
	}
	loop_end_close(&end);
}

static void the_port_is_free_before_the_first_and_after_the_end(void)
{
	int fd;

	if (!open_end(&end))
		goto out_close;
	fd = bind_it();
	OK(fd >= 0);
	close(fd);
	OK(meet());
	IS(bind_it(), -1);
out_close:
	loop_end_close(&end);
	fd = bind_it();
	if (OK(fd >= 0))
		close(fd);
}

static void a_port_that_another_socket_has_is_named(void)
{
	int fd = bind_it();

	if (OK(fd >= 0) && open_end(&end)) {
		IS(loop_try(&end, NIC_QPN, ROCE_UDP_PORT), -EADDRINUSE);
		LIKE(pier_last_error(), "UDP port 4791 is taken");
		LIKE(pier_last_error(), "unload rdma_rxe");
		close(fd);
		OK(meet());
	}
	loop_end_close(&end);
}

static void one_endpoint_at_a_time_has_it(void)
{
	struct loop_end other = { 0 };

	if (open_end(&end) && open_end(&other) && meet()) {
		IS(loop_try(&other, NIC_QPN, ROCE_UDP_PORT), -EADDRINUSE);
		LIKE(pier_last_error(), "UDP port 4791 is taken");
		/* Soft peers have ports of their own. */
		OK(loop_connect(&other, end.qp->qpn, end.chan->udp_port));
	}
	loop_end_close(&other);
	loop_end_close(&end);
}

static void lo_up(void)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	ioctl(sock, SIOCSIFFLAGS, &req);
	close(sock);
}

int main(void)
{
	int fd;

	/* As root, else as the root of a user namespace. */
	if (!unshare(CLONE_NEWNET) || !unshare(CLONE_NEWUSER | CLONE_NEWNET))
		lo_up();
	fd = bind_it();
	if (fd < 0)
		return tap_skip_all("UDP port 4791 is not free here");
	close(fd);
	if (nic_device(&fdev) || nic_open(fdev, &nic))
		return tap_skip_all("lo cannot be had");
	nic.to.port = ROCE_UDP_PORT;

	TEST(a_roce_device_reaches_a_program_that_polls);
	TEST(it_wakes_a_program_that_sleeps);
	TEST(it_is_served_while_the_program_does_nothing);
	TEST(it_is_served_while_the_program_sleeps_on);
	TEST(the_port_is_free_before_the_first_and_after_the_end);
	TEST(a_port_that_another_socket_has_is_named);
	TEST(one_endpoint_at_a_time_has_it);
	nic_close(&nic);
	pier__soft.dev->close(fdev);
	return tap_done();
}
