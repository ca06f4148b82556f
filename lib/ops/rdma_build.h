/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_RDMA_BUILD_H
#define PIER_OPS_RDMA_BUILD_H

#include "ops/task_type.h"

/* From a task's buffers to its work request. */

/*
 * Build the work request of @t from its buffers.  Errors: as
 * pier_task_submit(), but those of its connection.
 */
int pier__rdma_build(struct pier__rdma_task *t);

/*
 * Fail for a buffer that was put before the task was submitted.  @name is
 * "source" or "destination".  Returns -EINVAL.
 */
int pier__rdma_given_back(const struct pier__task_type *type, const char *name)
	__attribute__((cold));

/* Parts of builders. */

/* The most bytes of one message to the peer of @t. */
uint64_t pier__rdma_message_limit(const struct pier__rdma_task *t);

/*
 * Make elements of the data of the chain @buf, and t->len their bytes.
 * Returns how many elements.  Errors: -EMSGSIZE; -EINVAL.
 */
int pier__rdma_gather(struct pier__rdma_task *t, const struct pier_buf *buf,
		      uint64_t limit);

/*
 * Make elements of the tails of the chain @buf, for at most @len bytes.
 * Returns how many.  Errors: -EINVAL; -EACCES, its memory may not be written.
 */
int pier__rdma_scatter(struct pier__rdma_task *t, const struct pier_buf *buf,
		       uint64_t len);

/* Do the t->len bytes fit into the tail of @dst?  Errors: -EMSGSIZE. */
int pier__rdma_fits(const struct pier__rdma_task *t,
		    const struct pier_buf *dst);

/*
 * Does the peer grant the connection what the type of @t needs?  A device
 * answers what is not granted with the end of the connection.
 * Errors: -EACCES.
 */
int pier__rdma_granted(const struct pier__rdma_task *t);

/*
 * The key of the remote buffer of @t, which the peer allows it to use.
 * Errors: -EACCES; those of pier__conn_rkey().
 */
int pier__rdma_remote_key(struct pier__rdma_task *t, uint32_t *ret);

#endif
