/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "copy/copy_bytes.h"
#include "copy/copy_msg.h"
#include "core/fail.h"

#define HEAD 8
#define ERRNO_MAX 4095	/* of Linux */

static const unsigned int numbers[PIER__COPY_KINDS] = {
	[PIER__COPY_HELLO] = 6,
	[PIER__COPY_SOURCE] = 0,
	[PIER__COPY_WELCOME] = 2,
	[PIER__COPY_FILLED] = 2,
	[PIER__COPY_FREE] = 2,
	[PIER__COPY_REPORT] = 2,
	[PIER__COPY_OFFSET] = 2,
	[PIER__COPY_PING] = 1,
	[PIER__COPY_END] = 4,
};

size_t pier__copy_msg_encode(const struct pier__copy_msg *msg,
			     uint8_t ret[PIER__COPY_MESSAGE])
{
	uint8_t *at = ret;

	memcpy(at, "pcp", 3);
	at[3] = PIER__COPY_VERSION;
	at += 4;
	pier__put32(&at, msg->kind);
	for (unsigned int i = 0; i < numbers[msg->kind]; i++)
		pier__put64(&at, msg->number[i]);
	for (int i = 0; i < 2; i++)
		pier__put32(&at, (uint32_t)msg->string[i].len);
	for (int i = 0; i < 2; i++) {
		if (msg->string[i].len)
			memcpy(at, msg->string[i].data, msg->string[i].len);
		at += msg->string[i].len;
	}
	return (size_t)(at - ret);
}

int pier__copy_msg_error(uint64_t value)
{
	switch (value) {
#define CASE(name, number, scope, text) case name:
	PIER_ERRORS(CASE)
#undef CASE
		return (int)value;
	}
	return value && value <= ERRNO_MAX ? (int)value : EPROTO;
}

/* A report has an error, an end may have one. */
static void check_error(struct pier__copy_msg *msg)
{
	uint64_t *report = &msg->number[PIER__REPORT_ERROR];
	uint64_t *end = &msg->number[PIER__END_ERROR];

	if (msg->kind == PIER__COPY_REPORT)
		*report = (uint64_t)pier__copy_msg_error(*report);
	if (msg->kind == PIER__COPY_END && *end)
		*end = (uint64_t)pier__copy_msg_error(*end);
}

static int malformed(size_t len)
{
	return pier__fail(-EPROTO, "copy: a message of %zu bytes is none of "
			  "this protocol", len);
}

/* The strings, whose lengths are at @at; they are all that remains. */
static bool get_strings(const uint8_t *at, const uint8_t *end,
			struct pier__copy_msg *ret)
{
	for (int i = 0; i < 2; i++)
		ret->string[i].len = pier__get32(&at);
	for (int i = 0; i < 2; i++) {
		if (ret->string[i].len > PIER__COPY_STRING ||
		    ret->string[i].len > (size_t)(end - at))
			return false;
		ret->string[i].data = at;
		at += ret->string[i].len;
	}
	return at == end;
}

int pier__copy_msg_decode(const void *data, size_t len,
			  struct pier__copy_msg *ret)
{
	struct pier__copy_msg msg = { 0 };
	const uint8_t *at = data, *end = at + len;
	uint32_t kind;

	if (len < HEAD || memcmp(at, "pcp", 3))
		return malformed(len);
	if (at[3] != PIER__COPY_VERSION)
		return pier__fail(-PIER_EVERSION, "copy: the peer has version "
				  "%u of the protocol, this end %d: use the "
				  "same release on both", at[3],
				  PIER__COPY_VERSION);
	at += 4;
	kind = pier__get32(&at);
	if (!kind || kind >= PIER__COPY_KINDS ||
	    len < HEAD + 8u * numbers[kind] + 8)
		return malformed(len);
	msg.kind = kind;
	for (unsigned int i = 0; i < numbers[kind]; i++)
		msg.number[i] = pier__get64(&at);
	if (!get_strings(at, end, &msg))
		return malformed(len);
	check_error(&msg);
	*ret = msg;
	return 0;
}
