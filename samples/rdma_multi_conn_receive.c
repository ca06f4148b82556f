/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_multi_conn_receive - receive a text on each of several connections. */
#include <stdio.h>

#include <pier/pier.h>

#define CONNS_MAX 64

static int count = 1;
static const struct pier_option options[] = {
	{ "nc", "num-connections", "N", "connections to make; default 1",
	  PIER_OPTION_INT, 0, 1, CONNS_MAX, &count },
	{ 0 },
};
static char texts[CONNS_MAX][256], shown[4 * 256];
static int received;

static void receive_done(struct pier_task *task, void *arg)
{
	const char *text = arg;
	uint32_t len = pier_task_status(task) ? 0 : pier_recv_len(task);

	if (len < 2 || text[len - 1])
		return;
	received++;
	pier_text_escape(text, len - 1, shown, sizeof(shown));
	printf("received \"%s\"\n", shown);
}

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_conn *conns[CONNS_MAX] = { NULL };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *dst[CONNS_MAX] = { NULL };
	int i, err;

	args.about = "Receive a text on each of several connections.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, texts, sizeof(texts),
					PIER_LOCAL_WRITE, &mmap);
	err = err ? err : pier_buf_inventory_create(CONNS_MAX, &inv);
	for (i = 0; !err && i < count; i++) {
		err = pier_buf_by_addr(inv, mmap, texts[i], 256, &dst[i]);
		err = err ? err : pier_rdma_receive(rdma, dst[i], receive_done,
						    texts[i]);
	}
	err = err ? err : pier_rendezvous_many(rdma, &args,
					       (unsigned int)count, conns);
	/* senders disconnect first: an acknowledgement can be lost */
	err = err ? err : pier_rendezvous_serve_many(conns,
						     (unsigned int)count);
	if (err)
		fprintf(stderr, "rdma_multi_conn_receive: %s\n",
			pier_last_error());
	else if (received < count)
		fprintf(stderr, "rdma_multi_conn_receive: %d of %d texts "
			"came\n", received, count);
	for (i = 0; i < count; i++)
		pier_conn_disconnect(conns[i]);
	pier_rdma_destroy(rdma);
	while (i-- > 0)
		pier_buf_put(dst[i]);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || received < count ? 1 : 0;
}
