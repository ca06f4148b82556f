/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "mem/buf_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Buffers: parts of an mmap, counted and chained. */

#define SIZE 1000

static char memory[SIZE];
static struct pier_dev *dev;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;	/* of 4 */

static struct pier_buf *piece(size_t off, size_t len)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_data(inv, mmap, memory + off, len, &buf), 0);
	return buf;
}

static void check(const struct pier_buf *buf, size_t off, size_t len,
		  size_t data_off, size_t data_len)
{
	OK(pier_buf_head(buf) == memory + off);
	IS(pier_buf_len(buf), len);
	OK(pier_buf_data(buf) == memory + data_off);
	IS(pier_buf_data_len(buf), data_len);
	OK(pier_buf_mmap(buf) == mmap);
}

static void each_way_of_taking_one_sets_its_data(void)
{
	struct pier_buf *buf;

	IS(pier_buf_by_addr(inv, mmap, memory + 10, 20, &buf), 0);
	check(buf, 10, 20, 10, 0);
	pier_buf_put(buf);
	IS(pier_buf_by_data(inv, mmap, memory + 10, 20, &buf), 0);
	check(buf, 10, 20, 10, 20);
	pier_buf_put(buf);
	IS(pier_buf_by_args(inv, mmap, memory + 10, 20, memory + 15, 5, &buf),
	   0);
	check(buf, 10, 20, 15, 5);
	IS(pier_buf_chain_data_len(buf), 5);
	IS(pier_buf_chain_tail_len(buf), 10);
	pier_buf_put(buf);
	IS(pier_buf_whole(inv, mmap, &buf), 0);
	check(buf, 0, SIZE, 0, SIZE);
	pier_buf_put(buf);
	IS(pier_buf_empty(inv, mmap, &buf), 0);
	check(buf, 0, SIZE, 0, 0);
	pier_buf_put(buf);
	pier_buf_put(NULL);
	IS(pier_buf_inventory_free_count(inv), 4);
}

static void a_duplicate_describes_the_whole_chain(void)
{
	struct pier_buf *head = NULL, *tail, *dup = NULL;

	IS(pier_buf_by_args(inv, mmap, memory + 10, 20, memory + 15, 5, &head),
	   0);
	tail = piece(100, 30);
	IS(pier_buf_chain(head, tail), 0);
	IS(pier_buf_ref(head), 0);
	IS(pier_buf_refs(tail), 0);
	IS(pier_buf_dup(inv, head, &dup), 0);
	check(dup, 10, 20, 15, 5);
	check(pier_buf_next(dup), 100, 30, 100, 30);
	IS(pier_buf_chain_len(dup), 2);
	IS(pier_buf_refs(dup), 1);
	IS(pier_buf_dup(inv, head, &tail), -ENOBUFS);
	pier_buf_put(head);
	pier_buf_put(head);
	IS(pier_buf_inventory_free_count(inv), 2);
	IS(pier_buf_dup(inv, head, &tail), -EINVAL);
	LIKE(pier_last_error(), "was put");
	check(dup, 10, 20, 15, 5);
	pier_buf_put(dup);
	IS(pier_buf_inventory_free_count(inv), 4);
}

/* Of a chain of four only three are free. */
static void a_duplicate_that_fails_takes_nothing(void)
{
	struct pier_buf *head = piece(0, 1), *dup = NULL;

	IS(pier_buf_chain(head, piece(1, 1)), 0);
	IS(pier_buf_chain(head, piece(2, 1)), 0);
	IS(pier_buf_dup(inv, head, &dup), -ENOBUFS);
	OK(!dup);
	IS(pier_buf_inventory_free_count(inv), 1);
	pier_buf_put(head);
	IS(pier_buf_inventory_free_count(inv), 4);
}

static void nothing_outside_the_mmap_is_taken(void)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_addr(inv, mmap, memory, SIZE + 1, &buf), -ERANGE);
	IS(pier_buf_by_addr(inv, mmap, (void *)((uintptr_t)memory - 1), 1,
			    &buf), -ERANGE);
	IS(pier_buf_by_addr(inv, mmap, memory + SIZE, 1, &buf), -ERANGE);
	IS(pier_buf_by_addr(inv, mmap, memory + 1, SIZE_MAX, &buf), -ERANGE);
	IS(pier_buf_by_addr(inv, mmap, NULL, 1, &buf), -ERANGE);
	IS(pier_buf_by_args(inv, mmap, memory + 10, 10, memory + 9, 1, &buf),
	   -ERANGE);
	IS(pier_buf_by_args(inv, mmap, memory + 10, 10, memory + 15, 6, &buf),
	   -ERANGE);
	IS(pier_buf_by_args(inv, mmap, memory + 10, 10, memory + 15, SIZE_MAX,
			    &buf), -ERANGE);
	OK(!buf);
	IS(pier_buf_inventory_free_count(inv), 4);
	IS(pier_buf_by_addr(inv, mmap, memory + SIZE, 0, &buf), 0);
	IS(pier_buf_len(buf), 0);
	pier_buf_put(buf);
}

static void an_mmap_that_is_not_started_gives_none(void)
{
	struct pier_buf *buf = NULL;
	struct pier_mmap *idle;

	if (!IS(pier_mmap_create(&idle), 0))
		return;
	IS(pier_buf_whole(inv, idle, &buf), -EINVAL);
	OK(!buf);
	pier_mmap_destroy(idle);
}

static void an_inventory_gives_out_what_it_has(void)
{
	struct pier_buf *bufs[4], *more = NULL;
	int i;

	IS(pier_buf_inventory_count(inv), 4);
	for (i = 0; i < 4; i++)
		bufs[i] = piece(0, 1);
	IS(pier_buf_inventory_free_count(inv), 0);
	IS(pier_buf_whole(inv, mmap, &more), -ENOBUFS);
	OK(!more);
	pier_buf_put(bufs[2]);
	IS(pier_buf_whole(inv, mmap, &more), 0);
	pier_buf_put(more);
	for (i = 0; i < 4; i++)
		if (i != 2)
			pier_buf_put(bufs[i]);
	IS(pier_buf_inventory_free_count(inv), 4);
}

static void data_moves_within_the_buffer(void)
{
	struct pier_buf *buf = piece(100, 50);

	IS(pier_buf_set_data(buf, memory + 110, 40), 0);
	check(buf, 100, 50, 110, 40);
	IS(pier_buf_set_data(buf, memory + 110, 41), -ERANGE);
	IS(pier_buf_set_data(buf, memory + 99, 1), -ERANGE);
	IS(pier_buf_set_data(buf, memory + 151, 0), -ERANGE);
	check(buf, 100, 50, 110, 40);
	IS(pier_buf_set_data(buf, memory + 150, 0), 0);
	IS(pier_buf_chain_tail_len(buf), 0);
	IS(pier_buf_set_data(buf, memory + 120, 7), 0);
	pier_buf_reset(buf);
	check(buf, 100, 50, 120, 0);
	pier_buf_put(buf);
}

static void references_are_counted(void)
{
	struct pier_buf *buf = piece(0, 1);
	int i;

	IS(pier_buf_refs(buf), 1);
	IS(pier_buf_ref(buf), 0);
	IS(pier_buf_refs(buf), 2);
	pier_buf_put(buf);
	IS(pier_buf_refs(buf), 1);
	IS(pier_buf_inventory_free_count(inv), 3);
	for (i = 1; i < 65535; i++)
		if (pier_buf_ref(buf))
			break;
	IS(i, 65535);
	IS(pier_buf_ref(buf), -EOVERFLOW);
	for (i = 0; i < 65534; i++)
		pier_buf_put(buf);
	IS(pier_buf_inventory_free_count(inv), 3);
	pier_buf_put(buf);
	IS(pier_buf_inventory_free_count(inv), 4);
}

static void chains_join_and_part(void)
{
	struct pier_buf *one = piece(0, 10), *two = piece(100, 20);
	struct pier_buf *three = piece(200, 30);

	IS(pier_buf_chain(one, one), -ELOOP);
	IS(pier_buf_chain(two, three), 0);
	IS(pier_buf_chain(one, three), -EPERM);	/* not a first */
	IS(pier_buf_chain(one, two), 0);
	IS(pier_buf_chain(two, one), -EPERM);
	IS(pier_buf_chain_len(one), 3);
	IS(pier_buf_chain_len(two), 2);
	IS(pier_buf_refs(one), 1);
	IS(pier_buf_refs(two), 0);
	OK(pier_buf_next(one) == two);
	OK(pier_buf_next(two) == three);
	OK(!pier_buf_next(three));
	IS(pier_buf_chain_data_len(one), 60);
	IS(pier_buf_chain_data_len(two), 50);
	pier_buf_reset(two);
	IS(pier_buf_chain_tail_len(one), 20);
	IS(pier_buf_ref(two), -EPERM);
	pier_buf_put(two);			/* refused: the first only */
	IS(pier_buf_inventory_free_count(inv), 1);
	IS(pier_buf_unchain(two, three), -EINVAL);
	IS(pier_buf_unchain(one, one), -EINVAL);
	IS(pier_buf_unchain(one, NULL), -EINVAL);
	IS(pier_buf_unchain(one, three), 0);
	IS(pier_buf_chain_len(one), 2);
	pier_buf_put(three);
	IS(pier_buf_inventory_free_count(inv), 2);
	pier_buf_put(one);
	IS(pier_buf_inventory_free_count(inv), 4);
}

static void the_second_of_a_chain_has_one_reference(void)
{
	struct pier_buf *one = piece(0, 10), *two = piece(100, 20);

	IS(pier_buf_ref(two), 0);
	IS(pier_buf_chain(one, two), -EPERM);
	pier_buf_put(two);
	IS(pier_buf_ref(one), 0);
	IS(pier_buf_chain(one, two), 0);
	pier_buf_put(one);
	IS(pier_buf_inventory_free_count(inv), 2);
	pier_buf_put(one);
	IS(pier_buf_inventory_free_count(inv), 4);
}

static void growing_fills_the_tails_in_turn(void)
{
	struct pier_buf *one = piece(0, 10), *two = piece(100, 20);

	IS(pier_buf_set_data(one, memory + 2, 3), 0);
	pier_buf_reset(two);
	IS(pier_buf_chain(one, two), 0);
	pier__buf_grow(one, 4);
	check(one, 0, 10, 2, 7);
	pier__buf_grow(one, 11);
	check(one, 0, 10, 2, 8);
	check(two, 100, 20, 100, 10);
	pier__buf_grow(one, 1000);		/* never beyond the end */
	check(two, 100, 20, 100, 20);
	pier_buf_put(one);
}

static void an_inventory_lives_as_long_as_its_buffers(void)
{
	struct pier_buf_inventory *other;
	struct pier_buf *buf;

	if (!IS(pier_buf_inventory_create(2, &other), 0))
		return;
	IS(pier_buf_whole(other, mmap, &buf), 0);
	pier_buf_inventory_destroy(other);
	pier_buf_inventory_destroy(NULL);
	IS(pier_buf_len(buf), SIZE);
	pier_buf_put(buf);
	other = NULL;
	IS(pier_buf_inventory_create(SIZE_MAX, &other), -ENOMEM);
	LIKE(pier_last_error(), "18446744073709551615 buffers, at most ");
	IS(pier_buf_inventory_create(SIZE_MAX / 8, &other), -ENOMEM);
	OK(!other);
	IS(pier_buf_inventory_create(0, &other), 0);
	IS(pier_buf_whole(other, mmap, &buf), -ENOBUFS);
	pier_buf_inventory_destroy(other);
}

static void an_inventory_is_expanded_while_buffers_are_taken(void)
{
	struct pier_buf_inventory *other;
	struct pier_buf *bufs[6], *more = NULL;

	if (!IS(pier_buf_inventory_create(1, &other), 0))
		return;
	IS(pier_buf_whole(other, mmap, &bufs[0]), 0);
	IS(pier_buf_inventory_expand(other, 2), 0);
	IS(pier_buf_inventory_expand(other, 0), 0);
	IS(pier_buf_inventory_expand(other, 3), 0);
	IS(pier_buf_inventory_count(other), 6);
	IS(pier_buf_inventory_free_count(other), 5);
	for (int i = 1; i < 6; i++)
		IS(pier_buf_whole(other, mmap, &bufs[i]), 0);
	IS(pier_buf_whole(other, mmap, &more), -ENOBUFS);
	LIKE(pier_last_error(), "all 6");
	IS(pier_buf_inventory_expand(other, SIZE_MAX), -ENOMEM);
	IS(pier_buf_inventory_count(other), 6);
	IS(pier_buf_chain(bufs[0], bufs[5]), 0);
	IS(pier_buf_chain_len(bufs[0]), 2);
	pier_buf_inventory_destroy(other);
	for (int i = 0; i < 5; i++)
		pier_buf_put(bufs[i]);	/* the last one with the first */
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) ||
	    pier_mmap_map(dev, memory, SIZE, PIER_LOCAL_WRITE, &mmap) ||
	    pier_buf_inventory_create(4, &inv))
		return tap_skip_all(pier_last_error());
	TEST(each_way_of_taking_one_sets_its_data);
	TEST(a_duplicate_describes_the_whole_chain);
	TEST(a_duplicate_that_fails_takes_nothing);
	TEST(nothing_outside_the_mmap_is_taken);
	TEST(an_mmap_that_is_not_started_gives_none);
	TEST(an_inventory_gives_out_what_it_has);
	TEST(data_moves_within_the_buffer);
	TEST(references_are_counted);
	TEST(chains_join_and_part);
	TEST(the_second_of_a_chain_has_one_reference);
	TEST(growing_fills_the_tails_in_turn);
	TEST(an_inventory_lives_as_long_as_its_buffers);
	TEST(an_inventory_is_expanded_while_buffers_are_taken);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return tap_done();
}
