/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * The requester's own memory is revoked while its requests are in flight, in
 * virtual time: they fail in their turn, and the memory is not touched.
 */
#define SECOND (1000 * PIER__MS)
#define WAY 50000		/* ns, one way */
#define MTU 4096
#define PACKETS 16		/* of a request, or requests of one */
#define PSNS 64

static struct softpair *pair;
static struct softpair_end *a, *b;

static struct {
	bool lose[PSNS];		/* requests or responses of it, once */
	bool lose_acks;
	struct vnet_packet ack;		/* the last one */
} watch;

static bool look(const struct vnet_packet *packet, void *arg)
{
	uint8_t psn = packet->data[11];

	(void)arg;
	if (packet->data[0] == SOFT_ACK) {
		watch.ack = *packet;
		return !watch.lose_acks;
	}
	if (packet->data[0] == SOFT_READ_REQUEST || !watch.lose[psn % PSNS])
		return true;
	watch.lose[psn % PSNS] = false;
	return false;
}

static void open_pair(void)
{
	struct softpair_opts opts = { .mtu = MTU };

	memset(&watch, 0, sizeof(watch));
	pair = softpair_open(&opts, 1);
	pair->net.latency = WAY;
	pair->net.tap = look;
	a = &pair->end[0];
	b = &pair->end[1];
}

/* Go on for half a round trip, and revoke the memory. */
static void revoke(void)
{
	vnet_run(&pair->net, WAY / 2, NULL, NULL);
	IS(softpair_poll(a), 0);
	pier__soft_mr_remove(a->keys, &a->mr);
	memset(a->mem, 0x5a, PAIR_MEM);
}

/* All of @count completed, @good without an error; one failed. */
static void fails_behind(uint32_t good, uint32_t count)
{
	uint32_t i;

	OK(softpair_wait(pair, 0, count, SECOND));
	for (i = 0; i < count; i++) {
		IS(a->wc[i].wr_id, i);
		IS(a->wc[i].status, i < good ? IBV_WC_SUCCESS :
				    i > good ? IBV_WC_WR_FLUSH_ERR :
					       IBV_WC_LOC_PROT_ERR);
	}
	IS(a->qp->state, IBV_QPS_ERR);
	OK(!a->qp->req.board);
	IS(a->qp->cwnd->inflight, 0);
	for (i = 0; i < PAIR_MEM && a->mem[i] == 0x5a; i++)
		;
	IS(i, PAIR_MEM);
	IS(pier__soft_mr_add(a->keys, &a->mr), 0);
	softpair_close(pair);
}

/* Writes of a packet each; the first has no bytes, and so needs no key. */
static void post_writes(void)
{
	uint32_t i;

	for (i = 0; i < PACKETS; i++)
		IS(softpair_send(a, i, IBV_WR_RDMA_WRITE, 0, i ? 64 : 0, b, 0),
		   0);
}

static void what_is_lost_cannot_be_sent_again(void)
{
	open_pair();
	watch.lose[1] = true;
	post_writes();
	revoke();
	fails_behind(1, PACKETS);
}

/* It fails when the one before it, which is lost as well, has arrived. */
static void it_fails_in_its_turn(void)
{
	open_pair();
	watch.lose[0] = watch.lose[3] = true;
	post_writes();
	revoke();
	fails_behind(3, PACKETS);
}

static void read_all(void)
{
	open_pair();
	IS(softpair_send(a, 0, IBV_WR_RDMA_READ, 0, PACKETS * MTU, b, 0), 0);
	IS(softpair_send(a, 1, IBV_WR_RDMA_READ, 0, 8, b, 0), 0);
}

static void responses_to_a_read_have_no_place(void)
{
	read_all();
	revoke();
	fails_behind(0, 2);
}

static void nor_have_those_ahead_of_a_lost_one(void)
{
	read_all();
	watch.lose[0] = true;
	revoke();
	fails_behind(0, 2);
}

/* Into memory of its own, which is not revoked. */
static void read_elsewhere(struct soft_mr *mr, void *mem, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = len };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	*mr = (struct soft_mr){
		.addr = sge.addr, .len = len, .access = IBV_ACCESS_LOCAL_WRITE,
	};
	IS(pier__soft_mr_add(a->keys, mr), 0);
	sge.lkey = mr->mr.lkey;
	wr.wr.rdma.remote_addr = (uintptr_t)b->mem;
	wr.wr.rdma.rkey = b->mr.mr.rkey;
	IS(softpair_post(a->qp, &wr), 0);
}

static void a_read_behind_a_lost_response_fails_in_its_turn(void)
{
	struct soft_mr mr;
	uint8_t mem[8];

	open_pair();
	watch.lose[0] = true;
	read_elsewhere(&mr, mem, sizeof(mem));
	IS(softpair_send(a, 1, IBV_WR_RDMA_READ, 0, 8, b, 0), 0);
	revoke();
	OK(softpair_wait(pair, 0, 2, SECOND));
	pier__soft_mr_remove(a->keys, &mr);
	fails_behind(1, 2);
}

/*
 * A NAK that is late has the requester go back, so that one request cannot be
 * sent.  Then the ACK of all comes.
 */
static void an_ack_of_what_cannot_be_sent_fails_it(void)
{
	struct soft_hdr nak = { .opcode = SOFT_ACK, .pkey = 0xffff,
				.syndrome = SOFT_NAK_SEQUENCE };

	open_pair();
	nak.qpn = a->qp->qpn;
	watch.lose_acks = true;
	post_writes();
	revoke();
	vnet_run(&pair->net, 2 * WAY, NULL, NULL);
	IS(b->qp->resp.epsn & SOFT_PSN_MASK, PACKETS);
	softpair_inject(pair, 0, &nak, NULL, 0);
	IS(a->qp->req.nxt - a->qp->req.una, 1);
	IS(softpair_poll(a), 0);
	vnet_deliver(&pair->net, &watch.ack);
	fails_behind(1, PACKETS);
}

int main(void)
{
	TEST(what_is_lost_cannot_be_sent_again);
	TEST(it_fails_in_its_turn);
	TEST(responses_to_a_read_have_no_place);
	TEST(nor_have_those_ahead_of_a_lost_one);
	TEST(a_read_behind_a_lost_response_fails_in_its_turn);
	TEST(an_ack_of_what_cannot_be_sent_fails_it);
	return tap_done();
}
