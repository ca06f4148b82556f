/* SPDX-License-Identifier: BSD-2-Clause */
#include "doca_comch_impl.h"
#include "doca_fail.h"

#define RECV_QUEUE 16	/* without a call */

void pier__doca_comch_init(struct doca_comch_end *end,
			   const struct doca_ctx_kind *kind,
			   struct doca_dev *dev, struct pier_comch *comch)
{
	struct doca_comch_limits limits = { 0 };

	pier__doca_comch_limits(&dev->info, &limits);
	end->dev = dev;
	end->comch = comch;
	end->max_msg_size = limits.msg_size;
	end->recv_queue = limits.recv_queue < RECV_QUEUE ? limits.recv_queue :
							   RECV_QUEUE;
	pier__doca_ctx_init(&end->ctx, kind, pier_comch_ctx(comch));
}

doca_error_t pier__doca_comch_fini(struct doca_comch_end *end)
{
	if (end->ctx.state != DOCA_CTX_STATE_IDLE)
		return pier__doca_fail(DOCA_ERROR_IN_USE, "comch: destroyed "
				       "while %s, not idle",
				       pier__doca_ctx_state_name(&end->ctx));
	pier__doca_ctx_release(&end->ctx);
	pier__doca_pool_free(&end->sends);
	pier_comch_destroy(end->comch);
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_comch_prepare(struct doca_comch_end *end)
{
	struct doca_comch_limits limits;
	struct pier_comch_config cfg = { .size = sizeof(cfg) };
	doca_error_t error = pier__doca_comch_limits(&end->dev->info, &limits);

	if (error)
		return error;
	if (!end->received)
		return pier__doca_fail(DOCA_ERROR_BAD_CONFIG, "comch: started "
				       "without a callback for messages");
	if (!end->sends.count)
		return pier__doca_fail(DOCA_ERROR_BAD_CONFIG, "comch: started "
				       "without tasks that send");
	cfg.max_msg_size = end->max_msg_size;
	cfg.recv_queue = end->recv_queue;
	cfg.tasks = end->sends.count;
	cfg.max_clients = pier__doca_comch_clients(&limits, end->recv_queue);
	error = pier__doca_error(pier_comch_configure(end->comch, &cfg));
	return error ? error : pier__doca_comch_fill(end);
}

/* Of a setter: something to set, on a context that is idle. */
static doca_error_t may_set(const struct doca_comch_end *end)
{
	return end ? pier__doca_ctx_may_set(&end->ctx) :
		     DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_size(const char *what, uint32_t size, uint32_t max)
{
	if (size && size <= max)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
			       "comch: %s %u, 1 to %u are allowed", what, size,
			       max);
}

doca_error_t pier__doca_comch_set_msg_size(struct doca_comch_end *end,
					   uint32_t size)
{
	struct doca_comch_limits limits;
	doca_error_t error = may_set(end);

	if (!error)
		error = pier__doca_comch_limits(&end->dev->info, &limits);
	if (!error)
		error = check_size("messages of", size, limits.msg_size);
	if (!error)
		end->max_msg_size = size;
	return error;
}

doca_error_t pier__doca_comch_set_recv_queue(struct doca_comch_end *end,
					     uint32_t size)
{
	struct doca_comch_limits limits;
	doca_error_t error = may_set(end);

	if (!error)
		error = pier__doca_comch_limits(&end->dev->info, &limits);
	if (!error)
		error = check_size("a receive queue of", size,
				   limits.recv_queue);
	if (!error)
		end->recv_queue = size;
	return error;
}

doca_error_t pier__doca_comch_set_received(
	struct doca_comch_end *end, doca_comch_event_msg_recv_cb_t received)
{
	doca_error_t error = may_set(end);

	if (error)
		return error;
	if (!received)
		return DOCA_ERROR_INVALID_VALUE;
	end->received = received;
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_comch_get_dev(const struct doca_comch_end *end,
				      struct doca_dev **ret)
{
	if (!end || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	*ret = end->dev;
	return DOCA_SUCCESS;
}
