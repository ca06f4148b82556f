/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's librdmacm.so.1, and what its calls need around them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "dropin/cma/cma_real.h"
#include "dropin/cma/cma_real_calls.h"

struct cma_real_calls pier__cma_real_calls;

static bool loaded;

#define FIND(name) \
	complete &= pier__dropin_real_find(library, #name, \
					   &pier__cma_real_calls.name);

/* It may be there for verbs alone: without rdma_ucm, or the right to use it. */
static bool works(const char *path)
{
	struct rdma_event_channel *channel;
	char reason[128];

	pier__dropin_real_enter();
	channel = pier__cma_real_calls.rdma_create_event_channel();
	pier__dropin_real_leave();
	if (!channel) {
		snprintf(reason, sizeof(reason), "has no event channel: %s",
			 strerror(errno));
		pier__dropin_real_refuse("rdma_cm", path, reason);
		return false;
	}
	pier__cma_real_calls.rdma_destroy_event_channel(channel);
	return true;
}

static void load(void)
{
	const char *path = secure_getenv("PIER_REAL_CM");
	bool complete = true;
	void *library;

	if (!path || !*path)
		return;
	library = pier__dropin_real_load(path);
	if (!library)
		return;
	CMA_REAL_CALLS(FIND)
	if (!complete)
		pier__dropin_real_refuse("rdma_cm", path, "lacks calls: it is "
					 "too old");
	loaded = complete && works(path);
	if (loaded)
		pier__dropin_real_watch_qps(pier__cma_real_qp_ends);
}

bool pier__cma_real(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err = errno;

	pthread_once(&once, load);
	errno = err;
	return loaded;
}

/* What programs may set in an id, or its calls here. */
void pier__cma_real_before(struct cma_id *id)
{
	struct rdma_cm_id *real = id->real;

	real->qp = id->id.qp;
	real->srq = id->id.srq;
	real->pd = id->id.pd;
	real->send_cq_channel = id->id.send_cq_channel;
	real->send_cq = id->id.send_cq;
	real->recv_cq_channel = id->id.recv_cq_channel;
	real->recv_cq = id->id.recv_cq;
	real->qp_type = id->id.qp_type;
	pier__dropin_real_enter();
}

void pier__cma_real_show_names(struct cma_id *id)
{
	const struct rdma_cm_id *real = id->real;

	if (id->id.verbs != real->verbs)
		pier__dropin_real_context(real->verbs);
	id->id.verbs = real->verbs;
	id->id.route = real->route;
	id->id.port_num = real->port_num;
}

void pier__cma_real_show(struct cma_id *id)
{
	const struct rdma_cm_id *real = id->real;

	pier__cma_real_show_names(id);
	id->id.qp = real->qp;
	id->id.send_cq_channel = real->send_cq_channel;
	id->id.send_cq = real->send_cq;
	id->id.recv_cq_channel = real->recv_cq_channel;
	id->id.recv_cq = real->recv_cq;
	id->id.srq = real->srq;
	id->id.pd = real->pd;
}

int pier__cma_real_after(struct cma_id *id, int ret)
{
	pier__dropin_real_leave();
	pier__cma_real_show(id);
	return ret;
}

struct ibv_context **pier__cma_real_devices(size_t *ret_count)
{
	struct ibv_context **list, **copy = NULL;
	int count = 0, i;

	*ret_count = 0;
	if (!pier__cma_real())
		return NULL;
	list = pier__cma_real_calls.rdma_get_devices(&count);
	if (!list)
		return NULL;
	copy = calloc((size_t)count + 1, sizeof(struct ibv_context *));
	if (copy)
		memcpy(copy, list, (size_t)count * sizeof(*copy));
	for (i = 0; copy && i < count; i++)
		pier__dropin_real_context(copy[i]);
	*ret_count = copy ? (size_t)count : 0;
	pier__cma_real_calls.rdma_free_devices(list);
	return copy;
}
