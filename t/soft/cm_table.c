/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "core/roce.h"
#include "fabric/soft/cm/cm_conn.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * Connections whose keys have one hash code.  A peer cannot look for them, as
 * the code depends on a secret; some have it by chance.
 */
#define GUID 0x505400fffe123456	/* of cm_linux_req() */
#define NUMBERS 400000		/* of which some 18 pairs have one code */

static struct cm_pair *pair;
static struct soft_addr client;
static uint32_t same[2];

struct coded {
	uint32_t code, number;
};

static int by_code(const void *left, const void *right)
{
	const struct coded *a = left, *b = right;

	return a->code < b->code ? -1 : a->code > b->code;
}

/* Find two numbers with one code in the server's table of @key. */
static bool find(enum soft_cm_key key)
{
	const struct pier__hash *hash = &pair->node[1].cm->table[key];
	struct coded *all = calloc(NUMBERS, sizeof(*all));
	uint32_t i;

	if (!OK(all))
		return false;
	for (i = 0; i < NUMBERS; i++) {
		all[i].number = 1000 + i;
		all[i].code = pier__hash_code(hash, GUID, 1000 + i);
	}
	qsort(all, NUMBERS, sizeof(*all), by_code);
	for (i = 1; i < NUMBERS && all[i - 1].code != all[i].code; i++)
		;
	if (i < NUMBERS) {
		same[0] = all[i - 1].number;
		same[1] = all[i].number;
	}
	free(all);
	return OK(i < NUMBERS);
}

static bool begin(enum soft_cm_key key)
{
	pair = cm_open(3, false, 8);
	client = pair->node[0].addr;
	return find(key);
}

static void req(uint32_t comm_id, uint32_t qpn)
{
	struct soft_mad mad;
	uint8_t data[92];

	cm_linux_req(pair, &client, comm_id, qpn, &mad, data);
	cm_inject(pair, 1, &client, CM_SERVICE, &mad);
	cm_run(pair, 1);
}

static uint32_t answered(void)
{
	return pair->sent[SOFT_MAD_REP].mad.remote_id;
}

static void requests_with_one_code_are_two(void)
{
	int i;

	if (begin(SOFT_CM_BY_PEER)) {
		for (i = 0; i < 2; i++) {
			req(same[i], 100 + i);
			IS(answered(), same[i]);
			IS(pier__soft_cm_count(pair->node[1].cm), i + 1);
		}
		/* Each comes again. */
		for (i = 0; i < 2; i++) {
			req(same[i], 100 + i);
			IS(answered(), same[i]);
			IS(pier__soft_cm_count(pair->node[1].cm), 2);
		}
		IS(pair->sent[SOFT_MAD_REP].count, 4);
	}
	cm_close(pair);
}

static void a_qpn_with_anothers_code_is_not_stale(void)
{
	int i;

	if (begin(SOFT_CM_BY_QPN)) {
		for (i = 0; i < 2; i++)
			req(10 + i, same[i]);
		IS(pier__soft_cm_count(pair->node[1].cm), 2);
		IS(pair->sent[SOFT_MAD_REJ].count, 0);
		for (i = 0; i < 2; i++)
			req(20 + i, same[i]);
		IS(pier__soft_cm_count(pair->node[1].cm), 2);
		IS(pair->sent[SOFT_MAD_REJ].count, 2);
		IS(pair->sent[SOFT_MAD_REJ].mad.reason, ROCE_REJ_STALE);
	}
	cm_close(pair);
}

int main(void)
{
	TEST(requests_with_one_code_are_two);
	TEST(a_qpn_with_anothers_code_is_not_stale);
	return tap_done();
}
