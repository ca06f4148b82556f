/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_read_requester - read the text that rdma_read_responder exports. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

static char text[4096], shown[4 * 4096];
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_mmap *local, *remote;
static struct pier_buf_inventory *inv;
static struct pier_buf *src, *dst;
static struct pier_conn *conn;

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_task *task;
	int err;

	args.about = "Read the text that rdma_read_responder offers.";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */

	err = pier_dev_open(args.device, &dev);
	if (!err)
		err = pier_pe_create(&pe);
	if (!err)
		err = pier_rdma_create(dev, &rdma);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(rdma), pe);
	if (!err)
		err = pier_mmap_map(dev, text, sizeof(text), PIER_LOCAL_WRITE,
				    &local);
	if (!err)
		err = pier_rendezvous(rdma, &args, NULL, &conn, &remote);
	if (!err)
		err = pier_buf_inventory_create(2, &inv);
	if (!err)
		err = pier_buf_whole(inv, remote, &src); /* data: all of it */
	if (!err)
		err = pier_buf_empty(inv, local, &dst);	/* tail: all of it */
	if (!err)
		err = pier_rdma_task_read(conn, src, dst, &task);
	if (!err)
		err = pier_task_once(task, args.timeout_ms);

	if (err) {
		fprintf(stderr, "rdma_read_requester: %s\n", pier_last_error());
	} else if (!text[0] || !memchr(text, '\0', pier_buf_data_len(dst))) {
		fputs("rdma_read_requester: the peer's memory holds no text\n",
		      stderr);
		err = -EBADMSG;
	} else {
		printf("read \"%s\"\n",
		       pier_text_escape(text, strlen(text), shown,
					sizeof(shown)));
	}

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_buf_put(dst);
	pier_buf_put(src);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(local);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
