/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management by librdmacm: channels and events. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/roce.h"
#include "core/sockaddr.h"
#include "fabric/verbs/cm_access.h"
#include "fabric/verbs/verbs_cm.h"
#include "fabric/verbs/verbs_impl.h"

/* Events taken in one call that are not for the caller. */
#define STEPS 32

/* Open the kernel's connection manager, or fail with the reason. */
static int open_channel(const char *device, struct rdma_event_channel **ret)
{
	struct rdma_event_channel *channel;
	char reason[PIER__CM_REASON_MAX];
	int err;

	/* Where it may not open the node librdmacm waits 5 s for udev. */
	err = pier__verbs_cm_check("", reason, sizeof(reason));
	if (err)
		return pier__fail(err, "%s: %s", device, reason);
	errno = 0;
	channel = rdma_create_event_channel();
	if (!channel) {
		err = pier__verbs_error(-1);
		pier__verbs_cm_reason(err, reason, sizeof(reason));
		return pier__fail(err, "%s: %s", device, reason);
	}
	if (fcntl(channel->fd, F_SETFL, O_NONBLOCK) < 0) {
		err = -errno;
		rdma_destroy_event_channel(channel);
		return pier__fail(err, "%s: the connection manager's "
				  "descriptor: %s", device,
				  pier_strerror(err));
	}
	*ret = channel;
	return 0;
}

int pier__verbs_cm_create(struct pier__chan *chan, enum ibv_mtu mtu,
			  struct pier__cm **ret)
{
	const char *device = chan->fdev->port.name;
	enum ibv_mtu port_mtu = pier__port_mtu(&chan->fdev->port);
	struct verbs_cm *cm;
	int err;

	/* REQ has the MTU of the path; another one is not negotiated. */
	if (mtu < port_mtu)
		return pier__fail(-EOPNOTSUPP, "%s: an MTU of %u for "
				  "connections by address, less than the "
				  "port's %u: librdmacm knows the port's "
				  "alone; set 0, lower the link's, or connect "
				  "by descriptors", device, 128u << mtu,
				  128u << port_mtu);
	cm = calloc(1, sizeof(*cm));
	if (!cm)
		return pier__fail(-ENOMEM, "%s: no memory", device);
	err = open_channel(device, &cm->channel);
	if (err) {
		free(cm);
		return err;
	}

	cm->cm.chan = chan;
	cm->cm.fd = cm->channel->fd;
	*ret = &cm->cm;
	return 0;
}

void pier__verbs_cm_destroy(struct pier__cm *cm)
{
	if (!cm)
		return;
	rdma_destroy_event_channel(verbs_cm(cm)->channel);
	free(verbs_cm(cm));
}

/* librdmacm opens a context of its own: names are all there is to compare. */
static bool is_of_our_device(const struct pier__cm *cm,
			     const struct rdma_cm_id *rdma)
{
	return rdma->verbs && !strcmp(ibv_get_device_name(rdma->verbs->device),
				      port_of(cm)->name);
}

bool pier__verbs_cm_is_ours(const struct pier__cm *cm,
			    const struct rdma_cm_id *rdma)
{
	if (rdma->port_num != port_of(cm)->port || !is_of_our_device(cm, rdma))
		return false;
	pier__verbs_cm_hold(verbs_dev(cm->chan->fdev), rdma);
	return true;
}

static void take_addresses(struct cm_end *end)
{
	const struct rdma_addr *addr = &end->rdma->route.addr;

	end->id.local = addr->src_storage;
	end->id.peer = addr->dst_storage;
}

/* What the kernel calls a status, of either sign, as an error. */
static int error_of(int status)
{
	if (status == -1)
		return pier__verbs_error(status);	/* librdmacm's own */
	if (!status)
		return -ETIMEDOUT;
	return status > 0 ? -status : status;
}

/* @err of a call about addresses; all that mean "no route" become one. */
static int route_error(int err)
{
	switch (err) {
	case -ENETUNREACH:
	case -ENODEV:
	case -ENXIO:
	case -EADDRNOTAVAIL:
		return -EHOSTUNREACH;
	default:
		return err;
	}
}

int pier__verbs_cm_fail(const struct cm_end *end, const char *what, int err)
{
	const struct rdma_addr *addr = &end->rdma->route.addr;
	char local[PIER__ADDR_TEXT], peer[PIER__ADDR_TEXT];
	bool bound = pier__sockaddr_len(&addr->src_addr) > 0;

	pier__sockaddr_text((const void *)&end->id.peer, peer);
	pier__sockaddr_text(&addr->src_addr, local);
	return pier__fail(route_error(err), "%s: %s %s%s%s: %s",
			  port_of(end->id.cm)->name, what, peer,
			  bound ? " from " : "", bound ? local : "",
			  pier_strerror(err));
}

/* @end is over: fill in @ret, and set the error text. */
static bool fail_end(struct cm_end *end, const char *what, int err,
		     struct pier__cm_event *ret)
{
	end->state = END_OVER;
	ret->kind = PIER__CM_UNREACHABLE;
	ret->error = pier__verbs_cm_fail(end, what, err);
	return true;
}

/* The route to the peer is resolved, and with it the device. */
static bool addr_resolved(struct cm_end *end, struct pier__cm_event *ret)
{
	const struct pier__port *port = port_of(end->id.cm);
	struct rdma_cm_id *rdma = end->rdma;
	char peer[PIER__ADDR_TEXT];
	int left;

	if (!pier__verbs_cm_is_ours(end->id.cm, rdma)) {
		end->state = END_OVER;
		pier__sockaddr_text(&rdma->route.addr.dst_addr, peer);
		ret->kind = PIER__CM_UNREACHABLE;
		ret->error = pier__fail(-EHOSTUNREACH, "%s is reached by "
					"device %s port %u, not by %s port "
					"%u: choose that device, or a source "
					"address of %s", peer,
					ibv_get_device_name(rdma->verbs->
							    device),
					rdma->port_num, port->name,
					port->port, port->name);
		return true;
	}
	left = pier__ms_left(pier__now(), end->deadline);
	errno = 0;
	if (rdma_resolve_route(rdma, left ? left : 1))
		return fail_end(end, "no route to", pier__verbs_error(-1),
				ret);
	return false;
}

/* The private data and the parameters of a REQ or REP. */
static void take_param(struct pier__cm *cm, const struct rdma_conn_param *conn,
		       struct pier__cm_event *ret)
{
	struct verbs_cm *self = verbs_cm(cm);

	ret->qpn = conn->qp_num;
	ret->responder_resources = conn->responder_resources;
	ret->initiator_depth = conn->initiator_depth;
	ret->retry_count = conn->retry_count;
	ret->rnr_retry = conn->rnr_retry_count;
	ret->data = self->data;
	ret->len = conn->private_data ? conn->private_data_len : 0;
	if (ret->len)
		memcpy(self->data, conn->private_data, ret->len);
}

/*
 * A listener on any address gets requests to every device.  To reject one of
 * another device: a client of pier gets the address of ours.
 */
static void reject_elsewhere(const struct pier__cm *cm,
			     const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	uint8_t gid[16], data[PIER__CM_ELSEWHERE];
	size_t len = conn->private_data ? conn->private_data_len : 0;

	pier__sockaddr_to_gid(&event->id->route.addr.src_addr, gid);
	if (pier__port_like(port_of(cm), gid, gid))
		len = pier__cm_elsewhere(cm, conn->private_data, len, gid,
					 data);
	else
		len = 0;
	rdma_reject(event->id, data, (uint8_t)len);
}

static bool request(struct pier__cm *cm, const struct rdma_cm_event *event,
		    struct pier__cm_event *ret)
{
	struct cm_end *listener = event->listen_id->context, *end;

	event->id->context = NULL;
	if (!pier__verbs_cm_is_ours(cm, event->id)) {
		reject_elsewhere(cm, event);
		return false;
	}
	end = calloc(1, sizeof(*end));
	if (!end) {
		pier__log(PIER_LOG_ERROR, "verbs", "%s: no memory: a request "
			  "to connect is rejected", port_of(cm)->name);
		rdma_reject(event->id, NULL, 0);
		return false;
	}
	event->id->context = end;
	end->id.cm = cm;
	end->rdma = event->id;
	end->state = END_REQUESTED;
	take_addresses(end);
	take_param(cm, &event->param.conn, ret);
	ret->kind = PIER__CM_REQUEST;
	ret->listener = &listener->listener;
	ret->listener->held++;
	ret->id = &end->id;
	return true;
}

static bool rejected(struct cm_end *end, const struct rdma_cm_event *event,
		     struct pier__cm_event *ret)
{
	end->state = END_OVER;
	ret->kind = PIER__CM_REJECTED;
	/* Of iWARP it is an errno value, and always the consumer's. */
	ret->reason = event->status > 0 ? (uint16_t)event->status :
		      ROCE_REJ_CONSUMER;
	return true;
}

/*
 * The peer's DREQ is answered at once, whatever the caller does next; if the
 * event is for a DREQ of ours, the kernel rejects the call.
 */
static bool disconnected(struct cm_end *end, struct pier__cm_event *ret)
{
	rdma_disconnect(end->rdma);
	end->state = END_OVER;
	ret->kind = PIER__CM_DISCONNECTED;
	return true;
}

/* Translate an event of @end; false: it is not for the caller. */
static bool translate(struct cm_end *end, const struct rdma_cm_event *event,
		      struct pier__cm_event *ret)
{
	int err = error_of(event->status);

	ret->id = &end->id;
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		end->state = END_OVER;
		ret->kind = PIER__CM_GONE;
		return true;
	}
	if (end->state == END_OVER)
		return false;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return addr_resolved(end, ret);
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (err == -ETIMEDOUT)
			err = pier__verbs_cm_resolve_again(end);
		return err && fail_end(end, "no route to", err, ret);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		end->state = END_RESOLVED;
		take_addresses(end);
		ret->kind = PIER__CM_RESOLVED;
		return true;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return fail_end(end, "no route to", err, ret);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		end->state = END_RESPONDED;
		take_param(end->id.cm, &event->param.conn, ret);
		ret->kind = PIER__CM_RESPONSE;
		return true;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return fail_end(end, "connecting to", err, ret);
	case RDMA_CM_EVENT_UNREACHABLE:
		return fail_end(end, "no response from", err, ret);
	case RDMA_CM_EVENT_REJECTED:
		take_param(end->id.cm, &event->param.conn, ret);
		return rejected(end, event, ret);
	case RDMA_CM_EVENT_ESTABLISHED:
		end->state = END_ESTABLISHED;
		ret->kind = PIER__CM_ESTABLISHED;
		return true;
	case RDMA_CM_EVENT_DISCONNECTED:
		return disconnected(end, ret);
	default:	/* address changes, the end of timewait */
		return false;
	}
}

/*
 * Take one event, which is acknowledged before this returns: nothing may be
 * open when an id ends.  *ret_found: @ret is filled in.
 */
static int take(struct pier__cm *cm, struct pier__cm_event *ret,
		bool *ret_found)
{
	struct rdma_cm_id *unwanted = NULL;
	struct rdma_cm_event *event;
	struct cm_end *end;
	int err;

	errno = 0;
	if (rdma_get_cm_event(verbs_cm(cm)->channel, &event)) {
		err = pier__verbs_error(-1);
		if (err == -EAGAIN)
			return err;
		return pier__fail(err, "%s: no event of the connection "
				  "manager: %s", port_of(cm)->name,
				  pier_strerror(err));
	}
	memset(ret, 0, sizeof(*ret));
	end = event->id->context;
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL &&
	    is_of_our_device(cm, event->id))
		atomic_store(&verbs_dev(cm->chan->fdev)->removed, true);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		*ret_found = request(cm, event, ret);
		if (!*ret_found)
			unwanted = event->id;
	} else if (end->state == END_LISTENING) {
		*ret_found = false;	/* the device reports its removal */
	} else {
		*ret_found = translate(end, event, ret);
	}
	rdma_ack_cm_event(event);
	if (unwanted)
		rdma_destroy_id(unwanted);
	return 0;
}

int pier__verbs_cm_next(struct pier__cm *cm, struct pier__cm_event *ret)
{
	bool found = false;
	int err = 0;

	/* Events left after that keep the descriptor readable. */
	for (int i = 0; !err && !found && i < STEPS; i++)
		err = take(cm, ret, &found);
	if (err)
		return err;
	return found ? 0 : -EAGAIN;
}
