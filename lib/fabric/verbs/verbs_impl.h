/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_VERBS_VERBS_IMPL_H
#define PIER_FABRIC_VERBS_VERBS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/list.h"
#include "fabric/fabric.h"
#include "fabric/verbs/watch.h"

extern const struct pier__fabric pier__verbs;

/*
 * Devices that rdma-core drives.  Each object is that of fabric.h followed by
 * libibverbs' object.
 */
struct verbs_dev {
	struct pier__fdev fdev;		/* first, so that casts are sound */
	struct ibv_context *ibv;
	struct ibv_pd *pd;
	bool adopted;			/* both are the program's */
	atomic_uint vectors;		/* completion vectors given out */
	pthread_mutex_t lock;		/* cqs, srqs, qps */
	struct pier__list cqs;		/* of struct verbs_cq: a program may */
					/* have others on the same context */
	struct pier__list srqs;		/* of struct verbs_srq, likewise */
	struct pier__list qps;		/* of struct verbs_qp, likewise */
	struct verbs_watch watch;
	bool lost_reported;			/* by event() */
	struct verbs_hold *_Atomic hold;	/* verbs_cm_hold.c's */
	atomic_bool removed;		/* the connection manager reports it */
};

struct verbs_mr {
	struct pier__mr mr;
	struct ibv_mr *ibv;
};

struct verbs_chan {
	struct pier__chan chan;
	struct ibv_comp_channel *ibv;
};

/* Which queue has failed, by an asynchronous event. */
enum verbs_broken {
	VERBS_WHOLE,
	VERBS_CQ_BROKEN,
	VERBS_SRQ_BROKEN,
};

struct verbs_cq {
	struct pier__cq cq;
	struct ibv_cq *ibv;
	struct pier__list link;		/* the device's */
	atomic_int broken;		/* enum verbs_broken, in any thread */
	/*
	 * Completions taken out of ibv while a QP was destroyed, of others:
	 * to be polled first.  Room for as many as ibv holds.
	 */
	struct ibv_wc *early;
	int early_count, early_next;
};

struct verbs_srq {
	struct pier__srq srq;
	struct ibv_srq *ibv;
	struct pier__list link;		/* the device's */
};

struct verbs_qp {
	struct pier__qp qp;
	struct ibv_qp *ibv;
	enum ibv_qp_state state;	/* as last set, for messages */
	uint32_t psn;			/* of the next request */
	uint8_t mtu_log2;		/* of the path, bytes */
	uint32_t *psns;			/* of the last requests: a ring */
	uint32_t psns_at, psns_size;	/* where the next one is put */
	struct pier__list link;		/* the device's */
	atomic_int fault;		/* enum ibv_wc_status, in any thread; */
					/* IBV_WC_SUCCESS: none */
};

static inline struct verbs_dev *verbs_dev(struct pier__fdev *fdev)
{
	return (struct verbs_dev *)fdev;
}

static inline struct verbs_chan *verbs_chan(struct pier__chan *chan)
{
	return (struct verbs_chan *)chan;
}

static inline struct verbs_cq *verbs_cq(struct pier__cq *cq)
{
	return (struct verbs_cq *)cq;
}

static inline struct verbs_qp *verbs_qp(struct pier__qp *qp)
{
	return (struct verbs_qp *)qp;
}

/*
 * The error of a verbs call, negative.  Verbs have three conventions: a
 * positive errno value (post, modify), -1 with errno set (get event, query),
 * and a negative errno value (poll).  For calls that return NULL pass -1.
 */
int pier__verbs_error(int rc);

/* Log that destroying an object of @device failed with @rc, unless it is 0. */
void pier__verbs_log_end(const char *device, int rc, const char *what);

/* Devices, in verbs_dev.c and list.c. */
int pier__verbs_list(struct pier__ports *ports);
int pier__verbs_open(const struct pier__port *port, struct pier__fdev **ret);
int pier__verbs_adopt(const struct pier__port *port, struct ibv_pd *pd,
		      struct pier__fdev **ret);
void pier__verbs_close(struct pier__fdev *fdev);
int pier__verbs_query(struct pier__fdev *fdev);
int pier__verbs_event(struct pier__fdev *fdev, int *ret);

/* Memory, in verbs_mr.c. */
int pier__verbs_reg(struct pier__fdev *fdev, void *addr, size_t len,
		    int access, struct pier__mr **ret);
int pier__verbs_reg_dmabuf(struct pier__fdev *fdev, int fd, uint64_t offset,
			   size_t len, uint64_t iova, int access,
			   struct pier__mr **ret);
void pier__verbs_dereg(struct pier__mr *mr);

/*
 * Fail: @what got no memory, of which it pins about @len bytes.  The reason is
 * nearly always the limit of locked memory.
 * Returns -ENOMEM.
 */
int pier__verbs_no_memory(const char *device, size_t len, const char *what);

/* Completion and receive queues, in queue.c. */
int pier__verbs_chan_create(struct pier__fdev *fdev, uint32_t shm,
			    struct pier__chan **ret);
void pier__verbs_chan_destroy(struct pier__chan *chan);
void pier__verbs_chan_clear(struct pier__chan *chan);
int pier__verbs_cq_create(struct pier__chan *chan, uint32_t cqe,
			  struct pier__cq **ret);
void pier__verbs_cq_destroy(struct pier__cq *cq);
/* An event: @ibv, which may be the program's own, has failed. */
void pier__verbs_cq_broken(struct verbs_dev *dev, const struct ibv_cq *ibv);
/*
 * The same of the receive queue @ibv.  Its receives complete no more: the
 * completion queues of its channel fail with it.
 */
void pier__verbs_srq_broken(struct verbs_dev *dev, const struct ibv_srq *ibv);
/* Purge the unread completions of the QP @qpn, which is destroyed. */
void pier__verbs_cq_purge(struct pier__cq *cq, uint32_t qpn);
int pier__verbs_poll(struct pier__cq *cq, struct ibv_wc *wc, int max);
int pier__verbs_arm(struct pier__cq *cq);
int pier__verbs_srq_create(struct pier__chan *chan, uint32_t max_wr,
			   uint32_t max_sge, struct pier__srq **ret);
void pier__verbs_srq_destroy(struct pier__srq *srq);
int pier__verbs_srq_post(struct pier__srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad);

/* Queue pairs, in verbs_qp.c. */
int pier__verbs_qp_create(struct pier__cq *cq, struct pier__srq *srq,
			  const struct ibv_qp_cap *cap, struct pier__qp **ret);
int pier__verbs_qp_modify(struct pier__qp *qp, struct ibv_qp_attr *attr,
			  int mask, uint16_t udp_port);
void pier__verbs_qp_destroy(struct pier__qp *qp);
/* An event: @ibv, which may be the program's own, is in ERR. */
void pier__verbs_qp_broken(struct verbs_dev *dev, const struct ibv_qp *ibv,
			   enum ibv_wc_status fault);
bool pier__verbs_qp_fault(struct pier__qp *qp, struct pier__fault *ret);
int pier__verbs_qp_psns(struct pier__qp *qp, uint32_t unacked,
			struct pier__psns *ret);
int pier__verbs_post(struct pier__qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad);

/*
 * Fill in @ret for @port of @ctx, all but limits.  Errors: -ENODEV, it was
 * removed; the device's own.
 */
int pier__verbs_port(struct ibv_context *ctx, uint32_t port,
		     struct pier__port *ret);

/*
 * Fill in the limits of a device but for what is the port's; tries out what
 * cannot be asked for, such as the inline size.
 * Errors: -EOPNOTSUPP, it has no reliable connections, or none with a shared
 * receive queue; the device's own.
 */
int pier__verbs_limits(struct ibv_context *ctx, struct pier__limits *ret);

#endif
