/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_receive_immediate - receive a text and a number, and print them. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include <pier/pier.h>

struct result {
	int status;
	uint32_t len;	/* bytes of the message; 0: none with an immediate */
	uint32_t imm;
};

static void receive_done(struct pier_task *task, void *arg)
{
	struct result *result = arg;

	result->status = pier_task_status(task);
	if (result->status || pier_recv_opcode(task) != PIER_RECV_SEND_IMM)
		return;
	result->len = pier_recv_len(task);
	result->imm = ntohl(pier_recv_imm(task));
}

int main(int argc, char *argv[])
{
	static char text[256], shown[4 * 256];
	struct result result = { .status = -EINPROGRESS };
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_buf_inventory *inv = NULL;
	struct pier_buf *dst = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Receive a text and a number of rdma_send_immediate.";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */

	err = pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, text, sizeof(text),
					PIER_LOCAL_WRITE, &mmap);
	err = err ? err : pier_buf_inventory_create(1, &inv);
	err = err ? err : pier_buf_empty(inv, mmap, &dst);
	if (!err)	/* before a peer can send */
		err = pier_rdma_receive(rdma, dst, receive_done, &result);
	err = err ? err : pier_rendezvous(rdma, &args, NULL, &conn, NULL);
	err = err ? err : pier_rendezvous_serve(conn);
	if (!err && result.status != -EINPROGRESS)
		err = result.status;

	if (err) {
		fprintf(stderr, "rdma_receive_immediate: %s\n",
			pier_last_error());
	} else if (result.len < 2 || !text[0] || text[result.len - 1]) {
		fputs("rdma_receive_immediate: the peer has sent no text with "
		      "an immediate\n", stderr);
		err = -EBADMSG;
	} else {
		pier_text_escape(text, result.len - 1, shown, sizeof(shown));
		printf("received \"%s\" with immediate %u\n", shown,
		       result.imm);
	}

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_buf_put(dst);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
