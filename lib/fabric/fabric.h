/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_FABRIC_H
#define PIER_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <infiniband/verbs.h>	/* types only */
#include <pier/counters.h>
#include <pier/dev.h>

#include "fabric/cm_space.h"

/*
 * The interface between pier and a device.  Two kinds of device implement it,
 * verbs and soft; code above does not depend on the kind.  Arguments and
 * results are of rdma-core's types, objects are opaque.  A member of a table
 * may be NULL if its comment says so; limits have what a device cannot do.
 *
 * Calls return 0, a count, or a negative errno value after pier__fail().
 * No call calls back into the layers above.  t/fabric/fabric.c is the contract
 * in executable form.
 */

/* What a device can do.  Do not infer it from the kind. */
struct pier__limits {
	uint64_t message;	/* bytes */
	uint64_t mmap;		/* bytes in one region */
	uint32_t inline_size;	/* largest inline send; 0: none */
	uint32_t inline_free;	/* inline costs nothing up to this */
	uint32_t send_sge, recv_sge;
	uint32_t qps;
	uint32_t send_wr;	/* of one QP */
	uint32_t srq_wr;
	uint32_t cqe;
	uint32_t pkeys;		/* of the port's table */
	uint32_t rd_atomic;	/* as initiator and as responder */
	uint32_t opcodes;	/* bit per enum ibv_wr_opcode that works */
	bool atomic_cpu;	/* atomic with the CPU's atomics as well */
	bool srq_flush;		/* receives of an SRQ are flushed */
	bool retry_7_forever;	/* retry count 7 means infinite */
	bool by_address;	/* connects by CM only (iWARP) */
	bool shares_roce_port;	/* UDP port 4791, with others of its kind */
	bool self_rep;		/* has no switch: is its own representor */
	bool dmabuf;		/* registers dma-bufs */
};

/* A device and port as listed; plain data, copied freely. */
struct pier__port {
	const struct pier__fabric *fabric;
	char name[64];		/* of the RDMA device */
	uint32_t port;		/* from 1 */
	char netdev[16];	/* "" none */
	char pci[16];		/* 0000:00:00.0; of software: pci.h */
	uint8_t link_layer;	/* IBV_LINK_LAYER_* */
	bool active;
	uint16_t lid;
	bool grh;		/* every packet must have one */
	uint64_t guid;
	enum ibv_mtu mtu;	/* active */
	struct pier__limits limits;
	uint32_t gid_count;
	struct pier_gid gids[32];
	uint8_t gid_prefix[32];	/* bits of the subnet of each; 0: unknown */
	uint32_t gid_passing;	/* bit a GID: temporary, or deprecated */
};

/*
 * Update @port from @now.  What cannot change, such as its name and limits, is
 * not written: other threads read it without a lock.
 */
void pier__port_update(struct pier__port *port, const struct pier__port *now);

/* The MTU of @port, which another thread may be updating. */
static inline enum ibv_mtu pier__port_mtu(const struct pier__port *port)
{
	return __atomic_load_n(&port->mtu, __ATOMIC_RELAXED);
}

/* A device that the machine has, but not the list. */
struct pier__absent {
	char device[64];	/* "": the machine has none of the kind */
	char reason[512];	/* the error message, with the remedy */
};
#define PIER__ABSENT_MAX 8

/* A growing list of ports, and the reasons why expected ones are missing. */
struct pier__ports {
	struct pier__port *port;
	size_t count;
	const struct pier__fabric *missing;	/* its kind; NULL: none is */
	bool repairable;	/* the machine has it, but unusable */
	char reason[512];	/* the error message, with the remedy */
	struct pier__absent absent[PIER__ABSENT_MAX];	/* the first ones */
	size_t absent_count;
};

/* Append a copy of @port.  Errors: -ENOMEM. */
int pier__ports_add(struct pier__ports *ports, const struct pier__port *port);

/*
 * The ports of @device, of @kind, are missing; @device and @reason are copied.
 * "reason" of @ports is that of the first one that can be repaired, else of the
 * first.
 */
void pier__ports_miss(struct pier__ports *ports,
		      const struct pier__fabric *kind, bool repairable,
		      const char *device, const char *reason);

/*
 * Why entry @i of the GIDs of @port is not chosen unless its index is given, as
 * "it is link-local"; NULL: it may be chosen.
 */
const char *pier__port_gid_fault(const struct pier__port *port, uint32_t i);

/*
 * Fail to listen on @addr, which is not an address of @port but, unless NULL,
 * of @whose.  Returns -EADDRNOTAVAIL.
 */
int pier__port_lacks(const struct pier__port *port,
		     const struct sockaddr *addr, const char *whose);

/*
 * Find an address of @port, of the family of @gid, that is valid on other
 * hosts.  Returns false: it has none.
 */
bool pier__port_like(const struct pier__port *port, const uint8_t gid[16],
		     uint8_t ret[16]);

/* Counters of one device or connection; the names are constants. */
struct pier__counted {
	struct pier_counted what;
	const char *const *names;
	uint32_t count;
	uint64_t values[64];
	struct pier_conn_event *events;	/* of a device; owned by the list */
	size_t event_count;
};

/* A growing list of them. */
struct pier__counteds {
	struct pier__counted *row;
	size_t count;
};

/* Append a copy of @row, which owns its events.  Errors: -ENOMEM. */
int pier__counteds_add(struct pier__counteds *list,
		       const struct pier__counted *row);

/* Free all of @list. */
void pier__counteds_free(struct pier__counteds *list);

/* Append to @counters, of full size; what does not fit is omitted. */
void pier__counters_put(struct pier_counters *counters, const char *name,
			uint64_t value);

/* Why a queue pair has gone to ERR by itself, as far as its device knows. */
struct pier__fault {
	enum ibv_wc_status status;	/* REM_...: it refused a request of */
					/* the peer's, which gets this */
	const char *request;		/* a constant; NULL: not known, nor */
					/* is anything below */
	uint8_t opcode;			/* of the packet (BTH) */
	bool has_range;			/* addr and rkey are of the request */
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
	bool partial;			/* len is what had arrived of it */
};

/* The objects begin with these; each kind of device adds its own members. */
struct pier__fdev {
	const struct pier__fabric *fabric;
	struct pier__port port;		/* as opened; query() refreshes it */
	int event_fd;			/* readable when event() has one */
	bool mute;			/* event() reports no changes of the */
					/* port: query() shows them */
};

struct pier__mr {
	struct pier__fdev *fdev;
	uint32_t lkey, rkey;
};

struct pier__chan {
	struct pier__fdev *fdev;
	int fd;			/* readable after arm() when there is work */
	uint16_t udp_port;	/* where peers send to; 4791 on verbs */
};

struct pier__op;

struct pier__cq {
	struct pier__chan *chan;
	struct pier__op *faults;	/* the caller's, or NULL: wr_id of a */
					/* completion that reports that its */
					/* QP has a fault() */
};

struct pier__srq {
	struct pier__chan *chan;
};

struct pier__qp {
	struct pier__cq *cq;
	uint32_t qpn;
	uint32_t inline_size;	/* granted */
};

/*
 * Devices.  list and open may be called from any thread; an open device is
 * shared by threads, and its other calls here may be made from any of them.
 */
struct pier__fabric_dev {
	/*
	 * Append every port of every device of this kind; none is no error;
	 * pier__ports_miss() records a missing one.  Nothing remains
	 * open after the call.  May block.
	 */
	int (*list)(struct pier__ports *ports);

	/* Open @port; the caller closes it.  -ENODEV: removed. */
	int (*open)(const struct pier__port *port, struct pier__fdev **ret);

	/*
	 * Open @port on the caller's @pd, which remains the caller's, as do
	 * its context and its events.  -EOPNOTSUPP: not a verbs device.
	 */
	int (*adopt)(const struct pier__port *port, struct ibv_pd *pd,
		     struct pier__fdev **ret);

	/* Close @fdev, which has no objects any more. */
	void (*close)(struct pier__fdev *fdev);

	/* Refresh fdev->port: state, MTU, GIDs.  -ENODEV: it was removed. */
	int (*query)(struct pier__fdev *fdev);

	/*
	 * Take the next asynchronous event; never blocks.
	 * -EAGAIN: none.  *ret is an enum ibv_event_type.
	 */
	int (*event)(struct pier__fdev *fdev, int *ret);

	/*
	 * Register @len bytes at @addr; @access is IBV_ACCESS_*.  The keys
	 * are valid on every queue of @fdev.  -ENOMEM: also locked-memory
	 * limit; -EFAULT: not mapped, or mapped without such access.
	 */
	int (*reg)(struct pier__fdev *fdev, void *addr, size_t len,
		   int access, struct pier__mr **ret);

	/*
	 * Register @len bytes of the dma-buf @fd, from @offset on, at @iova.
	 * @fd is not used later.  -EOPNOTSUPP: limits.dmabuf is false.
	 */
	int (*reg_dmabuf)(struct pier__fdev *fdev, int fd, uint64_t offset,
			  size_t len, uint64_t iova, int access,
			  struct pier__mr **ret);

	/* NULL, or: processes of the host map @mr's memfd @fd, see dereg. */
	bool (*maps)(const struct pier__fdev *fdev);
	void (*share)(struct pier__mr *mr, int fd, _Atomic bool *held);

	/* After it peers have no access, but to a memfd if *held is set. */
	void (*dereg)(struct pier__mr *mr);

	/* Its protection domain; NULL: not a verbs device. */
	struct ibv_pd *(*pd)(struct pier__fdev *fdev);

	/*
	 * Append the counters of @fdev, or of @qp alone, from the thread that
	 * @qp belongs to; NULL: of all of @fdev.
	 * -EOPNOTSUPP: the device does not count.
	 */
	int (*counters)(struct pier__fdev *fdev, const struct pier__qp *qp,
			struct pier_counters *ret);

	/*
	 * Append the counters that processes of this host share, or only
	 * @pid unless that is 0, of devices of this kind; each device before
	 * its connections.  Errors: -ENOMEM.
	 */
	int (*counted)(int pid, struct pier__counteds *list);
};

/*
 * Queues.  A channel and all that is made on it belong to one thread at a
 * time; several channels of one device run in parallel and share no lock.
 */
/* Of packets: the next one of the peer's, and the first not acknowledged. */
struct pier__psns {
	uint32_t rq, sq;
};

struct pier__fabric_qp {
	/*
	 * A notification channel; on soft the endpoint with its UDP port.
	 * @shm: enum pier_shm, or 0: the environment's.
	 */
	int (*chan_create)(struct pier__fdev *fdev, uint32_t shm,
			   struct pier__chan **ret);
	void (*chan_destroy)(struct pier__chan *chan);

	/* The flight recorder on or off: enum pier_events.  NULL: none. */
	void (*chan_record)(struct pier__chan *chan, uint32_t events);

	/* Take notifications out of chan->fd after a sleep. */
	void (*chan_clear)(struct pier__chan *chan);

	/* At least @cqe entries.  -EINVAL: beyond limits.cqe. */
	int (*cq_create)(struct pier__chan *chan, uint32_t cqe,
			 struct pier__cq **ret);
	void (*cq_destroy)(struct pier__cq *cq);

	/*
	 * Reap at most @max.  Returns how many, 0 for none, or an error:
	 * the queue is then dead.  Drives the device if it has no hardware.
	 */
	int (*poll)(struct pier__cq *cq, struct ibv_wc *wc, int max);

	/*
	 * Make chan->fd readable at the next completion.  -EAGAIN: there
	 * is one already (checked after the notification was requested, so
	 * that none is missed): poll.  0: sleep.  -ENOMEM.
	 */
	int (*arm)(struct pier__cq *cq);

	/* A shared receive queue. */
	int (*srq_create)(struct pier__chan *chan, uint32_t max_wr,
			  uint32_t max_sge, struct pier__srq **ret);

	/* Receives still posted are dropped without a completion. */
	void (*srq_destroy)(struct pier__srq *srq);

	/* As post, for receives. */
	int (*srq_post)(struct pier__srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad);

	/*
	 * Take back the receive @wr_id, without a completion; false: a message
	 * is in it, or begins to be.  NULL: the device gives none back.
	 */
	bool (*srq_recall)(struct pier__srq *srq, uint64_t wr_id);

	/*
	 * An RC QP in RESET whose send and receive completions go to @cq.
	 * Only @cap and the signalling of single requests are its own.
	 */
	int (*qp_create)(struct pier__cq *cq, struct pier__srq *srq,
			 const struct ibv_qp_cap *cap, struct pier__qp **ret);

	/*
	 * As ibv_modify_qp(3).  @udp_port: the peer's, for the transition to
	 * RTR; 4791 for RoCE devices.  Errors: -EADDRINUSE, such a device
	 * sends to our port 4791, which another process has.
	 */
	int (*qp_modify)(struct pier__qp *qp, struct ibv_qp_attr *attr,
			 int mask, uint16_t udp_port);

	/* Its unread completions are purged, nothing is flushed any more. */
	void (*qp_destroy)(struct pier__qp *qp);

	/*
	 * Post the chain @wr; wr_id is a struct pier__op, which must live
	 * until its completion is polled.  -EAGAIN: full from *@bad on; the
	 * requests before it are posted.  Any error sets *@bad.  Does not
	 * block.
	 */
	int (*post)(struct pier__qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad);

	/*
	 * Acknowledge all that has arrived, before what is posted next.
	 * NULL: the device does so at once.
	 */
	void (*acknowledge)(struct pier__qp *qp);

	/*
	 * Was the last response an RNR NAK, so that the first request in flight
	 * waits for a receive of the peer's?  NULL: the device does not know.
	 */
	bool (*rnr)(struct pier__qp *qp);

	/*
	 * Where @qp, in ERR, was when it got there.  @unacked: requests posted
	 * that have not succeeded, those posted in ERR included.
	 */
	int (*psns)(struct pier__qp *qp, uint32_t unacked,
		    struct pier__psns *ret);

	/*
	 * Has @qp gone to ERR by itself, for another reason than a request that
	 * was posted to it?  That is reported by cq->faults, or by an event of
	 * the device; not by every device.
	 */
	bool (*fault)(struct pier__qp *qp, struct pier__fault *ret);

	/*
	 * How long the receive was that the peer refused a send of @qp for
	 * (REM_INV_REQ_ERR).  False: the peer has not reported it.  NULL: a
	 * peer of this kind of device never does.
	 */
	bool (*refused)(struct pier__qp *qp, uint32_t *ret);

	/* Its verbs object; NULL: there is none. */
	struct ibv_qp *(*ibv)(struct pier__qp *qp);
};

#define PIER__CM_ELSEWHERE_HEAD 8
#define PIER__CM_ELSEWHERE_KEY 4
#define PIER__CM_ELSEWHERE (PIER__CM_ELSEWHERE_HEAD + 16)

/* The connection manager of one channel, and of its thread. */
struct pier__cm {
	struct pier__chan *chan;
	int fd;			/* readable when next() has an event or */
				/* work */
	bool no_roce_port;	/* the caller's: listeners of a soft device */
				/* never take port 4791 */
	/*
	 * The caller's, zeros: none.  The REJ of a request for an address that
	 * a listener does not have has them and the GID of one that it has as
	 * private data, if the request's begins with the same ELSEWHERE_KEY.
	 */
	uint8_t elsewhere[PIER__CM_ELSEWHERE_HEAD];
};

/*
 * Write the private data of a REJ of a request with @len bytes of @data: the
 * server listens at @gid.  Returns the length; 0: the client is not to get it.
 */
size_t pier__cm_elsewhere(const struct pier__cm *cm, const uint8_t *data,
			  size_t len, const uint8_t gid[16],
			  uint8_t ret[PIER__CM_ELSEWHERE]);

/* A port that accepts requests. */
struct pier__cm_listener {
	struct pier__cm *cm;
	void *owner;		/* the caller's */
	uint16_t port;		/* host order, as granted */
	/*
	 * Requests that count for the backlog: next() adds each that it
	 * reports, the caller subtracts each that it has answered, while
	 * another thread may receive more.
	 */
	_Atomic uint32_t held;
};

/* An attempt to connect, then a connection; the two share nothing else. */
struct pier__cm_id {
	struct pier__cm *cm;
	void *owner;		/* the caller's; may be set at any time */
	struct sockaddr_storage local;	/* known from RESOLVED or REQUEST on */
	struct sockaddr_storage peer;
};

/* The parameters of our end in REQ and REP, or SIDR_REQ and SIDR_REP. */
struct pier__cm_param {
	enum pier__cm_space space;	/* of connect(); all: soft alone */
	uint32_t qkey;			/* of accept() of such a request */
	uint32_t qpn;
	uint8_t responder_resources;	/* reads and atomics that we accept */
	uint8_t initiator_depth;	/* that we request to send */
	uint8_t retry_count, rnr_retry;	/* 0..7 */
	uint8_t tclass;			/* of connect(); soft alone */
	const void *data;		/* private data */
	size_t len;
};

/* Most private data of a message; of requests without the IP CM header. */
#define PIER__CM_REQ_DATA 56
#define PIER__CM_REP_DATA 196
#define PIER__CM_REJ_DATA 148
#define PIER__CM_SIDR_REQ_DATA 180
#define PIER__CM_SIDR_REP_DATA 136

/* In brackets: the call after which the event can arrive. */
enum pier__cm_kind {
	PIER__CM_RESOLVED,	/* (resolve) now connect() */
	PIER__CM_REQUEST,	/* (listen) id is new and the caller's */
	PIER__CM_RESPONSE,	/* (connect) accepted: QP to RTS, establish() */
				/* unless it is a datagram service */
	PIER__CM_ESTABLISHED,	/* (accept) the peer's QP is in RTS, too */
	PIER__CM_REJECTED,	/* (connect, accept) over; reason, data */
	PIER__CM_UNREACHABLE,	/* (resolve, connect, accept) no response, */
				/* no route; over; error */
	PIER__CM_DISCONNECTED,	/* (established) by the peer, or disconnect() */
				/* has completed; over */
	PIER__CM_GONE,		/* device removed: id can only be released */
	PIER__CM_TIMEWAIT_EXIT,	/* behind DISCONNECTED: the peer sends no */
				/* message any more; of a soft device that */
				/* reports it (soft.h) */
};

struct pier__cm_event {
	enum pier__cm_kind kind;
	struct pier__cm_id *id;
	struct pier__cm_listener *listener;	/* of REQUEST, else NULL */
	int error;		/* of UNREACHABLE: negative errno value; */
				/* pier__fail() has its message */
	uint16_t reason;	/* of REJECTED: IBTA reject reason; of a */
				/* datagram service SIDR_REP's status */
	uint8_t instead[16];	/* of REJECTED: the GID where the peer */
				/* listens, as REJ has it; 0: not known */
	uint32_t qkey;		/* of RESPONSE of a datagram service */
	uint32_t qpn;		/* the peer's, of REQUEST and RESPONSE; and: */
	uint8_t responder_resources;	/* most that the peer requests */
	uint8_t initiator_depth;	/* most that the peer accepts */
	uint8_t retry_count, rnr_retry;
	const uint8_t *data;	/* private data, until the next call of */
	size_t len;		/* next(): the whole field, zero-filled */
};

/*
 * Connection management: IB CM, of librdmacm or of the soft device.  It
 * provides the attributes of a QP; the caller changes its state.  No call
 * blocks.  An id gets at most one event with "over".
 */
struct pier__fabric_cm {
	/*
	 * @mtu: the most that its connections may have.  Errors: -EOPNOTSUPP,
	 * less than the port's, which the manager cannot negotiate.
	 */
	int (*create)(struct pier__chan *chan, enum ibv_mtu mtu,
		      struct pier__cm **ret);

	/* All listeners and ids have been released. */
	void (*destroy)(struct pier__cm *cm);

	/* Take the next event, do what is due.  -EAGAIN: there is none. */
	int (*next)(struct pier__cm *cm, struct pier__cm_event *ret);

	/*
	 * Listen on @addr, IPv4 or IPv6, any address or one of the device's;
	 * port 0: a free one.  At most @backlog requests wait to be
	 * reported; others are dropped, so that their sender tries again.
	 * Errors: -EADDRINUSE; -EADDRNOTAVAIL; -ENOMEM.
	 */
	int (*listen)(struct pier__cm *cm, const struct sockaddr *addr,
		      int backlog, void *owner,
		      struct pier__cm_listener **ret);

	/* Requests not reported yet are rejected. */
	void (*unlisten)(struct pier__cm_listener *listener);

	/*
	 * Resolve the route to @dst, from @src unless NULL, over this device,
	 * within @timeout_ms.  Errors: -EINVAL; -EHOSTUNREACH; -ENOMEM.
	 */
	int (*resolve)(struct pier__cm *cm, const struct sockaddr *src,
		       const struct sockaddr *dst, int timeout_ms,
		       void *owner, struct pier__cm_id **ret);

	/* Send REQ.  Repeated until answered, given up or released. */
	int (*connect)(struct pier__cm_id *id,
		       const struct pier__cm_param *param);

	/*
	 * Send REP; the QP is in RTS.  An error leaves the id as it was.
	 * -ECONNABORTED: the peer has given up, for which there need not be
	 * an event; reject() and qp_attr() of a request return it, too.
	 */
	int (*accept)(struct pier__cm_id *id,
		      const struct pier__cm_param *param);

	/* Send RTU: we are connected. */
	int (*establish)(struct pier__cm_id *id);

	/* Send REJ, consumer reject; the id is over. */
	int (*reject)(struct pier__cm_id *id, const void *data, size_t len);

	/* Send DREQ, or DREP as a reply; DISCONNECTED is the last event. */
	int (*disconnect)(struct pier__cm_id *id);

	/*
	 * Free @id, in any state: an attempt is ended with REJ, a connection
	 * with DREQ.  No more events have it.
	 */
	void (*release)(struct pier__cm_id *id);

	/*
	 * Attributes and mask for the transition to @state, INIT, RTR or RTS,
	 * as rdma_init_qp_attr(3); *ret_udp_port is for qp_modify().
	 */
	int (*qp_attr)(struct pier__cm_id *id, enum ibv_qp_state state,
		       struct ibv_qp_attr *ret, int *ret_mask,
		       uint16_t *ret_udp_port);
};

/* A kind of device. */
struct pier__fabric {
	const char *name;		/* "verbs", "soft" */
	const struct pier__fabric_dev *dev;
	const struct pier__fabric_qp *qp;
	const struct pier__fabric_cm *cm;
};

#endif
