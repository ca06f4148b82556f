/* SPDX-License-Identifier: BSD-2-Clause */
/* pe_threads - an engine in each of several threads, on one device. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

#define THREADS 4
#define LEN 256

static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "t", "text", "TEXT", "a text", PIER_OPTION_STRING, 0, 1, 255, &text },
	{ 0 },
};
static char memory[1 + THREADS][LEN];	/* the text, and its copies */
static struct pier_dev *dev;		/* of all threads, as is mmap */
static struct pier_mmap *mmap;

static void copied(struct pier_task *task, void *arg)
{
	*(int *)arg += pier_task_status(task) == 0;
}

/* Copy the text to @arg.  Returns @arg; NULL: it has failed. */
static void *work(void *arg)
{
	struct pier_pe *pe = NULL;
	struct pier_dma *dma = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *src = NULL, *dst = NULL;
	int err = pier_pe_create(&pe), done = 0;

	err = err ? err : pier_dma_create(dev, &dma);
	err = err ? err : pier_ctx_start(pier_dma_ctx(dma), pe);
	err = err ? err : pier_buf_inventory_create(2, &inv);
	err = err ? err : pier_buf_by_data(inv, mmap, memory[0], LEN, &src);
	err = err ? err : pier_buf_by_addr(inv, mmap, arg, LEN, &dst);
	err = err ? err : pier_dma_copy(dma, src, dst, copied, &done);
	while (!err && pier_pe_inflight(pe))
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "pe_threads: %s\n", pier_last_error());
	pier_dma_destroy(dma);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_pe_destroy(pe);
	return done && !strcmp(arg, text) ? arg : NULL;
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME,
				  "Copy a text in each of several threads.",
				  .options = options };
	pthread_t threads[THREADS];
	int i, n, done = 0, err = pier_args_parse(&args, argc, argv);
	void *copy;

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	snprintf(memory[0], LEN, "%s", text);
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory), 0, &mmap);
	if (err)
		fprintf(stderr, "pe_threads: %s\n", pier_last_error());
	for (n = 0; !err && n < THREADS; n += !err)
		err = pthread_create(&threads[n], NULL, work, memory[n + 1]);
	for (i = 0; i < n; i++)
		done += !pthread_join(threads[i], &copy) && copy;
	if (done == THREADS)
		printf("copied \"%s\" %d times\n", memory[THREADS], done);
	else
		fprintf(stderr, "pe_threads: %d of %d\n", done, THREADS);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return done < THREADS ? 1 : 0;
}
