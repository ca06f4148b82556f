/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/copyliar.h"
#include "t/lib/copythread.h"
#include "t/lib/entries.h"
#include "t/lib/tap.h"

/* Servers that break the protocol, or send what was not requested. */

#define NAME "pier copy hostile server"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LARGE (16u << 20)	/* more than a client's slots */

static struct pier_dev *dev, *far_dev;
static char above[] = "/tmp/pier-copy.XXXXXX", here[64], large[80];
static char several[] = "/tmp/pier-copy.XXXXXX", one[64], other[64];
static struct copyliar liar;
static struct copythread client;
static struct pier__copy_span span;	/* of slot 0 */

/* HELLO has come. */
static bool meet(enum copythread_call call, const char *path, uint32_t flags)
{
	struct pier_copy_config cfg = {
		.size = sizeof(cfg), .name = NAME, .flags = flags,
	};

	if (!copyliar_listen(&liar, far_dev, NAME) ||
	    !copythread_start(&client, dev, &cfg, call, path,
			      call == COPYTHREAD_SEND ? "x" : here))
		return false;
	span = copyliar_slot(&liar, 0);
	return OK(copyliar_until(&liar, PIER__COPY_HELLO, 1));
}

static int leave(void)
{
	int err;

	while (!copythread_has_ended(&client))
		pier_pe_wait(liar.pe, 20);
	err = copythread_join(&client);
	copyliar_close(&liar);
	IS(entries_in(above), 2);
	IS(entries_in(here), 0);
	return err;
}

static void all_are_refused(const struct copyliar_lie *lie, size_t count,
			    enum copythread_call call, const char *path,
			    uint32_t flags)
{
	for (; count; count--, lie++) {
		if (!meet(call, path, flags))
			return;
		lie->send();
		IS(leave(), -EPROTO);
		LIKE(client.text, lie->text);
	}
}

static void begin(uint64_t direction)
{
	copyliar_pass(&liar, PIER__COPY_WELCOME, direction, 30000);
	span = copyliar_slot(&liar, 0);	/* HELLO had the client's memory */
}

static void other_direction(void)
{
	begin(1);
}

static void no_direction(void)
{
	begin(77);
}

static void free_before(void)
{
	copyliar_pass(&liar, PIER__COPY_FREE, 0, 0);
}

static void report_before(void)
{
	copyliar_pass(&liar, PIER__COPY_REPORT, 1, EIO);
}

static void end_before(void)
{
	copyliar_pass(&liar, PIER__COPY_END, 0, 1);
}

static void hello_of_a_server(void)
{
	copyliar_pass(&liar, PIER__COPY_HELLO, 1, 1);
}

static void welcome_twice(void)
{
	begin(0);
	begin(0);
}

static void free_no_slot(void)
{
	begin(0);
	copyliar_pass(&liar, PIER__COPY_FREE, 6, 0);
}

static void free_no_slot_at_all(void)
{
	begin(0);
	copyliar_pass(&liar, PIER__COPY_FREE, UINT64_MAX, 0);
}

static void free_twice(void)
{
	begin(0);
	copyliar_until(&liar, PIER__COPY_FILLED, 6);
	copyliar_pass(&liar, PIER__COPY_FREE, 0, 0);
	copyliar_pass(&liar, PIER__COPY_FREE, 0, 0);
	copyliar_pass(&liar, PIER__COPY_FREE, 0, 0);
}

static void fill_of_a_receiver(void)
{
	begin(0);
	copyliar_pass(&liar, PIER__COPY_FILLED, 0, 8);
}

static void report_unknown(void)
{
	begin(0);
	copyliar_pass(&liar, PIER__COPY_REPORT, 2, EIO);
}

static void offset_unasked(void)
{
	begin(0);
	copyliar_until(&liar, PIER__COPY_FILLED, 1);
	copyliar_offset(&liar, 1, 1);
}

static void end_midst(void)
{
	begin(0);
	copyliar_until(&liar, PIER__COPY_FILLED, 2);
	copyliar_pass(&liar, PIER__COPY_END, 0, 1);
}

static void a_sending_client_refuses_what_breaks_the_protocol(void)
{
	static const struct copyliar_lie lies[] = {
		{ other_direction, "begun in the other direction" },
		{ no_direction, "begun in the other direction" },
		{ free_before, "the peer has begun too early" },
		{ report_before, "file 1, which was not sent" },
		{ end_before, "the peer has ended too early" },
		{ hello_of_a_server, "a message of kind 1" },
		{ welcome_twice, "a message of kind 3" },
		{ free_no_slot, "slot 6 with 0 bytes, which it does not" },
		{ free_no_slot_at_all, "bytes, which it does not have" },
		{ free_twice, "slot 0 with 0 bytes, which it does not" },
		{ fill_of_a_receiver, "a message of the other direction" },
		{ report_unknown, "file 2, which was not sent" },
		{ offset_unasked, "an offset of no file" },
		{ end_midst, "the peer has ended too early" },
	};

	all_are_refused(lies, COUNT(lies), COPYTHREAD_SEND, large, 0);
}

static void another_offset(void)
{
	begin(0);
	copyliar_until(&liar, PIER__COPY_FILLED, 1);
	copyliar_offset(&liar, 2, 1);
}

static void half_a_digest(void)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_OFFSET,
		.number = { 1, 1 },
		.string[0] = { "01234567", 8 },
	};

	begin(0);
	copyliar_until(&liar, PIER__COPY_FILLED, 1);
	copyliar_send(&liar, &msg);
}

static void a_resuming_client_refuses_what_is_no_offset(void)
{
	static const struct copyliar_lie lies[] = {
		{ another_offset, "an offset of no file" },
		{ half_a_digest, "an offset of no file" },
	};

	all_are_refused(lies, COUNT(lies), COPYTHREAD_SEND, large,
			PIER_COPY_RESUME);
}

/* An offset beyond the file is one of nothing that is there. */
static void an_offset_beyond_the_file_resumes_nothing(void)
{
	if (!meet(COPYTHREAD_SEND, large, PIER_COPY_RESUME))
		return;
	begin(0);
	OK(copyliar_until(&liar, PIER__COPY_FILLED, 1));
	copyliar_offset(&liar, 1, UINT64_MAX);
	OK(copyliar_until(&liar, PIER__COPY_FILLED, 6));
	copyliar_pass(&liar, PIER__COPY_END, EIO, 0);
	IS(leave(), -EIO);
}

/* Of a file that the receiver could not open: the report came first. */
static void an_offset_that_its_report_has_overtaken_is_ignored(void)
{
	if (!meet(COPYTHREAD_SEND, several,
		  PIER_COPY_RESUME | PIER_COPY_RECURSIVE))
		return;
	begin(0);
	OK(copyliar_until(&liar, PIER__COPY_FILLED, 1));
	copyliar_pass(&liar, PIER__COPY_REPORT, 1, EACCES);
	OK(copyliar_until(&liar, PIER__COPY_FILLED, 2));
	copyliar_offset(&liar, 1, 0);
	copyliar_offset(&liar, 2, 0);
	OK(copyliar_until(&liar, PIER__COPY_FILLED, 6));
	copyliar_pass(&liar, PIER__COPY_END, EIO, 0);
	IS(leave(), -EIO);
}

static void fill(void)
{
	copyliar_fill(&liar, 0, &span);
}

static void file_at(const char *path)
{
	begin(1);
	copyliar_file(&span, path, 9);
	fill();
}

static void dot_dot(void)
{
	file_at("../stolen");
}

static void absolute(void)
{
	file_at("/tmp/pier-copy.stolen");
}

static void another(void)
{
	file_at(".bashrc");
}

static void below(void)
{
	file_at("file/stolen");
}

static void no_name(void)
{
	file_at("");
}

static void directory(void)
{
	struct pier__copy_entry entry = { .name_len = 4, .path = "file" };

	begin(1);
	pier__record_entry(&span, PIER__RECORD_DIR, &entry);
	fill();
}

static void fill_no_slot(void)
{
	begin(1);
	copyliar_pass(&liar, PIER__COPY_FILLED, 6, 8);
}

static void fill_too_long(void)
{
	begin(1);
	copyliar_pass(&liar, PIER__COPY_FILLED, 0, (1 << 20) + 8);
}

static void fill_twice(void)
{
	begin(1);
	copyliar_file(&span, "file", 9);
	fill();
	fill();
}

static void free_of_a_sender(void)
{
	begin(1);
	copyliar_pass(&liar, PIER__COPY_FREE, 0, 0);
}

static void report_of_a_sender(void)
{
	begin(1);
	copyliar_pass(&liar, PIER__COPY_REPORT, 1, EIO);
}

static void end_of_a_sender(void)
{
	begin(1);
	copyliar_file(&span, "file", 9);
	fill();
	copyliar_pass(&liar, PIER__COPY_END, 0, 1);
}

static void finish_in_file(void)
{
	begin(1);
	copyliar_file(&span, "file", 9);
	pier__record_finish(&span);
	fill();
}

static void a_receiving_client_refuses_what_it_did_not_request(void)
{
	static const struct copyliar_lie lies[] = {
		{ dot_dot, "a malformed entry" },
		{ absolute, "a malformed entry" },
		{ another, "only files that were requested may come" },
		{ below, "only files that were requested may come" },
		{ no_name, "only files that were requested may come" },
		{ directory, "only files that were requested may come" },
		{ fill_no_slot, "slot 6 with 8 bytes, which it does not" },
		{ fill_too_long, "which it does not have" },
		{ fill_twice, "the peer has " },
		{ free_of_a_sender, "a message of the other direction" },
		{ report_of_a_sender, "the sender has sent a report" },
		{ end_of_a_sender, "the peer has ended too early" },
		{ finish_in_file, "the end within a file" },
	};

	all_are_refused(lies, COUNT(lies), COPYTHREAD_RECEIVE, "file", 0);
}

/* The file fails alone, and is an error of the call. */
static void fails(uint64_t size, size_t len, int err)
{
	struct pier__copy_digest digest = { { 0 } };

	if (!meet(COPYTHREAD_RECEIVE, "file", 0))
		return;
	begin(1);
	copyliar_file(&span, "file", size);
	copyliar_data(&span, len);
	pier__record_end(&span, &digest);
	pier__record_finish(&span);
	fill();
	IS(leave(), err);
	LIKE(client.text, "file: ");
	IS(client.result.failed, 1);
	IS(client.result.files, 0);
}

static void files_that_lie_about_their_size_or_digest_fail(void)
{
	fails(9, 20, -EPROTO);
	fails(20, 20, -EBADMSG);
	fails(30, 20, -EBADMSG);
}

/* Through a symbolic link in the target, to which nothing was to be copied. */
static void a_server_does_not_leave_the_target_by_a_link(void)
{
	struct pier__copy_digest digest = { { 0 } };
	char link[80];

	snprintf(link, sizeof(link), "%s/file", here);
	if (!IS(symlink("..", link), 0) ||
	    !meet(COPYTHREAD_RECEIVE, "file", PIER_COPY_RECURSIVE))
		return;
	begin(1);
	copyliar_file(&span, "file/stolen", 0);
	pier__record_end(&span, &digest);
	pier__record_finish(&span);
	fill();
	OK(copyliar_until(&liar, PIER__COPY_REPORT, 1));
	IS(unlink(link), 0);
	IS(leave(), -EXDEV);
	IS(client.result.failed, 1);
}

static bool write_file(const char *path, size_t len)
{
	FILE *out = fopen(path, "w");

	if (!out)
		return false;
	while (len--)
		fputc((int)(len >> 8) + (int)len, out);
	return !fclose(out);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev) ||
	    !mkdtemp(above) || !mkdtemp(several))
		return tap_skip_all(pier_last_error());
	snprintf(here, sizeof(here), "%s/here", above);
	snprintf(large, sizeof(large), "%s/large", above);
	snprintf(one, sizeof(one), "%s/one", several);
	snprintf(other, sizeof(other), "%s/other", several);
	if (mkdir(here, 0700) || !write_file(large, LARGE) ||
	    link(large, one) || link(large, other))
		return tap_skip_all("no file can be written");
	TEST(a_sending_client_refuses_what_breaks_the_protocol);
	TEST(a_resuming_client_refuses_what_is_no_offset);
	TEST(an_offset_beyond_the_file_resumes_nothing);
	TEST(an_offset_that_its_report_has_overtaken_is_ignored);
	TEST(a_receiving_client_refuses_what_it_did_not_request);
	TEST(files_that_lie_about_their_size_or_digest_fail);
	TEST(a_server_does_not_leave_the_target_by_a_link);
	unlink(one);
	unlink(other);
	rmdir(several);
	unlink(large);
	rmdir(here);
	rmdir(above);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
