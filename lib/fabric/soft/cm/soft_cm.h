/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_CM_SOFT_CM_H
#define PIER_FABRIC_SOFT_CM_SOFT_CM_H

#include "fabric/fabric.h"
#include "fabric/soft/rc/ep.h"
#include "fabric/soft/wire/codec.h"

/*
 * Connection management: the messages to and from QP 1 of an endpoint, and
 * what they make of connections.  Like the endpoint it knows no socket and no
 * thread: who drives the endpoint drives this too, so that a peer is answered
 * while the program is away, and it runs in virtual time.  Calls are made
 * between the endpoint's enter and leave.
 *
 * WHO IS REACHED WHERE.  Soft peers tell their UDP port in the CA GUID of REQ
 * and REP, `prefix | port | random`; messages and data go there.  The random
 * part makes the GUID this endpoint's alone, so that no peer takes a QPN or a
 * communication ID of it for one of another.  A peer with any other GUID is
 * standard: all goes to its port 4791, and all it says comes to ours.
 *
 * A client does not know what its peer is.  It sends REQ to the service's own
 * UDP port, where a soft listener receives, and if that does not answer to
 * port 4791 as well, having taken ours if it was free: it is the client's for
 * as long as the attempt lasts, and stays so if the peer proves standard.  A
 * listener may receive one request twice then, the second is a duplicate.
 * When which is asked, and whose "no listener" counts, is in cm_find.c.
 */
struct soft_cm;
struct soft_cm_host;

/* What is around it. */
struct soft_cm_host_ops {
	/* The index of the device's GID @ip; negative: it is none. */
	int (*gid)(struct soft_cm_host *host, const struct in6_addr *ip);

	/*
	 * Receive on UDP port 4791, or do without again; counted.  Returns
	 * false if the port is taken.
	 */
	bool (*standard)(struct soft_cm_host *host, bool on);

	/*
	 * Send something to UDP port @dst from @src, and tell if @dst's host
	 * has said since the last time that the port is nobody's.  *state is
	 * NULL at first, and what the host likes from then on: knock_end ends
	 * it.  Both may be NULL: it is never said.
	 */
	bool (*knock)(struct soft_cm_host *host, const struct in6_addr *src,
		      const struct soft_addr *dst, void **state);
	void (*knock_end)(struct soft_cm_host *host, void *state);

	/* There is an event to take, and there was none. */
	void (*ring)(struct soft_cm_host *host);
};

struct soft_cm_host {
	const struct soft_cm_host_ops *ops;
	uint8_t mtu;			/* code of the path MTU */
};

struct soft_cm_listener {
	struct pier__cm_listener listener;	/* first */
	struct pier__list link;
	struct in6_addr ip;		/* unspecified: any */
	uint32_t backlog, waiting;	/* requests not told yet */
	bool standard;			/* counted as user of port 4791 */
};

/* On @ep, of which it becomes a part.  @host must outlive it. */
int pier__soft_cm_create(struct soft_ep *ep, struct soft_cm_host *host,
			 struct soft_cm **ret);

/* Forget what is still going on.  Its ids and listeners are gone. */
void pier__soft_cm_destroy(struct soft_cm *cm);

/* What its ids and listeners have as theirs. */
void pier__soft_cm_owner(struct soft_cm *cm, struct pier__cm *owner);

/* The endpoint's: a packet for QP 1, what is due, and when. */
void pier__soft_cm_receive(struct soft_cm *cm, const struct soft_hdr *hdr,
			   const struct soft_rx *rx, const uint8_t *data,
			   size_t len);
int pier__soft_cm_timers(struct soft_cm *cm);
uint64_t pier__soft_cm_deadline(const struct soft_cm *cm);

/* The QP of connection @local_id has received its peer's first packet. */
void pier__soft_cm_data(struct soft_cm *cm, uint32_t local_id);

/*
 * Listen on a port whose packets reach the endpoint.  If port 4791 is not
 * held, it is asked for again and again: it may be a client's that is about
 * to find out that it does not need it.
 */
void pier__soft_cm_listen(struct soft_cm *cm,
			  struct soft_cm_listener *listener);
void pier__soft_cm_unlisten(struct soft_cm *cm,
			    struct soft_cm_listener *listener);

/*
 * Who listens on @port of @ip.  The unspecified one: of any address; there
 * may be several then.  NULL: nobody.
 */
struct soft_cm_listener *pier__soft_cm_listener(const struct soft_cm *cm,
						uint16_t port,
						const struct in6_addr *ip);

/* An id for connecting @src and @dst, both with a port; told RESOLVED. */
int pier__soft_cm_resolved(struct soft_cm *cm, const struct soft_addr *src,
			   const struct soft_addr *dst, void *owner,
			   struct pier__cm_id **ret);

/* As the fabric's members of the same names. */
int pier__soft_cm_next(struct soft_cm *cm, struct pier__cm_event *ret);
int pier__soft_cm_connect(struct soft_cm *cm, struct pier__cm_id *id,
			  const struct pier__cm_param *param);
int pier__soft_cm_accept(struct soft_cm *cm, struct pier__cm_id *id,
			 const struct pier__cm_param *param);
int pier__soft_cm_establish(struct soft_cm *cm, struct pier__cm_id *id);
int pier__soft_cm_reject(struct soft_cm *cm, struct pier__cm_id *id,
			 const void *data, size_t len);
int pier__soft_cm_disconnect(struct soft_cm *cm, struct pier__cm_id *id);
void pier__soft_cm_release(struct soft_cm *cm, struct pier__cm_id *id);
int pier__soft_cm_qp_attr(struct soft_cm *cm, struct pier__cm_id *id,
			  enum ibv_qp_state state, struct ibv_qp_attr *ret,
			  int *ret_mask, uint16_t *ret_udp_port);

/* How many connections there are, those included that nobody has an id of. */
uint32_t pier__soft_cm_count(const struct soft_cm *cm);

#endif
