/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of a DMA context beside memcpy(), in turns within one process: the
 * figure is the median of the turns' ratios, with the least and the most.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/target.h"

#define TURNS 21
#define LARGE (64u << 20)
#define BATCH 32
#define SMALL 8
#define SMALL_ROUNDS 2000

static struct pier_pe *pe;
static struct pier_dma *dma;
static struct pier_mmap *from, *to;
static struct pier_buf_inventory *inv;
static char *src, *dst;

static void open_all(void)
{
	struct pier_dev *dev;

	src = malloc(LARGE);
	dst = malloc(LARGE);
	if (!src || !dst)
		proc_die("dma: no memory");
	memset(src, 1, LARGE);
	memset(dst, 2, LARGE);
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_dma_ctx(dma), pe));
	must(pier_mmap_map(dev, src, LARGE, PIER_LOCAL_READ, &from));
	must(pier_mmap_map(dev, dst, LARGE, PIER_LOCAL_WRITE, &to));
	must(pier_buf_inventory_create(2 * BATCH, &inv));
}

/* A task that copies, with its buffers. */
struct own_copy {
	struct pier_task *task;
	struct pier_buf *data, *tail;
};

static void make(struct own_copy *copy, size_t at, size_t len)
{
	must(pier_buf_by_data(inv, from, src + at, len, &copy->data));
	must(pier_buf_by_addr(inv, to, dst + at, len, &copy->tail));
	must(pier_dma_task_copy(dma, copy->data, copy->tail, &copy->task));
}

static void unmake(struct own_copy *copy)
{
	pier_task_free(copy->task);
	pier_buf_put(copy->data);
	pier_buf_put(copy->tail);
}

static void copied(struct pier_task *task, void *arg)
{
	must(pier_task_status(task));
	++*(int *)arg;
}

/* Microseconds of @n copies, one at a time. */
static double large_ours(const struct own_copy *copy, int n)
{
	double start = proc_now();
	int count = 0;

	pier_task_set_done(copy->task, copied, &count);
	while (count < n) {
		pier_buf_reset(copy->tail);
		must(pier_task_submit(copy->task, 0));
		must(pier_pe_progress(pe, 0));
	}
	return proc_now() - start;
}

/* Not to be left out, nor to be merged, by the compiler. */
static void *(*volatile copy_fn)(void *, const void *, size_t) = memcpy;

static double large_bare(size_t len, int n)
{
	double start = proc_now();

	while (n--)
		copy_fn(dst, src, len);
	return proc_now() - start;
}

static void measure_large(size_t len)
{
	int n = (int)(4 * (LARGE / len));
	double ratio[TURNS], median;
	struct own_copy copy;

	make(&copy, 0, len);
	for (int i = -1; i < TURNS; i++) {	/* the first is not counted */
		double bare = large_bare(len, n);

		ratio[i < 0 ? 0 : i] = bare / large_ours(&copy, n);
	}
	unmake(&copy);
	median = proc_median(ratio, TURNS);
	bench_judge(median >= 0.9, "copies of %zu MiB: %.3f (%.3f to %.3f) of "
		    "memcpy, at least 0.9", len >> 20, median, ratio[0],
		    ratio[TURNS - 1]);
}

/* Nanoseconds of an 8-byte copy, in batches. */
static double small_ours(const struct own_copy *copy)
{
	double start = proc_now();
	int count = 0;

	for (int j = 0; j < BATCH; j++)
		pier_task_set_done(copy[j].task, copied, &count);
	for (int i = 0; i < SMALL_ROUNDS; i++) {
		for (int j = 0; j < BATCH; j++) {
			pier_buf_reset(copy[j].tail);
			must(pier_task_submit(copy[j].task, 0));
		}
		must(pier_pe_progress(pe, 0));
	}
	if (count != BATCH * SMALL_ROUNDS)
		proc_die("dma: %d copies are complete", count);
	return (proc_now() - start) * 1e3 / count;
}

static double small_bare(void)
{
	double start = proc_now();

	for (int i = 0; i < BATCH * SMALL_ROUNDS; i++)
		copy_fn(dst + i % BATCH * SMALL, src + i % BATCH * SMALL,
			SMALL);
	return (proc_now() - start) * 1e3 / (BATCH * SMALL_ROUNDS);
}

static void measure_small(void)
{
	struct own_copy copy[BATCH];
	double ours[TURNS], bare[TURNS], median;

	for (int j = 0; j < BATCH; j++)
		make(&copy[j], (size_t)j * SMALL, SMALL);
	for (int i = -1; i < TURNS; i++) {
		bare[i < 0 ? 0 : i] = small_bare();
		ours[i < 0 ? 0 : i] = small_ours(copy);
	}
	median = proc_median(ours, TURNS);
	bench_judge(median <= 300, "8-byte copies, batched by %d: %.0f ns "
		    "(%.0f to %.0f) beside %.1f of memcpy, at most 300", BATCH,
		    median, ours[0], ours[TURNS - 1],
		    proc_median(bare, TURNS));
}

int main(void)
{
	bench_begin(5);
	open_all();
	for (size_t len = 1u << 20; len <= LARGE; len *= 4)
		measure_large(len);
	measure_small();
	return bench_status();
}
