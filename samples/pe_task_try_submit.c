/* SPDX-License-Identifier: BSD-2-Clause */
/* pe_task_try_submit - submit until the queue is full, progress, go on. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

enum { COPIES = 16, LEN = 256 };
static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "t", "text", "TEXT", "a text", PIER_OPTION_STRING, 0, 1, 255, &text },
	{ 0 },
};
static char mem[1 + COPIES][LEN];	/* the text, and its copies */
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;
static struct pier_task *t[1 + COPIES];	/* that send */
static int done, full;	/* copies that have the text; how often */

static void got(struct pier_task *task, void *arg)
{
	done += pier_task_status(task) == 0 && !strcmp(arg, text);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME, "Try copies.",
				  .options = options };
	struct pier_rdma_config cfg = { sizeof(cfg), .conn_send_queue = 4 };
	struct pier_conn *a, *b;	/* the ends of one connection */
	struct pier_buf *src = NULL, *dst = NULL;
	const void *a_desc, *b_desc;
	size_t a_len, b_len;
	int i, err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	snprintf(mem[0], LEN, "%s", text);
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_rdma_configure(rdma, &cfg);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, mem, sizeof(mem), 0, &mmap);
	err = err ? err : pier_buf_inventory_create(2 * COPIES, &inv);
	err = err ? err : pier_rdma_export(rdma, &a_desc, &a_len, &a);
	err = err ? err : pier_rdma_export(rdma, &b_desc, &b_len, &b);
	err = err ? err : pier_rdma_connect(a, b_desc, b_len);
	err = err ? err : pier_rdma_connect(b, a_desc, a_len);
	err = err ? err : pier_conn_wait(a, 10000);
	for (i = 1; !err && i <= COPIES; i++, src = dst = NULL) {
		err = pier_buf_by_addr(inv, mmap, mem[i], LEN, &dst);
		err = err ? err : pier_buf_by_data(inv, mmap, mem, LEN, &src);
		err = err ? err : pier_rdma_receive(rdma, dst, got, mem[i]);
		err = err ? err : pier_rdma_task_send(a, src, &t[i]);
		while (!err && (err = pier_task_try_submit(t[i], 0)) == -EAGAIN)
			full += !(err = pier_pe_wait(pe, -1));
		pier_buf_put(dst);	/* the tasks hold them */
		pier_buf_put(src);
	}
	while (!err && pier_pe_inflight(pe))
		err = pier_pe_wait(pe, -1);
	while (i-- > 0)
		pier_task_free(t[i]);	/* it is done */
	if (err)
		fprintf(stderr, "pe_task_try_submit: %s\n", pier_last_error());
	else
		printf("full %d times\ncopied \"%s\" %d times\n", full,
		       mem[COPIES], done);
	pier_rdma_destroy(rdma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || done < COPIES ? 1 : 0;
}
