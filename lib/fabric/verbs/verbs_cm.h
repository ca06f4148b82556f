/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_VERBS_VERBS_CM_H
#define PIER_FABRIC_VERBS_VERBS_CM_H

#include <rdma/rdma_cma.h>

#include "fabric/fabric.h"

struct verbs_dev;

/*
 * Connection management by librdmacm.  Its ids have no QP: it returns the QP's
 * attributes, and pier modifies the QP.  With an event channel no call waits
 * for a peer.
 */
struct verbs_cm {
	struct pier__cm cm;		/* first, so that casts are sound */
	struct rdma_event_channel *channel;
	uint8_t data[256];		/* private data of the last event */
};

enum end_state {
	END_LISTENING,
	END_RESOLVING,
	END_RESOLVED,
	END_CONNECTING,		/* REQ is out */
	END_RESPONDED,		/* REP is here */
	END_REQUESTED,		/* REQ is here */
	END_ACCEPTED,		/* REP is out */
	END_ESTABLISHED,
	END_DISCONNECTING,	/* DREQ is out */
	END_OVER,
};

/* What an rdma_cm_id is to us; its context points here. */
struct cm_end {
	union {			/* first, so that casts are sound */
		struct pier__cm_id id;
		struct pier__cm_listener listener;
	};
	struct rdma_cm_id *rdma;
	enum end_state state;
	uint64_t deadline;	/* END_RESOLVING: as pier__now() */
	int resolve_ms;		/* the same: the kernel's next time limit */
};

static inline struct verbs_cm *verbs_cm(struct pier__cm *cm)
{
	return (struct verbs_cm *)cm;
}

static inline const struct pier__port *port_of(const struct pier__cm *cm)
{
	return &cm->chan->fdev->port;
}

static inline struct cm_end *end_of(struct pier__cm_id *id)
{
	return (struct cm_end *)id;
}

/* Channels and events, in verbs_cm.c. */
int pier__verbs_cm_create(struct pier__chan *chan, enum ibv_mtu mtu,
			  struct pier__cm **ret);
void pier__verbs_cm_destroy(struct pier__cm *cm);
int pier__verbs_cm_next(struct pier__cm *cm, struct pier__cm_event *ret);

/*
 * The kernel has bound @rdma to a device by address or route: is it the
 * channel's device and port?
 */
bool pier__verbs_cm_is_ours(const struct pier__cm *cm,
			    const struct rdma_cm_id *rdma);

/*
 * Hold librdmacm's context of the device, to which our id @like is bound, until
 * the device is closed.  Any thread.
 */
void pier__verbs_cm_hold(struct verbs_dev *dev, const struct rdma_cm_id *like);

/* The device is being closed: release the context. */
void pier__verbs_cm_unhold(struct verbs_dev *dev);

/* Fail: @what failed with @end's peer.  Returns the error. */
int pier__verbs_cm_fail(const struct cm_end *end, const char *what, int err);

/* Ends, in verbs_cm_end.c. */
int pier__verbs_cm_listen(struct pier__cm *cm, const struct sockaddr *addr,
			  int backlog, void *owner,
			  struct pier__cm_listener **ret);
void pier__verbs_cm_unlisten(struct pier__cm_listener *listener);
int pier__verbs_cm_resolve(struct pier__cm *cm, const struct sockaddr *src,
			   const struct sockaddr *dst, int timeout_ms,
			   void *owner, struct pier__cm_id **ret);
void pier__verbs_cm_release(struct pier__cm_id *id);

/*
 * The kernel has not resolved @end's peer in its time: resolve again.
 * Errors: -ETIMEDOUT, there is no time left; the kernel's.
 */
int pier__verbs_cm_resolve_again(struct cm_end *end);

/* The handshake, in verbs_cm_step.c. */
int pier__verbs_cm_connect(struct pier__cm_id *id,
			   const struct pier__cm_param *param);
int pier__verbs_cm_accept(struct pier__cm_id *id,
			  const struct pier__cm_param *param);
int pier__verbs_cm_establish(struct pier__cm_id *id);
int pier__verbs_cm_reject(struct pier__cm_id *id, const void *data, size_t len);
int pier__verbs_cm_disconnect(struct pier__cm_id *id);
int pier__verbs_cm_qp_attr(struct pier__cm_id *id, enum ibv_qp_state state,
			   struct ibv_qp_attr *ret, int *ret_mask,
			   uint16_t *ret_udp_port);

#endif
