/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_MR_H
#define PIER_FABRIC_SOFT_RC_MR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/list.h"
#include "fabric/fabric.h"

/*
 * Memory keys of an opened soft device.  A key is 32 random bits.  Endpoints
 * look keys up without a lock while they hold their own; dereg removes the key
 * and then waits until every endpoint of the device has released its lock.
 */
struct soft_mr {
	struct pier__mr mr;	/* first; lkey == rkey */
	uint64_t addr;		/* as requests have it */
	uintptr_t shift;	/* from there to the memory */
	size_t len;
	int access;		/* IBV_ACCESS_* */
	const void *pd;		/* QPs with another one cannot use it */
	uint32_t qpn;		/* of a window: the only QP, or SOFT_ANY_QP; */
				/* 0: it is no window */
	unsigned int windows;	/* bound to it */
	uint64_t id;		/* never used again; of regions */
	atomic_int memfd;	/* that it is the beginning of, borrowed; -1: */
				/* of none; of regions */
	atomic_bool *held;	/* with memfd: a process of this host may */
				/* use the memory after the removal */
	atomic_bool offered;	/* peers read results from it themselves */
};

#define SOFT_ANY_QP UINT32_MAX

struct soft_mr_table;

/*
 * A user of the keys (an endpoint), which looks them up under its lock.
 * @waiters counts threads beside the program's that wait for that lock: in
 * dereg, and the helper.  @revoke, with the lock: peers that may use the memory
 * of @mr by other means lose it; NULL: no peers may.
 */
struct soft_mr_user {
	struct pier__list link;
	pthread_mutex_t *lock;
	atomic_uint waiters;
	void (*revoke)(void *arg, struct soft_mr *mr);
	void *arg;
};

int pier__soft_mr_table_create(struct soft_mr_table **ret);
void pier__soft_mr_table_destroy(struct soft_mr_table *table);

/* Any thread; serialised inside. */
void pier__soft_mr_join(struct soft_mr_table *table, struct soft_mr_user *user);
void pier__soft_mr_leave(struct soft_mr_table *table,
			 struct soft_mr_user *user);

/*
 * Add @mr with a new key; remove it.  @mr stays the caller's: its range is
 * filled in before, and nothing uses it after the removal.  Any
 * thread; serialised inside.  A thread that removes holds no endpoint.
 * Errors: -ENOMEM.
 */
int pier__soft_mr_add(struct soft_mr_table *table, struct soft_mr *mr);
void pier__soft_mr_remove(struct soft_mr_table *table, struct soft_mr *mr);

/*
 * The region of @key if [@addr, @addr + @len) lies inside it and @access
 * (IBV_ACCESS_* bits, all needed; 0: local read) is granted, else NULL.
 * Lock-free.  Valid until the caller's endpoint is left.
 */
const struct soft_mr *pier__soft_mr_find(const struct soft_mr_table *table,
					 uint32_t key, uint64_t addr,
					 size_t len, int access);

/* May a QP use @mr?  @qpn: by requests of its peer; 0: by those of its own. */
static inline bool pier__soft_mr_is_for(const struct soft_mr *mr,
					const void *pd, uint32_t qpn)
{
	return mr->pd == pd &&
	       (!mr->qpn || (qpn && (mr->qpn == qpn ||
				     mr->qpn == SOFT_ANY_QP)));
}

/*
 * For memory windows, whose keys change.  The caller holds the only user of the
 * keys, so that no other thread looks one up.
 *
 * A key that is not used.  Have @mr found by @key, and not any more; it is
 * not freed before.  The region or window of @key, NULL: none.
 * Errors: -EEXIST, another one has @key; -ENOMEM.
 */
uint32_t pier__soft_mr_new_key(struct soft_mr_table *table);
int pier__soft_mr_show(struct soft_mr_table *table, struct soft_mr *mr,
		       uint32_t key);
void pier__soft_mr_hide(struct soft_mr_table *table, struct soft_mr *mr);
struct soft_mr *pier__soft_mr_of(const struct soft_mr_table *table,
				 uint32_t key);

/*
 * Is all of a range mapped, to be read and if it @writes to be written?  Reads
 * no byte of it.  Without /proc the check always succeeds.  Errors: -EFAULT.
 */
int pier__soft_mapped(const void *addr, size_t len, bool writes);

#endif
