/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_sync_event_responder - an event that a peer and this program set. */
#include <inttypes.h>
#include <stdio.h>

#include <pier/pier.h>

static struct pier_args args = PIER_ARGS_RENDEZVOUS;

/* Wait until the value is greater than @value; *ret is the new one. */
static int await(struct pier_sync_event *event, uint64_t value, uint64_t *ret)
{
	int err = pier_sync_event_wait_gt(event, value, UINT64_MAX,
					  PIER_SYNC_EVENT_YIELD,
					  args.timeout_ms);

	return err ? err : pier_sync_event_get(event, ret);
}

int main(int argc, char *argv[])
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_sync_event *event = NULL;
	struct pier_conn *conn = NULL;
	uint64_t first, last;	/* of the peer */
	int err;

	args.about = "Synchronise with rdma_sync_event_requester.";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_sync_event_create(&event);
	cfg.publisher = PIER_SYNC_EVENT_REMOTE;
	cfg.subscriber = PIER_SYNC_EVENT_CPU;
	cfg.dev = dev;
	err = err ? err : pier_sync_event_configure(event, &cfg);
	err = err ? err : pier_sync_event_start(event);
	err = err ? err : pier_rendezvous_event(rdma, &args, event, &conn,
						NULL);
	/* the peer's value, one more for the peer, and its value again; no */
	/* engine runs meanwhile */
	err = err ? err : await(event, 0, &first);
	err = err ? err : pier_sync_event_set(event, first + 1);
	err = err ? err : await(event, first + 1, &last);
	err = err ? err : pier_rendezvous_serve(conn);	/* until it ends */
	if (err)
		fprintf(stderr, "rdma_sync_event_responder: %s\n",
			pier_last_error());
	else
		printf("seen %" PRIu64 ", set %" PRIu64 ", seen %" PRIu64 "\n",
		       first, first + 1, last);

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_sync_event_destroy(event);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
