/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/peer.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Many packets that were not requested: they are counted and dropped.  First
 * in virtual time, then at the sockets of a running pair.
 */
#define FLOOD 50000

static struct softpair *pair;
static struct softpair_end *a, *b;

static void open_pair(void)
{
	pair = softpair_open(&(struct softpair_opts){ .mtu = 1024 }, 5);
	a = &pair->end[0];
	b = &pair->end[1];
}

static const struct soft_counters *counters(const struct softpair_end *end)
{
	return end->ep->counters;
}

/* A WRITE that would hit, but for what the caller changes. */
static struct soft_hdr hit(void)
{
	return (struct soft_hdr){
		.opcode = SOFT_WRITE_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.ack_req = true,
		.qpn = b->qp->qpn,
		.dma_len = 8,
		.va = (uintptr_t)b->mem,
		.rkey = b->mr.mr.rkey,
	};
}

static bool untouched(void)
{
	uint32_t i;

	for (i = 0; i < PAIR_MEM; i++)
		if (b->mem[i])
			return false;
	return true;
}

static bool still_works(void)
{
	memset(a->mem, 7, 8);
	a->wcs = 0;
	return IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, 8, b, 64), 0) &&
	       OK(softpair_wait(pair, 0, 1, 1000 * PIER__MS)) &&
	       IS(a->wc[0].status, IBV_WC_SUCCESS) && IS(b->mem[64], 7);
}

static void unknown_queue_pairs_cost_no_memory_and_no_answer(void)
{
	struct soft_hdr hdr;
	size_t before;
	uint32_t i;

	open_pair();
	still_works();
	memset(b->mem, 0, PAIR_MEM);
	before = mallinfo2().uordblks;
	for (i = 0; i < FLOOD; i++) {
		hdr = hit();
		hdr.qpn = vnet_random(&pair->net) & 0xffffff;
		if (hdr.qpn == b->qp->qpn)
			hdr.qpn ^= 1;
		softpair_inject(pair, 1, &hdr, "hostile!", 8);
	}
	/* The virtual network keeps the last packets that were taken. */
	OK(mallinfo2().uordblks < before + 2 * SOFT_PACKET_MAX);
	IS(counters(b)->dropped, FLOOD);
	IS(counters(b)->tx_packets, 1);
	OK(untouched());
	still_works();
	softpair_close(pair);
}

/* A forger that has all but the sequence number. */
static void stale_sequence_numbers_write_nothing(void)
{
	const uint8_t opcodes[] = { SOFT_WRITE_ONLY, SOFT_WRITE_FIRST,
				    SOFT_SEND_ONLY, SOFT_FETCH_ADD,
				    SOFT_COMPARE_SWAP, SOFT_WRITE_ONLY_IMM };
	uint64_t counted;
	struct soft_hdr hdr;
	uint32_t i;

	open_pair();
	for (i = 0; i < 64; i++)
		softpair_recv(b, i, 4096, 1024);
	for (i = 0; i < FLOOD; i++) {
		hdr = hit();
		hdr.opcode = opcodes[i % sizeof(opcodes)];
		hdr.swap_add = 1;
		hdr.psn = 1 + vnet_random(&pair->net) % 0xffffff;
		softpair_inject(pair, 1, &hdr, "hostile!", 8);
	}
	OK(untouched());
	IS(softpair_poll(b), 0);
	counted = counters(b)->duplicates + counters(b)->out_of_order;
	IS(counted, FLOOD);
	IS(b->qp->state, IBV_QPS_RTS);
	still_works();
	softpair_close(pair);
}

static void a_strange_source_does_not_even_cost_an_answer(void)
{
	struct soft_io *io;
	struct soft_hdr hdr;
	uint32_t i;

	open_pair();
	io = a->io;
	pair->end[0].io = vnet_node(&pair->net, "192.0.2.99", 5000);
	for (i = 0; i < FLOOD; i++) {
		hdr = hit();
		hdr.opcode = i % 0x18;
		softpair_inject(pair, 1, &hdr, "hostile!", 8);
	}
	IS(counters(b)->dropped, FLOOD);
	IS(counters(b)->tx_packets, 0);
	OK(untouched());
	pair->end[0].io = io;
	still_works();
	softpair_close(pair);
}

/* One wrong key ends the connection: a search takes one for each guess. */
static void a_forged_key_is_tried_once_a_connection(void)
{
	struct soft_hdr hdr;
	uint32_t i;

	open_pair();
	for (i = 0; i < 1000; i++) {
		hdr = hit();
		hdr.rkey = (uint32_t)vnet_random(&pair->net);
		if (hdr.rkey == b->mr.mr.rkey)
			hdr.rkey++;
		hdr.psn = pair->opts.psn[0];
		softpair_inject(pair, 1, &hdr, "hostile!", 8);
		if (!IS(b->qp->state, IBV_QPS_ERR) ||
		    !IS(counters(b)->naks_sent[2], i + 1))
			break;
		softpair_idle(pair); /* the NAK is on its way */
		softpair_state(a->qp, IBV_QPS_RESET);
		softpair_state(b->qp, IBV_QPS_RESET);
		softpair_connect(pair, a->qp, b->qp);
	}
	OK(untouched());
	still_works();
	softpair_close(pair);
}

static uint64_t dice = 1;

static uint32_t roll(void)
{
	dice = dice * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice >> 32);
}

/* Datagrams of any length and content for @port of this host. */
static void shoot(int sock, uint16_t port, int count)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	static uint8_t bytes[65536];
	size_t len, i;

	while (count--) {
		len = roll() % 8 ? roll() % 128 : roll() % 65000;
		for (i = 0; i < len && i < 64; i++)
			bytes[i] = (uint8_t)roll();
		bytes[0] %= 0x18;
		bytes[1] &= 0xf0;
		sendto(sock, bytes, len, MSG_DONTWAIT, (struct sockaddr *)&to,
		       sizeof(to));
	}
}

static uint16_t port_of(const struct peer *peer)
{
	const char *at;
	char text[2048];

	pier_desc_print(peer->desc, peer->desc_len, text, sizeof(text));
	at = strstr(text, "udp port: ");
	return OK(at) ? (uint16_t)atoi(at + strlen("udp port: ")) : 0;
}

#define LEN 65536

static void exchange_under_fire(struct peer *x, struct peer *y, int sock)
{
	int round, status, i;
	uint16_t ports[2] = { port_of(x), port_of(y) };
	struct pier_buf *from, *to;

	for (round = 0; round < 50 && tap_holds(); round++) {
		status = -EINPROGRESS;
		peer_fill(x, (unsigned int)round);
		from = peer_data(x, 0, LEN);
		to = peer_far_tail(x, 0, LEN);
		for (i = 0; i < 2; i++)
			shoot(sock, ports[i], 20);
		IS(pier_rdma_write(x->conn, from, to, peer_done, &status), 0);
		for (i = 0; i < 2; i++)
			shoot(sock, ports[i], 20);
		IS(peer_await(&status), 0);
		OK(peer_holds(y, 0, LEN, (unsigned int)round, 0));
		pier_buf_put(from);
		pier_buf_put(to);
	}
}

static void a_running_pair_goes_on_under_fire(void)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pier_dev *dev;
	struct peer x, y;

	if (pier_dev_open("soft_lo", &dev)) {
		tap_skip(pier_last_error());
		close(sock);
		return;
	}
	if (peer_pair(&x, &y, dev, NULL, LEN))
		exchange_under_fire(&x, &y, sock);
	peer_unpair(&x, &y);
	pier_dev_close(dev);
	close(sock);
}

int main(void)
{
	TEST(unknown_queue_pairs_cost_no_memory_and_no_answer);
	TEST(stale_sequence_numbers_write_nothing);
	TEST(a_strange_source_does_not_even_cost_an_answer);
	TEST(a_forged_key_is_tried_once_a_connection);
	TEST(a_running_pair_goes_on_under_fire);
	return tap_done();
}
