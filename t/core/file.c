/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/file.h"
#include "t/lib/entries.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

static char dir[] = "/tmp/pier-file.XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[2][sizeof(dir) + 32];
	static int which;

	which = !which;
	snprintf(path[which], sizeof(path[which]), "%s/%s", dir, name);
	return path[which];
}

static void what_is_written_is_read_again(void)
{
	char buf[16] = "";

	IS(pier__file_write(in_dir("a"), "hello", 5, 0600), 0);
	IS(pier__file_read(in_dir("a"), buf, sizeof(buf)), 5);
	IS_STR(buf, "hello");
	IS(entries_in(dir), 1);
	unlink(in_dir("a"));
}

static void an_empty_file_is_one_too(void)
{
	char buf[16];

	IS(pier__file_write(in_dir("a"), "", 0, 0600), 0);
	IS(pier__file_read(in_dir("a"), buf, sizeof(buf)), 0);
	unlink(in_dir("a"));
}

static void the_mode_is_as_asked_whatever_was_there(void)
{
	struct stat st;

	IS(pier__file_write(in_dir("a"), "open", 4, 0644), 0);
	IS(pier__file_write(in_dir("a"), "shut", 4, 0600), 0);
	if (IS(stat(in_dir("a"), &st), 0))
		IS(st.st_mode & 0777, 0600);
	unlink(in_dir("a"));
}

static void a_reader_of_the_old_file_keeps_it(void)
{
	char buf[8] = "";
	FILE *old;

	IS(pier__file_write(in_dir("a"), "old", 3, 0600), 0);
	old = fopen(in_dir("a"), "r");
	if (!OK(old))
		return;
	IS(pier__file_write(in_dir("a"), "newer", 5, 0600), 0);
	IS(fread(buf, 1, sizeof(buf), old), 3);
	IS_STR(buf, "old");
	fclose(old);
	unlink(in_dir("a"));
}

static void a_write_that_fails_leaves_nothing_behind(void)
{
	IS(mkdir(in_dir("d"), 0700), 0);
	IS(pier__file_write(in_dir("d"), "x", 1, 0600), -EISDIR);
	LIKE(pier_last_error(), in_dir("d"));
	LIKE(pier_last_error(), "directory");
	IS(entries_in(dir), 1);
	rmdir(in_dir("d"));
}

static void a_fifo_is_neither_replaced_nor_removed(void)
{
	struct stat st;

	IS(mkfifo(in_dir("f"), 0600), 0);
	IS(symlink(in_dir("f"), in_dir("link")), 0);
	IS(pier__file_write(in_dir("f"), "x", 1, 0600), -EINVAL);
	LIKE(pier_last_error(), in_dir("f"));
	LIKE(pier_last_error(), "FIFO");
	IS(pier__file_write(in_dir("link"), "x", 1, 0600), -EINVAL);
	IS(pier__file_remove(in_dir("f")), -EINVAL);
	IS(pier__file_remove(in_dir("link")), -EINVAL);
	IS(entries_in(dir), 2);
	if (IS(lstat(in_dir("f"), &st), 0))
		OK(S_ISFIFO(st.st_mode));
	unlink(in_dir("link"));
	unlink(in_dir("f"));
}

static void what_is_not_there_is_removed_already(void)
{
	IS(pier__file_write(in_dir("a"), "x", 1, 0600), 0);
	IS(pier__file_remove(in_dir("a")), 0);
	IS(pier__file_remove(in_dir("a")), 0);
	IS(entries_in(dir), 0);
}

static int write_too_much(struct pair *pair, void *arg)
{
	static const char data[8192];
	struct rlimit old, limit;

	(void)pair;
	(void)arg;
	signal(SIGXFSZ, SIG_IGN);
	IS(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 4096;
	IS(setrlimit(RLIMIT_FSIZE, &limit), 0);
	IS(pier__file_write(in_dir("a"), data, sizeof(data), 0600), -EFBIG);
	IS(setrlimit(RLIMIT_FSIZE, &old), 0);
	return 0;
}

static void a_write_cut_short_leaves_the_old_file(void)
{
	struct pair pair;
	char buf[8] = "";

	IS(pier__file_write(in_dir("a"), "old", 3, 0600), 0);
	pair_start(&pair, write_too_much, NULL);
	IS(pair_wait(&pair), 0);
	IS(entries_in(dir), 1);
	IS(pier__file_read(in_dir("a"), buf, sizeof(buf)), 3);
	IS_STR(buf, "old");
	unlink(in_dir("a"));
}

static void a_directory_that_is_missing_is_reported(void)
{
	char buf[4];

	IS(pier__file_write(in_dir("no/a"), "x", 1, 0600), -ENOENT);
	LIKE(pier_last_error(), in_dir("no/a"));
	IS(pier__file_read(in_dir("no/a"), buf, sizeof(buf)), -ENOENT);
	LIKE(pier_last_error(), in_dir("no/a"));
}

static void a_file_may_have_just_the_size_allowed(void)
{
	char buf[5] = "....";

	IS(pier__file_write(in_dir("a"), "1234", 4, 0600), 0);
	IS(pier__file_read(in_dir("a"), buf, 4), 4);
	IS_STR(buf, "1234");
	IS(pier__file_read(in_dir("a"), buf, 3), -EFBIG);
	LIKE(pier_last_error(), "more than 3 bytes");
	IS(pier__file_read(in_dir("a"), buf, 0), -EFBIG);
	unlink(in_dir("a"));
}

static int read_fifo(struct pair *pair, void *arg)
{
	char buf[4];

	(void)pair;
	IS(pier__file_read(arg, buf, sizeof(buf)), -EINVAL);
	LIKE(pier_last_error(), "not a regular file");
	return 0;
}

/* A peer reads, so that its time limit reports a hang. */
static void a_fifo_without_a_writer_is_refused_at_once(void)
{
	char path[64];
	struct pair pair;

	snprintf(path, sizeof(path), "%s", in_dir("f"));
	if (!IS(mkfifo(path, 0600), 0))
		return;
	pair_start(&pair, read_fifo, path);
	IS(pair_wait(&pair), 0);
	unlink(path);
}

static void directories_and_devices_are_refused(void)
{
	char buf[4];

	IS(pier__file_read(dir, buf, sizeof(buf)), -EINVAL);
	IS(pier__file_read("/dev/zero", buf, sizeof(buf)), -EINVAL);
}

static void line_is(const char *text, const char *want)
{
	char line[6] = "?";

	IS(pier__file_write(in_dir("a"), text, strlen(text), 0600), 0);
	pier__file_line(in_dir("a"), line, sizeof(line));
	IS_STR(line, want);
}

static void a_line_is_the_first_and_has_no_end(void)
{
	line_is("one\ntwo\n", "one");
	line_is("one", "one");
	line_is("\none\n", "");
	line_is("", "");
	unlink(in_dir("a"));
}

static void a_line_that_is_too_long_is_none(void)
{
	line_is("12345\n", "12345");
	line_is("12345", "12345");
	line_is("123456\n", "");
	line_is("123456", "");
	line_is("1234567890\n", "");
	unlink(in_dir("a"));
}

static void a_line_that_cannot_be_read_is_none(void)
{
	char line[6] = "?";

	pier__file_line(in_dir("none"), line, sizeof(line));
	IS_STR(line, "");
	snprintf(line, sizeof(line), "?");
	pier__file_line(dir, line, sizeof(line));
	IS_STR(line, "");
}

int main(void)
{
	if (!mkdtemp(dir))
		return tap_skip_all("no directory in /tmp");
	TEST(what_is_written_is_read_again);
	TEST(an_empty_file_is_one_too);
	TEST(the_mode_is_as_asked_whatever_was_there);
	TEST(a_reader_of_the_old_file_keeps_it);
	TEST(a_write_that_fails_leaves_nothing_behind);
	TEST(a_fifo_is_neither_replaced_nor_removed);
	TEST(what_is_not_there_is_removed_already);
	TEST(a_write_cut_short_leaves_the_old_file);
	TEST(a_directory_that_is_missing_is_reported);
	TEST(a_file_may_have_just_the_size_allowed);
	TEST(a_fifo_without_a_writer_is_refused_at_once);
	TEST(directories_and_devices_are_refused);
	TEST(a_line_is_the_first_and_has_no_end);
	TEST(a_line_that_is_too_long_is_none);
	TEST(a_line_that_cannot_be_read_is_none);
	rmdir(dir);
	return tap_done();
}
