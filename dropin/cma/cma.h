/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_CMA_CMA_H
#define PIER_DROPIN_CMA_CMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/rdma_cma.h>

#include "core/list.h"
#include "dropin/cm.h"
#include "fabric/fabric.h"

/*
 * A librdmacm.so.1 for programs that were written for that of rdma-core, on the
 * connection management of the soft device.  Calls may be made by any thread,
 * for one id by one at a time.
 *
 * The thread that drives an endpoint, which may be its helper, puts the events
 * of a connection into the queue of the id's event channel, and makes its fd
 * readable.  What librdmacm does by itself, such as moving the QP when the peer
 * has accepted, is done in rdma_get_cm_event(3).
 *
 * pier__cma_lock is for what that thread shares with the program's: queues of
 * events, counts of events, the channel of an id.  It is taken within the
 * endpoint's lock, so no call of connection management is made while it is
 * held.
 */
extern pthread_mutex_t pier__cma_lock;
extern pthread_cond_t pier__cma_acked;	/* an event was acknowledged */

/* An opened device: opened once, for the process. */
struct cma_device {
	struct pier__list link;		/* of all */
	struct ibv_context *verbs;
	struct ibv_pd *pd;		/* of QPs that are created without */
	struct pier__cm *cm;
	uint8_t rd_atomic;		/* most reads and atomics in flight */
};

struct cma_channel {
	struct rdma_event_channel channel;	/* first; fd is @ready, or an */
						/* epoll set: cma_real.h */
	int ready;			/* owned: an eventfd that is readable */
					/* with any event */
	struct rdma_event_channel *_Atomic real;	/* owned, or NULL */
	struct pier__list events;	/* to be taken */
	struct dropin_bell bell;	/* rings with each */
	/* cma_channel.c; pier__cma_lock: */
	unsigned int ids;		/* whose events come by it */
	atomic_uint life;		/* odd: the channel was destroyed */
	struct cma_channel *next;	/* that may be used again */
};

struct cma_event {
	struct rdma_cm_event event;	/* first */
	struct rdma_cm_event *real;	/* what it stands for, or NULL: */
					/* cma_real.h */
	struct pier__list link;		/* of the channel's events */
	struct cma_id *owner;		/* that it is for */
	struct pier__cm_listener *held;	/* of a request */
	uint8_t data[PIER__CM_REP_DATA];	/* private data */
};

#define CMA_SPARES 3		/* events of a connection, at most: it is */
				/* established, it has ended, TIMEWAIT_EXIT */

enum cma_state {
	CMA_IDLE,
	CMA_BOUND,			/* to an address */
	CMA_ADDR_RESOLVED,
	CMA_ROUTE_RESOLVED,
	CMA_LISTENING,
	CMA_REQUESTED,			/* until accept or reject */
	CMA_CONNECTING,			/* and all that follows */
};

/* One address that an id listens at. */
struct cma_listener {
	struct pier__list link;		/* of the id's */
	struct cma_id *id;
	struct cma_device *device;
	struct pier__cm_listener *listener;	/* owned */
	uint8_t gid[16];		/* its address */
};

#define CMA_OPTIONS 4		/* of RDMA_OPTION_ID, from 0 */

struct cma_id {
	struct rdma_cm_id id;		/* first */
	struct rdma_cm_id *real;	/* owned: what it stands for */
					/* (cma_real.h), or NULL */
	struct pier__list reals;	/* of those that have one */
	struct {
		int value;
		size_t len;		/* 0: it was not set */
	} options[CMA_OPTIONS];
	pid_t creator;			/* not a child of it */
	struct cma_device *device;	/* NULL: none yet */
	struct pier__cm_id *conn;	/* owned, or NULL */
	struct cma_id *listener;	/* of a request that is not taken; */
					/* NULL: it was; pier__cma_lock */
	struct cma_channel *own;	/* owned: calls wait for their end; */
					/* NULL: they do not */
	enum cma_state state;
	struct {			/* cma_port.c, under its lock: */
		struct pier__list link;	/* of all with a port, or NULL */
		union pier__sockaddr addr;	/* that it is bound to */
		uint16_t port;
		int reserved;		/* owned: a socket there, or -1 */
		bool reuse, afonly, afonly_set;	/* options */
	} bound;
	struct cma_event *spare[CMA_SPARES];	/* owned: to come; or NULL */
	uint32_t unacked;		/* events; pier__cma_lock */
	bool closing;			/* it is destroyed; pier__cma_lock */
	uint32_t timeout;		/* code, of packets; 0: the default */
	uint8_t tos;			/* of routes that it resolves */
	uint8_t responder_resources;	/* the most that is agreed */
	uint8_t initiator_depth;
	uint32_t qpn;			/* of its QP, once it connects */
	struct pier__list watch;	/* of cma_watch.c, if it has a device */
	bool moved;			/* its address is not its device's */
	bool removed;			/* its device is: it was reported */
	bool ib;			/* its names are of AF_IB */

	struct pier__list listeners;	/* owned */
	struct pier__list groups;	/* owned: of cma_join.c */

	/* Of rdma_create_ep(3). */
	struct ibv_qp_init_attr *qp_init;	/* owned: of what a listener */
						/* gets; or NULL */
	void *connect;			/* owned; private data, or NULL */
	uint8_t connect_len;

	struct rdma_addrinfo *found;	/* owned, or NULL; pier__cma_lock */
};

/* Of rdma-core from 60 on: the header may be older. */
enum {
	CMA_EVENT_ADDRINFO_RESOLVED = RDMA_CM_EVENT_TIMEWAIT_EXIT + 1,
	CMA_EVENT_ADDRINFO_ERROR,
	CMA_EVENT_USER,
};
#define RAI_OF_SA 0x10
#define RAI_OF_DNS 0x20
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **ret);
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
			  const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
			int status, uint64_t arg);

static inline struct cma_id *cma_of(struct rdma_cm_id *id)
{
	return (struct cma_id *)id;
}

/* Is @id for a UD QP, and its connect and accept an exchange of QPNs alone? */
static inline bool pier__cma_is_datagram(const struct cma_id *id)
{
	return id->id.qp_type == IBV_QPT_UD;
}

/* Of the requests that @id sends or receives. */
static inline enum pier__cm_space pier__cma_space(const struct cma_id *id)
{
	bool datagram = pier__cma_is_datagram(id);

	if (id->id.ps == RDMA_PS_IB)
		return datagram ? PIER__CM_IB_UD : PIER__CM_IB;
	return datagram ? PIER__CM_UDP : PIER__CM_TCP;
}

/* Set errno for @err, an error of pier's.  Returns -1; 0 if @err is 0. */
int pier__cma_result(int err);

/* cma_device.c.  Open all devices, once.  Errors: -ENODEV, there is none. */
int pier__cma_devices(struct pier__list **ret);
/* The one with the address @addr.  NULL: there is none. */
struct cma_device *pier__cma_device_at(const struct sockaddr *addr);
/*
 * The one from which @dst is reached, and the source address; from @src unless
 * that is NULL or any.  Errors: those of the route.
 */
int pier__cma_device_to(const struct sockaddr *src, const struct sockaddr *dst,
			struct cma_device **ret, union pier__sockaddr *ret_src);
/* @id uses @device from now on. */
void pier__cma_use(struct cma_id *id, struct cma_device *device);

/*
 * cma_watch.c.  @id gets events when its device or its address is removed, if
 * it has a device, or has been since it was watched last; and no longer, which
 * one that never had them may call, too.  Neither is changed while it is
 * watched: the helper reads them.
 */
void pier__cma_watch(struct cma_id *id);
void pier__cma_unwatch(struct cma_id *id);
/* The port of @verbs has changed.  The helper calls it. */
void pier__cma_changed(struct ibv_context *verbs);

/*
 * cma_name.c.  A GID is an IP address here, so that an id with names of AF_IB
 * differs in the form of its names alone.
 */
struct sockaddr_ib;

/* The IP address and the port of @from.  Returns false: of another family. */
bool pier__cma_ip(const struct sockaddr *from, union pier__sockaddr *ret);
/* The same as an address of AF_IB. */
void pier__cma_ib(const union pier__sockaddr *from, enum rdma_port_space ps,
		  struct sockaddr_ib *ret);
/*
 * Can @id have @addr?  Errors: -EINVAL, it is of another family;
 * -EPROTONOSUPPORT, its service ID is of another port space.
 */
int pier__cma_fits(const struct cma_id *id, const struct sockaddr *addr);
/* The names of @id, of which those that it has not are of AF_UNSPEC. */
void pier__cma_set_local(struct cma_id *id, const union pier__sockaddr *from);
void pier__cma_set_peer(struct cma_id *id, const union pier__sockaddr *from);
union pier__sockaddr pier__cma_local(const struct cma_id *id);
union pier__sockaddr pier__cma_peer(const struct cma_id *id);

/* cma_channel.c.  Queue @event for its owner; ownership passes. */
void pier__cma_push(struct cma_event *event);
/* Free what is queued for @id, requests to connect included. */
void pier__cma_discard(struct cma_id *id);
/* Those alone that tell of joining the group @gid. */
void pier__cma_discard_joins(struct cma_id *id, const union ibv_gid *gid);
/* Events of @id come by @channel from now on, also those that are queued. */
void pier__cma_move(struct cma_id *id, struct rdma_event_channel *channel);
/* The same of one that has none; NULL: by no channel. */
void pier__cma_attach(struct cma_id *id, struct rdma_event_channel *channel);
/*
 * The next event of @channel, to be acknowledged; NULL: none.  Errors: -EBADF,
 * it was destroyed since it had @life.
 */
int pier__cma_pop(struct cma_channel *channel, unsigned int life,
		  struct cma_event **ret);

/*
 * cma_event.c.  @id is about to have a connection, whose events need no memory
 * then.  Errors: -ENOMEM.
 */
int pier__cma_reserve(struct cma_id *id);
/* As pier__dropin_cm_create() has it. */
bool pier__cma_take(struct pier__cm *cm, const struct pier__cm_event *event);
/* An event of @id without a peer.  NULL: no memory. */
struct cma_event *pier__cma_event_new(struct cma_id *id,
				      enum rdma_cm_event_type type, int status);
/*
 * If @id waits for the end of its calls: wait for the next event, and keep it
 * in id->event.  Returns -1 with errno if that reports a failure.
 */
int pier__cma_complete(struct cma_id *id);

/*
 * cma_fork.c calls these: hold() and release() around fork(2), the others in a
 * child, whose parent may have had a lock in a thread that the child has not.
 */
void pier__cma_ports_hold(void);
void pier__cma_ports_release(void);
void pier__cma_channels_forked(void);
void pier__cma_devices_forked(void);
void pier__cma_join_forked(void);
void pier__cma_ports_forked(void);
void pier__cma_watch_forked(void);

/* cma_id.c.  Has the parent of this process created @id? */
bool pier__cma_inherited(const struct cma_id *id);
/* NULL: no memory. */
struct cma_id *pier__cma_id_new(struct rdma_event_channel *channel,
				void *context, enum rdma_port_space ps,
				enum ibv_qp_type type);
/* Free @id, which has no event in the program's hands. */
void pier__cma_id_free(struct cma_id *id);
/* Free @id, which has had no connection and no event, and its spares. */
void pier__cma_id_drop(struct cma_id *id);

/*
 * cma_port.c.  Bind @id to @addr, whose port, if it is 0, becomes one that is
 * free.  Errors: within a process as of the kernel, -EADDRINUSE, and
 * -EADDRNOTAVAIL if one of both is bound to all addresses; of other processes
 * -EADDRNOTAVAIL if @id is, else those of bind(2).
 */
int pier__cma_port_take(struct cma_id *id, union pier__sockaddr *addr);
/* @id, which is bound, is about to listen.  Errors: the same. */
int pier__cma_port_listen(struct cma_id *id);
/* Close the socket on its port: that is used now.  And give the port up. */
void pier__cma_unreserve(struct cma_id *id);
void pier__cma_port_free(struct cma_id *id);
/* RDMA_OPTION_ID_REUSEADDR and _AFONLY.  Errors: -EINVAL, it is too late. */
int pier__cma_set_reuse(struct cma_id *id, bool on);
int pier__cma_set_afonly(struct cma_id *id, bool on);

/*
 * cma_join.c.  Before the program sees @event, which reports a join: the QP of
 * its id gets what is sent to the group.
 */
void pier__cma_joined(struct rdma_cm_event *event);
/* Forget the groups of @id, without a QP. */
void pier__cma_leave_all(struct cma_id *id);

/* cma_listen.c.  No request comes any more. */
void pier__cma_unlisten(struct cma_id *id);

/*
 * cma_param.c.  The parameters for @id of REQ, or REP, of at most @max bytes of
 * private data; @from may be NULL.  Errors: -EINVAL.
 */
int pier__cma_param(struct cma_id *id, const struct rdma_conn_param *from,
		    size_t max, struct pier__cm_param *ret);

/* cma_qp.c.  Change the state of the QP of @id, if it has one. */
int pier__cma_qp_move(struct cma_id *id, enum ibv_qp_state state);
void pier__cma_qp_fail(struct cma_id *id);

#endif
