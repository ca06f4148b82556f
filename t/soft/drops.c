/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "fabric/soft/io/chan.h"
#include "t/lib/loop.h"
#include "t/lib/tap.h"

/* What is lost between the soft device and the kernel is counted as well. */
#define PATIENCE (20000 * PIER__MS)

static struct pier__fdev *fdev;
static struct loop_end end;

static uint64_t counter(const char *name)
{
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t value = 0;

	IS(fdev->fabric->dev->counters(fdev, NULL, &counters), 0);
	IS(pier_counters_find(&counters, name, &value), 0);
	return value;
}

/* The helper looks in its own time, while the program polls or does not. */
static bool grows(const char *name, uint64_t above, bool polling)
{
	uint64_t until = pier__now() + PATIENCE;
	struct ibv_wc wc;

	while (counter(name) <= above) {
		if (pier__now() > until)
			return false;
		if (polling)
			fdev->fabric->qp->poll(end.cq, &wc, 1);
		sched_yield();
	}
	return true;
}

/* More datagrams than the socket holds, while no thread reads them. */
static void flood(struct soft_chan *chan)
{
	static const char junk[60000];
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(chan->chan.udp_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), i;

	pier__soft_ep_enter(chan->ep);
	for (i = 0; i < 600; i++)
		sendto(fd, junk, sizeof(junk), 0, (struct sockaddr *)&to,
		       sizeof(to));
	pier__soft_ep_leave(chan->ep);
	close(fd);
}

static void what_a_full_socket_drops_is_counted(void)
{
	uint64_t before = counter("rx_overflows");
	uint64_t dropped = counter("dropped");

	if (!loop_end_open(fdev, 16, &end))
		return;
	flood((struct soft_chan *)end.chan);
	OK(grows("rx_overflows", before, false));
	OK(grows("dropped", dropped, false));
	loop_end_close(&end);
}

static void what_the_kernel_refuses_to_send_is_counted(void)
{
	uint64_t before = counter("tx_refused");
	struct soft_tx tx = { .hdr_len = 12 };
	struct soft_chan *chan;

	if (!loop_end_open(fdev, 16, &end))
		return;
	chan = (struct soft_chan *)end.chan;
	/* Nothing leaves from a loopback address to the world. */
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &tx.src.ip);
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &tx.dst.ip);
	tx.dst.port = 9;
	pier__soft_ep_enter(chan->ep);
	IS(chan->io->ops->send(chan->io, &tx, 1), 1);
	pier__soft_ep_leave(chan->ep);
	OK(grows("tx_refused", before, true));
	IS(counter("tx_refused"), before + 1);
	loop_end_close(&end);
}

int main(void)
{
	if (loop_device(&fdev) || strcmp(fdev->fabric->name, "soft"))
		return tap_skip_all("no soft device");
	TEST(what_a_full_socket_drops_is_counted);
	TEST(what_the_kernel_refuses_to_send_is_counted);
	fdev->fabric->dev->close(fdev);
	return tap_done();
}
