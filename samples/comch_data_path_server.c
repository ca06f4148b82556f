/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_data_path_server - have a consumer, and print what it receives. */
#include <stdio.h>
#include <pier/pier.h>

static const char *device;
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ 0 },
};
static struct pier_pe *pe;
static struct pier_mmap *mmap;
static struct pier_buf *buf;
static struct pier_comch_consumer *consumer;
static char shown[4 << 20];
static int ended, status = -1;		/* of the receive */

static void received(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
	pier_ctx_stop(pier_task_ctx(task));
}

static void changed(struct pier_ctx *ctx, enum pier_ctx_state prev,
		    enum pier_ctx_state next, void *data)
{
	(void)prev, (void)data;
	if (next == PIER_CTX_RUNNING &&
	    pier_comch_receive(consumer, buf, received, &status))
		pier_ctx_stop(ctx);
	ended = next == PIER_CTX_IDLE;
}

static void connected(struct pier_comch_conn *conn, void *data)
{
	(void)data;
	if (consumer || pier_comch_consumer_create(conn, mmap, &consumer))
		return;			/* one client at a time */
	pier_ctx_set_state_changed(pier_comch_consumer_ctx(consumer), changed);
	pier_ctx_start(pier_comch_consumer_ctx(consumer), pe);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { .size = sizeof(args), .options = options };
	struct pier_dev *dev = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_comch *comch = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_mmap_alloc(dev, 1 << 20, NULL, &mmap) ?:
	      pier_buf_inventory_create(1, &inv) ?:
	      pier_buf_empty(inv, mmap, &buf) ?:
	      pier_comch_create_server(dev, NULL,
				       "comch_data_path_sample_server",
				       &comch) ?:
	      pier_comch_set_callbacks(comch, connected, NULL, NULL, NULL) ?:
	      pier_ctx_start(pier_comch_ctx(comch), pe);
	while (!err && !ended)
		err = pier_pe_wait(pe, -1);
	if (err || status)
		fprintf(stderr, "comch_data_path_server: %s\n",
			pier_last_error());
	else
		printf("received \"%s\"\n", pier_text_escape(
			pier_buf_data(buf), pier_buf_data_len(buf), shown,
			sizeof(shown)));
	pier_comch_consumer_destroy(consumer);
	pier_comch_destroy(comch);
	pier_buf_put(buf);
	pier_mmap_destroy(mmap);
	pier_buf_inventory_destroy(inv);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || status ? 1 : 0;
}
