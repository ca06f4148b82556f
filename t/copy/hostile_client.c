/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy/copy_bytes.h"
#include "t/lib/copyliar.h"
#include "t/lib/copythread.h"
#include "t/lib/entries.h"
#include "t/lib/tap.h"

/* Clients that break the protocol when the copy runs. */

#define NAME "pier copy hostile client"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct pier_dev *dev, *far_dev;
static char above[] = "/tmp/pier-copy.XXXXXX", root[64], source[80];
static struct copyliar liar;
static struct copythread server;
static struct pier__copy_span span;	/* of slot 0 */

/* Only the root and the file to get are there. */
static bool is_clean(void)
{
	return IS(entries_in(above), 1) && IS(entries_in(root), 1);
}

static bool run_client(enum pier__copy_mode mode, uint32_t flags)
{
	struct pier__copy_msg msg, path = {
		.kind = PIER__COPY_SOURCE,
		.string[1] = { "source", 6 },
	};

	if (!OK(copyliar_connect(&liar, dev, NAME)))
		return false;
	msg = copyliar_hello(&liar, mode, flags);
	copyliar_send(&liar, &msg);
	if (mode == PIER__COPY_GET)
		copyliar_send(&liar, &path);
	span = copyliar_slot(&liar, 0);
	return OK(copyliar_until(&liar, PIER__COPY_WELCOME, 1));
}

static void all_are_refused(const struct copyliar_lie *lie, size_t count,
			    enum pier__copy_mode mode, uint32_t flags)
{
	for (; count; count--, lie++) {
		if (!run_client(mode, flags))
			return;
		lie->send();
		IS(copyliar_end(&liar), -EPROTO);
		LIKE(liar.text, lie->text);
		copyliar_close(&liar);
		is_clean();
	}
}

static void fill(void)
{
	copyliar_fill(&liar, 0, &span);
}

static void no_slot(void)
{
	copyliar_pass(&liar, PIER__COPY_FILLED, COPYLIAR_SLOTS, 8);
}

static void no_slot_at_all(void)
{
	copyliar_pass(&liar, PIER__COPY_FILLED, UINT64_MAX, 8);
}

static void too_long(void)
{
	copyliar_pass(&liar, PIER__COPY_FILLED, 0, COPYLIAR_SLOT + 8);
}

static void much_too_long(void)
{
	copyliar_pass(&liar, PIER__COPY_FILLED, 0, UINT64_MAX);
}

static void nothing(void)
{
	copyliar_pass(&liar, PIER__COPY_FILLED, 0, 0);
}

static void twice(void)
{
	copyliar_file(&span, "file", 9);
	fill();
	fill();
}

static void free_one(void)
{
	copyliar_pass(&liar, PIER__COPY_FREE, 0, 0);
}

static void report(void)
{
	copyliar_pass(&liar, PIER__COPY_REPORT, 1, EIO);
}

static void offset(void)
{
	copyliar_pass(&liar, PIER__COPY_OFFSET, 1, 1);
}

static void welcome(void)
{
	copyliar_pass(&liar, PIER__COPY_WELCOME, 0, 100);
}

static void another_hello(void)
{
	struct pier__copy_msg msg = copyliar_hello(&liar, PIER__COPY_PUT, 0);

	copyliar_send(&liar, &msg);
}

static void what_is_no_message_of_a_sender_is_refused(void)
{
	static const struct copyliar_lie lies[] = {
		{ no_slot, "slot 2 with 8 bytes, which it does not have" },
		{ no_slot_at_all, "which it does not have" },
		{ too_long, "65544 bytes, which it does not have" },
		{ much_too_long, "which it does not have" },
		{ nothing, "filled a slot with nothing" },
		{ twice, "the peer has " },
		{ free_one, "a message of the other direction" },
		{ report, "the sender has sent a report" },
		{ offset, "an offset" },
		{ welcome, "a message of kind 3" },
		{ another_hello, "a message of kind 1" },
	};

	all_are_refused(lies, COUNT(lies), PIER__COPY_PUT, 0);
}

static void free_no_slot(void)
{
	copyliar_pass(&liar, PIER__COPY_FREE, 7, 0);
}

/* It is filled once, as the source is small. */
static void free_two(void)
{
	copyliar_until(&liar, PIER__COPY_FILLED, 1);
	copyliar_pass(&liar, PIER__COPY_FREE, 1, 0);
}

static void report_unknown(void)
{
	copyliar_pass(&liar, PIER__COPY_REPORT, 1000, EIO);
}

static void offset_unknown(void)
{
	copyliar_offset(&liar, 1000, 1);
}

static void what_is_no_message_of_a_receiver_is_refused(void)
{
	static const struct copyliar_lie lies[] = {
		{ nothing, "a message of the other direction" },
		{ free_no_slot, "slot 7 with 0 bytes, which it does not" },
		{ free_two, "slot 1 with 0 bytes, which it does not" },
		{ report_unknown, "file 1000, which was not sent" },
		{ offset_unknown, "an offset of no file" },
		{ offset, "an offset of no file" },
	};

	all_are_refused(lies, COUNT(lies), PIER__COPY_GET, 0);
}

static void unknown_record(void)
{
	uint8_t *at = span.at;

	pier__put32(&at, 99);
	pier__put32(&at, 0);
	span.at = at;
	fill();
}

/* A record that is longer than the slot. */
static void long_record(void)
{
	uint8_t *at = span.at;

	copyliar_file(&span, "file", 9);
	at += 4;
	pier__put32(&at, COPYLIAR_SLOT + 1);
	fill();
}

static void half_a_record(void)
{
	span.at += 4;
	fill();
}

static void file_at(const char *path)
{
	copyliar_file(&span, path, 9);
	fill();
}

static void dot_dot(void)
{
	file_at("../stolen");
}

static void dot_dot_behind(void)
{
	file_at("file/../../stolen");
}

static void absolute(void)
{
	file_at("/tmp/pier-copy.stolen");
}

static void empty_part(void)
{
	file_at("d//file");
}

static void below(void)
{
	file_at("d/file");
}

/* The name of the source has a slash in it. */
static void name_with_a_slash(void)
{
	struct pier__copy_entry entry = {
		.number = 1, .name_len = 6, .path = "d/file",
	};

	pier__record_entry(&span, PIER__RECORD_FILE, &entry);
	fill();
}

static void too_large(void)
{
	copyliar_file(&span, "file", UINT64_MAX);
	fill();
}

static void data(size_t len)
{
	copyliar_data(&span, len);
}

static void data_of_no_file(void)
{
	data(9);
	fill();
}

static void hole_of_no_file(void)
{
	pier__record_number(&span, PIER__RECORD_HOLE, 9);
	fill();
}

static void start_unasked(void)
{
	copyliar_file(&span, "file", 9);
	pier__record_number(&span, PIER__RECORD_START, 4);
	fill();
}

static void end_of_no_file(void)
{
	struct pier__copy_digest digest = { { 0 } };

	pier__record_end(&span, &digest);
	fill();
}

static void file_in_file(void)
{
	copyliar_file(&span, "file", 9);
	copyliar_file(&span, "other", 9);
	fill();
}

static void finish_in_file(void)
{
	copyliar_file(&span, "file", 9);
	pier__record_finish(&span);
	fill();
}

static void dir_in_file(void)
{
	struct pier__copy_entry entry = { .name_len = 1, .path = "d" };

	copyliar_file(&span, "file", 9);
	pier__record_entry(&span, PIER__RECORD_DIR, &entry);
	fill();
}

static void records_that_break_the_protocol_are_refused(void)
{
	static const struct copyliar_lie lies[] = {
		{ unknown_record, "a malformed record" },
		{ long_record, "a malformed record" },
		{ half_a_record, "a malformed record" },
		{ dot_dot, "a malformed entry" },
		{ dot_dot_behind, "a malformed entry" },
		{ absolute, "a malformed entry" },
		{ empty_part, "a malformed entry" },
		{ below, "only files that were requested may come" },
		{ name_with_a_slash, "a malformed entry" },
		{ too_large, "a malformed entry" },
		{ data_of_no_file, "data of no file" },
		{ hole_of_no_file, "a hole of no file" },
		{ start_unasked, "a start that was not offered" },
		{ end_of_no_file, "the end of no file" },
		{ file_in_file, "a file within a file" },
		{ finish_in_file, "the end within a file" },
		{ dir_in_file, "a directory within a file" },
	};

	all_are_refused(lies, COUNT(lies), PIER__COPY_PUT, 0);
}

/* The file fails; the copy goes on, and ends with that. */
static void fails_alone(uint64_t size, void (*content)(void), int err)
{
	struct pier__copy_digest digest = { { 0 } };

	if (!run_client(PIER__COPY_PUT, 0))
		return;
	copyliar_file(&span, "file", size);
	content();
	pier__record_end(&span, &digest);
	pier__record_finish(&span);
	fill();
	OK(copyliar_until(&liar, PIER__COPY_END, 1));
	IS(liar.number[PIER__COPY_END][PIER__END_ERROR], 0);
	IS(liar.number[PIER__COPY_REPORT][PIER__REPORT_ERROR], err);
	IS(liar.number[PIER__COPY_END][PIER__END_FILES], 0);
	IS(liar.number[PIER__COPY_END][PIER__END_FAILED], 1);
	copyliar_close(&liar);
	is_clean();
}

static void more_data(void)
{
	data(20);
}

static void more_zeros(void)
{
	pier__record_number(&span, PIER__RECORD_HOLE, UINT64_MAX);
}

static void more_zeros_twice(void)
{
	pier__record_number(&span, PIER__RECORD_HOLE, 8);
	pier__record_number(&span, PIER__RECORD_HOLE, UINT64_MAX - 3);
}

static void files_that_lie_about_their_size_or_digest_fail(void)
{
	fails_alone(9, more_data, EPROTO);
	fails_alone(9, more_zeros, EPROTO);
	fails_alone(9, more_zeros_twice, EPROTO);
	fails_alone(20, more_data, EBADMSG);
	fails_alone(30, more_data, EBADMSG);
}

/* END of the sender, which is for errors: it gets none in return. */
static void end_midst(uint64_t err)
{
	if (!run_client(PIER__COPY_PUT, 0))
		return;
	copyliar_file(&span, "file", 9);
	fill();
	OK(copyliar_until(&liar, PIER__COPY_FREE, 1));
	IS(entries_in(root), 2);
	copyliar_pass(&liar, PIER__COPY_END, err, 1);
	IS(copyliar_end(&liar), 0);
	copyliar_close(&liar);
	while (entries_in(root) == 2)
		sched_yield();
	is_clean();
}

static void an_end_in_the_middle_removes_what_was_received(void)
{
	end_midst(EIO);
	end_midst(0);
}

static void after_all_that_a_good_client_is_served(void)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg), .name = NAME };
	struct copythread client;

	if (!copythread_start(&client, dev, &cfg, COPYTHREAD_SEND,
			      "/proc/self/exe", "source"))
		return;
	IS(copythread_join(&client), 0);
	copythread_stop(&server);
	IS(copythread_join(&server), 0);
	IS(server.result.files, 1);
	OK(server.result.broken >= 36);
}

/* A small file. */
static bool write_source(void)
{
	FILE *out = fopen(source, "w");

	return out && fputs("source", out) > 0 && !fclose(out);
}

static bool start(void)
{
	struct pier_copy_config cfg = {
		.size = sizeof(cfg), .name = NAME, .root = root,
	};

	if (!mkdtemp(above))
		return false;
	snprintf(root, sizeof(root), "%s/root", above);
	snprintf(source, sizeof(source), "%s/source", root);
	if (mkdir(root, 0700) || !write_source())
		return false;
	return copythread_start(&server, far_dev, &cfg, COPYTHREAD_SERVE, NULL,
				NULL);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev) ||
	    !start())
		return tap_skip_all(pier_last_error());
	TEST(what_is_no_message_of_a_sender_is_refused);
	TEST(what_is_no_message_of_a_receiver_is_refused);
	TEST(records_that_break_the_protocol_are_refused);
	TEST(files_that_lie_about_their_size_or_digest_fail);
	TEST(an_end_in_the_middle_removes_what_was_received);
	TEST(after_all_that_a_good_client_is_served);
	unlink(source);
	rmdir(root);
	rmdir(above);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
