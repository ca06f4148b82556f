/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pier/args.h>
#include <pier/error.h>
#include <pier/log.h>

#include "t/lib/argline.h"
#include "t/lib/tap.h"

static char json_path[] = "/tmp/pier-args.XXXXXX";

static void write_json(const char *text)
{
	FILE *file = fopen(json_path, "w");

	if (!OK(file))
		return;
	fputs(text, file);
	fclose(file);
}

/* "prog @more -j FILE" */
static const char *with_json(const char *more)
{
	static char line[512];

	snprintf(line, sizeof(line), "prog %s-j %s", more, json_path);
	return line;
}

static void a_file_gives_options_by_long_name(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	args.options = options;
	write_json("{ \"device\": \"soft_lo\", \"gid-index\": 2,\n"
		   "\"flag\": true, \"number\": -3, \"size\": \"64K\",\n"
		   "\"timeout\": 9, \"mmap-descriptor-path\": \"m\" }");
	IS(parse(&args, with_json("")), 0);
	write_json("");		/* strings are no part of the file */
	IS_STR(args.device, "soft_lo");
	IS(args.gid_index, 2);
	IS(own.flag, 1);
	IS(own.number, -3);
	IS(own.size, 65536);
	IS(args.timeout_ms, 9000);
	IS_STR(args.memory_descriptor, "m");
}

static void a_number_in_a_file_may_be_in_quotes(void)
{
	static uint64_t n;
	static const struct pier_option wide[] = {
		{ "w", "wide", NULL, "a number", PIER_OPTION_NUMBER,
		  .value = &n },
		{ NULL, NULL, NULL, NULL, PIER_OPTION_FLAG, .value = NULL },
	};
	struct pier_args args = { .size = sizeof(args), .options = wide };
	char line[300];

	snprintf(line, sizeof(line), "prog -j %s", json_path);
	write_json("{ \"wide\": 4294967295 }");
	IS(parse(&args, line), 0);
	OK(n == UINT32_MAX);
	write_json("{ \"wide\": \"18446744073709551615\" }");
	IS(parse(&args, line), 0);
	OK(n == UINT64_MAX);
	write_json("{ \"wide\": true }");
	IS(parse(&args, line), -PIER_EUSAGE);
	LIKE(complained, "wrong type, a whole number");
}

static void a_size_in_a_file_may_be_a_number(void)
{
	write_json("{ \"size\": 4096, \"flag\": false }");
	IS(parse_own(with_json("")), 0);
	IS(own.size, 4096);
	IS(own.flag, 0);
}

static void the_command_line_wins_in_any_order(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	char line[256];

	write_json("{ \"device\": \"file\", \"gid-index\": 2,"
		   "\"remote-resource-descriptor-path\": \"file\" }");
	IS(parse(&args, with_json("-d line --mmap-descriptor-path line ")),
	   0);
	IS_STR(args.device, "line");
	IS_STR(args.memory_descriptor, "line");
	IS(args.gid_index, 2);
	snprintf(line, sizeof(line), "prog -j %s -d line", json_path);
	IS(parse(&args, line), 0);
	IS_STR(args.device, "line");
}

static void a_file_can_give_what_is_required(void)
{
	struct pier_args args = { .size = sizeof(args), .options = required };

	write_json("{ \"number\": 5 }");
	IS(parse(&args, with_json("")), 0);
	IS(own.number, 5);
	write_json("{}");
	IS(parse(&args, with_json("")), -PIER_EUSAGE);
}

static void a_file_sets_the_log_level(void)
{
	pier_log_set_callback(ignore, NULL);
	write_json("{ \"log-level\": 60 }");
	IS(parse_own(with_json("")), 0);
	IS(pier_log_level(), PIER_LOG_DEBUG);
	write_json("{ \"log-level\": \"error\" }");
	IS(parse_own(with_json("")), 0);
	IS(pier_log_level(), PIER_LOG_ERROR);
	IS(parse_own(with_json("-l trace ")), 0);
	IS(pier_log_level(), PIER_LOG_TRACE);
	pier_log_set_level(PIER_LOG_INFO);
	pier_log_set_callback(NULL, NULL);
}

/* As those of programs for DOCA. */
static void options_may_be_in_groups(void)
{
	struct pier_args args = { .size = sizeof(args), .options = required };

	write_json("{\n"
		   "\t\"doca_general_flags\": {\n"
		   "\t\t// -l: the \"log level\"\n"
		   "\t\t\"log-level\": 60, \"sdk-log-level\": 40\n"
		   "\t},\n"
		   "\t\"doca_program_flags\": { \"number\": 5 } // end\n"
		   "}\n");
	IS(parse(&args, with_json("")), 0);
	IS(own.number, 5);
	IS(pier_log_level(), PIER_LOG_DEBUG);
	pier_log_set_level(PIER_LOG_INFO);
	write_json("{ \"a-name-too-long-for-the-column\": \"\\\"//\" }");
	IS(parse_own(with_json("")), 0);
	IS_STR(own.name, "\"//");
}

/* Each is refused, naming the file and its second member the key. */
static void what_is_wrong_in_a_file_is_named(void)
{
	static const char *const bad[][2] = {
		{ "{ \"nubmer\": 3 }", "\"nubmer\": unknown key" },
		{ "{ \"t\": \"x\" }", "\"t\": unknown key" },
		{ "{ \"json\": \"x\" }", "\"json\": unknown key" },
		{ "{ \"help\": true }", "\"help\": unknown key" },
		{ "{ \"number\": \"3\" }", "\"number\": wrong type" },
		{ "{ \"number\": 3.0 }", "\"number\": wrong type" },
		{ "{ \"number\": null }", "\"number\": wrong type" },
		{ "{ \"number\": 11 }", "\"number\" \"11\": a number from" },
		{ "{ \"number\": 9223372036854775807 }", "from -10 to 10" },
		{ "{ \"number\": 9223372036854775808 }", "line 1" },
		{ "{ \"flag\": 1 }", "\"flag\": wrong type" },
		{ "{ \"size\": [] }", "\"size\": wrong type" },
		{ "{ \"size\": \"8\" }", "\"size\" \"8\": a size from 16" },
		{ "{ \"size\": -1 }", "\"size\" \"-1\": a size from 16" },
		{ "{ \"log-level\": true }", "\"log-level\": wrong type" },
		{ "{ \"log-level\": 65 }", "\"log-level\": log level" },
		{ "{ \"a-name-too-long-for-the-column\": \"x\" }",
		  "1 characters" },
		{ "{ \"a-name-too-long-for-the-column\": {} }", "wrong type" },
		{ "{ \"number\": 1, \"number\": 2 }", "duplicate" },
		{ "[]", "not a JSON object" },
		{ "{ \"doca_program_flags\": 1 }", "unknown key" },
		{ "{ \"doca_program_flags\": { \"nubmer\": 3 } }",
		  "\"nubmer\": unknown key" },
		{ "{ \"doca_program_flags\": { \"doca_program_flags\": {} } }",
		  "\"doca_program_flags\": unknown key" },
		{ "{ \"sdk-log-level\": 40 }", "unknown key" },
		{ "{ \"doca_general_flags\": { \"sdk-log-level\": true } }",
		  "unknown key" },
		{ "{ \"number\": 1 } x", "line 1" },
		{ "{\n\"number\": }", "line 2" },
		{ "", "line 1" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_json(bad[i][0]);
		IS(parse_own(with_json("")), -PIER_EUSAGE);
		LIKE(pier_last_error(), bad[i][1]);
		LIKE(pier_last_error(), json_path);
		IS(own.number, 0);
	}
}

static void a_wrong_value_in_a_file_is_wrong_though_the_line_wins(void)
{
	write_json("{ \"number\": 11 }");
	IS(parse_own(with_json("-n 3 ")), -PIER_EUSAGE);
}

static void a_file_has_at_most_a_mebibyte(void)
{
	FILE *file = fopen(json_path, "w");

	if (!OK(file))
		return;
	fprintf(file, "{%*s}", 1024 * 1024 - 2, "");
	fclose(file);
	IS(parse_own(with_json("")), 0);
	file = fopen(json_path, "a");
	fputs(" ", file);
	fclose(file);
	IS(parse_own(with_json("")), -PIER_EUSAGE);
	LIKE(pier_last_error(), "more than 1048576 bytes");
}

static void deep_nesting_in_a_file_is_refused(void)
{
	FILE *file = fopen(json_path, "w");
	int i;

	if (!OK(file))
		return;
	fputs("{ \"number\": ", file);
	for (i = 0; i < 500000; i++)
		fputc('[', file);
	fclose(file);
	IS(parse_own(with_json("")), -PIER_EUSAGE);
	LIKE(pier_last_error(), "depth");
}

static void a_file_that_is_missing_is_named(void)
{
	IS(parse_own("prog -j /nowhere/opts.json"), -PIER_EUSAGE);
	LIKE(complained, "prog: cannot read /nowhere/opts.json: ");
	IS(parse_own("prog -j /dev/zero"), -PIER_EUSAGE);
}

int main(void)
{
	int fd = mkstemp(json_path);

	if (fd < 0)
		return tap_skip_all("no file in /tmp");
	close(fd);
	TEST(a_file_gives_options_by_long_name);
	TEST(a_number_in_a_file_may_be_in_quotes);
	TEST(a_size_in_a_file_may_be_a_number);
	TEST(the_command_line_wins_in_any_order);
	TEST(a_file_can_give_what_is_required);
	TEST(a_file_sets_the_log_level);
	TEST(options_may_be_in_groups);
	TEST(what_is_wrong_in_a_file_is_named);
	TEST(a_wrong_value_in_a_file_is_wrong_though_the_line_wins);
	TEST(a_file_has_at_most_a_mebibyte);
	TEST(deep_nesting_in_a_file_is_refused);
	TEST(a_file_that_is_missing_is_named);
	unlink(json_path);
	return tap_done();
}
