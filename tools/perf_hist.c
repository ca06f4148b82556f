/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "perf.h"

/*
 * A log-linear histogram: values below 128 have a bucket each, and each further
 * power of two is divided into 128.  So a value is known to 0.8 %, and counting
 * one is a few instructions.
 */
#define SUB_BITS 7
#define SUBS (1u << SUB_BITS)

static unsigned int index_of(uint64_t value)
{
	unsigned int exponent;

	if (value < SUBS)
		return (unsigned int)value;
	exponent = 63 - (unsigned int)__builtin_clzll(value);
	return (exponent - SUB_BITS + 1) * SUBS +
	       (unsigned int)(value >> (exponent - SUB_BITS)) % SUBS;
}

/* The largest value of bucket @index. */
static uint64_t value_of(unsigned int index)
{
	unsigned int shift;

	if (index < SUBS)
		return index;
	shift = index / SUBS - 1;
	return ((uint64_t)(SUBS + index % SUBS) << shift) +
	       ((UINT64_C(1) << shift) - 1);
}

void perf_hist_reset(struct perf_hist *hist)
{
	memset(hist, 0, sizeof(*hist));
	hist->min = UINT64_MAX;
}

void perf_hist_add(struct perf_hist *hist, uint64_t value)
{
	hist->count++;
	hist->sum += value;
	if (value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
	hist->buckets[index_of(value)]++;
}

uint64_t perf_hist_rank(const struct perf_hist *hist, uint64_t permille)
{
	uint64_t rank = (hist->count * permille + 999) / 1000, seen = 0, value;
	unsigned int i;

	for (i = 0; i < PERF_BUCKETS - 1; i++) {
		seen += hist->buckets[i];
		if (seen >= rank)
			break;
	}
	value = value_of(i);
	return value < hist->max ? value : hist->max;
}
