/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "copy/copy_flight.h"
#include "copy/copy_sender.h"
#include "core/fail.h"

void pier__copy_sender_flush(struct pier__copy_sender *sender)
{
	uint8_t *begin = sender->memory +
			 sender->slot.index * sender->slot_size;

	if (!sender->has_slot)
		return;
	sender->has_slot = false;
	sender->slot.len = (uint32_t)(sender->span.at - begin);
	pier__copy_io_give(sender->io, sender->slot);
}

int pier__copy_sender_reserve(struct pier__copy_sender *sender, size_t len)
{
	int err;

	if (sender->has_slot &&
	    (size_t)(sender->span.end - sender->span.at) >= len)
		return 0;
	pier__copy_sender_flush(sender);
	err = pier__copy_io_take(sender->io, &sender->slot);
	if (err)
		return err;
	sender->has_slot = true;
	sender->span.at = sender->memory +
			  sender->slot.index * sender->slot_size;
	sender->span.end = sender->span.at + sender->slot_size;
	return 0;
}

int pier__copy_sender_fail(struct pier__copy_sender *sender,
			   enum pier__copy_record_kind kind, const char *path,
			   int err, const char *text)
{
	struct pier__copy_error *error = &sender->failed.error;

	error->error = -err;
	snprintf(error->path, sizeof(error->path), "%s", path);
	snprintf(error->text, sizeof(error->text), "%s", text);
	pier__copy_io_report(sender->io, &sender->failed);
	err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);
	if (!err)
		pier__record_error(&sender->span, kind, error);
	return err;
}

int pier__copy_sender_abort(struct pier__copy_sender *sender, int err)
{
	struct pier__copy_error *error = &sender->failed.error;
	const char *text = err == -ESTALE ?
				   "it was changed while it was copied" :
				   pier_strerror(err);

	sender->failed.number = sender->entry.number;
	if (atomic_load(&sender->io->refused) != sender->entry.number)
		return pier__copy_sender_fail(sender, PIER__RECORD_ABORT,
					      sender->entry.path, err, text);
	err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);
	if (err)
		return err;
	memset(error, 0, sizeof(*error));
	pier__record_error(&sender->span, PIER__RECORD_ABORT, error);
	return 0;
}

void pier__copy_sender_run(void *arg)
{
	struct pier__copy_sender *sender = arg;
	int err = pier__copy_hash_create(&sender->hash);

	for (size_t i = 0; !err && i < sender->source_count; i++)
		err = pier__copy_sender_walk(sender, sender->source[i]);
	if (!err)
		err = pier__copy_sender_reserve(sender, PIER__RECORD_MAX);
	if (!err) {
		pier__record_finish(&sender->span);
		atomic_store(&sender->finished, true);
		pier__copy_sender_flush(sender);
	}
	if (err && err != -ECANCELED)
		pier__copy_io_fail(sender->io, err);
	pier__copy_flight_destroy(sender->flight);
	pier__copy_hash_destroy(sender->hash);
}
