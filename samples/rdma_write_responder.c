/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_write_responder - let the peer write into memory, and print it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

int main(int argc, char *argv[])
{
	static char memory[4096], shown[4 * 4096];
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Let rdma_write_requester write a text, and print it.";
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
		err = pier_mmap_map(dev, memory, sizeof(memory),
				    PIER_REMOTE_WRITE, &mmap);
	if (!err)
		err = pier_rendezvous(rdma, &args, mmap, &conn, NULL);
	if (!err)
		err = pier_rendezvous_serve(conn);
	if (!err)
		err = pier_mmap_stop(mmap);

	/* No peer can write any more, also if Enter ended the service. */
	if (err) {
		fprintf(stderr, "rdma_write_responder: %s\n",
			pier_last_error());
	} else if (!memory[0] || !memchr(memory, '\0', sizeof(memory))) {
		fputs("rdma_write_responder: the peer has written no text\n",
		      stderr);
		err = -EBADMSG;
	} else {
		pier_text_escape(memory, strlen(memory), shown, sizeof(shown));
		printf("the peer has written \"%s\"\n", shown);
	}

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
