/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_read_responder - offer a text in memory that the peer may read. */
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT;
static const struct pier_option options[] = {
	{ "r", "read-string", "TEXT", "the text to offer", PIER_OPTION_STRING,
	  0, 1, 255, &text },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static char memory[4096];
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_conn *conn = NULL;
	size_t len;
	int err;

	args.about = "Offer a text for rdma_read_requester to read.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */

	/* The peer can read the text and its NUL, and nothing else. */
	len = (size_t)snprintf(memory, sizeof(memory), "%s", text) + 1;

	err = pier_dev_open(args.device, &dev);
	if (!err)
		err = pier_pe_create(&pe);
	if (!err)
		err = pier_rdma_create(dev, &rdma);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(rdma), pe);
	if (!err)
		err = pier_mmap_map(dev, memory, len, PIER_REMOTE_READ, &mmap);
	if (!err)
		printf("offering \"%s\"\n", memory);
	fflush(stdout);
	if (!err)
		err = pier_rendezvous(rdma, &args, mmap, &conn, NULL);
	if (!err)
		err = pier_rendezvous_serve(conn);

	if (err)
		fprintf(stderr, "rdma_read_responder: %s\n", pier_last_error());
	else
		puts(pier_conn_state(conn) == PIER_CONN_CONNECTED ?
		     "done: ended by Enter" :
		     "done: the peer has disconnected");

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
