/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_argp.h>

#include "t/lib/tap.h"

/* Command lines and files of flags. */

#define ARGS(...) ((char *[]){ (char *)"program", __VA_ARGS__, NULL })

struct flags {
	char text[64], device[64];
	int number, numbers[4], number_count;
	bool flag, valid;
};

static struct flags config;

static doca_error_t on_text(void *param, void *cfg)
{
	struct flags *c = cfg;

	snprintf(c->text, sizeof(c->text), "%s", (char *)param);
	return DOCA_SUCCESS;
}

static doca_error_t on_device(void *param, void *cfg)
{
	struct flags *c = cfg;

	snprintf(c->device, sizeof(c->device), "%s", (char *)param);
	return *(char *)param == '-' ? DOCA_ERROR_NOT_FOUND : DOCA_SUCCESS;
}

static doca_error_t on_number(void *param, void *cfg)
{
	struct flags *c = cfg;

	c->number = *(int *)param;
	return DOCA_SUCCESS;
}

static doca_error_t on_numbers(void *param, void *cfg)
{
	struct flags *c = cfg;

	if (c->number_count < 4)
		c->numbers[c->number_count++] = *(int *)param;
	return DOCA_SUCCESS;
}

static doca_error_t on_flag(void *param, void *cfg)
{
	struct flags *c = cfg;

	c->flag = *(bool *)param;
	return DOCA_SUCCESS;
}

static doca_error_t on_valid(void *cfg)
{
	struct flags *c = cfg;

	c->valid = true;
	return c->number == 13 ? DOCA_ERROR_BAD_CONFIG : DOCA_SUCCESS;
}

static struct doca_argp_param *param(const char *brief, const char *name,
				     enum doca_argp_type type,
				     doca_argp_param_cb_t callback)
{
	struct doca_argp_param *p;

	IS(doca_argp_param_create(&p), DOCA_SUCCESS);
	if (brief)
		doca_argp_param_set_short_name(p, brief);
	if (name)
		doca_argp_param_set_long_name(p, name);
	doca_argp_param_set_arguments(p, "<value>");
	doca_argp_param_set_description(p, "What it is about");
	doca_argp_param_set_type(p, type);
	doca_argp_param_set_callback(p, callback);
	return p;
}

static void init(void)
{
	struct doca_argp_param *p;

	config = (struct flags){ .number = -1 };
	IS(doca_argp_init(NULL, &config), DOCA_SUCCESS);
	p = param("ld", "local-text", DOCA_ARGP_TYPE_STRING, on_text);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	p = param("d", "device", DOCA_ARGP_TYPE_STRING, on_device);
	doca_argp_param_set_mandatory(p);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	p = param("n", "number", DOCA_ARGP_TYPE_INT, on_number);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	p = param(NULL, "numbers", DOCA_ARGP_TYPE_INT, on_numbers);
	doca_argp_param_set_multiplicity(p);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	p = param("cm", "use-cm", DOCA_ARGP_TYPE_BOOLEAN, on_flag);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	IS(doca_argp_register_validation_callback(on_valid), DOCA_SUCCESS);
}

static doca_error_t start(char **argv)
{
	doca_error_t error;
	int argc = 0;

	while (argv[argc])
		argc++;
	init();
	error = doca_argp_start(argc, argv);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
	return error;
}

static void values_reach_their_callbacks(void)
{
	IS(start(ARGS("-d", "mlx5_0", "-ld", "some text", "--number", "0x10",
		      "-cm")), DOCA_SUCCESS);
	IS_STR(config.device, "mlx5_0");
	IS_STR(config.text, "some text");
	IS(config.number, 16);
	OK(config.flag);
	OK(config.valid);
	IS(start(ARGS("--device=x=y", "--numbers", "1", "--numbers=-2")),
	   DOCA_SUCCESS);
	IS_STR(config.device, "x=y");
	IS(config.number_count, 2);
	IS(config.numbers[1], -2);
	OK(!config.flag);
	IS(start(ARGS("-d", "-n", "-n", "0019")), DOCA_ERROR_NOT_FOUND);
	IS(start(ARGS("-d", "x", "-n", "0019")), DOCA_SUCCESS);
	IS(config.number, 19);
}

static void what_is_wrong_on_the_line_is_an_error(void)
{
	IS(start(ARGS("-n", "1")), DOCA_ERROR_INVALID_VALUE);	/* no -d */
	IS(start(ARGS("-d", "x", "-y")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "word")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-d", "y")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-n", "1x")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-n", "99999999999")),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "--use-cm=1")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-n", "0x")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-n", "")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-l", "55")), DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "-")), DOCA_ERROR_NOT_FOUND);	/* its own */
	IS(start(ARGS("-d", "x", "-n", "13")), DOCA_ERROR_BAD_CONFIG);
}

static void levels_are_set_and_returned(void)
{
	int level = 0;

	init();
	IS(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	IS(level, DOCA_LOG_LEVEL_INFO);
	IS(doca_argp_start(7, ARGS("-d", "x", "-l", "60", "--sdk-log-level",
				   "30")), DOCA_SUCCESS);
	IS(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	IS(level, 60);
	IS(doca_log_level_get_global_lower_limit(), 60);
	IS(doca_argp_get_sdk_log_level(&level), DOCA_SUCCESS);
	IS(level, 30);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
}

static void there_is_one_parser_at_a_time(void)
{
	IS(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	IS(doca_argp_start(1, ARGS(NULL)), DOCA_ERROR_BAD_STATE);
	IS(doca_argp_init("name", NULL), DOCA_SUCCESS);
	IS(doca_argp_init("name", NULL), DOCA_ERROR_BAD_STATE);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
}

static void a_parameter_is_complete_and_its_name_is_free(void)
{
	struct doca_argp_param *p;

	IS(doca_argp_init("name", NULL), DOCA_SUCCESS);
	p = param(NULL, NULL, DOCA_ARGP_TYPE_INT, on_number);
	IS(doca_argp_register_param(p), DOCA_ERROR_INITIALIZATION);
	p = param("x", NULL, DOCA_ARGP_TYPE_UNKNOWN, on_number);
	IS(doca_argp_register_param(p), DOCA_ERROR_INITIALIZATION);
	p = param("x", NULL, DOCA_ARGP_TYPE_INT, NULL);
	IS(doca_argp_register_param(p), DOCA_ERROR_INITIALIZATION);
	p = param("h", "other", DOCA_ARGP_TYPE_INT, on_number);
	IS(doca_argp_register_param(p), DOCA_ERROR_ALREADY_EXIST);
	p = param(NULL, "json", DOCA_ARGP_TYPE_INT, on_number);
	IS(doca_argp_register_param(p), DOCA_ERROR_ALREADY_EXIST);
	p = param("x", NULL, DOCA_ARGP_TYPE_INT, on_number);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	IS(doca_argp_param_destroy(p), DOCA_ERROR_BAD_STATE);
	p = param("y", NULL, DOCA_ARGP_TYPE_INT, on_number);
	IS(doca_argp_param_destroy(p), DOCA_SUCCESS);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
}

/*
 * In a process of its own: its output, up to @size bytes, and its status.
 * Without arguments it prints its usage.
 */
static int run_alone(char **argv, doca_argp_param_cb_t version, char *text,
		     size_t size)
{
	int fds[2], status = -1;
	ssize_t got, len = 0;
	pid_t pid;

	if (pipe(fds))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		if (!argv)
			doca_argp_usage();	/* without a name */
		init();
		if (!argv) {
			doca_argp_usage();
			_exit(3);
		}
		if (version)
			doca_argp_register_version_callback(version);
		doca_argp_start(2, argv);
		_exit(9);
	}
	close(fds[1]);
	while ((got = read(fds[0], text + len, size - 1 - (size_t)len)) > 0)
		len += got;
	text[len] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static doca_error_t print_version(void *param, void *cfg)
{
	(void)param;
	(void)cfg;
	puts("version of the program");
	doca_argp_destroy();
	exit(0);
}

static void help_and_version_end_the_program(void)
{
	char text[4096];

	IS(run_alone(ARGS("--help"), NULL, text, sizeof(text)), 0);
	LIKE(text, "Usage: program [DOCA Flags] [Program Flags]");
	LIKE(text, "-ld, --local-text <value>");
	LIKE(text, "--sdk-log-level");
	IS(run_alone(ARGS("-v"), NULL, text, sizeof(text)), 0);
	LIKE(text, "3.3.0");
	IS(run_alone(ARGS("-v"), print_version, text, sizeof(text)), 0);
	LIKE(text, "version of the program");
}

static const char *write_file(const char *text)
{
	static char path[] = "argp-XXXXXX";
	FILE *file;
	int fd;

	strcpy(path, "argp-XXXXXX");
	fd = mkstemp(path);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!OK(file != NULL))
		return path;
	fputs(text, file);
	fclose(file);
	return path;
}

/* Start with the flags of a file that has @text. */
static doca_error_t start_file(const char *text)
{
	char *path = (char *)(uintptr_t)write_file(text);
	doca_error_t error = start(ARGS("-n", "5", "-j", path));

	unlink(path);
	return error;
}

static void flags_are_read_from_a_file(void)
{
	IS(start_file("{ // as programs have it\n"
		      "\"doca_general_flags\": { \"log-level\": 40 },\n"
		      "\"doca_program_flags\": {\n"
		      "\t\"device\": \"a//b\", \"use-cm\": true,\n"
		      "\t\"number\": 7, \"numbers\": [1, 2, 3] } }"),
	   DOCA_SUCCESS);
	IS_STR(config.device, "a//b");
	OK(config.flag);
	IS(config.number, 5);		/* the command line has it */
	IS(config.number_count, 3);
	IS(doca_log_level_get_global_lower_limit(), 40);
	IS(start_file("{ \"doca_program_flags\": { \"device\": \"x\", "
		      "\"use-cm\": false } }"), DOCA_SUCCESS);
	OK(!config.flag);
}

static void what_is_wrong_in_the_file_is_an_error(void)
{
	IS(start_file("{ \"doca_program_flags\": { \"device\": 1 } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_program_flags\": { \"other\": 1 } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_program_flags\": 1 }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_program_flags\": { \"log-level\": 40 } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_program_flags\": { \"device\": [\"x\"] } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_general_flags\": { \"log-level\": 45 } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("[ 1 ]"), DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{"), DOCA_ERROR_IO_FAILED);
	IS(start_file(""), DOCA_ERROR_IO_FAILED);
	IS(start(ARGS("-d", "x", "-j", "there/is/none")),
	   DOCA_ERROR_IO_FAILED);
}

/* Help would end the program, and a file would read itself. */
static void some_flags_are_for_the_command_line_only(void)
{
	IS(start_file("{ \"doca_general_flags\": { \"help\": true } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_general_flags\": { \"version\": true } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_file("{ \"doca_general_flags\": { \"json\": \"x\" } }"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start(ARGS("-d", "x", "-j", "none", "-j", "none")),
	   DOCA_ERROR_INVALID_VALUE);
}

static char logged[512];

static doca_error_t on_log(enum doca_log_level level, const char *format,
			   va_list args)
{
	IS(level, DOCA_LOG_LEVEL_ERROR);
	vsnprintf(logged, sizeof(logged), format, args);
	return DOCA_SUCCESS;
}

static void messages_go_where_the_program_likes(void)
{
	init();
	IS(doca_argp_register_logger_callback(NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_argp_register_logger_callback(on_log), DOCA_SUCCESS);
	IS(doca_argp_start(2, ARGS("--nothing")), DOCA_ERROR_INVALID_VALUE);
	LIKE(logged, "--nothing: no such flag");
	logged[0] = '\0';
	IS(doca_argp_disable_logger_callback(), DOCA_SUCCESS);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
	IS(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	IS(start(ARGS("--nothing")), DOCA_ERROR_INVALID_VALUE);
	IS_STR(logged, "");
}

/* A flag that stands alone, and one that no file may have. */
static doca_error_t start_alone(int argc, char **argv)
{
	struct doca_argp_param *p;
	doca_error_t error;

	init();
	p = param(NULL, "alone", DOCA_ARGP_TYPE_BOOLEAN, on_flag);
	doca_argp_param_set_singular(p);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	p = param(NULL, "single", DOCA_ARGP_TYPE_BOOLEAN, on_flag);
	doca_argp_param_set_singular(p);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	p = param("line", "line", DOCA_ARGP_TYPE_INT, on_number);
	doca_argp_param_set_cli_only(p);
	doca_argp_param_set_hidden(p);
	IS(doca_argp_register_param(p), DOCA_SUCCESS);
	error = doca_argp_start(argc, argv);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
	return error;
}

static void flags_have_properties(void)
{
	char *path = (char *)(uintptr_t)write_file(
		"{ \"doca_program_flags\": { \"line\": 3 } }");

	IS(start_alone(2, ARGS("--alone")), DOCA_SUCCESS);
	OK(config.flag);
	IS(start_alone(4, ARGS("--alone", "-d", "x")),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_alone(5, ARGS("-d", "x", "-line", "3")), DOCA_SUCCESS);
	IS(config.number, 3);
	IS(start_alone(3, ARGS("--alone", "--single")),
	   DOCA_ERROR_INVALID_VALUE);
	IS(start_alone(2, ARGS("--single")), DOCA_SUCCESS);
	IS(start_alone(5, ARGS("-d", "x", "-j", path)),
	   DOCA_ERROR_INVALID_VALUE);
	unlink(path);
}

static int dpdk_calls, dpdk_count;
static doca_error_t dpdk_error;

static doca_error_t on_dpdk(int argc, char **argv)
{
	dpdk_calls++;
	dpdk_count = argc;
	IS_STR(argv[0], "program");
	if (argc > 1)
		IS_STR(argv[argc - 1], "-n4");
	return dpdk_error;
}

static doca_error_t start_dpdk(int argc, char **argv)
{
	doca_error_t error;

	init();
	doca_argp_set_dpdk_program(on_dpdk);
	error = doca_argp_start(argc, argv);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
	return error;
}

static void flags_of_dpdk_come_first(void)
{
	IS(start_dpdk(6, ARGS("-l0", "-n4", "--", "-d", "x")), DOCA_SUCCESS);
	IS(dpdk_count, 3);
	IS_STR(config.device, "x");
	IS(start_dpdk(3, ARGS("-d", "y")), DOCA_SUCCESS);
	IS(dpdk_count, 1);
	IS_STR(config.device, "y");
	IS(dpdk_calls, 2);
	dpdk_error = DOCA_ERROR_DRIVER;
	IS(start_dpdk(3, ARGS("-d", "z")), DOCA_ERROR_DRIVER);
	IS(start(ARGS("-d", "x", "--")), DOCA_ERROR_INVALID_VALUE);
}

/* It does not end the program. */
static void a_program_prints_its_usage(void)
{
	char text[4096], *again;

	IS(run_alone(NULL, NULL, text, sizeof(text)), 3);
	LIKE(text, "Usage: program [DOCA Flags] [Program Flags]");
	LIKE(text, "-ld, --local-text <value>");
	again = strstr(text + 1, "Usage: ");
	if (OK(again)) {
		again[0] = '\0';
		OK(!strstr(text, "--local-text"));
	}
}

int main(void)
{
	TEST(values_reach_their_callbacks);
	TEST(what_is_wrong_on_the_line_is_an_error);
	TEST(levels_are_set_and_returned);
	TEST(there_is_one_parser_at_a_time);
	TEST(a_parameter_is_complete_and_its_name_is_free);
	TEST(help_and_version_end_the_program);
	TEST(a_program_prints_its_usage);
	TEST(flags_are_read_from_a_file);
	TEST(what_is_wrong_in_the_file_is_an_error);
	TEST(some_flags_are_for_the_command_line_only);
	TEST(messages_go_where_the_program_likes);
	TEST(flags_have_properties);
	TEST(flags_of_dpdk_come_first);
	return tap_done();
}
