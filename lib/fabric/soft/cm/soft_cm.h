/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_CM_SOFT_CM_H
#define PIER_FABRIC_SOFT_CM_SOFT_CM_H

#include "fabric/fabric.h"
#include "fabric/soft/rc/ep.h"
#include "fabric/soft/wire/codec.h"

/*
 * Connection management: the messages to and from QP 1 of an endpoint, and
 * the states of its connections.  Like the endpoint it uses no socket and no
 * thread: the thread that drives the endpoint drives it too.  A peer is
 * answered while the program computes, and tests run it in virtual time.
 * Calls are made between the endpoint's enter and leave.
 *
 * UDP PORTS.  A soft peer has its UDP port in the CA GUID of REQ and REP,
 * `prefix | port | random`; messages and data go there.  The random part makes
 * the GUID unique to the endpoint, so that no peer takes a QPN or a
 * communication ID of it for one of another endpoint.  A peer with any other
 * GUID is a RoCE device: messages go to its port 4791 and come to ours.
 *
 * The kind of a peer is unknown to a client.  It sends REQ to the service's
 * own UDP port, where a soft listener receives, and if it gets no response to
 * port 4791 as well.  Before that it takes our port 4791 if it is free, and
 * keeps it for the attempt, or for good if the peer is a RoCE device.  A
 * listener may then receive the REQ twice, and drops the second one.
 * cm_find.c has when which port is used, and which "no listener" counts.
 */
struct soft_cm;
struct soft_cm_host;

/* The calls of connection management to the channel. */
struct soft_cm_host_ops {
	/* The index of the device's GID @ip; negative: it is none. */
	int (*gid)(struct soft_cm_host *host, const struct in6_addr *ip);

	/*
	 * An address of the device that a client of @ip may use instead.
	 * Returns false: there is none.  May be NULL.
	 */
	bool (*instead)(struct soft_cm_host *host, const struct in6_addr *ip,
			struct in6_addr *ret);

	/*
	 * Receive on UDP port 4791, or stop; counted.  Returns false if the
	 * port is taken.
	 */
	bool (*roce_port)(struct soft_cm_host *host, bool on);

	/*
	 * Send an empty datagram to UDP port @dst from @src.  Returns true if
	 * an ICMP message has reported since the last call that the port has no
	 * socket.  *state is NULL at first and then the channel's, freed by
	 * port_probe_end.  Both may be NULL: no port is known to be closed.
	 */
	bool (*port_probe)(struct soft_cm_host *host,
			   const struct in6_addr *src,
			   const struct soft_addr *dst, void **state);
	void (*port_probe_end)(struct soft_cm_host *host, void *state);

	/* An event is pending, and there was none before. */
	void (*notify)(struct soft_cm_host *host);
};

struct soft_cm_host {
	const struct soft_cm_host_ops *ops;
	uint8_t mtu;			/* code of the path MTU */
};

struct soft_cm_listener {
	struct pier__cm_listener listener;	/* first */
	struct pier__list link;
	struct in6_addr ip;		/* unspecified: any */
	uint32_t backlog, waiting;	/* requests not reported yet */
	bool roce_port;			/* counted as user of port 4791 */
	bool no_roce_port;		/* it never uses that port */
	enum pier__cm_space space;	/* of the requests */
};

/* On @ep, of which it becomes a part.  @host must outlive it. */
int pier__soft_cm_create(struct soft_ep *ep, struct soft_cm_host *host,
			 struct soft_cm **ret);

/* Free all records.  Its ids and listeners are freed before. */
void pier__soft_cm_destroy(struct soft_cm *cm);

/* The end of timewait is an event of ids that still exist. */
void pier__soft_cm_report_timewait(struct soft_cm *cm);

/*
 * Programs destroy a QP when they see that its peer has disconnected, and the
 * completions of its last messages with it: report that once they are polled,
 * but after SOFT_CM_EARLY_NS at the latest.
 */
#define SOFT_CM_EARLY_NS UINT64_C(10000000)
void pier__soft_cm_wait_for_polls(struct soft_cm *cm);

/* Send DREQ for each connection. */
void pier__soft_cm_disconnect_all(struct soft_cm *cm);

/* The cm of its ids. */
void pier__soft_cm_owner(struct soft_cm *cm, struct pier__cm *owner);

/*
 * Listen on a port whose packets reach the endpoint.  While @listener is
 * without port 4791, it is retried each second: a client may have it only for
 * its attempt.
 */
void pier__soft_cm_listen(struct soft_cm *cm,
			  struct soft_cm_listener *listener);
void pier__soft_cm_unlisten(struct soft_cm *cm,
			    struct soft_cm_listener *listener);

/*
 * The listener on @port of @ip for requests of @space; unspecified: one of
 * those on any address.  NULL: there is none.
 */
struct soft_cm_listener *
pier__soft_cm_listener(const struct soft_cm *cm, uint16_t port,
		       const struct in6_addr *ip, enum pier__cm_space space);

/* An id for connecting @src and @dst, both with a port; reports RESOLVED. */
int pier__soft_cm_resolved(struct soft_cm *cm, const struct soft_addr *src,
			   const struct soft_addr *dst, void *owner,
			   struct pier__cm_id **ret);

/* As the fabric's members of the same names. */
int pier__soft_cm_next(struct soft_cm *cm, struct pier__cm_event *ret);
/*
 * @event is a request for which there is no memory: it and its id are dropped
 * as if they had not come.  The client sends it again.
 */
void pier__soft_cm_lose(const struct pier__cm_event *event);
int pier__soft_cm_connect(struct pier__cm_id *id,
			  const struct pier__cm_param *param);
int pier__soft_cm_accept(struct pier__cm_id *id,
			 const struct pier__cm_param *param);
int pier__soft_cm_establish(struct pier__cm_id *id);
int pier__soft_cm_reject(struct pier__cm_id *id, const void *data, size_t len);
int pier__soft_cm_disconnect(struct pier__cm_id *id);
void pier__soft_cm_release(struct pier__cm_id *id);
int pier__soft_cm_qp_attr(struct pier__cm_id *id,
			  enum ibv_qp_state state, struct ibv_qp_attr *ret,
			  int *ret_mask, uint16_t *ret_udp_port);

/* How many records there are, those without an id included. */
uint32_t pier__soft_cm_count(const struct soft_cm *cm);

#endif
