/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_atomic_responder - offer a number that the peer may change. */
#include <inttypes.h>
#include <stdio.h>

#include <pier/pier.h>

static uint64_t initial = 5;
static const struct pier_option options[] = {
	{ "n", "number", "N", "the number to offer; default 5",
	  PIER_OPTION_NUMBER, 0, 0, 0, &initial },
	{ 0 },
};

int main(int argc, char *argv[])
{
	static uint64_t number;		/* 8 aligned bytes */
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Offer a number that rdma_atomic_requester changes.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	number = initial;

	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, &number, sizeof(number),
					PIER_REMOTE_ATOMIC, &mmap);
	err = err ? err : pier_rendezvous(rdma, &args, mmap, &conn, NULL);
	err = err ? err : pier_rendezvous_serve(conn);
	err = err ? err : pier_mmap_stop(mmap);

	/* No peer can change it any more, also if Enter ended the service. */
	if (err)
		fprintf(stderr, "rdma_atomic_responder: %s\n",
			pier_last_error());
	else
		printf("the number was %" PRIu64 ", is %" PRIu64 "\n", initial,
		       number);

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
