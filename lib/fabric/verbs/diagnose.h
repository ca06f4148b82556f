/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_VERBS_DIAGNOSE_H
#define PIER_FABRIC_VERBS_DIAGNOSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Why an RDMA device cannot be used, or why there is none: different causes
 * look alike through libibverbs, as an empty list.
 */
enum verbs_cause {
	VERBS_FINE,
	VERBS_NO_DEVICE,	/* the kernel has none */
	VERBS_NO_NODE,		/* no /dev/infiniband/uverbsN */
	VERBS_DENIED,		/* no permission on it */
	VERBS_MISFIT,		/* kernel and libraries do not match */
	VERBS_NO_PROVIDER,	/* libibverbs has no library for any */
	VERBS_BROKEN,		/* it is listed, but fails */
};

/* What can be seen of one device; plain data. */
struct verbs_facts {
	char device[64];	/* "": the kernel has none */
	char node[64];		/* below /dev/infiniband */
	int node_error;		/* errno of opening it, 0: it opens */
	int abi;		/* of the kernel's uverbs; -1: unknown */
	int driver_abi;		/* of its driver in the kernel; -1: unknown */
	bool providers;		/* libibverbs has some, for any device */
	bool listed;		/* by libibverbs */
	int list_error;		/* errno of the listing, if it failed */
	int open_error;		/* errno of opening it by libibverbs */
};

/*
 * Look at @device, or at the first the kernel has if it is NULL, below @root
 * ("" but in tests): all facts but the last three, which are left alone.
 */
void pier__verbs_inspect(const char *root, const char *device,
			 struct verbs_facts *ret);

/* The cause according to the facts, and the message with its fix. */
enum verbs_cause pier__verbs_cause(const struct verbs_facts *facts);
void pier__verbs_message(const struct verbs_facts *facts, char *ret,
			 size_t size);

#endif
