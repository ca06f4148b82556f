/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids that are set up by one call and wait for their calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "dropin/cma/cma.h"

#define TIMEOUT_MS 2000

/* A listener: what rdma_get_request() will create. */
static int set_up_passive(struct cma_id *id, const struct rdma_addrinfo *res,
			  struct ibv_pd *pd,
			  const struct ibv_qp_init_attr *init)
{
	if (rdma_bind_addr(&id->id, res->ai_src_addr))
		return -1;
	if (!init)
		return 0;
	id->qp_init = malloc(sizeof(*init));
	if (!id->qp_init)
		return pier__cma_result(-ENOMEM);
	*id->qp_init = *init;
	id->qp_init->qp_type = id->id.qp_type;
	if (pd)
		id->id.pd = pd;
	return 0;
}

static int set_up_active(struct cma_id *id, const struct rdma_addrinfo *res,
			 struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (rdma_resolve_addr(&id->id, res->ai_src_addr, res->ai_dst_addr,
			      TIMEOUT_MS) ||
	    rdma_resolve_route(&id->id, TIMEOUT_MS))
		return -1;
	if (res->ai_connect_len) {
		id->connect = malloc(res->ai_connect_len);
		if (!id->connect)
			return pier__cma_result(-ENOMEM);
		memcpy(id->connect, res->ai_connect, res->ai_connect_len);
		id->connect_len = (uint8_t)res->ai_connect_len;
	}
	if (!init)
		return 0;
	init->qp_type = id->id.qp_type;
	return rdma_create_qp(&id->id, pd, init);
}

int rdma_create_ep(struct rdma_cm_id **ret, struct rdma_addrinfo *res,
		   struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct rdma_cm_id *id;
	int err;

	if (!ret || !res || res->ai_connect_len > UINT8_MAX)
		return pier__cma_result(-EINVAL);
	if (rdma_create_id(NULL, &id, NULL,
			   (enum rdma_port_space)res->ai_port_space))
		return -1;
	if (res->ai_qp_type)
		id->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	err = res->ai_flags & RAI_PASSIVE ?
		      set_up_passive(cma_of(id), res, pd, init) :
		      set_up_active(cma_of(id), res, pd, init);
	if (err) {
		err = errno;
		rdma_destroy_ep(id);
		return pier__cma_result(-err);
	}
	*ret = id;
	return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

/* The id of a request, as its listener would have set it up. */
static int set_up(struct cma_id *listener, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_pd *pd = NULL;

	if (rdma_migrate_id(id, NULL))
		return -1;
	if (!listener->qp_init)
		return 0;
	init = *listener->qp_init;
	if (listener->id.pd && listener->id.pd->context == id->verbs)
		pd = listener->id.pd;
	return rdma_create_qp(id, pd, &init);
}

int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **ret)
{
	struct cma_id *listener = cma_of(listen);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (!listen || !ret || !listener->own ||
	    listener->state != CMA_LISTENING)
		return pier__cma_result(-EINVAL);
	if (listen->event)
		rdma_ack_cm_event(listen->event);
	listen->event = NULL;
	if (rdma_get_cm_event(listen->channel, &event))
		return -1;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		listen->event = event;
		return pier__cma_result(event->status ? event->status :
							-EINVAL);
	}
	id = event->id;
	if (set_up(listener, id)) {
		rdma_ack_cm_event(event);
		rdma_destroy_ep(id);
		return -1;
	}
	id->event = event;
	*ret = id;
	return 0;
}
