/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_data_path_server - greet a client, and receive by a consumer. */
#include <stdio.h>
#include <string.h>
#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT, *device, *rep_name;
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci", "REP", "the representor, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &rep_name },
	{ "t", "text", "TEXT", "the text to greet the client with",
	  PIER_OPTION_STRING, 0, 1, 4080, &text },
	{ 0 },
};
static struct pier_pe *pe;
static struct pier_mmap *mmap;
static struct pier_comch_consumer *consumer;
static char shown[4 << 20];
static int pending = 2;		/* tasks; below 0: one has failed */

static void done(struct pier_task *task, void *arg)
{
	(void)arg;
	pending = pier_task_status(task) ? -1 : pending - 1;
}

static void connected(struct pier_comch_conn *c, void *data)
{
	(void)data;
	if (consumer || pier_comch_consumer_create(c, mmap, &consumer))
		return;			/* one client at a time */
	pending = pier_comch_send(c, text, strlen(text), done, NULL) ? -1 : 2;
	pier_ctx_start(pier_comch_consumer_ctx(consumer), pe);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { .size = sizeof(args), .options = options };
	struct pier_dev *dev = NULL;
	struct pier_rep *rep = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *buf = NULL;
	struct pier_comch *comch = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev) ?: pier_pe_create(&pe) ?:
	      (rep_name ? pier_rep_open_by_name(dev, rep_name, &rep) : 0) ?:
	      pier_mmap_alloc(dev, 1 << 20, NULL, &mmap) ?:
	      pier_buf_inventory_create(1, &inv) ?:
	      pier_buf_empty(inv, mmap, &buf) ?: pier_comch_create_server(
		      dev, rep, "comch_data_path_sample_server", &comch) ?:
	      pier_comch_set_callbacks(comch, connected, NULL, NULL, NULL) ?:
	      pier_ctx_start(pier_comch_ctx(comch), pe);
	while (!err && (!consumer || PIER_CTX_STARTING ==
			pier_ctx_state(pier_comch_consumer_ctx(consumer))))
		err = pier_pe_wait(pe, -1);
	err = err ? err : pier_comch_receive(consumer, buf, done, NULL);
	while (!err && pending > 0)
		err = pier_pe_wait(pe, -1);
	if (err || pending)
		fprintf(stderr, "comch_data_path_server: %s\n",
			pier_last_error());
	else
		printf("sent \"%s\"\nreceived \"%s\"\n", text, pier_text_escape(
			pier_buf_data(buf), pier_buf_data_len(buf), shown,
			sizeof(shown)));
	pier_comch_consumer_destroy(consumer);
	pier_comch_destroy(comch);
	pier_buf_put(buf);
	pier_mmap_destroy(mmap);
	pier_buf_inventory_destroy(inv);
	pier_rep_close(rep);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || pending ? 1 : 0;
}
