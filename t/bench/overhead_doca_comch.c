/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_ctx.h>

#include "bench/overhead_doca_comch.h"
#include "bench/overhead_doca_tasks.h"
#include "doca_dev_impl.h"

#define COUNT OVERHEAD_DOCA_MAX
#define ROUNDS 1000000		/* of engines, until a connection is made */

/* Until @ctx runs on @pe, and the other end has what it needs. */
static void start(struct overhead_doca_comch *comch, struct doca_ctx *ctx,
		  struct doca_pe *pe)
{
	enum doca_ctx_states state;
	doca_error_t error;
	int rounds = 0;

	must(doca_pe_connect_ctx(pe, ctx));
	error = doca_ctx_start(ctx);
	must(error == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : error);
	must(doca_ctx_get_state(ctx, &state));
	while (state != DOCA_CTX_STATE_RUNNING || !overhead_peer_ready()) {
		must(rounds++ < ROUNDS ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT);
		doca_pe_progress(pe);
		if (comch->channel_pe)
			doca_pe_progress(comch->channel_pe);
		overhead_peer_progress();
		must(doca_ctx_get_state(ctx, &state));
	}
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *msg,
		     uint32_t len, struct doca_comch_connection *conn)
{
	(void)event;
	(void)msg;
	(void)len;
	(void)conn;
}

void overhead_doca_channel(struct overhead_doca_comch *comch,
			   enum overhead_peer peer)
{
	overhead_peer_start(comch->dev->dev, peer);
	must(doca_comch_client_create(comch->dev, overhead_peer_name(),
				      &comch->client));
	must(doca_comch_client_task_send_set_conf(
		comch->client,
		(doca_comch_task_send_completion_cb_t)(void (*)(void))
			comch->done,
		(doca_comch_task_send_completion_cb_t)(void (*)(void))
			comch->failed, COUNT));
	must(doca_comch_client_event_msg_recv_register(comch->client,
						       received));
	start(comch, doca_comch_client_as_ctx(comch->client),
	      comch->channel_pe ? comch->channel_pe : comch->pe);
	must(doca_comch_client_get_connection(comch->client, &comch->conn));
}

/* On an engine of its own: the rounds of ours are to poll one context. */
static void channel_apart(struct overhead_doca_comch *comch,
			  enum overhead_peer peer)
{
	must(doca_pe_create(&comch->channel_pe));
	overhead_doca_channel(comch, peer);
}

typedef doca_comch_consumer_task_post_recv_completion_cb_t post_recv_fn;
typedef doca_comch_producer_task_send_completion_cb_t produce_fn;

void overhead_doca_consumer(struct overhead_doca_comch *comch)
{
	channel_apart(comch, OVERHEAD_PEER_PRODUCES);
	must(doca_comch_consumer_create(comch->conn, comch->mmap,
					&comch->consumer));
	must(doca_comch_consumer_task_post_recv_set_conf(
		comch->consumer, (post_recv_fn)(void (*)(void))comch->done,
		(post_recv_fn)(void (*)(void))comch->failed, COUNT));
	start(comch, doca_comch_consumer_as_ctx(comch->consumer), comch->pe);
}

void overhead_doca_producer(struct overhead_doca_comch *comch)
{
	channel_apart(comch, OVERHEAD_PEER_CONSUMES);
	must(doca_comch_producer_create(comch->conn, &comch->producer));
	must(doca_comch_producer_task_send_set_conf(
		comch->producer, (produce_fn)(void (*)(void))comch->done,
		(produce_fn)(void (*)(void))comch->failed, COUNT));
	start(comch, doca_comch_producer_as_ctx(comch->producer), comch->pe);
}

struct doca_task *overhead_doca_message(struct overhead_doca_comch *comch,
					const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;

	must(doca_comch_client_task_send_alloc_init(comch->client, comch->conn,
						    msg, len, &task));
	return doca_comch_task_send_as_task(task);
}

struct doca_task *overhead_doca_post_recv(struct overhead_doca_comch *comch,
					  struct doca_buf *buf)
{
	struct doca_comch_consumer_task_post_recv *task;

	must(doca_comch_consumer_task_post_recv_alloc_init(comch->consumer,
							   buf, &task));
	return doca_comch_consumer_task_post_recv_as_task(task);
}

struct doca_task *overhead_doca_produce(struct overhead_doca_comch *comch,
					struct doca_buf *buf)
{
	struct doca_comch_producer_task_send *task;

	must(doca_comch_producer_task_send_alloc_init(
		comch->producer, buf, NULL, 0, overhead_peer_consumer(),
		&task));
	return doca_comch_producer_task_send_as_task(task);
}
