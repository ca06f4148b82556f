/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_DROPIN_H
#define PIER_DROPIN_DROPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#include "core/list.h"
#include "dropin/cm.h"
#include "fabric/fabric.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/rc/qp.h"

/*
 * A libibverbs.so.1 whose devices are soft ones, for programs that were written
 * for that of rdma-core: same names, versions and layouts, on soft's endpoint
 * and queue pairs.  An opened device is one endpoint, whose helper is always
 * watching (fabric/soft/io/chan.h).  Calls may be made by any thread: the
 * endpoint's lock serialises them.
 *
 * The header makes macros of these, which are functions here.
 */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* Vendors' libraries read behind an ibv_device. */
#define DROPIN_DEVICE_PAD 256

struct dropin_device {
	struct ibv_device dev;		/* first */
	char pad[DROPIN_DEVICE_PAD];
	struct pier__port port;
	atomic_int refs;		/* of lists and contexts */
};

/*
 * The asynchronous events of an opened device.  Its async_fd, an eventfd, is
 * readable while @events has any: both change under @lock, which is taken
 * within the endpoint's.
 */
struct dropin_async {
	pthread_mutex_t lock;
	struct pier__list events;	/* to be taken */
	struct dropin_bell bell;	/* rings when it gets the first */
	uint64_t number;		/* of the next one */
};

/*
 * Events of one type of an object, whose memory they are in.  More than @few of
 * them have numbers in memory of their own.  Without memory for that they come
 * at the place of the last one that has a number.
 */
#define DROPIN_EVENT_NUMBERS 4

struct dropin_event {
	struct pier__list link;		/* while @count is not 0 */
	struct dropin_watched *of;	/* NULL: the place is free */
	int type;			/* enum ibv_event_type */
	unsigned int count;		/* to be taken */
	unsigned int numbered;		/* of them; the first */
	unsigned int max;		/* of numbers */
	uint64_t *numbers;		/* @few, or owned */
	uint64_t few[DROPIN_EVENT_NUMBERS];
};

#define DROPIN_EVENT_TYPES 5	/* of a QP; other objects have fewer */

/* What an object has of it. */
struct dropin_watched {
	enum dropin_kind {
		DROPIN_CQ,
		DROPIN_SRQ,
		DROPIN_QP,
		DROPIN_PORT,
	} kind;
	void *object;			/* struct ibv_cq, ibv_srq, ibv_qp */
	struct ibv_context *context;
	/* Under the lock of struct dropin_async. */
	struct dropin_event events[DROPIN_EVENT_TYPES];
	uint32_t taken;			/* events, to be acknowledged */
};

/*
 * A device that the program has opened, or librdmacm.  If both have, each has a
 * context of its own, and both have the same endpoint.
 */
struct dropin_context {
	struct dropin_device *device;	/* a reference */
	struct dropin_async async;
	struct dropin_watched port;	/* its events */
	atomic_bool removed;		/* the interface, as reported */
	struct pier__fdev *fdev;	/* owned, together with @partner; */
	struct pier__chan *chan;	/* so is this */
	struct pier__list link;		/* of ibv_context.c: */
	struct dropin_context *partner;	/* with the same, or NULL */
	void (*changed)(struct ibv_context *context);	/* of cm.h, or NULL */
	pid_t opener;			/* not a child of it */
	bool program;			/* it is not librdmacm's */
	struct verbs_context verbs;
};

struct dropin_pd {
	struct ibv_pd pd;		/* first */
	struct dropin_pd *parent;	/* whose keys it has; NULL: its own */
	atomic_int objects;
};

struct dropin_ah {
	struct ibv_ah ah;		/* first */
	struct soft_way way;
};

struct dropin_mr {
	struct ibv_mr mr;		/* first */
	struct pier__mr *region;	/* owned */
};

/*
 * A completion channel.  Its fd, an eventfd, is readable while @cqs has any:
 * both change under @lock, which is taken within the endpoint's.
 */
struct dropin_channel {
	struct ibv_comp_channel channel;	/* first */
	pthread_mutex_t lock;
	struct pier__list cqs;		/* with events */
	struct dropin_bell bell;	/* rings when it gets the first */
};

struct dropin_cq {
	union {				/* first */
		struct ibv_cq cq;
		struct ibv_cq_ex ex;	/* begins as that */
	};
	struct ibv_wc wc;		/* that @ex reads, by one thread: */
	pthread_mutex_t poll_lock;
	struct soft_chan_cq soft;	/* its queue is owned */
	bool solicited_only;		/* armed for solicited ones alone */
	uint32_t old_solicited;		/* of its queue, when it was armed */
	uint32_t old;			/* completions in it that were there */
					/* when it was armed, or more */
	atomic_int objects;		/* QPs */
	struct pier__list link;		/* of the channel's cqs */
	struct dropin_watched watched;
	unsigned int events;		/* to be taken; the channel's lock */
	uint32_t taken;			/* the same; to be acknowledged */
};

struct dropin_srq {
	struct ibv_srq srq;		/* first */
	struct soft_srq *queue;		/* owned */
	struct dropin_watched watched;
	atomic_int objects;		/* QPs */
};

struct dropin_batch;

struct dropin_qp {
	union {				/* first */
		struct ibv_qp qp;
		struct ibv_qp_ex ex;	/* if it has a batch */
	};
	struct dropin_batch *batch;	/* owned, or NULL */
	struct soft_qp *queue;		/* owned */
	struct soft_srq *own;		/* owned; NULL: it has an SRQ */
	struct soft_row *row;		/* of an RC QP, or NULL */
	struct dropin_watched watched;
	bool signal_all;
	bool roce_port;			/* it uses UDP port 4791 */
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;	/* as modified */
};

static inline struct dropin_context *dropin_of(struct ibv_context *context)
{
	return pier__container_of(context, struct dropin_context,
				  verbs.context);
}

static inline struct soft_chan *dropin_chan(struct ibv_context *context)
{
	return chan_of(dropin_of(context)->chan);
}

/* Set errno from @err, an error of pier's.  Returns NULL. */
void *pier__dropin_null(int err);

/* What a call that returns an errno value returns for @err. */
int pier__dropin_errno(int err);

/* ibv_post.c, ibv_cq.c: the calls that programs make by the context. */
int pier__dropin_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad);
int pier__dropin_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad);
int pier__dropin_post_srq(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad);
int pier__dropin_poll(struct ibv_cq *cq, int max, struct ibv_wc *wc);
int pier__dropin_arm(struct ibv_cq *cq, int solicited);

/* ibv_pd.c: the same; and what the keys of @pd are bound to. */
struct ibv_td *pier__dropin_alloc_td(struct ibv_context *context,
				     struct ibv_td_init_attr *attr);
int pier__dropin_dealloc_td(struct ibv_td *td);
struct ibv_pd *
pier__dropin_alloc_parent_domain(struct ibv_context *context,
				 struct ibv_parent_domain_init_attr *attr);
const void *pier__dropin_pd_of(struct ibv_pd *pd);
void pier__dropin_pd_count(struct ibv_pd *pd, int change);

/* ibv_mr.c: the same. */
int pier__dropin_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
			   uint32_t flags, struct ibv_sge *sge, uint32_t count);

/*
 * ibv_mw.c: the same.  A local request has no packet, and the queue of the
 * others does not take it: post_local() does, between begin and end.
 */
struct ibv_mw *pier__dropin_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int pier__dropin_dealloc_mw(struct ibv_mw *mw);
int pier__dropin_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
			 struct ibv_mw_bind *bind);
bool pier__dropin_is_local(const struct ibv_send_wr *wr);
int pier__dropin_post_local(struct soft_qp *queue,
			    const struct ibv_send_wr *wr);

/* ibv_cq_ex.c, ibv_wr.c: as the members of struct verbs_context. */
struct ibv_cq_ex *pier__dropin_create_cq_ex(struct ibv_context *context,
					    struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *pier__dropin_create_qp_ex(struct ibv_context *context,
					 struct ibv_qp_init_attr_ex *init);
void pier__dropin_batch_free(struct dropin_batch *batch);

/* ibv_cq.c: unread completions of a QP were dropped.  Between begin and end. */
void pier__dropin_dropped(struct ibv_cq *cq);

/* ibv_async.c: @ctx, which has an endpoint and a device; and its end. */
int pier__dropin_async_init(struct dropin_context *ctx);
void pier__dropin_async_free(struct dropin_context *ctx);
/* Take the events of the device of @chan.  The helper calls it. */
void pier__dropin_port_event(struct pier__chan *chan);
/*
 * ibv_context.c: a child of the process that has opened @context has copies of
 * its objects: what is destroyed there stays, for a thread may have had the
 * lock.
 */
bool pier__dropin_inherited(const struct ibv_context *context);
/* @fn for each context of the endpoint @chan. */
void pier__dropin_each(const struct pier__chan *chan,
		       void (*fn)(struct dropin_context *ctx, int type),
		       int type);
/* As pier__soft_port_gid() and pier__soft_port_gid_end() have it. */
const struct pier_gid *pier__dropin_gid(const struct pier__port *port,
					uint32_t index);
uint32_t pier__dropin_gid_end(const struct pier__port *port);
/* @watched is new; what it stands for is @object, of @context. */
void pier__dropin_watch(struct dropin_watched *watched, enum dropin_kind kind,
			void *object, struct ibv_context *context);
/*
 * No event comes any more: drop those that were not taken, and wait until the
 * others are acknowledged, which @completed counts under @mutex.
 */
void pier__dropin_unwatch(struct dropin_watched *watched,
			  pthread_mutex_t *mutex, pthread_cond_t *cond,
			  const uint32_t *completed);

/*
 * ibv_peers.c: read PIER_ROCE_PEERS, once.  Errors: -EINVAL, it is no list of
 * addresses.  And the UDP port of the peer with @gid whose QP is @qpn.
 */
int pier__dropin_peers(void);
uint16_t pier__dropin_port_of(uint32_t qpn, const uint8_t gid[16]);

/* ibv_qp.c: end the queue pairs of @ctx, which the program must not use. */
void pier__dropin_end_qps(struct dropin_context *ctx);

/* ibv_query.c: as members of struct verbs_context. */
int pier__dropin_query_port(struct ibv_context *context, uint8_t port,
			    struct ibv_port_attr *ret, size_t len);
int pier__dropin_query_device_ex(struct ibv_context *context,
				 const struct ibv_query_device_ex_input *input,
				 struct ibv_device_attr_ex *ret, size_t len);

/* ibv_channel.c: @cq has one more event; it has none, and never will. */
void pier__dropin_event(struct dropin_cq *cq);
void pier__dropin_no_events(struct dropin_cq *cq);

/* ibv_device.c: the contexts and the lists that use @device. */
void pier__dropin_device_put(struct dropin_device *device);
/* Is @device one of this library, and not of the real one (real/real.h)? */
bool pier__dropin_is_soft(const struct ibv_device *device);

#include "dropin/real/names.h"

#endif
