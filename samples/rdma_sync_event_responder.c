/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_sync_event_responder - an event that a peer and this program set. */
#include <stdio.h>

#include <pier/pier.h>

static struct pier_args args = PIER_ARGS_RENDEZVOUS;

/* Wait for the peer's 1, set 2, wait for 3; no engine runs meanwhile. */
static int synchronise(struct pier_sync_event *event)
{
	int err = pier_sync_event_wait_eq(event, 1, UINT64_MAX,
					  PIER_SYNC_EVENT_YIELD,
					  args.timeout_ms);

	if (!err)
		err = pier_sync_event_set(event, 2);
	if (!err)
		err = pier_sync_event_wait_eq(event, 3, UINT64_MAX,
					      PIER_SYNC_EVENT_YIELD,
					      args.timeout_ms);
	if (!err)
		puts("seen 1, set 2, seen 3");
	return err;
}

int main(int argc, char *argv[])
{
	struct pier_sync_event_config cfg = { .size = sizeof(cfg) };
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_sync_event *event = NULL;
	struct pier_conn *conn = NULL;
	int err;

	args.about = "Synchronise with rdma_sync_event_requester.";
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
		err = pier_sync_event_create(&event);
	cfg.publisher = PIER_SYNC_EVENT_REMOTE;
	cfg.subscriber = PIER_SYNC_EVENT_CPU;
	cfg.dev = dev;
	if (!err)
		err = pier_sync_event_configure(event, &cfg);
	if (!err)
		err = pier_sync_event_start(event);
	if (!err)
		err = pier_rendezvous_event(rdma, &args, event, &conn, NULL);
	if (!err)
		err = synchronise(event);
	if (!err)
		err = pier_rendezvous_serve(conn);	/* until it ends */
	if (err)
		fprintf(stderr, "rdma_sync_event_responder: %s\n",
			pier_last_error());

	pier_conn_disconnect(conn);
	pier_rdma_destroy(rdma);
	pier_sync_event_destroy(event);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
