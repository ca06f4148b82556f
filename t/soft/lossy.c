/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Traffic in both directions over a network that loses, repeats, reorders,
 * corrupts and truncates: every request completes once, in order, and every
 * byte arrives.  t/soft/lossy.t SEED begins at another seed than 1; a failure
 * names the seed that repeats it.
 */
#define SECOND (1000 * PIER__MS)
#define SLOT 16384
#define SLOTS 30		/* requests in flight, of one direction */
#define LOCAL 0			/* slots of the own requests */
#define TARGET (32 * SLOT)	/* slots that the peer reads and writes */
#define INBOX (64 * SLOT)	/* slots of receives */
#define WORD (PAIR_MEM - 64)	/* that the peer counts in */

enum kind { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, ADD, SWAP, KINDS };

/* What one side has asked of the other. */
struct flow {
	struct softpair_end *me, *peer;
	uint32_t ops;		/* to do */
	uint32_t posted, done;
	uint32_t expected[8192];	/* operations that take a receive */
	uint32_t expected_put, expected_got;
	uint32_t receives_posted;
	uint32_t receives;	/* kept posted by the peer */
	uint64_t word;		/* after all that was posted */
	uint8_t kind[8192];
	uint32_t len[8192];
	uint64_t found[8192];	/* the word before */
	bool silent[8192];	/* posted without IBV_SEND_SIGNALED */
	bool bad;
};

static struct softpair *pair;
static struct flow flow[2];
static uint64_t first_seed = 1;
static bool polls;		/* see struct vnet */

static bool fail(struct flow *f, const char *what, uint32_t op)
{
	tap_note("%s: request %u of kind %u, %u bytes, of side %d", what, op,
		 f->kind[op % 8192], f->len[op % 8192], (int)(f - flow));
	f->bad = true;
	return false;
}

/* The slot at @mem is empty behind @len bytes. */
static bool ends_there(const uint8_t *mem, uint32_t len)
{
	while (len < SLOT)
		if (mem[len++])
			return false;
	return true;
}

static void receives_post(struct flow *f)
{
	uint32_t at;

	/* Late, if few are to be there. */
	if (f->receives < SLOTS && !vnet_chance(&pair->net, 0.05))
		return;
	while (f->receives_posted < f->expected_got + f->receives) {
		at = INBOX + f->receives_posted % SLOTS * SLOT;
		memset(f->peer->mem + at, 0, SLOT);
		softpair_recv(f->peer, f->receives_posted, at, SLOT);
		f->receives_posted++;
	}
}

/* Small, or around the borders of packets, or anything. */
static uint32_t some_length(void)
{
	uint32_t mtu = pair->opts.mtu;

	switch (vnet_random(&pair->net) % 4) {
	case 0:
		return vnet_random(&pair->net) % 64;
	case 1:
		return mtu * (1 + vnet_random(&pair->net) % (SLOT / mtu - 1)) -
		       1 + vnet_random(&pair->net) % 3;
	default:
		return vnet_random(&pair->net) % SLOT;
	}
}

static bool is_atomic(enum kind kind)
{
	return kind == ADD || kind == SWAP;
}

/* Some are silent, never all that are in flight nor the last; some wait. */
static unsigned int some_flags(struct flow *f, uint32_t op)
{
	uint64_t chance = vnet_random(&pair->net);
	unsigned int flags = chance % 16 == 0 ? IBV_SEND_FENCE : 0;

	f->silent[op] = chance / 16 % 4 == 0 && op % 8 != 7 &&
			op + 1 != f->ops;
	return f->silent[op] ? flags : flags | IBV_SEND_SIGNALED;
}

/* Every second swap finds what it compares with. */
static void change_word(struct flow *f, uint32_t op, struct ibv_send_wr *wr)
{
	bool swap = f->kind[op] == SWAP;

	f->found[op] = f->word;
	wr->wr.atomic.remote_addr = (uintptr_t)f->peer->mem + WORD;
	wr->wr.atomic.rkey = f->peer->mr.mr.rkey;
	wr->wr.atomic.compare_add = swap ? f->word + op % 2 : op;
	wr->wr.atomic.swap = f->word + 12345;
	if (!swap)
		f->word += op;
	else if (op % 2 == 0)
		f->word += 12345;
}

/* The patterns that move, zeros where they go to.  Returns where, remotely. */
static uintptr_t prepare(struct flow *f, uint32_t op)
{
	uint8_t *local = f->me->mem + LOCAL + op % SLOTS * SLOT;
	uint8_t *target = f->peer->mem + TARGET + op % SLOTS * SLOT;
	bool read = f->kind[op] == READ;

	memset(read ? local : target, 0, SLOT);
	softpair_pattern(read ? target : local, f->len[op], op);
	return (uintptr_t)target;
}

static void post(struct flow *f)
{
	static const enum ibv_wr_opcode opcodes[KINDS] = {
		[SEND] = IBV_WR_SEND,
		[SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[WRITE] = IBV_WR_RDMA_WRITE,
		[WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[READ] = IBV_WR_RDMA_READ,
		[ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	uint32_t op = f->posted++, local = LOCAL + op % SLOTS * SLOT;
	enum kind kind = vnet_random(&pair->net) % KINDS;
	struct ibv_sge sge =
		softpair_sge(f->me, local, is_atomic(kind) ? 8 : some_length());
	struct ibv_send_wr wr = {
		.wr_id = op, .opcode = opcodes[kind], .sg_list = &sge,
		.num_sge = 1, .send_flags = some_flags(f, op),
		.imm_data = op ^ 0x12345678,
	};

	f->kind[op] = kind;
	f->len[op] = sge.length;
	if (is_atomic(kind)) {
		change_word(f, op, &wr);
	} else {
		wr.wr.rdma.remote_addr = prepare(f, op);
		wr.wr.rdma.rkey = f->peer->mr.mr.rkey;
	}
	if (kind == SEND || kind == SEND_IMM || kind == WRITE_IMM)
		f->expected[f->expected_put++] = op;
	if (softpair_post(f->me->qp, &wr))
		fail(f, "not posted", op);
}

/* Is everything of @op where it must be, and nothing elsewhere? */
static bool op_done(struct flow *f, uint32_t op)
{
	const uint8_t *local = f->me->mem + LOCAL + op % SLOTS * SLOT;
	const uint8_t *target = f->peer->mem + TARGET + op % SLOTS * SLOT;
	uint32_t len = f->len[op];
	uint64_t found;

	if (f->kind[op] == READ &&
	    (!softpair_is_pattern(local, len, op) || !ends_there(local, len)))
		return fail(f, "read wrong", op);
	if (f->kind[op] == WRITE &&
	    (!softpair_is_pattern(target, len, op) || !ends_there(target, len)))
		return fail(f, "written wrong", op);
	memcpy(&found, local, 8);
	if (is_atomic(f->kind[op]) && found != f->found[op])
		return fail(f, "not carried out once", op);
	return true;
}

/* The ones before it that are silent are done as well. */
static bool send_done(struct flow *f, const struct ibv_wc *wc)
{
	while (f->done < f->posted && f->silent[f->done])
		if (!op_done(f, f->done++))
			return false;
	if (wc->status || wc->wr_id != f->done)
		return fail(f, "failed or out of order", f->done);
	return op_done(f, f->done++);
}

static bool receive_done(struct flow *f, const struct ibv_wc *wc)
{
	uint32_t n = f->expected_got++, op = f->expected[n];
	bool write = f->kind[op] == WRITE_IMM;
	const uint8_t *data = f->peer->mem + (write ? TARGET + op % SLOTS * SLOT
					      : INBOX + n % SLOTS * SLOT);

	if (n >= f->expected_put || wc->status || wc->wr_id != n)
		return fail(f, "received what was not sent", op);
	if (wc->byte_len != f->len[op] ||
	    (f->kind[op] != SEND &&
	     wc->imm_data != (op ^ 0x12345678)))
		return fail(f, "received wrong length or immediate", op);
	if (!softpair_is_pattern(data, f->len[op], op) ||
	    !ends_there(data, f->len[op]))
		return fail(f, "received wrong data", op);
	return true;
}

/* Take completions of side @i, post what follows from them. */
static void flow_turn(int i)
{
	struct flow *mine = &flow[i], *other = &flow[!i];
	struct softpair_end *end = mine->me;
	uint32_t k;

	end->wcs = 0;
	softpair_poll(end);
	for (k = 0; k < end->wcs; k++) {
		if (end->wc[k].opcode & IBV_WC_RECV)
			receive_done(other, &end->wc[k]);
		else
			send_done(mine, &end->wc[k]);
	}
	receives_post(other);
	while (mine->posted < mine->ops && mine->posted - mine->done < SLOTS)
		post(mine);
}

static bool turn(void *arg)
{
	(void)arg;
	flow_turn(0);
	flow_turn(1);
	return flow[0].bad || flow[1].bad ||
	       (flow[0].done == flow[0].ops && flow[1].done == flow[1].ops &&
		flow[0].expected_got == flow[0].expected_put &&
		flow[1].expected_got == flow[1].expected_put);
}

static void report(void)
{
	const struct soft_counters *c = pair->end[0].ep->counters;

	tap_note("%llu ms, %llu packets of one side, %llu again, %llu "
		 "timeouts, %llu duplicates, %llu ahead, %llu bad, %llu rnr",
		 (unsigned long long)((pair->net.now - SECOND) / PIER__MS),
		 (unsigned long long)c->tx_packets,
		 (unsigned long long)c->resent,
		 (unsigned long long)c->timeouts,
		 (unsigned long long)c->duplicates,
		 (unsigned long long)c->out_of_order,
		 (unsigned long long)(c->bad_icrc + c->dropped),
		 (unsigned long long)c->rnr_received);
}

static void traffic(const struct softpair_opts *opts,
		    const struct vnet_faults *faults, uint32_t ops,
		    uint32_t receives, uint64_t seed)
{
	uint32_t before;
	int i;

	pair = softpair_open(opts, seed);
	pair->net.faults = *faults;
	pair->net.polls = polls;
	for (i = 0; i < 2; i++) {
		memset(&flow[i], 0, sizeof(flow[i]));
		flow[i].me = &pair->end[i];
		flow[i].peer = &pair->end[!i];
		flow[i].ops = ops;
		flow[i].receives = receives;
	}
	if (!OK(vnet_run(&pair->net, 600 * SECOND, turn, NULL)) ||
	    flow[0].bad || flow[1].bad)
		tap_note("seed %llu", (unsigned long long)seed);
	IS(flow[0].done, ops);
	IS(flow[1].done, ops);
	OK(!flow[0].bad && !flow[1].bad);
	report();
	/* Nothing comes after that. */
	OK(softpair_idle(pair));
	for (i = 0; i < 2; i++) {
		before = pair->end[i].wcs;
		IS(softpair_poll(&pair->end[i]), before);
		IS(pair->end[i].qp->state, IBV_QPS_RTS);
	}
	softpair_close(pair);
}

/* With each MTU, from PSNs that wrap on the way. */
static void lossy(const struct vnet_faults *faults, uint32_t ops)
{
	struct softpair_opts opts = { .psn = { 0xffff80, 77 } };
	uint64_t seed = first_seed;

	for (opts.mtu = 256; opts.mtu <= 4096; opts.mtu *= 2)
		traffic(&opts, faults, ops, SLOTS, seed++);
	opts.mtu = 1024;
	opts.ip[0] = "2001:db8::1";
	opts.ip[1] = "2001:db8::2";
	traffic(&opts, faults, ops, SLOTS, seed++);
}

static void nothing_is_lost_without_loss(void)
{
	struct vnet_faults faults = { 0 };

	lossy(&faults, 500);
}

static void one_percent_loss_is_made_up_for(void)
{
	struct vnet_faults faults = { .loss = 0.01 };

	lossy(&faults, 500);
}

static void five_percent_loss_is_made_up_for(void)
{
	struct vnet_faults faults = { .loss = 0.05 };

	lossy(&faults, 500);
}

static void twenty_percent_loss_is_made_up_for(void)
{
	struct vnet_faults faults = { .loss = 0.2 };

	lossy(&faults, 300);
}

static void packets_may_overtake_one_another(void)
{
	struct vnet_faults faults = { .reorder = 0.1 };

	lossy(&faults, 500);
}

static void packets_may_come_twice(void)
{
	struct vnet_faults faults = { .duplicate = 0.1 };

	lossy(&faults, 500);
}

static void corrupted_packets_are_not_believed(void)
{
	struct vnet_faults faults = { .corrupt = 0.01 };

	lossy(&faults, 500);
}

static void truncated_packets_are_not_believed(void)
{
	struct vnet_faults faults = { .truncate = 0.01 };

	lossy(&faults, 500);
}

static void everything_may_happen_together(void)
{
	struct vnet_faults faults = {
		.duplicate = 0.1, .reorder = 0.1, .corrupt = 0.01,
		.truncate = 0.01, .refuse = 0.2,
	};
	static const double losses[] = { 0, 0.01, 0.05, 0.2 };
	unsigned int i;

	for (i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		faults.loss = losses[i];
		lossy(&faults, 150);
	}
}

/* They post before what they owe is sent. */
static void it_may_happen_to_programs_that_poll(void)
{
	polls = true;
	nothing_is_lost_without_loss();
	everything_may_happen_together();
	polls = false;
}

static void it_may_happen_while_receives_are_short(void)
{
	struct softpair_opts opts = { .min_rnr_timer = 5 };
	struct vnet_faults faults = { .loss = 0.05, .reorder = 0.05 };
	uint32_t receives;

	for (receives = 1; receives <= 4; receives++)
		traffic(&opts, &faults, 300, receives,
			first_seed + receives);
}

static void a_small_receive_buffer_only_slows_down(void)
{
	struct softpair_opts opts = { .mtu = 4096 };
	int i;

	pair = softpair_open(&opts, 5);
	pair->net.inbox = 10;
	pair->end[0].wcs = 0;
	for (i = 0; i < 50; i++)
		softpair_send(&pair->end[0], i, IBV_WR_RDMA_WRITE, 0,
			      SLOT * 10, &pair->end[1], TARGET);
	for (i = 0; i < 50; i++)
		softpair_send(&pair->end[0], i, IBV_WR_RDMA_READ, 0, SLOT * 10,
			      &pair->end[1], TARGET);
	OK(softpair_wait(pair, 0, 100, 10 * SECOND));
	report();
	for (i = 0; i < 100; i++)
		if (pair->end[0].wc[i].status)
			break;
	IS(i, 100);
	softpair_close(pair);
}

int main(int argc, char *argv[])
{
	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 0);
	TEST(nothing_is_lost_without_loss);
	TEST(one_percent_loss_is_made_up_for);
	TEST(five_percent_loss_is_made_up_for);
	TEST(twenty_percent_loss_is_made_up_for);
	TEST(packets_may_overtake_one_another);
	TEST(packets_may_come_twice);
	TEST(corrupted_packets_are_not_believed);
	TEST(truncated_packets_are_not_believed);
	TEST(everything_may_happen_together);
	TEST(it_may_happen_to_programs_that_poll);
	TEST(it_may_happen_while_receives_are_short);
	TEST(a_small_receive_buffer_only_slows_down);
	return tap_done();
}
