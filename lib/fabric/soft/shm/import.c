/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of the peer that is mapped here, and requests executed in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device_access.h"
#include "fabric/soft/shm/direct.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/region.h"

#define WAYS 8
#define DRAINED 512		/* messages, more than a socket holds */

/* The memory of an rkey; all QPs of the link share it. */
struct imported {
	struct imported *next;
	struct soft_region region;
	size_t len;			/* of its beginning */
	uint64_t id;
	uint32_t rkey, refs;
	bool writes;			/* mapped to be written */
};

enum import_state {
	IMPORT_NONE,
	IMPORT_SEEN,		/* once */
	IMPORT_ASKED,
	IMPORT_GIVEN,
	IMPORT_DENIED,
};

struct import {
	enum import_state state;
	uint32_t rkey, qpn;		/* of the QP here */
	uint32_t stamp, access;
	uint64_t addr, len;
	struct imported *mapping;	/* of addr on, counted; or NULL */
};

struct soft_imports {
	bool asking;			/* one at a time: */
	int gift;			/* its descriptor has come, or -1 */
	uint64_t gift_id;
	struct imported *mappings;
	struct import at[SOFT_RING_GRANTS];
};

int pier__soft_imports_create(struct soft_imports **ret)
{
	struct soft_imports *imports = calloc(1, sizeof(*imports));

	if (!imports)
		return -ENOMEM;
	imports->gift = -1;
	*ret = imports;
	return 0;
}

static void take_gift(struct soft_imports *imports, int fd, uint64_t id)
{
	if (imports->gift >= 0)
		close(imports->gift);
	imports->gift = fd;
	imports->gift_id = id;
}

static void mapping_put(struct soft_imports *imports, struct imported *mapping)
{
	struct imported **at = &imports->mappings;

	if (--mapping->refs)
		return;
	while (*at != mapping)
		at = &(*at)->next;
	*at = mapping->next;
	pier__soft_region_unimport(&mapping->region);
	free(mapping);
}

static void forget(struct soft_imports *imports, struct import *import)
{
	if (import->mapping)
		mapping_put(imports, import->mapping);
	import->mapping = NULL;
	import->state = IMPORT_NONE;
}

void pier__soft_imports_destroy(struct soft_imports *imports)
{
	uint32_t i;

	if (!imports)
		return;
	for (i = 0; i < SOFT_RING_GRANTS; i++)
		forget(imports, &imports->at[i]);
	take_gift(imports, -1, 0);
	free(imports);
}

void pier__soft_imports_end_qp(struct soft_link *link, const struct soft_qp *qp)
{
	struct soft_imports *imports = link->imports;
	uint32_t i;

	for (i = 0; imports && i < SOFT_RING_GRANTS; i++)
		if (imports->at[i].qpn == qp->qpn)
			forget(imports, &imports->at[i]);
}

static struct imported *mapping_of(const struct soft_imports *imports,
				   uint32_t rkey)
{
	struct imported *mapping = imports->mappings;

	while (mapping && mapping->rkey != rkey)
		mapping = mapping->next;
	return mapping;
}

/* Is it still granted? */
static bool is_live(const struct soft_link *link, uint32_t slot)
{
	return atomic_load(&link->in.peer->live[slot]) ==
	       link->imports->at[slot].stamp;
}

static bool is_in_use(const struct soft_link *link, uint32_t slot)
{
	enum import_state state = link->imports->at[slot].state;

	return state == IMPORT_ASKED ||
	       (state == IMPORT_GIVEN && is_live(link, slot));
}

/*
 * The place of a key, one of WAYS: where it is, or else may be.  Rkeys are
 * random, and QPNs are not.
 */
static uint32_t slot_of(const struct soft_link *link, uint32_t rkey,
			uint32_t qpn)
{
	const struct soft_imports *imports = link->imports;
	uint32_t first = (rkey ^ qpn) % SOFT_RING_GRANTS, slot, i;
	uint32_t unused = first;

	for (i = 0; i < WAYS; i++) {
		slot = (first + i) % SOFT_RING_GRANTS;
		if (imports->at[slot].rkey == rkey &&
		    imports->at[slot].qpn == qpn)
			return slot;
	}
	for (i = WAYS; i--;) {
		slot = (first + i) % SOFT_RING_GRANTS;
		if (!is_in_use(link, slot))
			unused = slot;
	}
	return unused;
}

static void ask(struct soft_link *link, const struct soft_qp *qp,
		uint32_t slot, uint32_t rkey)
{
	const struct imported *mapping = mapping_of(link->imports, rkey);
	const struct soft_ask ask = {
		.slot = slot,
		.rkey = rkey,
		.from = qp->qpn,
		.to = qp->dest_qpn,
		.have = mapping ? mapping->id : 0,
	};
	uint8_t *to = pier__soft_ring_reserve(&link->out, sizeof(ask),
					      SOFT_RING_SPARE);

	if (!to)
		return;
	memcpy(to, &ask, sizeof(ask));
	pier__soft_ring_put(&link->out, SOFT_RECORD_ASK, sizeof(ask));
	pier__soft_link_ring(link);
	link->imports->asking = true;
	link->imports->at[slot].state = IMPORT_ASKED;
}

/* Programs may register memory for one request: the second one asks. */
static void consider(struct soft_link *link, const struct soft_qp *qp,
		     uint32_t slot, uint32_t rkey)
{
	struct import *import = &link->imports->at[slot];
	bool same = import->rkey == rkey && import->qpn == qp->qpn;

	if (same && import->state == IMPORT_SEEN && !link->imports->asking)
		ask(link, qp, slot, rkey);
	if (is_in_use(link, slot) || (same && import->state != IMPORT_NONE))
		return;
	forget(link->imports, import);
	*import = (struct import){ .state = IMPORT_SEEN, .rkey = rkey,
				   .qpn = qp->qpn };
}

static bool allows(const struct import *import, const struct soft_direct *op)
{
	uint64_t off = op->remote - import->addr;
	uint32_t access = IBV_ACCESS_REMOTE_ATOMIC;

	if (op->opcode == IBV_WR_RDMA_WRITE)
		access = IBV_ACCESS_REMOTE_WRITE;
	else if (op->opcode == IBV_WR_RDMA_READ)
		access = IBV_ACCESS_REMOTE_READ;
	return import->access & access && op->remote >= import->addr &&
	       op->rest <= import->len && off <= import->len - op->rest;
}

/* May it be used?  If so until left(). */
static bool entered(struct soft_link *link, uint32_t slot)
{
	struct soft_ring *own = link->out.own;

	atomic_fetch_add(&own->hazard, 1);
	return is_live(link, slot);
}

static void left(struct soft_link *link)
{
	_Atomic uint32_t *hazard = &link->out.own->hazard;
	uint32_t value = atomic_load_explicit(hazard, memory_order_relaxed);

	atomic_store_explicit(hazard, value + 1, memory_order_release);
}

static void execute_atomic(const struct soft_qp *qp,
			   const struct soft_direct *op, uint64_t *word)
{
	uint64_t original = op->compare;

	pier__device_access_begin();
	if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		original = __atomic_fetch_add(word, op->swap_add,
					      __ATOMIC_SEQ_CST);
	else	/* on failure this makes original what was found */
		__atomic_compare_exchange_n(word, &original, op->swap_add,
					    false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	pier__device_access_end();
	pier__soft_copy(qp->ep, op->iov[0].iov_base, &original,
			sizeof(original));
}

static bool atomic_in(struct soft_link *link, const struct soft_qp *qp,
		      uint32_t slot, const struct soft_direct *op, uint8_t *at)
{
	bool live;

	if ((uintptr_t)at % sizeof(uint64_t) || op->pieces != 1)
		return false;
	live = entered(link, slot);
	if (live)
		execute_atomic(qp, op, (uint64_t *)at);
	left(link);
	return live;
}

/* @len bytes between @here and @there, in pieces. */
static bool copy_in(struct soft_link *link, const struct soft_qp *qp,
		    uint32_t slot, bool writes, uint8_t *here, uint8_t *there,
		    size_t len)
{
	size_t done, n;
	bool live = true;

	for (done = 0; live && done < len; done += n) {
		n = len - done < SOFT_DIRECT_PIECE ? len - done
						   : SOFT_DIRECT_PIECE;
		live = entered(link, slot);
		if (live && writes)
			pier__soft_copy(qp->ep, there + done, here + done, n);
		else if (live)
			pier__soft_copy(qp->ep, here + done, there + done, n);
		left(link);
	}
	return live;
}

/* Returns false if it was revoked, before the end. */
static bool execute(struct soft_link *link, const struct soft_qp *qp,
		    uint32_t slot, const struct soft_direct *op)
{
	const struct import *import = &link->imports->at[slot];
	uint8_t *at = (uint8_t *)import->mapping->region.at +
		      (op->remote - import->addr);
	bool live = true;
	int i;

	if (op->opcode != IBV_WR_RDMA_WRITE && op->opcode != IBV_WR_RDMA_READ)
		return atomic_in(link, qp, slot, op, at);
	for (i = 0; live && i < op->pieces; i++) {
		live = copy_in(link, qp, slot, op->opcode == IBV_WR_RDMA_WRITE,
			       op->iov[i].iov_base, at, op->iov[i].iov_len);
		at += op->iov[i].iov_len;
	}
	return live;
}

/* The grant of @rkey, or NULL: then it may be asked for. */
static struct import *granted(struct soft_link *link, const struct soft_qp *qp,
			      uint32_t rkey, uint32_t *slot)
{
	struct import *import;

	if (link->state != SOFT_LINK_UP || link->ended || !link->imports)
		return NULL;
	*slot = slot_of(link, rkey, qp->qpn);
	import = &link->imports->at[*slot];
	if (import->state == IMPORT_GIVEN && import->rkey == rkey &&
	    import->qpn == qp->qpn)
		return import;
	consider(link, qp, *slot, rkey);
	return NULL;
}

bool pier__soft_import_granted(struct soft_io *io, struct soft_qp *qp,
			       uint32_t rkey)
{
	struct soft_link *link = (struct soft_link *)io;
	uint32_t slot;

	return granted(link, qp, rkey, &slot) && is_live(link, slot);
}

bool pier__soft_import_direct(struct soft_io *io, struct soft_qp *qp,
			      const struct soft_direct *op)
{
	struct soft_link *link = (struct soft_link *)io;
	struct import *import;
	uint32_t slot;

	import = granted(link, qp, op->rkey, &slot);
	if (!import || !allows(import, op))
		return false;
	if (execute(link, qp, slot, op))
		return true;
	if (!is_live(link, slot))
		forget(link->imports, import);
	return false;
}

/* A full socket is readable as well; one that has ended is readable forever. */
bool pier__soft_imports_drain(struct soft_link *link)
{
	_Atomic uint32_t *asleep = &link->in.own->asleep;
	struct soft_gift gift;
	bool rung = false;
	ssize_t got = 1;
	int i, fd;

	for (i = 0; i < DRAINED; i++) {
		got = pier__soft_fds_receive(link->sock, &gift, sizeof(gift),
					     &fd);
		if (got <= 0)
			break;
		rung = rung || got == 1;
		if (fd >= 0 && (got != sizeof(gift) || !link->imports))
			close(fd);
		else if (fd >= 0)
			take_gift(link->imports, fd, gift.id);
	}
	/* Who has rung rings again: its bell wakes no thread any more. */
	if (rung && atomic_load_explicit(asleep, memory_order_relaxed) & 1)
		atomic_fetch_add(asleep, 2);
	return got;
}

/* The memory of @given, which is mapped already, or whose descriptor came. */
static struct imported *mapping_get(struct soft_imports *imports,
				    const struct soft_given *given)
{
	struct imported *mapping = mapping_of(imports, given->rkey);

	if (mapping && mapping->id == given->id && mapping->len == given->len) {
		mapping->refs++;
		return mapping;
	}
	if (imports->gift < 0 || imports->gift_id != given->id)
		return NULL;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return NULL;
	if (pier__soft_region_import(imports->gift, given->len, given->writes,
				     &mapping->region)) {
		free(mapping);
		return NULL;
	}
	mapping->len = given->len;
	mapping->id = given->id;
	mapping->rkey = given->rkey;
	mapping->writes = given->writes;
	mapping->refs = 1;
	mapping->next = imports->mappings;
	imports->mappings = mapping;
	return mapping;
}

/* Returns false if this is not the answer to what was asked. */
static bool is_answer(const struct soft_imports *imports,
		      const struct soft_given *given)
{
	const struct import *import = &imports->at[given->slot];

	return import->state == IMPORT_ASKED && import->rkey == given->rkey &&
	       import->qpn == given->from;
}

static void install(struct soft_link *link, const struct soft_given *given)
{
	struct import *import = &link->imports->at[given->slot];
	bool bounded = given->len && given->addr <= UINT64_MAX - given->len;
	size_t counter = SOFT_COUNTER(shm_unmapped);

	import->state = IMPORT_DENIED;
	import->mapping = given->stamp && bounded ?
				  mapping_get(link->imports, given) : NULL;
	if (import->mapping) {
		counter = SOFT_COUNTER(shm_mapped);
		import->state = IMPORT_GIVEN;
		import->stamp = given->stamp;
		import->access = given->access;
		if (!import->mapping->writes)
			import->access &= IBV_ACCESS_REMOTE_READ;
		import->addr = given->addr;
		import->len = given->len;
	}
	pier__soft_add(link->ep->counters, counter, 1);
}

void pier__soft_import_given(struct soft_link *link, const uint8_t *data,
			     uint32_t len)
{
	struct soft_given given;

	if (len != sizeof(given) || !link->imports)
		return;
	memcpy(&given, data, sizeof(given));
	if (given.slot >= SOFT_RING_GRANTS)
		return;
	pier__soft_imports_drain(link);
	link->imports->asking = false;
	if (is_answer(link->imports, &given))
		install(link, &given);
	take_gift(link->imports, -1, 0);
}

void pier__soft_imports_revoked(struct soft_link *link)
{
	struct soft_imports *imports = link->imports;
	uint32_t i;

	for (i = 0; imports && i < SOFT_RING_GRANTS; i++)
		if (imports->at[i].state == IMPORT_GIVEN && !is_live(link, i))
			forget(imports, &imports->at[i]);
}
