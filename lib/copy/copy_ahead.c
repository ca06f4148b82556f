/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "copy/copy_flight.h"
#include "copy/copy_sender.h"

/* The data of a slot that has nothing else: a multiple of 8, as the slot. */
static size_t whole(const struct pier__copy_sender *sender)
{
	return sender->slot_size - PIER__RECORD_HEAD;
}

bool pier__copy_sender_can_ahead(const struct pier__copy_sender *sender,
				 uint64_t len)
{
	return len >= 2 * whole(sender) &&
	       (!sender->has_slot ||
		pier__record_capacity(&sender->span) < PIER__COPY_PIECE_MIN);
}

/* Read a slot, if there is one, for which only the first one waits. */
static int begin(struct pier__copy_sender *sender, int fd, uint64_t offset)
{
	struct pier__copy_op op = {
		.fd = fd,
		.len = whole(sender),
		.offset = offset,
	};
	int err = 0;

	if (pier__copy_flight_count(sender->flight))
		err = pier__copy_io_try_take(sender->io, &op.slot) ? 0 :
								     -EAGAIN;
	else
		err = pier__copy_io_take(sender->io, &op.slot);
	if (err)
		return err;
	op.at = sender->memory + op.slot.index * sender->slot_size +
		PIER__RECORD_HEAD;
	pier__copy_flight_begin(sender->flight, &op);
	return 0;
}

/* Pass on the slot that was read first. */
static int end_first(struct pier__copy_sender *sender)
{
	struct pier__copy_span span;
	struct pier__copy_op op;

	pier__copy_flight_end(sender->flight, &op);
	if (op.result < (int64_t)op.len) {
		pier__copy_io_pass(sender->io, op.slot);	/* unused */
		return op.result < 0 ? (int)op.result : -ESTALE;
	}
	span.at = op.at - PIER__RECORD_HEAD;
	span.end = op.at + op.len;
	pier__record_data(&span, op.len);
	pier__copy_hash_data(sender->hash, op.at, op.len);
	atomic_fetch_add(&sender->io->bytes, op.len);
	op.slot.len = (uint32_t)sender->slot_size;
	pier__copy_io_give(sender->io, op.slot);
	return 0;
}

/* What is in flight is not sent. */
static void drop_all(struct pier__copy_sender *sender)
{
	struct pier__copy_op op;

	while (pier__copy_flight_count(sender->flight)) {
		pier__copy_flight_end(sender->flight, &op);
		pier__copy_io_pass(sender->io, op.slot);
	}
}

int pier__copy_sender_ahead(struct pier__copy_sender *sender, int fd,
			    uint64_t *offset, uint64_t end)
{
	uint64_t next = *offset;
	int err = 0;

	pier__copy_sender_flush(sender);
	if (!sender->flight)
		err = pier__copy_flight_create(&sender->flight);
	while (!err) {
		while (!err && end - next >= whole(sender) &&
		       pier__copy_flight_count(sender->flight) <
			       PIER__COPY_FLIGHT &&
		       !pier__copy_sender_is_refused(sender)) {
			err = begin(sender, fd, next);
			next += err ? 0 : whole(sender);
		}
		if (err == -EAGAIN)
			err = 0;
		if (err || !pier__copy_flight_count(sender->flight))
			break;
		err = end_first(sender);
		*offset += err ? 0 : whole(sender);
	}
	if (err && sender->flight)
		drop_all(sender);
	return err;
}
