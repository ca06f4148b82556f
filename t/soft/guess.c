/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "core/random.h"
#include "fabric/soft/rc/mr.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/peer.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * What a stranger would have to guess: keys, QPNs, starting PSNs, nonces.
 * Looked at coarsely: no bit prefers a value, none follows from the last one,
 * and two processes that begin alike have nothing in common.
 */
#define MANY 4000

static uint64_t sample[MANY];

/*
 * Each of the @bits lowest bits is set in half of them, and differs from the
 * one before in half of them: within a fifth, which chance misses once in
 * 10^36 times.
 */
static void check_bits(int count, int bits)
{
	int bit, i, set, changed;

	for (bit = 0; bit < bits; bit++) {
		set = changed = 0;
		for (i = 1; i < count; i++) {
			set += sample[i] >> bit & 1;
			changed += (sample[i] ^ sample[i - 1]) >> bit & 1;
		}
		if (!OK(abs(2 * set - count) < count / 5) ||
		    !OK(abs(2 * changed - count) < count / 5))
			tap_note("bit %d: set %d, changed %d of %d", bit, set,
				 changed, count);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* How many are there twice; sorts them. */
static int twice(int count)
{
	int i, n = 0;

	qsort(sample, (size_t)count, sizeof(*sample), by_value);
	for (i = 1; i < count; i++)
		n += sample[i] == sample[i - 1];
	return n;
}

static void keys_are_not_to_be_guessed(void)
{
	static struct soft_mr mr[MANY];
	struct soft_mr_table *table;
	int i;

	if (!IS(pier__soft_mr_table_create(&table), 0))
		return;
	for (i = 0; i < MANY; i++) {
		IS(pier__soft_mr_add(table, &mr[i]), 0);
		sample[i] = mr[i].mr.rkey;
	}
	check_bits(MANY, 32);
	IS(twice(MANY), 0);
	for (i = 0; i < MANY; i++)
		pier__soft_mr_remove(table, &mr[i]);
	pier__soft_mr_table_destroy(table);
}

static void a_key_is_another_one_when_made_again(void)
{
	struct soft_mr_table *table;
	struct soft_mr mr = { 0 };
	int i;

	if (!IS(pier__soft_mr_table_create(&table), 0))
		return;
	for (i = 0; i < MANY; i++) {
		IS(pier__soft_mr_add(table, &mr), 0);
		sample[i] = mr.mr.rkey;
		pier__soft_mr_remove(table, &mr);
	}
	check_bits(MANY, 32);
	/* By chance one pair in 540 runs. */
	OK(twice(MANY) <= 2);
	pier__soft_mr_table_destroy(table);
}

static void queue_pairs_have_numbers_not_to_be_guessed(void)
{
	struct softpair *pair = softpair_open(&(struct softpair_opts){ 0 }, 1);
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };
	static struct soft_qp *qp[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		IS(pier__soft_qp_create(pair->end[0].cq, NULL, &cap, &qp[i]),
		   0);
		sample[i] = qp[i]->qpn;
	}
	check_bits(MANY, 24);
	IS(twice(MANY), 0);
	OK(sample[0] > 1 && sample[MANY - 1] < 0xffffff);
	for (i = 0; i < MANY; i++)
		pier__soft_qp_destroy(qp[i]);
	softpair_close(pair);
}

/* The secrets of a connection in its descriptor. */
static void connections_begin_at_numbers_not_to_be_guessed(void)
{
	enum { CONNS = 1000 };
	static uint64_t nonce[CONNS];
	struct pier__end decoded;
	struct pier_dev *dev;
	struct peer a;
	int i;

	if (pier_dev_open("soft_lo", &dev)) {
		tap_skip(pier_last_error());
		return;
	}
	if (!peer_open(&a, dev, NULL, NULL, 4096))
		return;
	for (i = 0; i < CONNS && tap_holds(); i++) {
		peer_export_later(&a);
		IS(pier__end_decode(a.desc, a.desc_len, &decoded), 0);
		sample[i] = decoded.psn;
		nonce[i] = decoded.nonce >> 1;	/* the last bit is always 1 */
		pier_conn_destroy(a.conn);
	}
	check_bits(CONNS, 24);
	memcpy(sample, nonce, sizeof(nonce));
	check_bits(CONNS, 63);
	IS(twice(CONNS), 0);
	peer_close(&a);
	pier_dev_close(dev);
}

/* A forked process must not use the numbers that its parent will use. */
static void a_forked_process_has_numbers_of_its_own(void)
{
	uint64_t mine[4], theirs[4];
	int fds[2], status, i;
	pid_t pid;

	if (!IS(pipe(fds), 0))
		return;
	pid = fork();
	for (i = 0; i < 4; i++)
		mine[i] = pier__random64();
	if (!pid)
		_exit(write(fds[1], mine, sizeof(mine)) != sizeof(mine));
	IS(waitpid(pid, &status, 0), pid);
	IS(status, 0);
	if (IS(read(fds[0], theirs, sizeof(theirs)), sizeof(theirs)))
		for (i = 0; i < 4; i++)
			OK(mine[i] != theirs[i]);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	TEST(keys_are_not_to_be_guessed);
	TEST(a_key_is_another_one_when_made_again);
	TEST(queue_pairs_have_numbers_not_to_be_guessed);
	TEST(connections_begin_at_numbers_not_to_be_guessed);
	TEST(a_forked_process_has_numbers_of_its_own);
	return tap_done();
}
