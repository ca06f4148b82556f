/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A digest and copies of 64 MiB: each alone, and as nodes of one graph.  What
 * all take together is compared with the sum of what each takes, in turns; the
 * figure is the median of the turns' ratios.  It cannot be less than the share
 * of the longer one, which is most of the sum for one copy into memory that is
 * in use.  So the targets are those of one copy into fresh memory, whose pages
 * the kernel has to provide meanwhile, and of as many copies into memory in
 * use, one after the other, as take about as long as the digest.  SHA-512 takes
 * twice the time of a copy into fresh memory: that is printed only.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/target.h"

#define TURNS 15
#define LEN (64u << 20)
#define COPIES_MAX 16

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_sha *sha;
static struct pier_dma *dma;
static struct pier_buf_inventory *inv;
static struct pier_mmap *to;
static struct pier_buf *src, *sum;

/* A digest, and copies of which each waits for the one before it. */
struct bench {
	struct pier_graph *graph;
	struct pier_graph_node *hash_node, *copy_node[COPIES_MAX];
	struct pier_task *copy[COPIES_MAX];
	struct pier_buf *dst[COPIES_MAX];
	int copies;
	bool fresh;		/* the memory that is copied into */
};

static struct pier_mmap *map(size_t len)
{
	struct pier_mmap *mmap;
	void *memory = malloc(len);

	if (!memory)
		proc_die("graph: no memory");
	memset(memory, 1, len);
	must(pier_mmap_map(dev, memory, len, 0, &mmap));
	return mmap;
}

static void open_all(void)
{
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	must(pier_sha_create(&sha));
	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_sha_ctx(sha), pe));
	must(pier_ctx_start(pier_dma_ctx(dma), pe));
	must(pier_buf_inventory_create(4 + COPIES_MAX, &inv));
	must(pier_buf_whole(inv, map(LEN), &src));
	must(pier_buf_empty(inv, map(PIER_SHA_DIGEST_MAX), &sum));
	must(pier_mmap_alloc(dev, LEN, NULL, &to));
}

static void add_copy(struct bench *bench, int i)
{
	must(pier_buf_empty(inv, to, &bench->dst[i]));
	must(pier_dma_task_copy(dma, src, bench->dst[i], &bench->copy[i]));
	must(pier_graph_add_ctx(bench->graph, pier_dma_ctx(dma),
				&bench->copy_node[i]));
	if (i)
		must(pier_graph_add_dependency(bench->graph,
					       bench->copy_node[i - 1],
					       bench->copy_node[i]));
}

static void bench_create(struct bench *bench, int copies, bool fresh)
{
	must(pier_graph_create(&bench->graph));
	must(pier_graph_add_ctx(bench->graph, pier_sha_ctx(sha),
				&bench->hash_node));
	for (int i = 0; i < copies; i++)
		add_copy(bench, i);
	bench->copies = copies;
	bench->fresh = fresh;
	must(pier_ctx_start(pier_graph_ctx(bench->graph), pe));
}

static void bench_destroy(struct bench *bench)
{
	pier_graph_destroy(bench->graph);
	for (int i = 0; i < bench->copies; i++) {
		pier_task_free(bench->copy[i]);
		pier_buf_put(bench->dst[i]);
	}
}

/* Buffers are empty, and fresh memory has no pages. */
static void prepare(struct bench *bench)
{
	for (int i = 0; i < bench->copies; i++)
		pier_buf_reset(bench->dst[i]);
	pier_buf_reset(sum);
	if (bench->fresh && madvise(pier_mmap_addr(to), LEN, MADV_DONTNEED))
		proc_die("graph: madvise: %s", strerror(errno));
}

/* Microseconds of @task until it is complete. */
static double take(struct bench *bench, struct pier_task *task)
{
	double start;

	prepare(bench);
	start = proc_now();
	must(pier_task_submit(task, 0));
	while (pier_task_status(task) == -EINPROGRESS)
		must(pier_pe_wait(pe, -1));
	must(pier_task_status(task));
	return proc_now() - start;
}

static double take_copies(struct bench *bench)
{
	double sum_us = 0;

	for (int i = 0; i < bench->copies; i++)
		sum_us += take(bench, bench->copy[i]);
	return sum_us;
}

/* The text for the memory that @bench copies into. */
static const char *memory_of(const struct bench *bench)
{
	return bench->fresh ? "fresh memory" : "memory in use";
}

/* What the graph takes of the sum of its nodes: the median of the ratios. */
static double measure(struct bench *bench, struct pier_task *hash,
		      const char *name, double ratio[TURNS])
{
	double t_hash = 0, t_copy = 0, t_both = 0;
	struct pier_task *both;

	must(pier_graph_task(bench->graph, &both));
	must(pier_graph_task_set_task(both, bench->hash_node, hash));
	for (int i = 0; i < bench->copies; i++)
		must(pier_graph_task_set_task(both, bench->copy_node[i],
					      bench->copy[i]));
	take(bench, both);
	for (int i = 0; i < TURNS; i++) {
		double alone[2] = { take(bench, hash), take_copies(bench) };
		double together = take(bench, both);

		ratio[i] = together / (alone[0] + alone[1]);
		t_hash += alone[0] / TURNS / 1e3;
		t_copy += alone[1] / TURNS / 1e3;
		t_both += together / TURNS / 1e3;
	}
	pier_task_free(both);
	printf("# %s and %d x copy into %s: on average %.0f ms, alone %.0f "
	       "and %.0f ms: not less than %.2f\n", name, bench->copies,
	       memory_of(bench), t_both, t_hash, t_copy,
	       (t_hash > t_copy ? t_hash : t_copy) / (t_hash + t_copy));
	return proc_median(ratio, TURNS);
}

/* How many copies take about as long as @hash. */
static int copies_beside(struct bench *bench, struct pier_task *hash)
{
	double best[2] = { 1e12, 1e12 };
	int count;

	for (int i = 0; i < 5; i++) {
		double us[2] = { take(bench, hash), take_copies(bench) };

		for (int j = 0; j < 2; j++)
			best[j] = us[j] < best[j] ? us[j] : best[j];
	}
	count = (int)(best[0] / best[1] + 0.5);
	return count < 1 ? 1 : count > COPIES_MAX ? COPIES_MAX : count;
}

#define OF_SUM "%s and %d x copy of 64 MiB into %s, of their sum: " \
	       "%.2f (%.2f to %.2f)"

static void judge(struct bench *bench, struct pier_task *hash,
		  const char *name)
{
	double ratio[TURNS], median = measure(bench, hash, name, ratio);

	bench_judge(median <= 0.7, OF_SUM ", at most 0.7", name, bench->copies,
		    memory_of(bench), median, ratio[0], ratio[TURNS - 1]);
}

static void print(struct bench *bench, struct pier_task *hash,
		  const char *name)
{
	double ratio[TURNS], median = measure(bench, hash, name, ratio);

	printf(OF_SUM ": no aim\n", name, bench->copies, memory_of(bench),
	       median, ratio[0], ratio[TURNS - 1]);
}

static void compare(enum pier_sha_algorithm algorithm, const char *name)
{
	struct bench fresh = { 0 }, pair = { 0 }, even = { 0 };
	struct pier_task *hash;

	must(pier_sha_task_hash(sha, algorithm, src, sum, &hash));
	bench_create(&fresh, 1, true);
	if (algorithm == PIER_SHA_512)
		print(&fresh, hash, name);
	else
		judge(&fresh, hash, name);
	bench_create(&pair, 1, false);
	print(&pair, hash, name);
	bench_create(&even, copies_beside(&pair, hash), false);
	judge(&even, hash, name);
	bench_destroy(&even);
	bench_destroy(&pair);
	bench_destroy(&fresh);
	pier_task_free(hash);
}

int main(void)
{
	static const char *const names[] = { "SHA-1", "SHA-256", "SHA-512" };

	bench_begin(5);
	open_all();
	for (int i = 0; i < 3; i++)
		compare(i, names[i]);
	return bench_status();
}
