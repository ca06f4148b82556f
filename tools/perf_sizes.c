/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "perf.h"

/* Which sizes are measured, one after the other. */

#define SWEEP_MAX (UINT64_C(8) << 20)

/* The size that @text begins with; 0: none. */
static uint64_t number(const char *text, const char **ret_end)
{
	static const char units[] = "KMG";
	uint64_t value;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || value > PERF_SIZE_MAX)
		return 0;
	for (int i = 0; units[i]; i++)
		if (*end == units[i]) {
			value <<= 10 * (i + 1);
			end++;
			break;
		}
	*ret_end = end;
	return value > PERF_SIZE_MAX ? 0 : value;
}

static int parse_list(struct perf_options *opts)
{
	const char *text = opts->size_list;
	uint64_t size;

	do {
		size = number(text, &text);
		if (!size || (*text && *text != ',') ||
		    opts->size_count == PERF_SIZES_MAX) {
			tool_message("pier perf: --sizes \"%s\": up to %d "
				     "sizes from 1 to 2G with \",\" between "
				     "them, as 64,4K,1M", opts->size_list,
				     PERF_SIZES_MAX);
			return 2;
		}
		opts->sizes[opts->size_count++] = size;
	} while (*text++ == ',');
	return 0;
}

/* The largest message that the operation has. */
static uint64_t limit_of(const struct perf *perf)
{
	return perf_is_channel(perf) ? PIER_COMCH_MESSAGE_MAX : PERF_SIZE_MAX;
}

/* The powers of two. */
static void sweep(struct perf_options *opts, uint64_t limit)
{
	if (limit > SWEEP_MAX)
		limit = SWEEP_MAX;
	for (uint64_t size = 1; size <= limit; size *= 2)
		opts->sizes[opts->size_count++] = size;
}

/* Of an operation that has one; else 0. */
static uint64_t fixed_size(const struct perf *perf)
{
	if (perf->opts.operation == PERF_CONNECT)
		return PERF_SPEC_SIZE;	/* its private data */
	return perf_is_atomic(perf) ? 8 : 0;
}

/* Set the size to the largest of all.  2: one is wrong, and was reported. */
static int take_largest(struct perf *perf)
{
	struct perf_options *opts = &perf->opts;

	for (int i = 0; i < opts->size_count; i++) {
		uint64_t size = opts->sizes[i];

		if (size < (uint64_t)opts->sge) {
			tool_message("pier perf: --sge %d: a size of %" PRIu64
				     " has fewer bytes", opts->sge, size);
			return 2;
		}
		if (size > limit_of(perf)) {
			tool_message("pier perf: %s: %" PRIu64 " bytes: a "
				     "message has at most %" PRIu64,
				     perf_operation_name(perf), size,
				     limit_of(perf));
			return 2;
		}
		if (size > opts->size)
			opts->size = size;
	}
	return 0;
}

int perf_sizes(struct perf *perf)
{
	struct perf_options *opts = &perf->opts;
	uint64_t fixed = fixed_size(perf);
	int err = 0;

	if (fixed) {
		if (opts->size_list || opts->all ||
		    (opts->size && opts->size != fixed)) {
			tool_message("pier perf: %s: its size is %" PRIu64
				     " bytes", perf_operation_name(perf),
				     fixed);
			return 2;
		}
		if (opts->sge > 1) {
			tool_message("pier perf: --sge %d: %s has one "
				     "piece", opts->sge,
				     perf_operation_name(perf));
			return 2;
		}
		opts->size = fixed;
	}
	if (!!opts->size + !!opts->size_list + !!opts->all > 1) {
		tool_message("pier perf: -s, --sizes and -a: give one of them");
		return 2;
	}
	if (opts->size_list)
		err = parse_list(opts);
	else if (opts->all)
		sweep(opts, limit_of(perf));
	else if (opts->size)
		opts->sizes[opts->size_count++] = opts->size;
	else
		opts->sizes[opts->size_count++] =
			opts->measure == PERF_LAT ? 64 : 65536;
	return err ? err : take_largest(perf);
}

uint64_t perf_iterations(const struct perf *perf)
{
	uint64_t count = PERF_ITERATIONS;

	if (perf->opts.iterations)
		return (uint64_t)perf->opts.iterations;
	if (perf->opts.seconds)
		return UINT64_MAX;
	if (count > PERF_BYTES / perf->size)
		count = PERF_BYTES / perf->size;
	return count < PERF_ITERATIONS_MIN ? PERF_ITERATIONS_MIN : count;
}
