/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_write_immediate_responder - print a text that comes with a number. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

struct result {
	int status;
	uint32_t len;	/* bytes written; 0: none with an immediate */
	uint32_t imm;
};

static void receive_done(struct pier_task *task, void *arg)
{
	struct result *result = arg;

	result->status = pier_task_status(task);
	if (result->status || pier_recv_opcode(task) != PIER_RECV_WRITE_IMM)
		return;
	result->len = pier_recv_len(task);
	result->imm = ntohl(pier_recv_imm(task));
}

int main(int argc, char *argv[])
{
	static char memory[4096], shown[4 * 4096];
	struct result result = { .status = -EINPROGRESS };
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Let the peer write a text with a number, and print both.";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */

	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory),
					PIER_REMOTE_WRITE, &mmap);
	if (!err)	/* before a peer can write; the text is in memory */
		err = pier_rdma_receive(rdma, NULL, receive_done, &result);
	err = err ? err : pier_rendezvous(rdma, &args, mmap, &conn, NULL);
	err = err ? err : pier_rendezvous_serve(conn);
	err = err ? err : pier_mmap_stop(mmap);
	if (!err && result.status != -EINPROGRESS)
		err = result.status;

	/* No peer can write any more, also if Enter ended the service. */
	if (err) {
		fprintf(stderr, "rdma_write_immediate_responder: %s\n",
			pier_last_error());
	} else if (!result.len || !memory[0] ||
		   !memchr(memory, '\0', sizeof(memory))) {
		fputs("rdma_write_immediate_responder: the peer has written no "
		      "text with an immediate\n", stderr);
		err = -EBADMSG;
	} else {
		pier_text_escape(memory, strlen(memory), shown, sizeof(shown));
		printf("the peer has written \"%s\" with immediate %u\n",
		       shown, result.imm);
	}

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
