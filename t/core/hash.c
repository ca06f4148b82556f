/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "core/hash.h"
#include "core/list.h"
#include "t/lib/tap.h"

#define MANY 1000

struct entry {
	uint32_t key;
	struct pier__hash_link link;
};

static struct entry entries[MANY];

static struct entry *entry_of(struct pier__hash_link *link)
{
	return link ? pier__container_of(link, struct entry, link) : NULL;
}

static struct entry *find(const struct pier__hash *hash, uint32_t key)
{
	return entry_of(pier__hash_find(hash, key));
}

/* Add @count entries whose code is their key, a multiple of @step. */
static void fill(struct pier__hash *hash, uint32_t count, uint32_t step)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		entries[i].key = i * step;
		if (!IS(pier__hash_reserve(hash, hash->count + 1), 0))
			return;
		pier__hash_add(hash, &entries[i].link, entries[i].key);
	}
}

static void an_empty_table_has_nothing_and_no_memory(void)
{
	struct pier__hash hash;

	pier__hash_init(&hash);
	OK(!pier__hash_find(&hash, 0));
	OK(!pier__hash_find(&hash, UINT32_MAX));
	IS(hash.count, 0);
	pier__hash_fini(&hash);
}

static void what_was_added_is_found_while_the_table_grows(void)
{
	struct pier__hash hash;
	uint32_t i, missed = 0;

	pier__hash_init(&hash);
	fill(&hash, MANY, 1);
	for (i = 0; i < MANY; i++)
		missed += find(&hash, i) != &entries[i];
	IS(missed, 0);
	OK(!find(&hash, MANY));
	IS(hash.count, MANY);
	OK(hash.mask + 1 >= MANY && hash.mask < 2 * MANY);
	pier__hash_fini(&hash);
}

static void what_was_removed_is_not_found_and_all_else_is(void)
{
	struct pier__hash hash;
	uint32_t i, wrong = 0;

	pier__hash_init(&hash);
	fill(&hash, MANY, 1);
	for (i = 0; i < MANY; i += 3)
		pier__hash_del(&hash, &entries[i].link);
	for (i = 0; i < MANY; i++)
		wrong += find(&hash, i) != (i % 3 ? &entries[i] : NULL);
	IS(wrong, 0);
	IS(hash.count, MANY - (MANY + 2) / 3);
	for (i = 0; i < MANY; i++)
		if (i % 3)
			pier__hash_del(&hash, &entries[i].link);
	IS(hash.count, 0);
	OK(!find(&hash, 1));
	pier__hash_fini(&hash);
}

/* All keys are multiples of what the number of chains divides. */
static void entries_of_one_chain_are_distinguished(void)
{
	struct pier__hash hash;
	uint32_t i, wrong = 0;

	pier__hash_init(&hash);
	fill(&hash, 50, 1 << 16);
	pier__hash_del(&hash, &entries[0].link);	/* at the end */
	pier__hash_del(&hash, &entries[20].link);
	pier__hash_del(&hash, &entries[49].link);	/* at the head */
	for (i = 0; i < 50; i++)
		wrong += !find(&hash, i << 16) != (!i || i == 20 || i == 49);
	IS(wrong, 0);
	pier__hash_fini(&hash);
}

static void entries_with_one_code_are_visited_in_turn(void)
{
	struct pier__hash_link *link;
	struct pier__hash hash;
	int i, seen = 0;

	pier__hash_init(&hash);
	IS(pier__hash_reserve(&hash, 4), 0);
	for (i = 0; i < 4; i++)
		pier__hash_add(&hash, &entries[i].link, i == 3 ? 23 : 7);
	for (link = pier__hash_find(&hash, 7); link;
	     link = pier__hash_match(link->next, 7))
		seen += 1 << (entry_of(link) - entries);
	IS(seen, 7);
	pier__hash_fini(&hash);
}

static void codes_differ_from_table_to_table(void)
{
	struct pier__hash a, b;
	uint32_t i, same = 0;

	pier__hash_init(&a);
	pier__hash_init(&b);
	for (i = 0; i < MANY; i++)
		same += pier__hash_code(&a, 1, i) == pier__hash_code(&b, 1, i);
	OK(same < 3);
	IS(pier__hash_code(&a, 1, 2), pier__hash_code(&a, 1, 2));
	pier__hash_fini(&a);
	pier__hash_fini(&b);
}

/* Keys that a peer would choose: of one stride, in either half. */
static void codes_spread_regular_keys_over_the_chains(void)
{
	static unsigned int chain[1024];
	struct pier__hash hash;
	unsigned int most = 0;
	uint64_t i;
	int half;

	pier__hash_init(&hash);
	for (half = 0; half < 2; half++) {
		for (i = 0; i < 1024; i++)
			chain[i] = 0;
		for (i = 0; i < 8192; i++)
			chain[pier__hash_code(&hash, half ? 0 : i << 16,
					      half ? i << 10 : 5) % 1024]++;
		for (i = 0; i < 1024; i++)
			if (chain[i] > most)
				most = chain[i];
	}
	OK(most < 40);		/* 8 on average */
	tap_note("%u entries in the longest chain", most);
	pier__hash_fini(&hash);
}

int main(void)
{
	TEST(an_empty_table_has_nothing_and_no_memory);
	TEST(what_was_added_is_found_while_the_table_grows);
	TEST(what_was_removed_is_not_found_and_all_else_is);
	TEST(entries_of_one_chain_are_distinguished);
	TEST(entries_with_one_code_are_visited_in_turn);
	TEST(codes_differ_from_table_to_table);
	TEST(codes_spread_regular_keys_over_the_chains);
	return tap_done();
}
