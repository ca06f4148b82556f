/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SHM_DIRECT_H
#define PIER_FABRIC_SOFT_SHM_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/soft/rc/post_direct.h"
#include "fabric/soft/shm/ring.h"

/*
 * Memory that one end has mapped of the other, to execute requests without it.
 *
 * Asking.  Who has a second request for an rkey asks its owner by a record, and
 * names a place of the owner's table of grants.  The owner checks key, rights
 * and queue pair, sends the memory's descriptor by the socket, unless the other
 * has mapped it, writes a stamp into the place's live word, and answers.
 * Meanwhile, and without a grant, requests go by packets.
 *
 * Using.  Key, bounds and rights are compared with the grant.  Then the hazard
 * word becomes odd, and the live word is read; if it has the stamp, the memory
 * is used, at most SOFT_DIRECT_PIECE bytes, and the hazard word is even again.
 *
 * Revoking.  The owner clears the live word, and waits while the hazard word is
 * odd.  Between the store and the load each end has a barrier, so that the user
 * sees the one or the owner the other.  A record reports it, and the other
 * unmaps all that has no stamp any more.
 *
 * A process that has ended is not waited for.  One that does not go on for
 * SOFT_REVOKE_NS loses the link, and what may be in use stays marked, by *held
 * of its struct soft_mr: the owner gives it other pages when all keys of it
 * have been removed, and not before.
 *
 * Answers.  One ask is open at a time.  The owner keeps SOFT_RING_ANSWERS cells
 * of its ring for what is given, so that there is space for it: the next ask
 * comes when the answer to the last was taken.
 */
#define SOFT_DIRECT_PIECE 65536u
/* No other peer is answered meanwhile: half of what they wait by default. */
#define SOFT_REVOKE_NS UINT64_C(250000000)

struct soft_link;
struct soft_grants;
struct soft_imports;

/* The owner's end.  Errors: -ENOMEM. */
int pier__soft_grants_create(struct soft_grants **ret);

/* The peer has sent @len bytes at @data, which are not checked. */
void pier__soft_grant_asked(struct soft_link *link, const uint8_t *data,
			    uint32_t len);

/* Revoke those of @mr; of @qp.  On return they are unused, or *held is set. */
void pier__soft_grants_end_mr(struct soft_link *link, const struct soft_mr *mr);
void pier__soft_grants_end_qp(struct soft_link *link, const struct soft_qp *qp);

/* Revoke all; no effect on NULL. */
void pier__soft_grants_destroy(struct soft_link *link);

/* The user's end.  Errors: -ENOMEM. */
int pier__soft_imports_create(struct soft_imports **ret);
void pier__soft_imports_destroy(struct soft_imports *imports);

/* As the members of soft_io_ops; ended: for both ends. */
bool pier__soft_import_direct(struct soft_io *io, struct soft_qp *qp,
			      const struct soft_direct *op);
bool pier__soft_import_granted(struct soft_io *io, struct soft_qp *qp,
			       uint32_t rkey);
void pier__soft_imports_end_qp(struct soft_link *link,
			       const struct soft_qp *qp);

/* The peer has answered: as asked.  It has revoked some. */
void pier__soft_import_given(struct soft_link *link, const uint8_t *data,
			     uint32_t len);
void pier__soft_imports_revoked(struct soft_link *link);

/*
 * Read the messages of the link's socket: bells, which are dropped, and the
 * descriptor that was asked for.  Returns false if the socket has ended.
 */
bool pier__soft_imports_drain(struct soft_link *link);

/* What is in the records. */
struct soft_ask {
	uint32_t slot, rkey;
	uint32_t from, to;	/* QPNs: of who asks, of the owner */
	uint64_t have;		/* the memory that it has mapped; 0: none */
};

struct soft_given {
	uint32_t slot, rkey;
	uint32_t from;
	uint32_t stamp;		/* of the live word; 0: there is no grant */
	uint32_t access;	/* IBV_ACCESS_REMOTE_* */
	uint32_t writes;	/* the memory is to be mapped so */
	uint64_t addr, len;
	uint64_t id;		/* of the memory, and in struct soft_gift */
};

/* The message that has the descriptor. */
struct soft_gift {
	uint64_t id;
};

#endif
