/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "copy/copy_flight.h"
#include "copy/copy_receiver.h"

/* Wait for the write that began first, which may have been its slot's last. */
static int end_first(struct pier__copy_receiver *r)
{
	struct pier__copy_op op;

	pier__copy_flight_end(r->flight, &op);
	if (op.gives_slot)
		pier__copy_io_give(r->io, op.slot);
	if (op.result < 0)
		return (int)op.result;
	return op.result < (int64_t)op.len ? -EIO : 0;
}

int pier__copy_receiver_write(struct pier__copy_receiver *r,
			      const uint8_t *data, size_t len)
{
	struct pier__copy_op op = {
		.writes = true,
		.fd = r->file.fd,
		.len = len,
		.slot = r->slot,
	};
	int err = 0;

	if (len < PIER__COPY_PIECE_MIN)
		return pier__copy_target_write(&r->file, data, len);
	if (!r->flight)
		err = pier__copy_flight_create(&r->flight);
	if (!err)
		err = pier__copy_target_reserve(&r->file, len, &op.offset);
	if (!err && pier__copy_flight_count(r->flight) == PIER__COPY_FLIGHT)
		err = end_first(r);
	if (err)
		return err;
	op.at = r->memory + (data - r->memory);
	pier__copy_flight_begin(r->flight, &op);
	return 0;
}

int pier__copy_receiver_settle(struct pier__copy_receiver *r)
{
	int err = 0, first = 0;

	while (r->flight && pier__copy_flight_count(r->flight)) {
		err = end_first(r);
		first = first ? first : err;
	}
	return first;
}

int pier__copy_receiver_next(struct pier__copy_receiver *r)
{
	int err = 0;

	while (!err && r->flight && pier__copy_flight_count(r->flight)) {
		if (pier__copy_io_try_take(r->io, &r->slot))
			return 1;
		err = end_first(r);
	}
	return err;
}

void pier__copy_receiver_give(struct pier__copy_receiver *r)
{
	struct pier__copy_op *last = NULL;

	if (r->flight)
		last = pier__copy_flight_last(r->flight);
	if (last && last->slot.index == r->slot.index)
		last->gives_slot = true;
	else
		pier__copy_io_give(r->io, r->slot);
}
