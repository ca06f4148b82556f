/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/device_access.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/pull.h"

#define OFFER_MIN offsetof(struct soft_pull_offer, at)

/* Its pid, of a process that its pidfd is of. */
static pid_t pid_of(int sock)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return 0;
	return cred.pid;
}

/* By the kernel, unless @err is of a process that has ended. */
static void refused(struct soft_link *link, int err)
{
	link->pid = 0;
	atomic_store(&link->out.own->pulls, 0);
	if (err == -ESRCH)
		return;
	pier__soft_add(link->ep->counters, SOFT_COUNTER(shm_pull_refused), 1);
}

void pier__soft_pull_probe(struct soft_link *link, uint64_t addr,
			   uint64_t value)
{
	uint64_t got = ~value;
	struct iovec here = { &got, sizeof(got) };
	struct iovec there = { (void *)(uintptr_t)addr, sizeof(got) };

	link->pid = pid_of(link->sock);
	errno = 0;
	if (link->pid > 0 &&
	    process_vm_readv(link->pid, &here, 1, &there, 1, 0) ==
		    (ssize_t)sizeof(got) &&
	    got == value)
		atomic_store(&link->out.own->pulls, 1);
	else
		refused(link, -errno);
}

bool pier__soft_pull_is_offered(const struct soft_io *io, uint32_t *withdrawn)
{
	const struct soft_link *link = (const struct soft_link *)io;

	*withdrawn = atomic_load_explicit(&link->out.own->withdrawn,
					  memory_order_relaxed);
	return link->state == SOFT_LINK_UP &&
	       atomic_load_explicit(&link->in.peer->pulls,
				    memory_order_relaxed) &&
	       !link->ep->verbs;
}

/*
 * Returns 0 or a negative errno value: what was read may be of a process that
 * has the pid since, or of a program that was executed.
 */
static int read_all(const struct soft_link *link, const struct iovec *to,
		    int count, const struct soft_pull *pull)
{
	ssize_t got;

	pier__device_access_begin();
	got = process_vm_readv(link->pid, to, (unsigned long)count, pull->at,
			       pull->pieces, 0);
	pier__device_access_end();
	if (got < 0)
		return -errno;
	return (size_t)got == pull->len ? 0 : -EFAULT;
}

int pier__soft_pull(struct soft_io *io, const struct iovec *to, int count,
		    const struct soft_pull *pull)
{
	struct soft_link *link = (struct soft_link *)io;
	int err;

	if (!link->pid || link->state != SOFT_LINK_UP ||
	    pier__soft_link_has_ended(link))
		return -EAGAIN;
	err = read_all(link, to, count, pull);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&link->in.peer->withdrawn) != pull->withdrawn ||
	    pier__soft_link_has_ended(link))
		return -EAGAIN;
	if (err == -EFAULT) {
		pier__soft_add(link->ep->counters,
			       SOFT_COUNTER(shm_pull_faults), 1);
	} else if (err) {
		refused(link, err);
		err = -EAGAIN;
	}
	return err;
}

void pier__soft_pull_withdraw(struct soft_link *link)
{
	atomic_fetch_add(&link->out.own->withdrawn, 1);
}

static uint32_t offer_len(uint32_t pieces)
{
	const struct soft_pull_offer *offer = NULL;

	return (uint32_t)(OFFER_MIN + pieces * sizeof(offer->at[0]));
}

uint32_t pier__soft_pull_len(const struct soft_tx *tx)
{
	return offer_len(tx->iov_count) + tx->hdr_len;
}

void pier__soft_pull_put(const struct soft_tx *tx, uint8_t *to)
{
	struct soft_pull_offer offer = {
		.withdrawn = tx->withdrawn,
		.pieces = tx->iov_count,
	};
	uint32_t i, len = offer_len(tx->iov_count);

	for (i = 0; i < tx->iov_count; i++) {
		offer.at[i].addr = (uintptr_t)tx->iov[i].iov_base;
		offer.at[i].len = tx->iov[i].iov_len;
	}
	memcpy(to, &offer, len);
	memcpy(to + len, tx->hdr, tx->hdr_len);
}

uint32_t pier__soft_pull_take(const uint8_t *bytes, uint32_t len,
			      struct soft_pull *ret)
{
	struct soft_pull_offer offer = { 0 };
	uint64_t all = 0;
	uint32_t i, n;

	memcpy(&offer, bytes, len < OFFER_MIN ? len : OFFER_MIN);
	n = offer_len(offer.pieces);
	if (len < OFFER_MIN || !offer.pieces || offer.pieces > SOFT_TX_IOV ||
	    len <= n)
		return 0;
	memcpy(&offer, bytes, n);
	for (i = 0; i < offer.pieces; i++) {
		if (!offer.at[i].len || offer.at[i].len > SOFT_PULL_MAX)
			return 0;
		all += offer.at[i].len;
		ret->at[i].iov_base = (void *)(uintptr_t)offer.at[i].addr;
		ret->at[i].iov_len = offer.at[i].len;
	}
	ret->withdrawn = offer.withdrawn;
	ret->pieces = offer.pieces;
	ret->len = (uint32_t)all;
	return all <= SOFT_PULL_MAX ? n : 0;
}
