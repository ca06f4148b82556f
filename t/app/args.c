/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <string.h>

#include <pier/args.h>
#include <pier/error.h>
#include <pier/log.h>
#include <pier/version.h>

#include "t/lib/argline.h"
#include "t/lib/tap.h"

static void defaults_stay_when_nothing_is_given(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	IS(parse(&args, "prog"), 0);
	IS_STR(args.device, NULL);
	IS(args.gid_index, -1);
	IS_STR(args.local_descriptor, "/tmp/local_connection_desc_path.txt");
	IS(args.timeout_ms, 60000);
	IS(args.argc, 0);
	IS_STR(args.argv[0], NULL);
	IS(args.size, sizeof(args));
	IS_STR(printed, "");
	IS_STR(complained, "");
}

static void short_names_are_whole_words(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	IS(parse(&args, "prog -ld a -re b -m c -d soft_lo -g 3"), 0);
	IS_STR(args.local_descriptor, "a");
	IS_STR(args.remote_descriptor, "b");
	IS_STR(args.memory_descriptor, "c");
	IS_STR(args.device, "soft_lo");
	IS(args.gid_index, 3);
	IS(parse(&args, "prog -lda"), -PIER_EUSAGE);
	IS(parse(&args, "prog -d3"), -PIER_EUSAGE);
}

static void values_follow_a_letter_if_the_program_has_set_that(void)
{
	static const char *const bad[] = {
		"prog -number", "prog -number=3", "prog -nx", "prog -f1",
		"prog -x1", "prog --n1", "prog -n=", "prog -s1T",
	};
	struct pier_args args = {
		.size = sizeof(args),
		.groups = PIER_ARGS_ATTACHED | PIER_ARGS_FILES,
		.options = options,
	};

	IS(parse(&args, "prog -n-7 -s64K -tx=y -f -ld z -ln"), -PIER_EUSAGE);
	LIKE(complained, "prog: -l: log level \"n\"");
	IS(parse(&args, "prog -n-7 -s64K -tx=y -f -ld z"), 0);
	IS(own.number, -7);
	IS(own.size, 65536);
	IS_STR(own.text, "x=y");
	IS(own.flag, 1);
	IS_STR(args.local_descriptor, "z");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!IS(parse(&args, bad[i]), -PIER_EUSAGE))
			tap_note("%s", bad[i]);
	IS(parse(&args, "prog -n77"), -PIER_EUSAGE);
	IS_STR(pier_last_error(), "-n \"77\": a number from -10 to 10");
}

static void flags_share_a_word_if_the_program_has_set_that(void)
{
	static const char *const good[] = {
		"prog -fen7", "prog -efn 7", "prog -ef -n7",
	};
	static const struct {
		const char *line, *error;
	} bad[] = {
		{ "prog -fx", "unknown option -x in -fx: -h prints the "
		  "options" },
		{ "prog -xf", "unknown option -xf: -h prints the options" },
		{ "prog -fen", "-n lacks its value" },
		{ "prog -fen -e", "-n lacks its value" },
		{ "prog -n -fe", "-n lacks its value" },
		{ "prog -ef=1", "unknown option -= in -ef=1: -h prints the "
		  "options" },
		{ "prog -fenx", "-n \"x\": a number from -2147483648 to "
		  "2147483647" },
		{ "prog -every", "unknown option -every: -h prints the "
		  "options" },
	};
	int f = 0, e = 0, n = 0, other = 0;
	const struct pier_option letters[] = {
		{ "f", NULL, NULL, "a flag", PIER_OPTION_FLAG, .value = &f },
		{ "e", "every", NULL, "a flag", PIER_OPTION_FLAG, .value = &e },
		{ "n", NULL, "N", "a number", PIER_OPTION_INT, .value = &n },
		{ "fenfe", NULL, "N", "its name wins", PIER_OPTION_INT,
		  .value = &other },
		{ 0 },
	};
	struct pier_args args = {
		.size = sizeof(args),
		.groups = PIER_ARGS_ATTACHED,
		.options = letters,
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		f = e = n = 0;
		IS(parse(&args, good[i]), 0);
		IS(f && e, 1);
		IS(n, 7);
	}
	IS(parse(&args, "prog -fenfe 8"), 0);
	IS(other, 8);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!IS(parse(&args, bad[i].line), -PIER_EUSAGE))
			tap_note("%s", bad[i].line);
		IS_STR(pier_last_error(), bad[i].error);
	}
	args.groups = 0;
	IS(parse(&args, "prog -fe"), -PIER_EUSAGE);
}

static void long_names_take_the_next_word_or_what_follows_equals(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	IS(parse(&args, "prog --device a --gid-index=0x10 --timeout 5"), 0);
	IS_STR(args.device, "a");
	IS(args.gid_index, 16);
	IS(args.timeout_ms, 5000);
	IS(parse(&args, "prog --device=a=b -ld=c"), 0);
	IS_STR(args.device, "a=b");
	IS_STR(args.local_descriptor, "c");
}

static void an_alias_sets_what_it_stands_for(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	IS(parse(&args, "prog --mmap-descriptor-path x"), 0);
	IS_STR(args.memory_descriptor, "x");
	IS(parse(&args, "prog --mmap-descriptor-path x -m y"), 0);
	IS_STR(args.memory_descriptor, "y");
	IS(parse(&args, "prog -m y --mmap-descriptor-path x"), 0);
	IS_STR(args.memory_descriptor, "x");
}

static void the_last_of_several_wins(void)
{
	IS(parse_own("prog -n 1 --number 2 -n=3"), 0);
	IS(own.number, 3);
}

static void own_options_are_read(void)
{
	IS(parse_own("prog -f -n -7 -s 64K -t x"), 0);
	IS(own.flag, 1);
	IS(own.number, -7);
	IS(own.size, 65536);
	IS_STR(own.text, "x");
}

static void sizes_have_suffixes(void)
{
	static const struct {
		const char *line;
		uint64_t size;
	} good[] = {
		{ "prog -s 4096", 4096 },
		{ "prog -s 64k", 65536 },
		{ "prog -s 1M", 1 << 20 },
		{ "prog -s 1G", 1 << 30 },
		{ "prog -s 0x40", 64 },
	};
	static const char *const bad[] = {
		"prog -s 1T", "prog -s K", "prog -s 64KB", "prog -s -64",
		"prog -s 8", "prog -s 2G", "prog -s 17179869184G",
		"prog -s 1.5M", "prog --size=",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		IS(parse_own(good[i].line), 0);
		IS(own.size, good[i].size);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!IS(parse_own(bad[i]), -PIER_EUSAGE))
			tap_note("%s", bad[i]);
		IS(own.size, 0);
	}
}

/* @most: 0 for all there are. */
static int parse_wide(const char *line, int64_t most, uint64_t *ret)
{
	const struct pier_option wide[] = {
		{ "w", "wide", NULL, "a number", PIER_OPTION_NUMBER,
		  .max = most, .value = ret },
		{ NULL, NULL, NULL, NULL, PIER_OPTION_FLAG, .value = NULL },
	};
	struct pier_args args = { .size = sizeof(args), .options = wide };

	*ret = 9;
	return parse(&args, line);
}

static void numbers_may_have_64_bits(void)
{
	static const char *const bad[] = {
		"prog -w 4294967296", "prog -w -1", "prog -w 4K", "prog -w x",
		"prog -w 0x", "prog -w 18446744073709551616",
	};
	uint64_t n;

	IS(parse_wide("prog -w 4294967295", UINT32_MAX, &n), 0);
	OK(n == UINT32_MAX);
	IS(parse_wide("prog -w 0xffffffffffffffff", 0, &n), 0);
	OK(n == UINT64_MAX);
	IS(parse_wide("prog --wide=0", 0, &n), 0);
	IS(n, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		IS(parse_wide(bad[i], UINT32_MAX, &n), -PIER_EUSAGE);
		LIKE(complained, "a number from 0 to 4294967295");
		IS(n, 9);
	}
	IS(parse_wide("prog -h", 0, &n), -PIER_EHELP);
	LIKE(printed, "-w, --wide N ");
}

static void numbers_are_whole_decimal_or_hexadecimal(void)
{
	static const char *const bad[] = {
		"prog -n x", "prog -n 1x", "prog -n 0x", "prog -n 0x0x1",
		"prog -n +1", "prog -n --1", "prog -n 1.0", "prog --number=",
		"prog -n 99999999999999999999", "prog -n -0x80000001",
		"prog -n 1K", "prog --number= 1",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!IS(parse_own(bad[i]), -PIER_EUSAGE))
			tap_note("%s", bad[i]);
	IS(parse_own("prog -n 010"), 0);
	IS(own.number, 10);
	IS(parse_own("prog -n -0xa"), 0);
	IS(own.number, -10);
}

static void a_value_out_of_range_is_reported_with_the_range(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	IS(parse(&args, "prog -g 256"), -PIER_EUSAGE);
	IS_STR(pier_last_error(), "-g \"256\": a number from 0 to 255");
	IS(parse(&args, "prog --gid-index=-1"), -PIER_EUSAGE);
	IS(parse(&args, "prog --timeout 0"), -PIER_EUSAGE);
	IS_STR(pier_last_error(),
	       "--timeout \"0\": a number from 1 to 86400");
	IS(parse(&args, "prog --timeout 86400"), 0);
	IS(args.timeout_ms, 86400000);
	IS(parse(&args, "prog --device="), -PIER_EUSAGE);
	LIKE(pier_last_error(), "allowed 1 to 255");
}

static void the_length_of_text_is_checked(void)
{
	IS(parse_own("prog --a-name-too-long-for-the-column=x"),
	   -PIER_EUSAGE);
	IS(parse_own("prog --a-name-too-long-for-the-column=12345"),
	   -PIER_EUSAGE);
	LIKE(pier_last_error(), "5 characters, allowed 2 to 4");
	IS(parse_own("prog --a-name-too-long-for-the-column=1234"), 0);
	IS_STR(own.name, "1234");
	IS(parse_own("prog -t="), 0);
	IS_STR(own.text, "");
}

static void an_unknown_option_is_named(void)
{
	IS(parse_own("prog --nubmer 3"), -PIER_EUSAGE);
	LIKE(pier_last_error(), "--nubmer");
	LIKE(complained, "prog: unknown option --nubmer");
	LIKE(complained, "Usage: prog [options]\n");
	IS_STR(printed, "");
	IS(parse_own("prog --n 3"), -PIER_EUSAGE);
	IS(parse_own("prog -number 3"), -PIER_EUSAGE);
	IS(parse_own("prog -d x"), -PIER_EUSAGE);
	LIKE(pier_last_error(), "-d");
}

static void a_missing_value_is_reported(void)
{
	IS(parse_own("prog -n"), -PIER_EUSAGE);
	IS_STR(pier_last_error(), "-n lacks its value");
	IS(parse_own("prog -t -f"), -PIER_EUSAGE);
	IS_STR(pier_last_error(), "-t lacks its value");
	IS(parse_own("prog -t=-f"), 0);
	IS_STR(own.text, "-f");
}

static void a_flag_takes_no_value(void)
{
	IS(parse_own("prog --flag=1"), -PIER_EUSAGE);
	IS_STR(pier_last_error(), "--flag takes no value");
}

static void a_required_option_must_be_given(void)
{
	struct pier_args args = { .size = sizeof(args), .options = required };

	IS(parse(&args, "prog"), -PIER_EUSAGE);
	IS_STR(pier_last_error(), "--number is required");
	IS(parse(&args, "prog -n 0"), 0);
	IS(parse(&args, "prog --count 4"), 0);
	IS(own.number, 4);
	IS(parse(&args, "prog -h"), -PIER_EHELP);
	LIKE(printed, "(required)");
}

static void operands_are_collected_in_order(void)
{
	struct pier_args args = {
		.size = sizeof(args),
		.operands = "FILE...",
		.options = options,
	};

	IS(parse(&args, "prog a -n 3 - b -- -f --"), 0);
	if (!IS(args.argc, 5))
		return;
	IS_STR(args.argv[0], "a");
	IS_STR(args.argv[1], "-");
	IS_STR(args.argv[2], "b");
	IS_STR(args.argv[3], "-f");
	IS_STR(args.argv[4], "--");
	IS_STR(args.argv[5], NULL);
	IS(own.flag, 0);
	IS(own.number, 3);
}

static void operands_are_refused_where_none_are_taken(void)
{
	IS(parse_own("prog stray"), -PIER_EUSAGE);
	LIKE(pier_last_error(), "\"stray\"");
	IS(parse_own("prog -- -f"), -PIER_EUSAGE);
}

static void a_failed_parse_leaves_all_values(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	args.options = options;
	IS(parse(&args, "prog -n 3 -d x --timeout 7 -f --bad"), -PIER_EUSAGE);
	IS(own.number, 0);
	IS(own.flag, 0);
	IS_STR(args.device, NULL);
	IS(args.timeout_ms, 60000);
}

static void help_lists_own_options_then_common_ones(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	args.about = "Tests the help.";
	args.operands = "FILE...";
	args.options = options;
	IS(parse(&args, "/usr/bin/prog -h"), -PIER_EHELP);
	LIKE(printed, "Usage: prog [options] FILE...\n\nTests the help.\n\n"
	     "Options:\n"
	     "  -f, --flag                a flag\n"
	     "  -n, --number COUNT        a number\n"
	     "  -s, --size SIZE           a size\n"
	     "  -t TEXT                   any text\n"
	     "  --a-name-too-long-for-the-column TEXT\n"
	     "                            a short text\n"
	     "\nCommon options:\n"
	     "  -d, --device NAME         RDMA device");
	LIKE(printed, "\n  -h, --help                print this help\n");
	LIKE(printed, "how long to wait for the peer; default 60\n");
	OK(!strstr(printed, "mmap-descriptor-path"));
	IS_STR(complained, "");
	IS(pier_args_exit(-PIER_EHELP), 0);
}

static void a_long_usage_is_wrapped(void)
{
	struct pier_args args = {
		.size = sizeof(args),
		.operands = "ONE-LONG-WORD ANOTHER-LONG-WORD "
			    "A-THIRD-LONG-WORD A-FOURTH-WORD",
	};

	IS(parse(&args, "prog -h"), -PIER_EHELP);
	LIKE(printed, "Usage: prog [options] ONE-LONG-WORD ANOTHER-LONG-WORD "
	     "A-THIRD-LONG-WORD\n            A-FOURTH-WORD\n");
}

static void help_shows_only_the_groups_that_apply(void)
{
	IS(parse_own("prog --help --unknown"), -PIER_EHELP);
	OK(!strstr(printed, "--device"));
	OK(!strstr(printed, "--timeout"));
	LIKE(printed, "--log-level LEVEL");
	LIKE(printed, "--json FILE");
}

/* Nothing that a program ignores is accepted. */
static void parts_of_groups_are_groups_too(void)
{
	struct pier_args args = { sizeof(args), .groups = PIER_ARGS_NAME };

	IS(parse(&args, "prog -d soft_lo"), 0);
	IS_STR(args.device, "soft_lo");
	IS(parse(&args, "prog -g 1"), -PIER_EUSAGE);
	args.groups = PIER_ARGS_PORT;
	IS(parse(&args, "prog -lp 7000"), 0);
	IS(args.listen_port, 7000);
	IS(parse(&args, "prog -sa host"), -PIER_EUSAGE);
	args.groups = PIER_ARGS_NAME | PIER_ARGS_SERVER;
	IS(parse(&args, "prog -d soft_lo -sa host -lp 7001"), 0);
	IS_STR(args.server_addr, "host");
	IS(args.listen_port, 7001);
	IS(parse(&args, "prog -cm"), -PIER_EUSAGE);
	IS(parse(&args, "prog -sat IPv4"), -PIER_EUSAGE);
}

static void the_version_is_printed(void)
{
	IS(parse_own("prog -v"), -PIER_EHELP);
	IS_STR(printed, "prog (pier) " PIER_VERSION "\n");
}

static void the_exit_status_is_2_for_bad_usage(void)
{
	IS(pier_args_exit(-PIER_EUSAGE), 2);
	IS(pier_args_exit(-PIER_EHELP), 0);
}

static void the_log_level_is_a_name_or_a_number(void)
{
	pier_log_set_callback(ignore, NULL);
	IS(parse_own("prog -l debug"), 0);
	IS(pier_log_level(), PIER_LOG_DEBUG);
	IS(parse_own("prog --log-level=20"), 0);
	IS(pier_log_level(), PIER_LOG_CRITICAL);
	IS(parse_own("prog -l 21"), -PIER_EUSAGE);
	LIKE(complained, "prog: -l: log level \"21\": disable, critical");
	IS(pier_log_level(), PIER_LOG_CRITICAL);
	pier_log_set_level(PIER_LOG_INFO);
	pier_log_set_callback(NULL, NULL);
}

/* The second parse fails, and failures are logged for debuggers. */
static void asking_for_a_level_sends_to_stderr(void)
{
	IS(parse_own("prog -l debug"), 0);
	IS(parse_own("prog -n x"), -PIER_EUSAGE);
	LIKE(complained, "pier: DEBUG error: -n \"x\"");
	pier_log_set_file(NULL);
	pier_log_set_level(PIER_LOG_INFO);
}

static void asking_for_a_level_keeps_the_programs_own_log(void)
{
	pier_log_set_callback(ignore, NULL);
	IS(parse_own("prog -l debug"), 0);
	IS(parse_own("prog -n x"), -PIER_EUSAGE);
	OK(!strstr(complained, "DEBUG"));
	pier_log_set_callback(NULL, NULL);
	pier_log_set_level(PIER_LOG_INFO);
}

static void an_older_programs_shorter_args_are_filled_no_further(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	args.size = offsetof(struct pier_args, timeout_ms);
	args.timeout_ms = 77;
	IS(parse(&args, "prog -d x --timeout 5"), 0);
	IS_STR(args.device, "x");
	IS(args.timeout_ms, 77);
	args.size = 0;
	IS(parse(&args, "prog"), -PIER_EUSAGE);
}

int main(void)
{
	TEST(defaults_stay_when_nothing_is_given);
	TEST(short_names_are_whole_words);
	TEST(values_follow_a_letter_if_the_program_has_set_that);
	TEST(flags_share_a_word_if_the_program_has_set_that);
	TEST(long_names_take_the_next_word_or_what_follows_equals);
	TEST(an_alias_sets_what_it_stands_for);
	TEST(the_last_of_several_wins);
	TEST(own_options_are_read);
	TEST(sizes_have_suffixes);
	TEST(numbers_may_have_64_bits);
	TEST(numbers_are_whole_decimal_or_hexadecimal);
	TEST(a_value_out_of_range_is_reported_with_the_range);
	TEST(the_length_of_text_is_checked);
	TEST(an_unknown_option_is_named);
	TEST(a_missing_value_is_reported);
	TEST(a_flag_takes_no_value);
	TEST(a_required_option_must_be_given);
	TEST(operands_are_collected_in_order);
	TEST(operands_are_refused_where_none_are_taken);
	TEST(a_failed_parse_leaves_all_values);
	TEST(help_lists_own_options_then_common_ones);
	TEST(a_long_usage_is_wrapped);
	TEST(help_shows_only_the_groups_that_apply);
	TEST(parts_of_groups_are_groups_too);
	TEST(the_version_is_printed);
	TEST(the_exit_status_is_2_for_bad_usage);
	TEST(the_log_level_is_a_name_or_a_number);
	TEST(asking_for_a_level_sends_to_stderr);
	TEST(asking_for_a_level_keeps_the_programs_own_log);
	TEST(an_older_programs_shorter_args_are_filled_no_further);
	return tap_done();
}
