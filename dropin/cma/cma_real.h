/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_CMA_CMA_REAL_H
#define PIER_DROPIN_CMA_CMA_REAL_H

#include "dropin/cma/cma.h"

/*
 * The librdmacm.so.1 of the host, for addresses of devices that are not soft:
 * dropin/real/real.h has how it is loaded.  `pier run` names its file in
 * PIER_REAL_CM.
 *
 * An id of the program is one of pier until it gets an address.  If a real
 * device has that, the id has one of the host's library from then on, @real,
 * which is what its calls are made for; what programs read in the id is copied
 * from that.  A listener on all addresses is both.  The events of real ids come
 * by a channel of the host's library, whose fd is among those that the fd of
 * the program's channel, an epoll set, waits for.  That an id waits for its
 * calls is done here for both.
 *
 * Calls return what the program's call of that name does, and set errno.
 */

/* Is there such a library?  Load it, once. */
bool pier__cma_real(void);

/*
 * An fd for a channel that is readable with @ready, and with what is added
 * later.  -1 with errno.
 */
int pier__cma_real_fd(int ready);
/* @channel is to have events of real devices, too.  -1 with errno. */
int pier__cma_real_channel(struct cma_channel *channel);

/* Around fork(2), and in the child. */
void pier__cma_real_hold(void);
void pier__cma_real_release(void);
void pier__cma_real_channels_forked(void);
/* The end of what @channel has of it. */
void pier__cma_real_channel_free(struct cma_channel *channel);

/*
 * Bind @id to @addr if a real device has it, which id->real is then.  Returns
 * 0, also if none has; -1 with errno: one has, and that failed.
 */
int pier__cma_real_bind(struct cma_id *id, const struct sockaddr *addr);
/* The same with the source address for @dst; @src may be NULL or any. */
int pier__cma_real_bind_to(struct cma_id *id, const struct sockaddr *src,
			   const struct sockaddr *dst);
/* Listen beside soft devices, at the port that these have. */
int pier__cma_real_listen_too(struct cma_id *id, int backlog);

/*
 * The next event, in @ret, which is NULL if there is none yet.  Returns -1 with
 * errno: the host's library has failed.
 */
int pier__cma_real_take(struct cma_channel *channel, struct cma_event **ret);
void pier__cma_real_ack(struct cma_event *event);
/*
 * Wait until @channel, which has events of real devices, may have one.  -1 with
 * errno, also EINTR: poll(2) does not go on after a signal.
 */
int pier__cma_real_wait(struct cma_channel *channel);

void pier__cma_real_destroy(struct cma_id *id);
int pier__cma_real_move(struct cma_id *id, struct cma_channel *channel);

int pier__cma_real_resolve_addr(struct cma_id *id, const struct sockaddr *dst,
				int timeout_ms);
int pier__cma_real_resolve_route(struct cma_id *id, int timeout_ms);
int pier__cma_real_listen(struct cma_id *id, int backlog);
int pier__cma_real_connect(struct cma_id *id, struct rdma_conn_param *param);
int pier__cma_real_accept(struct cma_id *id, struct rdma_conn_param *param);
int pier__cma_real_reject(struct cma_id *id, const void *data, uint8_t len);
int pier__cma_real_establish(struct cma_id *id);
int pier__cma_real_disconnect(struct cma_id *id);
int pier__cma_real_notify(struct cma_id *id, enum ibv_event_type event);
int pier__cma_real_option(struct cma_id *id, int level, int name, void *value,
			  size_t len);
int pier__cma_real_qp_attr(struct cma_id *id, struct ibv_qp_attr *attr,
			   int *mask);
int pier__cma_real_create_qp(struct cma_id *id,
			     struct ibv_qp_init_attr_ex *attr);
void pier__cma_real_destroy_qp(struct cma_id *id);
int pier__cma_real_create_srq(struct cma_id *id, struct ibv_pd *pd,
			      struct ibv_srq_init_attr *attr);
void pier__cma_real_destroy_srq(struct cma_id *id);
int pier__cma_real_join(struct cma_id *id, struct sockaddr *addr,
			void *context);
int pier__cma_real_join_ex(struct cma_id *id,
			   struct rdma_cm_join_mc_attr_ex *attr,
			   void *context);
int pier__cma_real_leave(struct cma_id *id, struct sockaddr *addr);

/* The opened real devices, or NULL; the caller frees the list. */
struct ibv_context **pier__cma_real_devices(size_t *ret_count);

#endif
