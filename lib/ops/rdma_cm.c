/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/fail.h"
#include "ops/rdma_impl.h"

/* Connection management: an RDMA context's calls. */

static int check_running(const struct pier_rdma *rdma, const char *what)
{
	if (rdma->ctx.state == PIER_CTX_RUNNING)
		return 0;
	return pier__fail(-ESHUTDOWN, "rdma: %s while %s", what,
			  pier_ctx_state_name(rdma->ctx.state));
}

int pier_rdma_set_conn_callbacks(struct pier_rdma *rdma, pier_conn_fn *request,
				 pier_conn_fn *established,
				 pier_conn_fn *failure,
				 pier_conn_fn *disconnected)
{
	if (!rdma)
		return pier__no_object(__func__);
	rdma->owner.callbacks = (struct pier__conn_callbacks){
		.request = request,
		.established = established,
		.failure = failure,
		.disconnected = disconnected,
	};
	return 0;
}

static int start_listening(struct pier_rdma *rdma,
			   const struct pier_listen_config *cfg,
			   struct pier_listener **ret)
{
	int err = check_running(rdma, "listen");

	if (err)
		return err;
	if (!rdma->owner.callbacks.request)
		return pier__fail(-EINVAL, "rdma: listen without a request "
				  "callback: set the callbacks first");
	return pier__listen(rdma->owner.queues, cfg, NULL, NULL, ret);
}

int pier_rdma_listen(struct pier_rdma *rdma,
		     const struct pier_listen_config *cfg,
		     struct pier_listener **ret)
{
	struct pier__guard *guard;
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(&rdma->ctx);
	err = pier__guard_enter(guard, "pier_rdma_listen");
	if (err)
		return err;
	err = start_listening(rdma, cfg, ret);
	pier__guard_leave(guard);
	return err;
}

int pier_rdma_connect_to(struct pier_rdma *rdma,
			 const struct pier_connect_config *cfg,
			 struct pier_conn **ret)
{
	struct pier__guard *guard;
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	guard = pier__ctx_guard(&rdma->ctx);
	err = pier__guard_enter(guard, "pier_rdma_connect_to");
	if (err)
		return err;
	err = check_running(rdma, "connect");
	if (!err)
		err = pier__connect_to(rdma->owner.queues, cfg, ret);
	pier__guard_leave(guard);
	return err;
}
