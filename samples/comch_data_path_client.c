/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_data_path_client - send a text to the consumer of a server. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT, *device, *address;
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to send", PIER_OPTION_STRING, 0, 1,
	  1 << 20, &text },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 0, 0, &address },
	{ 0 },
};
static struct pier_pe *pe;
static struct pier_buf *buf;
static struct pier_comch_producer *producer;
static char shown[4 * 4080 + 1];
static int status = 1;		/* of the text; 1: none yet */

static void sent(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static void greeted(struct pier_comch_conn *c, const void *m, size_t n, void *d)
{
	(void)c, (void)d;
	printf("received \"%s\"\n",
	       pier_text_escape(m, n, shown, sizeof(shown)));
}

static void added(struct pier_comch_conn *conn, uint32_t id, void *data)
{
	(void)data;
	if (producer || pier_comch_producer_create(conn, &producer) ||
	    pier_ctx_start(pier_comch_producer_ctx(producer), pe) ||
	    pier_comch_produce(producer, buf, NULL, 0, id, sent, &status))
		status = -1;
}

int main(int argc, char *argv[])
{
	struct pier_args args = { .size = sizeof(args), .options = options };
	struct pier_dev *dev = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_comch *comch = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_mmap_map(dev, (char *)text, strlen(text), PIER_LOCAL_READ,
			    &mmap) ?: pier_buf_inventory_create(1, &inv) ?:
	      pier_buf_whole(inv, mmap, &buf) ?: pier_comch_create_client(
		      dev, "comch_data_path_sample_server", address, &comch) ?:
	      pier_comch_set_callbacks(comch, NULL, NULL, greeted, NULL) ?:
	      pier_comch_set_consumer_callbacks(comch, added, NULL) ?:
	      pier_ctx_start(pier_comch_ctx(comch), pe);
	while ((!err || err == -EINPROGRESS) && status > 0 &&
	       pier_ctx_state(pier_comch_ctx(comch)) != PIER_CTX_IDLE)
		err = pier_pe_wait(pe, -1);
	if (err || status)
		fprintf(stderr, "comch_data_path_client: %s\n",
			pier_last_error());
	else
		printf("sent \"%s\"\n", text);
	pier_comch_producer_destroy(producer);
	pier_comch_destroy(comch);
	pier_buf_put(buf);
	pier_mmap_destroy(mmap);
	pier_buf_inventory_destroy(inv);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || status ? 1 : 0;
}
