/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/error.h>

#include "copy/copy_msg.h"
#include "copy/copy_record.h"
#include "t/lib/tap.h"

static uint8_t buf[PIER__COPY_MESSAGE + 1];
static uint8_t slot[2 * PIER__RECORD_MAX];

static size_t hello(void)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_HELLO,
		.number = { PIER__COPY_PUT, 3, 6, 1 << 20, UINT64_MAX },
		.string = { { "desc", 4 }, { "path", 4 } },
	};

	return pier__copy_msg_encode(&msg, buf);
}

static void a_message_is_read_as_it_was_written(void)
{
	struct pier__copy_msg msg;
	size_t len = hello();

	if (!IS(pier__copy_msg_decode(buf, len, &msg), 0))
		return;
	IS(msg.kind, PIER__COPY_HELLO);
	IS(msg.number[PIER__HELLO_SLOT_SIZE], 1 << 20);
	OK(msg.number[PIER__HELLO_SOURCES] == UINT64_MAX);
	IS(msg.string[0].len, 4);
	IS(msg.string[1].len, 4);
	OK(!memcmp(msg.string[1].data, "path", 4));
}

static void a_message_of_any_other_length_is_refused(void)
{
	struct pier__copy_msg msg;
	size_t len = hello(), i;

	for (i = 0; i < len; i++)
		IS(pier__copy_msg_decode(buf, i, &msg), -EPROTO);
	IS(pier__copy_msg_decode(buf, len + 1, &msg), -EPROTO);
}

static void another_version_is_named(void)
{
	struct pier__copy_msg msg;
	size_t len = hello();

	buf[3] = 9;
	IS(pier__copy_msg_decode(buf, len, &msg), -PIER_EVERSION);
	LIKE(pier_last_error(), "the peer has version 9");
}

/* Whatever byte is changed, what is read stays within the message. */
static void a_changed_message_is_refused_or_within_its_bounds(void)
{
	struct pier__copy_msg msg;
	size_t len = hello(), i;
	int value;

	for (i = 0; i < len; i++) {
		for (value = 0; value < 256; value++) {
			hello();
			buf[i] = (uint8_t)value;
			if (pier__copy_msg_decode(buf, len, &msg))
				continue;
			OK((const uint8_t *)msg.string[1].data +
			   msg.string[1].len == buf + len);
			OK(msg.kind > 0 && msg.kind < PIER__COPY_KINDS);
		}
	}
}

static struct pier__copy_span whole(void)
{
	struct pier__copy_span span = { slot, slot + sizeof(slot) };

	memset(slot, 0xff, sizeof(slot));
	return span;
}

/* Write the entry of @path and read it. */
static int passes(const char *path, uint32_t name_len)
{
	static struct pier__copy_entry in, out;
	struct pier__copy_span span = whole(), read = { slot, NULL };
	enum pier__copy_record_kind kind;
	const uint8_t *body;
	size_t len;
	int err;

	strcpy(in.path, path);
	in.name_len = name_len;
	in.size = 12345;
	pier__record_entry(&span, PIER__RECORD_FILE, &in);
	read.end = span.at;
	err = pier__record_next(&read, &kind, &body, &len);
	if (err)
		return err;
	IS(kind, PIER__RECORD_FILE);
	OK(read.at == read.end);
	err = pier__record_get_entry(body, len, &out);
	if (!err)
		OK(!strcmp(in.path, out.path) && out.size == in.size);
	return err;
}

static void paths_stay_below_the_target(void)
{
	static const char *const bad[] = {
		"/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b",
		"a/.", "./a", "a/./b",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!IS(passes(bad[i], 0), -EPROTO))
			tap_note("%s", bad[i]);
	IS(passes("", 0), 0);
	IS(passes("a", 1), 0);
	IS(passes("a/b", 1), 0);
	IS(passes("...", 3), 0);
	IS(passes("..a/b..", 3), 0);
}

/* Read an entry of @mode. */
static int passes_mode(uint32_t mode)
{
	static struct pier__copy_entry in, out;
	struct pier__copy_span span = whole();

	strcpy(in.path, "a");
	in.mode = mode;
	pier__record_entry(&span, PIER__RECORD_FILE, &in);
	return pier__record_get_entry(slot + PIER__RECORD_HEAD, 41, &out);
}

static void a_mode_sets_no_user_or_group(void)
{
	IS(passes_mode(0), 0);
	IS(passes_mode(01777), 0);
	IS(passes_mode(02755), -EPROTO);
	IS(passes_mode(04755), -EPROTO);
	IS(passes_mode(07777), -EPROTO);
	IS(passes_mode(0100644), -EPROTO);
}

static void the_name_of_a_source_is_a_whole_part(void)
{
	IS(passes("abc/d", 2), -EPROTO);
	IS(passes("abc/d", 4), -EPROTO);
	IS(passes("abc/d", 5), -EPROTO);
	IS(passes("abc/d", 6), -EPROTO);
	IS(passes("abc/d", 3), 0);
}

static void a_record_does_not_exceed_its_slot(void)
{
	struct pier__copy_span span = whole(), read;
	enum pier__copy_record_kind kind;
	const uint8_t *body;
	size_t len;
	uint8_t *end;

	pier__record_number(&span, PIER__RECORD_HOLE, 7);
	end = span.at;
	for (read.end = slot; read.end < end; read.end++) {
		read.at = slot;
		IS(pier__record_next(&read, &kind, &body, &len), -EPROTO);
	}
	slot[4] = 0xff;		/* its length */
	read.at = slot;
	read.end = slot + sizeof(slot);
	IS(pier__record_next(&read, &kind, &body, &len), -EPROTO);
	memset(slot, 0, sizeof(slot));
	read.at = slot;
	IS(pier__record_next(&read, &kind, &body, &len), -EPROTO);
}

/* Every byte of an error's head, with every value. */
static void a_changed_error_is_refused_or_within_its_bounds(void)
{
	static struct pier__copy_error in, out;
	struct pier__copy_span span;
	size_t len, i;
	int value;

	in.error = ENOENT;
	strcpy(in.path, "path");
	strcpy(in.text, "text");
	for (i = 0; i < 8; i++) {
		for (value = 0; value < 256; value++) {
			span = whole();
			pier__record_error(&span, PIER__RECORD_MISSING, &in);
			slot[8 + i] = (uint8_t)value;
			len = 8 + 4 + 4;
			if (pier__record_get_error(slot + 8, len, &out))
				continue;
			IS(strlen(out.path) + strlen(out.text), 8);
		}
	}
}

static uint64_t decoded(enum pier__copy_kind kind, int at, uint64_t error)
{
	struct pier__copy_msg msg = { .kind = kind };
	size_t len;

	msg.number[at] = error;
	len = pier__copy_msg_encode(&msg, buf);
	IS(pier__copy_msg_decode(buf, len, &msg), 0);
	return msg.number[at];
}

static void an_error_that_is_none_is_a_violation(void)
{
	static const uint64_t bad[] = { 4096, 0x10000, UINT64_MAX };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		IS(pier__copy_msg_error(bad[i]), EPROTO);
		IS(decoded(PIER__COPY_END, PIER__END_ERROR, bad[i]), EPROTO);
		IS(decoded(PIER__COPY_REPORT, PIER__REPORT_ERROR, bad[i]),
		   EPROTO);
	}
	IS(decoded(PIER__COPY_REPORT, PIER__REPORT_ERROR, 0), EPROTO);
	IS(decoded(PIER__COPY_END, PIER__END_ERROR, 0), 0);
	IS(pier__copy_msg_error(ENOSPC), ENOSPC);
	IS(pier__copy_msg_error(PIER_EVERSION), PIER_EVERSION);
}

static void a_missing_source_has_an_error(void)
{
	static struct pier__copy_error in, out;
	struct pier__copy_span span = whole();

	pier__record_error(&span, PIER__RECORD_MISSING, &in);
	IS(pier__record_get_error(slot + PIER__RECORD_HEAD, 8, &out), 0);
	IS(out.error, EPROTO);
}

int main(void)
{
	TEST(a_message_is_read_as_it_was_written);
	TEST(a_message_of_any_other_length_is_refused);
	TEST(another_version_is_named);
	TEST(a_changed_message_is_refused_or_within_its_bounds);
	TEST(paths_stay_below_the_target);
	TEST(a_mode_sets_no_user_or_group);
	TEST(the_name_of_a_source_is_a_whole_part);
	TEST(a_record_does_not_exceed_its_slot);
	TEST(a_changed_error_is_refused_or_within_its_bounds);
	TEST(an_error_that_is_none_is_a_violation);
	TEST(a_missing_source_has_an_error);
	return tap_done();
}
