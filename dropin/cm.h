/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_CM_H
#define PIER_DROPIN_CM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "core/sockaddr.h"
#include "fabric/fabric.h"

/*
 * What librdmacm.so.1 (dropin/cma/) needs of libibverbs.so.1 besides the calls
 * of verbs: connection management on the endpoint of an opened device.  Calls
 * return 0 or a negative errno value.
 */

/*
 * As ibv_open_device().  A context of the program, if it opens the device too,
 * has the same endpoint.
 */
struct ibv_context *pier__dropin_cm_open(struct ibv_device *dev);

/*
 * Have @changed called for @context, by the helper, at each event of its port.
 * It must not call anything that opens or closes a device.
 */
void pier__dropin_cm_watch(struct ibv_context *context,
			   void (*changed)(struct ibv_context *context));

/* Was the interface of @context removed?  As of the last event. */
bool pier__dropin_is_removed(struct ibv_context *context);

/* As of those without pier__soft_, but of soft devices alone. */
struct ibv_device **pier__soft_ibv_get_device_list(int *num_devices);
void pier__soft_ibv_free_device_list(struct ibv_device **list);

/*
 * The host's libraries (dropin/real/real.h).  load() loads the file @path
 * beside the host's libibverbs; NULL: there is none, or it has failed, which is
 * logged.  find() sets @ret, a pointer to a call, if @library has it.  Calls
 * are made between enter() and leave(), so that errno is that of the thread.
 */
void *pier__dropin_real_load(const char *path);
bool pier__dropin_real_find(void *library, const char *name, void *ret);
void pier__dropin_real_enter(void);
void pier__dropin_real_leave(void);
/* Have @ends called for each QP of theirs before ibv_destroy_qp(3) ends it. */
void pier__dropin_real_watch_qps(void (*ends)(struct ibv_qp *qp));
/* Calls by pointers of @context, which may be NULL, set errno from now on. */
void pier__dropin_real_context(struct ibv_context *context);
/* Log why the library of @path is not used. */
void pier__dropin_real_refuse(const char *of, const char *path,
			      const char *reason);

/* The calls of connection management, but for next(). */
const struct pier__fabric_cm *pier__dropin_cm_calls(void);

/*
 * That of @context, which ends with it.  @take gets the events as
 * pier__soft_cm_take_by() has it.  Errors: -EBUSY, it has one; -ENOMEM.
 */
int pier__dropin_cm_create(struct ibv_context *context,
			   bool (*take)(struct pier__cm *cm,
					const struct pier__cm_event *event),
			   struct pier__cm **ret);

/* As listen() of those, for requests of @space. */
int pier__dropin_cm_listen(struct pier__cm *cm, enum pier__cm_space space,
			   const struct sockaddr *addr, int backlog,
			   void *owner, struct pier__cm_listener **ret);

/* As pier__soft_cm_goodbye_all() has it. */
void pier__dropin_cm_goodbye_all(struct pier__cm *cm);

/*
 * The source address of @context for @dst; @src unless that is NULL or any.
 * Errors: -EHOSTUNREACH, -EADDRNOTAVAIL, -EINVAL.
 */
int pier__dropin_route(struct ibv_context *context, const struct sockaddr *src,
		       const struct sockaddr *dst, union pier__sockaddr *ret);

/*
 * Address number @i of @context, not that of the GID of an index, as of the
 * last query.  Returns false: it has no more.
 */
bool pier__dropin_known(struct ibv_context *context, int i,
			union pier__sockaddr *ret);

/* As ibv_modify_qp(3), with a peer that receives on @udp_port. */
int pier__dropin_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			   int mask, uint16_t udp_port);

/*
 * ibv_bell.c.  What threads wait for that sleep in a call for events.  With
 * rdma-core they sleep in read(2) or write(2), which go on after a signal whose
 * handler has SA_RESTART, unlike poll(2), and fail with EINTR after others.
 */
struct dropin_bell {
	atomic_uint rings;
	atomic_uint sleepers;		/* or more */
};

/* What they wait for may have come. */
void pier__dropin_ring(struct dropin_bell *bell);
/*
 * Sleep until @bell has another count than @rings, which it had before the
 * caller found nothing.  -1 with errno: EINTR; those of the next call, of @fd.
 */
int pier__dropin_wait(struct dropin_bell *bell, unsigned int rings, int fd);
/* 0: calls for @fd wait.  -1 with errno: EAGAIN, it is non-blocking; EBADF. */
int pier__dropin_blocks(int fd);

#endif
