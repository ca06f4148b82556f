/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pier/copy.h>

#include "copy/copy_flight.h"
#include "copy/copy_receiver.h"
#include "copy/copy_sender.h"
#include "core/clock.h"
#include "core/fail.h"

#define BUSY_MS 30000	/* how long a file may be another session's */
#define BUSY_US 20000	/* how often to look */

/* @path, in the directory that the user has named: "dir/", or nothing. */
static void set_path(struct pier__copy_error *error, const char *dir,
		     const char *path)
{
	size_t size = sizeof(error->path);
	size_t len = (size_t)snprintf(error->path, size, "%s", dir);

	if (len && !strncmp(path, "./", 2))
		path += 2;
	if (len < size)
		snprintf(error->path + len, size - len, "%s", path);
}

/* The entry at @path has failed; the copy goes on. */
static void report(struct pier__copy_receiver *r, const char *path, int err)
{
	struct pier__copy_error *error = &r->report.error;
	const char *text = pier__copy_tree_error(err);

	switch (err) {
	case -EBUSY:
		text = "another copy to it is in progress";
		break;
	case -EBADMSG:
		text = "the checksum differs from the source's";
		break;
	case -EEXIST:
		text = "a file of another user has its temporary name";
		break;
	case -EMEDIUMTYPE:
		text = "it is neither a file nor a directory";
		break;
	case -EISNAM:
		text = "such a name is that of a file which is being received";
		break;
	case -ESTALE:
		text = "its temporary file was replaced or removed";
		break;
	}
	r->failed++;
	r->report.foreign = false;
	error->error = -err;
	set_path(error, r->prefix, path);
	snprintf(error->text, sizeof(error->text), "%s", text);
	pier__copy_io_report(r->io, &r->report);
}

/* What the sender could not send. */
static int take_error(struct pier__copy_receiver *r, const uint8_t *body,
		      size_t len)
{
	int err = pier__record_get_error(body, len, &r->report.error);

	if (err)
		return err;
	r->failed++;
	r->report.number = 0;
	r->report.foreign = true;
	pier__copy_io_report(r->io, &r->report);
	return 0;
}

static int violation(const char *what)
{
	return pier__fail(-EPROTO, "copy: the peer has sent %s", what);
}

/* Is @path in the directory that has failed?  Only that is reported. */
static bool is_lost(struct pier__copy_receiver *r, const char *path)
{
	size_t len = strlen(r->lost);

	if (!r->has_lost || strncmp(path, r->lost, len) ||
	    (len && path[len] && path[len] != '/'))
		return false;
	r->failed++;
	return true;
}

/* The file fails here: what remains of it is skipped. */
static void fail_file(struct pier__copy_receiver *r, int err)
{
	pier__copy_receiver_settle(r);
	pier__copy_target_discard(&r->file, false);
	r->skipping = true;
	r->report.number = r->entry.number;
	report(r, r->path, err);
}

/* Does the sender wait for what there is of the file? */
static bool is_resumed(const struct pier__copy_receiver *r)
{
	return (r->flags & PIER_COPY_RESUME) &&
	       r->entry.size >= PIER__RECORD_RESUMED;
}

/* Tell the sender what there is of the file, nothing if it is skipped. */
static int offer_offset(struct pier__copy_receiver *r, uint64_t len)
{
	struct pier__copy_offset offset = { .number = r->entry.number };
	int err = 0;

	if (!is_resumed(r))
		return 0;
	if (!r->skipping && len <= r->entry.size) {
		err = pier__copy_digest_file(r->io, r->hash, r->file.fd, len);
		offset.bytes = err ? 0 : len;
	}
	pier__copy_hash_end(r->hash, &offset.digest);
	pier__copy_hash_begin(r->hash);
	r->had = offset.bytes;
	r->starting = true;
	pier__copy_io_give_offset(r->io, &offset);
	return err == -ECANCELED ? err : 0;
}

static int take_start(struct pier__copy_receiver *r, const uint8_t *body,
		      size_t len)
{
	uint64_t offset;
	int err = pier__record_get_number(body, len, &offset);

	if (err)
		return err;
	if (!r->starting || (offset && offset != r->had))
		return violation("a start that was not offered");
	r->starting = false;
	if (r->skipping)
		return 0;
	err = pier__copy_target_start(&r->file, offset);
	if (err)
		fail_file(r, err);
	return 0;
}

/* Another session of this process may still find that its client has died. */
static int open_file(struct pier__copy_receiver *r, uint64_t *ret_len)
{
	bool resume = is_resumed(r);
	uint64_t limit = pier__deadline(pier__now(), BUSY_MS);
	char leaf[PIER__RECORD_PATH + 1];
	int err;

	err = pier__copy_receiver_find(r, leaf);
	while (!err) {
		err = pier__copy_target_open(&r->file, r->dir, leaf, &r->entry,
					     resume, ret_len);
		if (err != -EBUSY || !resume || pier__now() > limit ||
		    atomic_load(&r->io->cancelled))
			break;
		usleep(BUSY_US);
		atomic_fetch_add(&r->io->progress, 1);
		err = 0;
	}
	return err;
}

static int begin_file(struct pier__copy_receiver *r, const uint8_t *body,
		      size_t len)
{
	uint64_t had = 0;
	int err;

	if (r->file.fd >= 0 || r->skipping)
		return violation("a file within a file");
	err = pier__record_get_entry(body, len, &r->entry);
	if (!err)
		err = pier__copy_receiver_check(r, PIER__RECORD_FILE,
						&r->entry);
	if (err)
		return err;
	pier__copy_io_begin(r->io, r->entry.path, r->entry.size);
	pier__copy_hash_begin(r->hash);
	r->starting = false;
	if (is_lost(r, r->entry.path)) {
		r->skipping = true;
		return offer_offset(r, 0);
	}
	err = pier__copy_receiver_place(r, &r->entry);
	if (!err)
		err = open_file(r, &had);
	if (err)
		fail_file(r, err);
	return offer_offset(r, had);
}

static int take_data(struct pier__copy_receiver *r, const uint8_t *data,
		     size_t len)
{
	int err;

	if (r->skipping)
		return 0;
	if (r->file.fd < 0 || r->starting)
		return violation("data of no file");
	err = pier__copy_receiver_write(r, data, len);
	if (err) {
		fail_file(r, err);
		return 0;
	}
	pier__copy_hash_data(r->hash, data, len);
	atomic_fetch_add(&r->io->bytes, len);
	return 0;
}

static int take_hole(struct pier__copy_receiver *r, const uint8_t *body,
		     size_t len)
{
	uint64_t zeros;
	int err = pier__record_get_number(body, len, &zeros);

	if (err || r->skipping)
		return err;
	if (r->file.fd < 0 || r->starting)
		return violation("a hole of no file");
	pier__copy_hash_hole(r->hash, zeros);
	err = pier__copy_target_hole(&r->file, zeros);
	if (err)
		fail_file(r, err);
	return 0;
}

static int commit(struct pier__copy_receiver *r)
{
	int err;

	atomic_store(&r->io->syncs, true);
	err = pier__copy_target_commit(&r->file, &r->entry,
				       r->flags & PIER_COPY_PRESERVE);
	atomic_store(&r->io->syncs, false);
	return err;
}

static int end_file(struct pier__copy_receiver *r, const uint8_t *body,
		    size_t len)
{
	struct pier__copy_digest theirs, ours;
	int err = pier__record_get_end(body, len, &theirs);

	if (err)
		return err;
	if (!r->skipping && (r->file.fd < 0 || r->starting))
		return violation("the end of no file");
	if (!r->skipping) {
		pier__copy_hash_end(r->hash, &ours);
		err = pier__copy_receiver_settle(r);
		if (!err && memcmp(&ours, &theirs, sizeof(ours)))
			err = -EBADMSG;
		if (!err)
			err = commit(r);
		if (err)
			fail_file(r, err);
		else
			atomic_fetch_add(&r->io->files, 1);
	}
	r->skipping = false;
	return 0;
}

static int abort_file(struct pier__copy_receiver *r, const uint8_t *body,
		      size_t len)
{
	bool skipping = r->skipping;

	if (!skipping && r->file.fd < 0)
		return violation("the end of no file");
	pier__copy_receiver_settle(r);
	pier__copy_target_discard(&r->file, false);
	r->skipping = false;
	return skipping ? 0 : take_error(r, body, len);
}

static int take_dir(struct pier__copy_receiver *r,
		    enum pier__copy_record_kind kind, const uint8_t *body,
		    size_t len)
{
	int err;

	if (r->file.fd >= 0 || r->skipping)
		return violation("a directory within a file");
	err = pier__record_get_entry(body, len, &r->entry);
	if (!err)
		err = pier__copy_receiver_check(r, kind, &r->entry);
	if (err)
		return err;
	if (r->has_lost && kind == PIER__RECORD_LEAVE &&
	    !strcmp(r->lost, r->entry.path)) {
		r->has_lost = false;
		return 0;
	}
	if (is_lost(r, r->entry.path)) {
		r->failed -= kind == PIER__RECORD_LEAVE;
		return 0;
	}
	err = kind == PIER__RECORD_DIR ?
		      pier__copy_receiver_mkdir(r, &r->entry) :
		      pier__copy_receiver_chdir(r, &r->entry);
	if (err) {
		if (kind == PIER__RECORD_DIR) {
			strcpy(r->lost, r->entry.path);
			r->has_lost = true;
		}
		r->report.number = 0;
		report(r, r->path, err);
	}
	return 0;
}

static int take_record(struct pier__copy_receiver *r,
		       struct pier__copy_span *span)
{
	enum pier__copy_record_kind kind;
	const uint8_t *body;
	size_t len;
	int err = pier__record_next(span, &kind, &body, &len);

	if (err)
		return err;
	switch (kind) {
	case PIER__RECORD_FILE:
		return begin_file(r, body, len);
	case PIER__RECORD_START:
		return take_start(r, body, len);
	case PIER__RECORD_DATA:
		return take_data(r, body, len);
	case PIER__RECORD_HOLE:
		return take_hole(r, body, len);
	case PIER__RECORD_END:
		return end_file(r, body, len);
	case PIER__RECORD_ABORT:
		return abort_file(r, body, len);
	case PIER__RECORD_DIR:
	case PIER__RECORD_LEAVE:
		return take_dir(r, kind, body, len);
	case PIER__RECORD_MISSING:
		return take_error(r, body, len);
	case PIER__RECORD_FINISH:
		if (r->file.fd >= 0 || r->skipping)
			return violation("the end within a file");
		r->finished = true;
		return 0;
	}
	return violation("an unknown record");
}

/* Wait for a slot, but first for what is in flight, as it has others. */
static int wait_for_slot(struct pier__copy_receiver *r)
{
	int err;

	do {
		err = pier__copy_receiver_next(r);
		if (err < 0)
			fail_file(r, err);
	} while (err < 0);
	return err ? 0 : pier__copy_io_take(r->io, &r->slot);
}

static int take_slot(struct pier__copy_receiver *r)
{
	struct pier__copy_span span;
	int err = wait_for_slot(r);

	if (err)
		return err;
	span.at = r->memory + r->slot.index * r->slot_size;
	span.end = span.at + r->slot.len;
	while (!err && !r->finished && span.at < span.end) {
		if (atomic_load(&r->io->cancelled))
			err = -ECANCELED;
		else
			err = take_record(r, &span);
	}
	if (!err)
		pier__copy_receiver_give(r);
	return err;
}

void pier__copy_receiver_run(void *arg)
{
	struct pier__copy_receiver *r = arg;
	int err = pier__copy_hash_create(&r->hash);

	while (!err && !r->finished)
		err = take_slot(r);
	pier__copy_receiver_settle(r);
	pier__copy_flight_destroy(r->flight);
	pier__copy_target_discard(&r->file, is_resumed(r));
	pier__copy_receiver_leave(r);
	if (!err || err == -ECANCELED)
		r->finished = !err;
	else
		pier__copy_io_fail(r->io, err);
	if (r->hash)
		pier__copy_hash_destroy(r->hash);
}
