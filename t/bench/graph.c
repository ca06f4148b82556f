/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A digest and a copy of 64 MiB: each alone, and both as nodes of one graph.
 * What both take together is compared with the sum of what each takes, in
 * turns; the figure is the median of the turns' ratios.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>

#include "bench/procs.h"

#define TURNS 15
#define LEN (64u << 20)

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_sha *sha;
static struct pier_dma *dma;
static struct pier_graph *graph;
static struct pier_buf *src, *dst, *sum;

static void must(int err)
{
	if (err < 0)
		proc_die("graph: %s", pier_last_error());
}

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

static void open_all(struct pier_graph_node *node[2])
{
	struct pier_buf_inventory *inv;

	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	must(pier_sha_create(&sha));
	must(pier_dma_create(dev, &dma));
	must(pier_ctx_start(pier_sha_ctx(sha), pe));
	must(pier_ctx_start(pier_dma_ctx(dma), pe));
	must(pier_buf_inventory_create(3, &inv));
	must(pier_buf_whole(inv, map(LEN), &src));
	must(pier_buf_empty(inv, map(LEN), &dst));
	must(pier_buf_empty(inv, map(PIER_SHA_DIGEST_MAX), &sum));
	must(pier_graph_create(&graph));
	must(pier_graph_add_ctx(graph, pier_sha_ctx(sha), &node[0]));
	must(pier_graph_add_ctx(graph, pier_dma_ctx(dma), &node[1]));
	must(pier_ctx_start(pier_graph_ctx(graph), pe));
}

/* Microseconds of @task until it is complete. */
static double take(struct pier_task *task)
{
	double start = proc_now();

	pier_buf_reset(dst);
	pier_buf_reset(sum);
	must(pier_task_submit(task, 0));
	while (pier_task_status(task) == -EINPROGRESS)
		must(pier_pe_wait(pe, -1));
	must(pier_task_status(task));
	return proc_now() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns whether the target is met. */
static int measure(struct pier_task *hash, struct pier_task *copy,
		   struct pier_task *both, const char *name)
{
	double ratio[TURNS], t_hash = 0, t_copy = 0, t_both = 0;
	int met;

	take(both);
	for (int i = 0; i < TURNS; i++) {
		double alone[2] = { take(hash), take(copy) };
		double together = take(both);

		ratio[i] = together / (alone[0] + alone[1]);
		t_hash += alone[0] / TURNS / 1e3;
		t_copy += alone[1] / TURNS / 1e3;
		t_both += together / TURNS / 1e3;
	}
	qsort(ratio, TURNS, sizeof(ratio[0]), by_value);
	met = ratio[TURNS / 2] <= 0.7;
	printf("%s and copy of 64 MiB, of their sum: %.2f (%.2f to %.2f), at "
	       "most 0.7: %s\n", name, ratio[TURNS / 2], ratio[0],
	       ratio[TURNS - 1], met ? "met" : "MISSED");
	printf("# on average %.0f ms, alone %.0f and %.0f ms: not less than "
	       "%.2f\n", t_both, t_hash, t_copy,
	       (t_hash > t_copy ? t_hash : t_copy) / (t_hash + t_copy));
	return met;
}

int main(void)
{
	static const char *const names[] = { "SHA-1", "SHA-256", "SHA-512" };
	struct pier_graph_node *node[2];
	struct pier_task *hash, *copy, *both;
	int met = 0;

	open_all(node);
	must(pier_dma_task_copy(dma, src, dst, &copy));
	must(pier_graph_task(graph, &both));
	must(pier_graph_task_set_task(both, node[1], copy));
	for (int i = 0; i < 3; i++) {
		must(pier_sha_task_hash(sha, i, src, sum, &hash));
		must(pier_graph_task_set_task(both, node[0], hash));
		met += measure(hash, copy, both, names[i]);
		pier_task_free(hash);
	}
	printf("targets: %d met, %d missed\n", met, 3 - met);
	return 0;
}
