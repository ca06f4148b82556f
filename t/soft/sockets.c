/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/udp.h"
#include "fabric/soft/soft.h"
#include "t/lib/nic.h"
#include "t/lib/tap.h"

/*
 * The sockets of an endpoint's port: one for any address, and one for each
 * address that its connections are from.
 */
#define PATIENCE (10000 * PIER__MS)
#define LONG_SILENCE 4000	/* polls */
#define SOON 100

static struct pier__fdev *fdev;
static struct loop_end end;
static struct nic nic;

static struct soft_chan *chan(void)
{
	return (struct soft_chan *)end.chan;
}

static bool open_end(void)
{
	return loop_end_open(fdev, 16, &end);
}

static uint64_t received(const struct soft_io *io)
{
	uint64_t n;

	pier__soft_ep_enter(chan()->ep);
	n = pier__soft_udp_stats(io)->rx_packets;
	pier__soft_ep_leave(chan()->ep);
	return n;
}

/* Poll until @io has received @count packets. */
static bool receives(const struct soft_io *io, uint64_t count)
{
	uint64_t until = pier__now() + PATIENCE;
	struct ibv_wc wc;

	while (received(io) < count && pier__now() < until)
		fdev->fabric->qp->poll(end.cq, &wc, 1);
	return IS(received(io), count);
}

/* From now on packets to an address that no connection has. */
static void elsewhere(void)
{
	nic.to.ip.s6_addr[15] = 2;	/* 127.0.0.2 */
}

static void begin(void)
{
	struct nic_packets got;

	nic_receive(&nic, &got);		/* what another test left */
	nic.to.ip = nic.local.ip;
}

static void packets_of_a_connection_have_a_socket_of_its_address(void)
{
	const struct soft_chan_sock *sock;
	struct nic_packets got;
	struct soft_io *io;

	begin();
	if (!open_end())
		return;
	sock = &chan()->extra[0];
	OK(!sock->io);
	if (!nic_meet(&nic, &end) || !OK(sock->io))
		goto out_close;
	OK(IN6_ARE_ADDR_EQUAL(&sock->ip, &nic.local.ip));
	IS(sock->io->port, chan()->io->port);
	nic_send(&nic, &end, SOFT_WRITE_ONLY, "here");
	receives(sock->io, 1);
	IS(received(chan()->io), 0);
	IS_STR((char *)end.buf, "here");
	nic_receive(&nic, &got);		/* as the port is the same */
	IS(pier__soft_udp_stats(sock->io)->tx_packets, 1);
	IS(got.count, 1);
	/* A second connection shares it. */
	IS(pier__soft_chan_bound(chan(), &nic.local.ip, &io), 0);
	OK(io == sock->io);
	OK(!chan()->extra[1].io);
out_close:
	loop_end_close(&end);
}

static void no_other_process_can_share_its_port(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, i;
	const char *const addresses[] = { "127.0.0.1", "127.0.0.2", "0.0.0.0" };

	begin();
	if (!open_end() || !nic_meet(&nic, &end))
		goto out_close;
	name.sin_port = htons(end.chan->udp_port);
	IS(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), 0);
	for (i = 0; i < 3; i++) {
		inet_pton(AF_INET, addresses[i], &name.sin_addr);
		IS(bind(fd, (struct sockaddr *)&name, sizeof(name)), -1);
		IS(errno, EADDRINUSE);
	}
out_close:
	close(fd);
	loop_end_close(&end);
}

static void a_socket_that_was_silent_for_long_still_receives(void)
{
	struct ibv_wc wc;
	int i;

	begin();
	if (!open_end() || !nic_meet(&nic, &end))
		goto out_close;
	nic_send(&nic, &end, SOFT_WRITE_ONLY, "not silent");
	receives(chan()->extra[0].io, 1);
	for (i = 0; i < LONG_SILENCE; i++)
		fdev->fabric->qp->poll(end.cq, &wc, 1);
	elsewhere();
	nic_send(&nic, &end, SOFT_WRITE_ONLY, "dropped");
	for (i = 0; i < SOON; i++)
		fdev->fabric->qp->poll(end.cq, &wc, 1);
	IS(received(chan()->io), 1);
	begin();
	nic_send(&nic, &end, SOFT_WRITE_ONLY, "repeated");
	receives(chan()->extra[0].io, 2);
	IS_STR((char *)end.buf, "not silent");	/* one is missing */
out_close:
	loop_end_close(&end);
}

/* Level triggered: a look that was left out does not lose a packet. */
static void each_of_them_wakes_a_program_that_sleeps(void)
{
	struct pollfd pfd = { .events = POLLIN };
	int i;

	begin();
	if (!open_end() || !nic_meet(&nic, &end))
		goto out_close;
	pfd.fd = end.chan->fd;
	for (i = 0; i < 2; i++) {
		IS(fdev->fabric->qp->arm(end.cq), 0);
		IS(poll(&pfd, 1, 0), 0);
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "wake up");
		IS(poll(&pfd, 1, 10000), 1);
		fdev->fabric->qp->chan_clear(end.chan);
		receives(i ? chan()->io : chan()->extra[0].io, 1);
		elsewhere();
	}
out_close:
	loop_end_close(&end);
}

/* How many epoll sets of this process report what comes to @fd? */
static int sets_with(int fd)
{
	char path[280], line[160];
	DIR *dir = opendir("/proc/self/fdinfo");
	struct dirent *entry;
	unsigned int events;
	int n = 0, member;

	while (dir && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s",
			 entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			n += sscanf(line, "tfd: %d events: %x", &member,
				    &events) == 2 &&
			     member == fd && events & EPOLLIN;
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Each packet to a socket that is reported costs its sender time. */
static void no_set_reports_them_while_the_program_polls(void)
{
	uint64_t until = pier__now() + PATIENCE;
	int own, bound, all = 1, i;
	struct ibv_wc wc;

	begin();
	if (!open_end() || !nic_meet(&nic, &end))
		goto out_close;
	own = chan()->sock;
	bound = chan()->extra[0].fd;
	while (!sets_with(bound) && pier__now() < until)
		sched_yield();	/* the helper's */
	IS(sets_with(own), 1);
	IS(fdev->fabric->qp->arm(end.cq), 0);
	fdev->fabric->qp->chan_clear(end.chan);
	while (all && pier__now() < until) {
		begin();
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "reported once");
		elsewhere();
		nic_send(&nic, &end, SOFT_WRITE_ONLY, "reported once");
		for (i = 0; i < LONG_SILENCE; i++)
			fdev->fabric->qp->poll(end.cq, &wc, 1);
		all = sets_with(own) + sets_with(bound);
	}
	IS(all, 0);
	IS(fdev->fabric->qp->arm(end.cq), 0);
	OK(sets_with(own) > 0);
	OK(sets_with(bound) > 0);
out_close:
	loop_end_close(&end);
}

static void without_one_a_connection_works_as_well(void)
{
	struct soft_chan_sock *sock;
	struct nic_packets got;
	int i, err = 0;

	begin();
	if (!open_end())
		return;
	pier__soft_chan_begin(chan());
	for (i = 0; i < SOFT_EXTRA_SOCKS && !err; i++)
		err = pier__soft_chan_sock_open(chan(), &in6addr_any, 0,
						&sock);
	pier__soft_chan_end(chan(), 0);
	if (!IS(err, 0) || !nic_meet(&nic, &end))
		goto out_close;
	nic_send(&nic, &end, SOFT_WRITE_ONLY, "as well");
	receives(chan()->io, 1);
	IS_STR((char *)end.buf, "as well");
	nic_receive(&nic, &got);
	IS(got.count, 1);
out_close:
	loop_end_close(&end);
}

int main(void)
{
	if (nic_device(&fdev) || nic_open(fdev, &nic))
		return tap_skip_all("lo cannot be had");
	TEST(packets_of_a_connection_have_a_socket_of_its_address);
	TEST(no_other_process_can_share_its_port);
	TEST(a_socket_that_was_silent_for_long_still_receives);
	TEST(each_of_them_wakes_a_program_that_sleeps);
	TEST(no_set_reports_them_while_the_program_polls);
	TEST(without_one_a_connection_works_as_well);
	nic_close(&nic);
	pier__soft.dev->close(fdev);
	return tap_done();
}
