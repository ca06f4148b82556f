/* SPDX-License-Identifier: BSD-2-Clause */
/* graph - digest and copy a text at the same time, and then compare. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = { { "t", "text", "TEXT", "a text",
	PIER_OPTION_STRING, 0, 1, 255, &text }, { 0 } };
static struct { char text[256], copy[256], digest[32]; } mem;
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_sha *sha;
static struct pier_dma *dma;
static struct pier_graph *graph;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;
static struct pier_buf *b[3];
static struct pier_task *task[3];

static int compare(void *arg)
{
	for (size_t i = 0; i < sizeof(mem.digest); i++)
		printf("%02x", (unsigned char)mem.digest[i]);
	printf(" %s\n", (char *)arg);
	return strcmp(arg, mem.text) ? -EILSEQ : 0;
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME,
				  "Digest, copy a text.", .options = options };
	struct pier_graph_node *n[3];
	int e = pier_args_parse(&args, argc, argv);
	size_t len = (size_t)snprintf(mem.text, 256, "%s", text);

	if (e)
		return pier_args_exit(e);	/* help, or a usage error */
	e = pier_dev_open(args.device, &dev);
	e = e ? e : pier_pe_create(&pe);
	e = e ? e : pier_sha_create(&sha);
	e = e ? e : pier_dma_create(dev, &dma);
	e = e ? e : pier_ctx_start(pier_sha_ctx(sha), pe);
	e = e ? e : pier_ctx_start(pier_dma_ctx(dma), pe);
	e = e ? e : pier_mmap_map(dev, &mem, sizeof(mem), 0, &mmap);
	e = e ? e : pier_buf_inventory_create(3, &inv);
	e = e ? e : pier_buf_by_data(inv, mmap, mem.text, len, &b[0]);
	e = e ? e : pier_buf_by_addr(inv, mmap, mem.digest, 32, &b[1]);
	e = e ? e : pier_buf_by_addr(inv, mmap, mem.copy, 256, &b[2]);
	e = e ? e : pier_graph_create(&graph);
	e = e ? e : pier_graph_add_ctx(graph, pier_sha_ctx(sha), &n[0]);
	e = e ? e : pier_graph_add_ctx(graph, pier_dma_ctx(dma), &n[1]);
	e = e ? e : pier_graph_add_user(graph, compare, &n[2]);
	e = e ? e : pier_graph_add_dependency(graph, n[0], n[2]);
	e = e ? e : pier_graph_add_dependency(graph, n[1], n[2]);
	e = e ? e : pier_ctx_start(pier_graph_ctx(graph), pe);
	e = e ? e : pier_sha_task_hash(sha, PIER_SHA_256, b[0], b[1], &task[0]);
	e = e ? e : pier_dma_task_copy(dma, b[0], b[2], &task[1]);
	e = e ? e : pier_graph_task(graph, &task[2]);
	e = e ? e : pier_graph_task_set_task(task[2], n[0], task[0]);
	e = e ? e : pier_graph_task_set_task(task[2], n[1], task[1]);
	e = e ? e : pier_graph_task_set_arg(task[2], n[2], mem.copy);
	e = e ? e : pier_task_submit(task[2], 0);
	while (!e && (e = pier_task_status(task[2])) == -EINPROGRESS)
		e = pier_pe_wait(pe, -1);
	if (e)
		fprintf(stderr, "graph: %s\n", pier_last_error());
	for (int i = 3; i--; pier_buf_put(b[i]))
		pier_task_free(task[i]);
	pier_graph_destroy(graph);
	pier_sha_destroy(sha);
	pier_dma_destroy(dma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return e ? 1 : 0;
}
