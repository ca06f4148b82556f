/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "copy/copy_impl.h"
#include "core/clock.h"
#include "core/fail.h"

static int check_slots(const struct pier__copy_msg *msg)
{
	uint64_t slots = msg->number[PIER__HELLO_SLOTS];
	uint64_t size = msg->number[PIER__HELLO_SLOT_SIZE];

	if (slots && slots <= PIER__COPY_SLOTS && !(size % 8) &&
	    size >= PIER__COPY_SLOT_MIN &&
	    size <= PIER__COPY_MEMORY_MAX / slots)
		return 0;
	return pier__fail(-EPROTO, "copy: the client has %llu slots of %llu "
			  "bytes: 1 to %d of %d or more are allowed, %u bytes "
			  "in all", (unsigned long long)slots,
			  (unsigned long long)size, PIER__COPY_SLOTS,
			  PIER__COPY_SLOT_MIN, PIER__COPY_MEMORY_MAX);
}

static int check(const struct pier__copy_session *s,
		 const struct pier__copy_msg *msg)
{
	uint64_t mode = msg->number[PIER__HELLO_MODE];
	uint64_t flags = msg->number[PIER__HELLO_FLAGS];
	uint64_t sources = msg->number[PIER__HELLO_SOURCES];
	uint64_t timeout_ms = msg->number[PIER__HELLO_TIMEOUT];
	int err;

	if (s->mode || msg->kind != PIER__COPY_HELLO)
		return pier__fail(-EPROTO, "copy: the client does not begin "
				  "with HELLO");
	if (flags & ~(uint64_t)PIER__COPY_FLAGS)
		return pier__fail(-EOPNOTSUPP, "copy: the client requests "
				  "options that this server lacks, 0x%llx: "
				  "use the same release on both",
				  (unsigned long long)flags);
	if (mode < PIER__COPY_PUT || mode > PIER__COPY_HAVE_NOT ||
	    !sources || sources > PIER__COPY_SOURCES_MAX)
		return pier__fail(-EPROTO, "copy: the client requests mode "
				  "%llu with %llu sources",
				  (unsigned long long)mode,
				  (unsigned long long)sources);
	if (mode < PIER__COPY_HAVE && s->copy->file)
		return pier__fail(-EOPNOTSUPP, "copy: this server copies one "
				  "file only");
	if (mode >= PIER__COPY_HAVE && !s->copy->file)
		return pier__fail(-EOPNOTSUPP, "copy: this server has no file "
				  "of its own");
	err = pier__copy_session_check_timeout(timeout_ms);
	return err ? err : check_slots(msg);
}

static int put(struct pier__copy_session *s, const struct pier__copy_msg *msg)
{
	const struct pier__copy_string *target = &msg->string[1];
	char path[PIER__RECORD_PATH + 1];
	bool many;

	if (target->len > PIER__RECORD_PATH ||
	    (target->len && memchr(target->data, '\0', target->len)))
		return pier__fail(-EPROTO, "copy: the client's target is no "
				  "path");
	memcpy(path, target->data, target->len);
	path[target->len] = '\0';
	many = msg->number[PIER__HELLO_SOURCES] > 1;
	return pier__copy_receiver_open(&s->receiver, &s->copy->root, path,
					false, many);
}

/* The end that has the file sends it. */
static int choose(struct pier__copy_session *s)
{
	const char *file = s->copy->file;
	int have = pier__copy_file_exists(file);
	int they_have = s->mode == PIER__COPY_HAVE;

	if (have < 0)
		return have;
	if (have && they_have)
		return pier__fail(-EEXIST, "copy: both ends have the file: "
				  "remove one of them");
	if (!have && !they_have)
		return pier__fail(-ENOENT, "copy: neither end has the file");
	s->sends = have;
	if (!have)
		return pier__copy_session_receive_at(s, file, true, false);
	s->sender.tree.fd = AT_FDCWD;
	return pier__copy_session_add(s, file, strlen(file));
}

static int greet(struct pier__copy_session *s, const struct pier__copy_msg *msg)
{
	int err = check(s, msg);

	if (err)
		return err;
	s->mode = (enum pier__copy_mode)msg->number[PIER__HELLO_MODE];
	s->slots = (uint32_t)msg->number[PIER__HELLO_SLOTS];
	s->slot_size = (uint32_t)msg->number[PIER__HELLO_SLOT_SIZE];
	s->sender.flags = (uint32_t)msg->number[PIER__HELLO_FLAGS];
	s->peer_timeout_ms = (uint32_t)msg->number[PIER__HELLO_TIMEOUT];
	s->sender.tree = s->copy->root;
	err = pier__copy_session_alloc(s);
	if (!err)
		err = pier__copy_session_import(s, &msg->string[0]);
	if (err)
		return err;
	if (s->mode == PIER__COPY_PUT)
		return put(s, msg);
	if (s->mode != PIER__COPY_GET)
		return choose(s);
	s->sends = true;
	s->sources_due = msg->number[PIER__HELLO_SOURCES];
	return 0;
}

void pier__copy_session_hello(struct pier__copy_session *s,
			      const struct pier__copy_msg *msg)
{
	int err;

	s->received_at = pier__now();
	if (s->sources_due && msg->kind == PIER__COPY_SOURCE) {
		s->sources_due--;
		err = pier__copy_session_add(s, msg->string[1].data,
					     msg->string[1].len);
	} else if (msg->kind == PIER__COPY_END) {
		pier__copy_session_message(s, msg);
		return;
	} else {
		err = greet(s, msg);
	}
	s->requested = s->remote && !s->sources_due;
	if (!err && !s->sources_due)
		err = pier__copy_session_run(s);
	if (err)
		pier__copy_session_fail(s, err);
}
