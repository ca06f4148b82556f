/* SPDX-License-Identifier: BSD-2-Clause */
/* Is there an order of the atomics on a word that explains their results? */
#include <stdio.h>
#include <stdlib.h>

#include "t/lib/history.h"

/* It has completed, with a result. */
static bool known(const struct history_op *op)
{
	return op->end && !op->status;
}

static void fail(struct history *h, const struct history_words *words,
		 const struct history_op *op, const char *what)
{
	struct history_life *life;
	uint32_t i;

	for (life = h->life; life; life = life->next)
		for (i = 0; i < 2; i++)
			if (op >= life->end[i].ops &&
			    op < life->end[i].ops + HISTORY_OPS) {
				history_fail(h, &life->end[i],
					     (uint32_t)(op - life->end[i].ops),
					     what);
				return;
			}
	(void)words;
}

/*
 * Those before @op in time have found less, and what it found without anyone
 * having that result was added by requests without a result.
 */
static const char *add_flaw(const struct history_words *words,
			    const struct history_op *op)
{
	uint32_t below = 0, unknown = 0, i;
	const struct history_op *other;

	for (i = 0; i < words->count; i++) {
		other = words->op[i];
		if (other->kind != HISTORY_ADD || other == op)
			continue;
		if (!known(other)) {
			unknown += other->begin < op->end;
			continue;
		}
		below += other->original < op->original;
		if (other->original == op->original)
			return "two additions found the same";
		if (other->end < op->begin && other->original > op->original)
			return "an addition found less than an earlier one";
	}
	if (op->original < below || op->original - below > unknown)
		return "an addition found what was not added";
	return NULL;
}

static void adds_check(struct history *h, const struct history_words *words)
{
	uint64_t done = 0, unknown = 0;
	const struct history_op *op = NULL, *last = NULL;
	const char *flaw;
	uint32_t i;

	for (i = 0; i < words->count; i++) {
		op = words->op[i];
		if (op->kind != HISTORY_ADD)
			continue;
		last = op;
		done += known(op);
		unknown += !known(op);
		flaw = known(op) ? add_flaw(words, op) : NULL;
		if (flaw)
			fail(h, words, op, flaw);
	}
	if (last && (words->word[0] < done ||
		     words->word[0] > done + unknown))
		fail(h, words, last, "the sum is not that of the additions");
}

/* Has someone found @value, or is it there at the end? */
static bool seen(const struct history_words *words, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < words->count; i++)
		if (words->op[i]->kind == HISTORY_SWAP && known(words->op[i]) &&
		    words->op[i]->original == value)
			return true;
	return words->word[1] == value;
}

/* The swap that replaced @value, as its result or another's shows. */
static struct history_op *replaced(const struct history_words *words,
				   uint64_t value, bool *twice)
{
	struct history_op *ret = NULL, *op;
	uint32_t i;

	for (i = 0; i < words->count; i++) {
		op = words->op[i];
		if (op->kind != HISTORY_SWAP || op->compare != value)
			continue;
		if (known(op) ? op->original != value : !seen(words, op->swap))
			continue;
		*twice = *twice || ret;
		ret = op;
	}
	return ret;
}

/* The place of a result in the chain of values; -1: it is not in it. */
static int place_of(struct history_op *const *chain, int length,
		    const struct history_op *op)
{
	int i;

	for (i = 0; i < length; i++)
		if (chain[i] == op)
			return 2 * i + 1;
	if (!known(op))
		return -1;
	if (!op->original)
		return op->compare ? 0 : -1;
	for (i = 0; i < length; i++)
		if (chain[i]->swap == op->original)
			return op->compare == op->original ? -1 : 2 * i + 2;
	return -1;
}

static void order_check(struct history *h, const struct history_words *words,
			struct history_op *const *chain, int length)
{
	int *place = malloc((words->count + 1) * sizeof(*place));
	const struct history_op *a, *b;
	uint32_t i, k;

	if (!place)
		abort();
	for (i = 0; i < words->count; i++) {
		place[i] = -1;
		if (words->op[i]->kind != HISTORY_SWAP)
			continue;
		place[i] = place_of(chain, length, words->op[i]);
		if (place[i] < 0 && known(words->op[i]))
			fail(h, words, words->op[i],
			     "a swap found what was not there");
	}
	for (i = 0; i < words->count; i++) {
		for (k = 0; k < words->count; k++) {
			a = words->op[i];
			b = words->op[k];
			if (place[i] >= 0 && place[k] >= 0 && a->end &&
			    !a->status && a->end < b->begin &&
			    place[i] > place[k])
				fail(h, words, b,
				     "a swap was executed before an earlier");
		}
	}
	free(place);
}

/*
 * Each value is swapped in once, so that it is known which swap replaced it:
 * that gives a chain, in which a swap that fails reads one value.
 */
static void swaps_check(struct history *h, const struct history_words *words)
{
	struct history_op **chain = calloc(words->count + 1, sizeof(*chain));
	struct history_op *op;
	uint64_t value = 0;
	bool twice = false;
	int length = 0;

	if (!chain)
		abort();
	while (length < (int)words->count &&
	       (op = replaced(words, value, &twice))) {
		chain[length++] = op;
		value = op->swap;
		if (twice)
			fail(h, words, op, "two swaps replaced one value");
	}
	if (words->count && value != words->word[1])
		fail(h, words, words->op[0], "the last value was not swapped");
	order_check(h, words, chain, length);
	free(chain);
}

void history_words_check(struct history *h, const struct history_words *words)
{
	adds_check(h, words);
	swaps_check(h, words);
}
