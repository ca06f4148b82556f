/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/rc/qpn.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * Endpoints for programs of verbs whose memory is unmapped while it is
 * registered, in virtual time: an access to it is an error of its request, at
 * the end that the access is made for and at the other one, and no signal ends
 * this program.  Another connection of the same endpoints goes on.
 */
#define SECOND (1000 * PIER__MS)
#define MTU 1024
#define GONE (PAIR_MEM / 2)	/* where memory is unmapped */
#define GONE_LEN 65536
#define BACK 2048		/* before it, for a message that begins there */
#define LONG (4 * MTU + 100)
#define WORD 8			/* is stored otherwise than what is longer */

static struct softpair *pair;
static struct softpair_end *a, *b;
static struct soft_qp *other[2];	/* of the connection not in use */

/* A message by its place, all or the end of which is not there. */
static const struct { uint32_t off, len; } missing[] = {
	{ GONE, WORD }, { GONE, 100 }, { GONE, LONG }, { GONE - BACK, LONG },
};

#define MISSING (sizeof(missing) / sizeof(*missing))

static void open_pair(void)
{
	struct softpair_opts opts = {
		.mtu = MTU, .port = SOFT_QPN_PORT_MIN, .verbs = true,
	};

	pair = softpair_open(&opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	other[0] = softpair_qp(a);
	other[1] = softpair_qp(b);
	softpair_connect(pair, other[0], other[1]);
	softpair_pattern(a->mem, GONE, 1);
	softpair_pattern(b->mem, GONE, 2);
}

static void protect(struct softpair_end *end, int access)
{
	IS(mprotect(end->mem + GONE, GONE_LEN, access), 0);
}

static void close_pair(void)
{
	protect(a, PROT_READ | PROT_WRITE);
	protect(b, PROT_READ | PROT_WRITE);
	pier__soft_qp_destroy(other[0]);
	pier__soft_qp_destroy(other[1]);
	softpair_close(pair);
}

/* Post from the connection in use, and wait.  Its completion is the last. */
static void ends_with(enum ibv_wr_opcode opcode, uint32_t off, uint32_t len,
		      uint32_t peer_off, enum ibv_wc_status status)
{
	uint32_t count = softpair_poll(a) + 1;
	const struct ibv_wc *wc = &a->wc[count - 1];

	IS(softpair_send(a, count, opcode, off, len, b, peer_off), 0);
	OK(softpair_wait(pair, 0, count, SECOND));
	IS(wc->wr_id, count);
	IS(wc->qp_num, a->qp->qpn);
	if (!IS(wc->status, status))
		tap_note("opcode %d, %u bytes", (int)opcode, len);
	OK(softpair_idle(pair));
	IS(a->wcs, count);
}

/* The states of the connection, and the faults that its ends report. */
static void is_left_in(enum ibv_qp_state here, enum ibv_qp_state there)
{
	IS(a->qp->state, here);
	IS(b->qp->state, there);
	IS(a->faults, 0);
	IS(b->faults, there == IBV_QPS_ERR);
}

static void swap(void)
{
	struct soft_qp *qp[2] = { a->qp, b->qp };

	a->qp = other[0];
	b->qp = other[1];
	other[0] = qp[0];
	other[1] = qp[1];
}

static void write_works(uint32_t off, uint32_t to, uint32_t len)
{
	ends_with(IBV_WR_RDMA_WRITE, off, len, to, IBV_WC_SUCCESS);
	IS(memcmp(a->mem + off, b->mem + to, len), 0);
}

static void read_works(uint32_t off, uint32_t from, uint32_t len)
{
	ends_with(IBV_WR_RDMA_READ, off, len, from, IBV_WC_SUCCESS);
	IS(memcmp(a->mem + off, b->mem + from, len), 0);
}

static void send_works(uint32_t off, uint32_t to, uint32_t len)
{
	uint32_t got = softpair_poll(b) + 1;

	IS(softpair_recv(b, 77, to, len), 0);
	ends_with(IBV_WR_SEND, off, len, 0, IBV_WC_SUCCESS);
	IS(softpair_poll(b), got);
	IS(b->wc[got - 1].status, IBV_WC_SUCCESS);
	IS(b->wc[got - 1].byte_len, len);
	IS(memcmp(a->mem + off, b->mem + to, len), 0);
}

static void add_works(void)
{
	uint64_t *word = (uint64_t *)(b->mem + 8192), before = *word;

	ends_with(IBV_WR_ATOMIC_FETCH_AND_ADD, 16384, 8, 8192, IBV_WC_SUCCESS);
	IS(*word - before, a->wcs);
	IS(memcmp(a->mem + 16384, &before, sizeof(before)), 0);
}

/* What memory there is can be used in every way by the other connection. */
static void the_other_works(void)
{
	swap();
	write_works(1000, 100000, LONG);
	read_works(200000, 3000, LONG);
	add_works();
	send_works(5000, 300000, LONG);
	IS(a->qp->state, IBV_QPS_RTS);
	IS(b->qp->state, IBV_QPS_RTS);
	swap();
}

/* The source, or where a result goes; the peer's end does not fail. */
static void fails_here(enum ibv_wr_opcode opcode)
{
	size_t i;

	for (i = 0; i < MISSING; i++) {
		open_pair();
		protect(a, PROT_NONE);
		ends_with(opcode, missing[i].off, missing[i].len, 65536,
			  IBV_WC_LOC_PROT_ERR);
		is_left_in(IBV_QPS_ERR, IBV_QPS_RTS);
		IS(b->wcs, 0);
		the_other_works();
		close_pair();
	}
}

/* The peer's memory. */
static void fails_there(enum ibv_wr_opcode opcode)
{
	size_t i;

	for (i = 0; i < MISSING; i++) {
		open_pair();
		protect(b, PROT_NONE);
		ends_with(opcode, 65536, missing[i].len, missing[i].off,
			  IBV_WC_REM_ACCESS_ERR);
		is_left_in(IBV_QPS_ERR, IBV_QPS_ERR);
		IS(b->wcs, 0);
		the_other_works();
		close_pair();
	}
}

/* Of several packets the first may have come, in the receive that it takes. */
static void the_source_of_a_send_is_unmapped(void)
{
	size_t i;

	for (i = 0; i < MISSING; i++) {
		open_pair();
		protect(a, PROT_NONE);
		IS(softpair_recv(b, 7, 65536, LONG), 0);
		ends_with(IBV_WR_SEND, missing[i].off, missing[i].len, 0,
			  IBV_WC_LOC_PROT_ERR);
		is_left_in(IBV_QPS_ERR, IBV_QPS_RTS);
		IS(b->wcs, 0);
		IS(softpair_state(b->qp, IBV_QPS_ERR), 0);
		IS(softpair_poll(b), missing[i].off < GONE);
		if (b->wcs)
			IS(b->wc[0].status, IBV_WC_WR_FLUSH_ERR);
		close_pair();
	}
}

static void the_source_of_a_write_is_unmapped(void)
{
	fails_here(IBV_WR_RDMA_WRITE);
}

static void where_a_read_goes_is_unmapped(void)
{
	fails_here(IBV_WR_RDMA_READ);
}

/* The peer has added. */
static void where_the_result_of_an_atomic_goes_is_unmapped(void)
{
	uint64_t *word;

	open_pair();
	word = (uint64_t *)(b->mem + 65536);
	*word = 41;
	protect(a, PROT_NONE);
	ends_with(IBV_WR_ATOMIC_FETCH_AND_ADD, GONE, 8, 65536,
		  IBV_WC_LOC_PROT_ERR);
	is_left_in(IBV_QPS_ERR, IBV_QPS_RTS);
	IS(*word, 42);
	the_other_works();
	close_pair();
}

static void what_is_written_is_unmapped(void)
{
	fails_there(IBV_WR_RDMA_WRITE);
}

static void what_is_read_is_unmapped(void)
{
	fails_there(IBV_WR_RDMA_READ);
}

static void what_an_atomic_changes_is_unmapped(void)
{
	static const enum ibv_wr_opcode opcode[] = {
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	int i;

	for (i = 0; i < 2; i++) {
		open_pair();
		protect(b, PROT_NONE);
		ends_with(opcode[i], 65536, 8, GONE, IBV_WC_REM_ACCESS_ERR);
		is_left_in(IBV_QPS_ERR, IBV_QPS_ERR);
		the_other_works();
		close_pair();
	}
}

static void the_buffer_of_a_receive_is_unmapped(void)
{
	size_t i;

	for (i = 0; i < MISSING; i++) {
		open_pair();
		protect(b, PROT_NONE);
		IS(softpair_recv(b, 7, missing[i].off, LONG), 0);
		ends_with(IBV_WR_SEND, 65536, missing[i].len, 0,
			  IBV_WC_REM_OP_ERR);
		is_left_in(IBV_QPS_ERR, IBV_QPS_ERR);
		IS(b->wcs, 1);
		IS(b->wc[0].wr_id, 7);
		IS(b->wc[0].opcode, IBV_WC_RECV);
		IS(b->wc[0].status, IBV_WC_LOC_PROT_ERR);
		the_other_works();
		close_pair();
	}
}

/* Its receive, which needs no memory, is for another message. */
static void a_write_with_immediate_to_unmapped_memory_takes_no_receive(void)
{
	open_pair();
	protect(b, PROT_NONE);
	IS(softpair_recv(b, 7, 0, 0), 0);
	ends_with(IBV_WR_RDMA_WRITE_WITH_IMM, 65536, LONG, GONE,
		  IBV_WC_REM_ACCESS_ERR);
	is_left_in(IBV_QPS_ERR, IBV_QPS_ERR);
	IS(b->wcs, 0);
	swap();
	ends_with(IBV_WR_SEND, 0, 0, 0, IBV_WC_SUCCESS);
	IS(b->wcs, 1);
	IS(b->wc[0].wr_id, 7);
	swap();
	close_pair();
}

static void memory_that_may_only_be_read_is_not_written(void)
{
	open_pair();
	protect(b, PROT_READ);
	read_works(65536, GONE, LONG);
	ends_with(IBV_WR_RDMA_WRITE, 65536, LONG, GONE, IBV_WC_REM_ACCESS_ERR);
	is_left_in(IBV_QPS_ERR, IBV_QPS_ERR);
	the_other_works();
	close_pair();
}

static void requests_before_it_succeed_and_those_behind_are_flushed(void)
{
	static const enum ibv_wc_status status[] = {
		IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR,
		IBV_WC_WR_FLUSH_ERR,
	};
	uint32_t i;

	open_pair();
	protect(a, PROT_NONE);
	IS(softpair_send(a, 0, IBV_WR_RDMA_READ, 65536, LONG, b, 0), 0);
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, 0, LONG, b, 65536), 0);
	IS(softpair_send(a, 2, IBV_WR_RDMA_WRITE, GONE, 100, b, 0), 0);
	IS(softpair_send(a, 3, IBV_WR_RDMA_WRITE, 0, 100, b, 0), 0);
	OK(softpair_wait(pair, 0, 4, SECOND));
	for (i = 0; i < 4; i++) {
		IS(a->wc[i].wr_id, i);
		IS(a->wc[i].status, status[i]);
	}
	OK(softpair_is_pattern(b->mem + 65536, LONG, 1));
	OK(softpair_is_pattern(a->mem + 65536, LONG, 2));
	is_left_in(IBV_QPS_ERR, IBV_QPS_RTS);
	the_other_works();
	close_pair();
}

static bool lose(const struct vnet_packet *packet, void *arg)
{
	uint32_t *left = arg;

	(void)packet;
	return !*left || !(*left)--;
}

/* Unmapped when it has been sent, and is to be sent again. */
static void what_was_lost_cannot_be_sent_again(void)
{
	uint32_t losses = 1;

	open_pair();
	pair->net.tap = lose;
	pair->net.tap_arg = &losses;
	IS(softpair_send(a, 1, IBV_WR_RDMA_WRITE, GONE, LONG, b, 0), 0);
	vnet_run(&pair->net, pair->net.latency / 2, NULL, NULL);
	IS(losses, 0);
	protect(a, PROT_NONE);
	OK(softpair_wait(pair, 0, 1, SECOND));
	IS(a->wc[0].status, IBV_WC_LOC_PROT_ERR);
	is_left_in(IBV_QPS_ERR, IBV_QPS_RTS);
	the_other_works();
	close_pair();
}

/* Packets behind a lost one are held, and used when that has come. */
static void what_was_held_has_no_place(void)
{
	uint32_t losses = 1;

	open_pair();
	protect(b, PROT_NONE);
	pair->net.tap = lose;
	pair->net.tap_arg = &losses;
	ends_with(IBV_WR_RDMA_WRITE, 65536, LONG, GONE - MTU,
		  IBV_WC_REM_ACCESS_ERR);
	IS(losses, 0);
	is_left_in(IBV_QPS_ERR, IBV_QPS_ERR);
	OK(softpair_is_pattern(a->mem, LONG, 1));
	IS(memcmp(b->mem + GONE - MTU, a->mem + 65536, MTU), 0);
	the_other_works();
	close_pair();
}

static void the_same_queue_pairs_can_be_connected_again(void)
{
	open_pair();
	protect(b, PROT_NONE);
	ends_with(IBV_WR_RDMA_WRITE, 65536, LONG, GONE, IBV_WC_REM_ACCESS_ERR);
	protect(b, PROT_READ | PROT_WRITE);
	IS(softpair_state(a->qp, IBV_QPS_RESET), 0);
	IS(softpair_state(b->qp, IBV_QPS_RESET), 0);
	softpair_connect(pair, a->qp, b->qp);
	write_works(65536, GONE, LONG);
	read_works(GONE, GONE, LONG);
	close_pair();
}

static void *run(void *arg)
{
	(*(void (**)(void))arg)();
	return NULL;
}

/* Accesses of both ends are made by it: none of them may end the program. */
static void a_thread_that_blocks_all_signals_gets_errors(void)
{
	static void (*tests[])(void) = {
		the_source_of_a_send_is_unmapped,
		what_is_written_is_unmapped,
		where_the_result_of_an_atomic_goes_is_unmapped,
	};
	sigset_t all, old;
	pthread_t thread;
	size_t i;
	int err;

	sigfillset(&all);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		pthread_sigmask(SIG_SETMASK, &all, &old);
		err = pthread_create(&thread, NULL, run, &tests[i]);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		if (IS(err, 0))
			IS(pthread_join(thread, NULL), 0);
	}
}

int main(void)
{
	TEST(the_source_of_a_send_is_unmapped);
	TEST(the_source_of_a_write_is_unmapped);
	TEST(where_a_read_goes_is_unmapped);
	TEST(where_the_result_of_an_atomic_goes_is_unmapped);
	TEST(what_is_written_is_unmapped);
	TEST(what_is_read_is_unmapped);
	TEST(what_an_atomic_changes_is_unmapped);
	TEST(the_buffer_of_a_receive_is_unmapped);
	TEST(a_write_with_immediate_to_unmapped_memory_takes_no_receive);
	TEST(memory_that_may_only_be_read_is_not_written);
	TEST(requests_before_it_succeed_and_those_behind_are_flushed);
	TEST(what_was_lost_cannot_be_sent_again);
	TEST(what_was_held_has_no_place);
	TEST(the_same_queue_pairs_can_be_connected_again);
	TEST(a_thread_that_blocks_all_signals_gets_errors);
	return tap_done();
}
