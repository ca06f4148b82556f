/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <liburing.h>

#include "copy/copy_flight.h"
#include "copy/copy_pool.h"
#include "core/fail.h"

_Static_assert(PIER__COPY_THREADS == PIER__COPY_FLIGHT,
	       "each operation in flight has a thread");

struct pier__copy_flight {
	struct io_uring ring;
	bool has_ring, is_usable;	/* while it takes operations */
	struct pier__copy_pool pool;	/* without the ring; of each */
	struct pier__copy_op op[PIER__COPY_FLIGHT];
	bool is_pooled[PIER__COPY_FLIGHT];
	uint32_t first, count;
};

int pier__copy_flight_create(struct pier__copy_flight **ret)
{
	struct pier__copy_flight *flight = calloc(1, sizeof(*flight));

	if (!flight)
		return pier__fail(-ENOMEM, "copy: no memory for file I/O");
	pier__copy_pool_init(&flight->pool);
	flight->has_ring = !io_uring_queue_init(PIER__COPY_FLIGHT,
						&flight->ring, 0);
	flight->is_usable = flight->has_ring;
	*ret = flight;
	return 0;
}

void pier__copy_flight_destroy(struct pier__copy_flight *flight)
{
	struct pier__copy_op op;

	if (!flight)
		return;
	while (flight->count)
		pier__copy_flight_end(flight, &op);
	if (flight->has_ring)
		io_uring_queue_exit(&flight->ring);
	pier__copy_pool_fini(&flight->pool);
	free(flight);
}

bool pier__copy_flight_is_async(const struct pier__copy_flight *flight)
{
	return flight->is_usable;
}

uint32_t pier__copy_flight_count(const struct pier__copy_flight *flight)
{
	return flight->count;
}

/*
 * Do what remains of @op here, all of it after an error: the kernel may lack
 * the operation in io_uring alone.
 */
static void finish(void *arg)
{
	struct pier__copy_op *op = arg;
	size_t at = op->result > 0 ? (size_t)op->result : 0;
	ssize_t n = 1;

	while (at < op->len && n) {
		off_t offset = (off_t)(op->offset + at);

		n = op->writes ?
			    pwrite(op->fd, op->at + at, op->len - at, offset) :
			    pread(op->fd, op->at + at, op->len - at, offset);
		if (n < 0 && errno != EINTR) {
			op->result = -errno;
			return;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	op->result = (int64_t)at;
}

/* Returns false: the kernel has not taken it, and gets no more. */
static bool submit(struct pier__copy_flight *flight, struct pier__copy_op *op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&flight->ring);

	if (!sqe)
		return false;
	if (op->writes)
		io_uring_prep_write(sqe, op->fd, op->at, (unsigned int)op->len,
				    op->offset);
	else
		io_uring_prep_read(sqe, op->fd, op->at, (unsigned int)op->len,
				   op->offset);
	io_uring_sqe_set_data(sqe, op);
	flight->is_usable = io_uring_submit(&flight->ring) == 1;
	return flight->is_usable;
}

void pier__copy_flight_begin(struct pier__copy_flight *flight,
			     const struct pier__copy_op *begun)
{
	uint32_t i = (flight->first + flight->count++) % PIER__COPY_FLIGHT;
	struct pier__copy_op *op = &flight->op[i];

	*op = *begun;
	op->result = 0;
	op->complete = false;
	flight->is_pooled[i] = false;
	if (flight->is_usable && submit(flight, op))
		return;
	flight->is_pooled[i] = pier__copy_pool_begin(&flight->pool, i, finish,
						     op);
	op->complete = !flight->is_pooled[i];
	if (op->complete)
		finish(op);	/* there is no thread for it */
}

struct pier__copy_op *pier__copy_flight_last(struct pier__copy_flight *flight)
{
	uint32_t last = flight->first + flight->count - 1;

	return flight->count ? &flight->op[last % PIER__COPY_FLIGHT] : NULL;
}

/* Wait for any one. */
static void reap(struct pier__copy_flight *flight)
{
	struct pier__copy_op *op;
	struct io_uring_cqe *cqe;

	if (io_uring_wait_cqe(&flight->ring, &cqe))
		return;		/* interrupted */
	op = io_uring_cqe_get_data(cqe);
	op->result = cqe->res;
	op->complete = true;
	io_uring_cqe_seen(&flight->ring, cqe);
}

/* A kernel that lacks the operation in io_uring gets no more of them. */
static void end_async(struct pier__copy_flight *flight,
		      struct pier__copy_op *op)
{
	bool lacks;

	while (!op->complete)
		reap(flight);
	if (op->result == (int64_t)op->len)
		return;
	lacks = op->result == -EINVAL || op->result == -EOPNOTSUPP;
	finish(op);
	if (lacks && op->result >= 0)
		flight->is_usable = false;
}

void pier__copy_flight_end(struct pier__copy_flight *flight,
			   struct pier__copy_op *ret)
{
	struct pier__copy_op *op = &flight->op[flight->first];

	if (flight->is_pooled[flight->first])
		pier__copy_pool_end(&flight->pool, flight->first);
	else
		end_async(flight, op);
	flight->first = (flight->first + 1) % PIER__COPY_FLIGHT;
	flight->count--;
	*ret = *op;
}
