/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of datagrams that the sockets lost. */
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "fabric/soft/io/chan.h"
#include "fabric/soft/io/faults.h"
#include "fabric/soft/io/udp.h"

/*
 * Only the sockets count datagrams that are lost before receive and after
 * send.  The helper reads their statistics from time to time, not for each
 * packet.
 */

/* Datagrams dropped because the socket was full, since its creation. */
static uint32_t overflows(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) ||
	    len <= SK_MEMINFO_DROPS * sizeof(*info))
		return 0;
	return info[SK_MEMINFO_DROPS];
}

static void publish(struct soft_chan *chan, const struct soft_io *io, int fd,
		    struct soft_sock_seen *seen)
{
	const struct soft_udp_stats *stats = pier__soft_udp_stats(io);
	struct soft_sock_seen now = {
		.refused = stats->tx_refused,
		.bad = stats->rx_bad,
		.overflows = overflows(fd),
	};
	const struct soft_faults *faults = pier__soft_udp_faults(io);
	struct soft_counters *counters = chan->ep->counters;

	if (faults) {
		now.lost = faults->lost;
		now.corrupted = faults->corrupted;
	}
	pier__soft_add(counters, SOFT_COUNTER(faults_lost),
		       now.lost - seen->lost);
	pier__soft_add(counters, SOFT_COUNTER(faults_corrupted),
		       now.corrupted - seen->corrupted);
	pier__soft_add(counters, SOFT_COUNTER(tx_refused),
		       now.refused - seen->refused);
	pier__soft_add(counters, SOFT_COUNTER(dropped), now.bad - seen->bad);
	/* 32 bits that wrap */
	pier__soft_add(counters, SOFT_COUNTER(rx_overflows),
		       (uint32_t)(now.overflows - seen->overflows));
	*seen = now;
}

void pier__soft_chan_publish(struct soft_chan *chan)
{
	struct soft_chan_sock *sock;
	int i;

	publish(chan, chan->io, chan->sock, &chan->seen);
	for (i = 0; i < chan->extra_end; i++) {
		sock = &chan->extra[i];
		if (sock->io)
			publish(chan, sock->io, sock->fd, &sock->seen);
	}
}
