/* SPDX-License-Identifier: BSD-2-Clause */
#define DOCA_LOGGING_ALLOW_TRACE

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <doca_buf_inventory.h>
#include <doca_log.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Which message goes to which backend, and what a line looks like. */

DOCA_LOG_REGISTER(TEST::LOG);

static char app[4096], sdk[4096], app_line[512], sdk_line[512];
static struct doca_log_backend *app_backend, *sdk_backend;

static void on_app(char *line)
{
	strncat(app, line, sizeof(app) - strlen(app) - 1);
}

static void on_sdk(char *line)
{
	strncat(sdk, line, sizeof(sdk) - strlen(sdk) - 1);
}

static void forget(void)
{
	app[0] = sdk[0] = '\0';
}

static void without_a_backend_nothing_happens(void)
{
	struct doca_buf_inventory *inv;
	int fds[2], err = dup(STDERR_FILENO);
	char c;

	if (!IS(pipe(fds), 0))
		return;
	dup2(fds[1], STDERR_FILENO);
	DOCA_LOG_ERR("not logged %d", 1);
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	dup2(err, STDERR_FILENO);
	close(fds[1]);
	IS(read(fds[0], &c, 1), 0);
	close(fds[0]);
	close(err);
	IS(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
	IS(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_CRIT);
	IS(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO);
}

static void backends_take_lines(void)
{
	IS(doca_log_backend_create_with_buf(app_line, sizeof(app_line), on_app,
					    &app_backend), DOCA_SUCCESS);
	IS(doca_log_backend_create_with_buf_sdk(sdk_line, sizeof(sdk_line),
						on_sdk, &sdk_backend),
	   DOCA_SUCCESS);
	DOCA_LOG_INFO("value %d", 42);
	LIKE(app, "][DOCA][INF][log.c:");
	LIKE(app, "][backends_take_lines] value 42\n");
	IS(app[0], '[');
	IS(app[3], ':');
	IS(app[9], ':');		/* before the microseconds */
	IS_STR(sdk, "");
	forget();
}

static void levels_are_limited(void)
{
	DOCA_LOG_DBG("debug");
	IS_STR(app, "");
	IS(doca_log_backend_set_level_lower_limit(app_backend,
						  DOCA_LOG_LEVEL_DEBUG),
	   DOCA_SUCCESS);
	DOCA_LOG_DBG("debug");
	LIKE(app, "[DBG]");
	forget();
	IS(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE),
	   DOCA_SUCCESS);
	DOCA_LOG_TRC("trace");
	LIKE(app, "[TRC]");
	forget();
	IS(doca_log_backend_set_level_lower_limit_strict(app_backend),
	   DOCA_SUCCESS);
	IS(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR),
	   DOCA_SUCCESS);
	DOCA_LOG_TRC("trace");
	LIKE(app, "[TRC]");
	forget();
	IS(doca_log_backend_set_level_upper_limit(app_backend,
						  DOCA_LOG_LEVEL_WARNING),
	   DOCA_SUCCESS);
	DOCA_LOG_ERR("error");
	IS_STR(app, "");
	DOCA_LOG_WARN("warning");
	LIKE(app, "[WRN]");
	forget();
	IS(doca_log_backend_set_level_upper_limit(app_backend,
						  DOCA_LOG_LEVEL_CRIT),
	   DOCA_SUCCESS);
}

static void what_is_no_level_is_refused(void)
{
	IS(doca_log_level_set_global_lower_limit(0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_level_set_global_lower_limit(55), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_level_set_global_sdk_limit(80), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_sdk_level(app_backend, DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_sdk_level(NULL, DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_level_lower_limit(sdk_backend,
						  DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	forget();
}

static void the_library_logs_to_its_own_backends(void)
{
	struct doca_buf_inventory *inv;

	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	LIKE(sdk, "[DOCA][ERR]");
	LIKE(sdk, "inventory: ");
	IS_STR(app, "");
	forget();
	IS(doca_log_backend_set_sdk_level(sdk_backend, DOCA_LOG_LEVEL_CRIT),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	IS_STR(sdk, "");
	IS(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	LIKE(sdk, "[ERR]");
	forget();
}

static void lines_are_flushed_to_files(void)
{
	struct doca_log_backend *backend;
	char text[256] = "";
	int fds[2];
	FILE *file;

	if (!IS(pipe(fds), 0))
		return;
	file = fdopen(fds[1], "w");
	IS(doca_log_backend_create_with_file(file, &backend), DOCA_SUCCESS);
	DOCA_LOG_ERR("through a pipe");
	OK(read(fds[0], text, sizeof(text) - 1) > 0);
	LIKE(text, "through a pipe\n");
	IS(doca_log_backend_set_level_upper_limit(backend,
						  DOCA_LOG_LEVEL_TRACE),
	   DOCA_SUCCESS);
	IS(doca_log_backend_create_with_fd(-1, &backend),
	   DOCA_ERROR_INVALID_VALUE);
	forget();
}

/* What the library logs, and not what the program does; at once. */
static void the_library_logs_to_files(void)
{
	struct doca_buf_inventory *inv;
	struct doca_log_backend *backend;
	char text[512] = "";
	int fds[2];
	FILE *file;

	IS(doca_log_backend_create_with_file_sdk(NULL, &backend),
	   DOCA_ERROR_INVALID_VALUE);
	if (!IS(pipe(fds), 0))
		return;
	file = fdopen(fds[1], "w");
	IS(doca_log_backend_create_with_file_sdk(file, &backend),
	   DOCA_SUCCESS);
	DOCA_LOG_ERR("of the program");
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	OK(read(fds[0], text, sizeof(text) - 1) > 0);
	LIKE(text, "[DOCA][ERR]");
	LIKE(text, "inventory: ");
	OK(!strstr(text, "of the program"));
	IS(text[strlen(text) - 1], '\n');
	IS(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE),
	   DOCA_SUCCESS);
	forget();
}

static void lines_are_written_to_descriptors(void)
{
	struct doca_log_backend *backend;
	char text[256] = "";
	int fds[2];

	if (!IS(pipe(fds), 0))
		return;
	IS(doca_log_backend_create_with_fd(fds[1], &backend), DOCA_SUCCESS);
	DOCA_LOG_CRIT("to a descriptor");
	OK(read(fds[0], text, sizeof(text) - 1) > 0);
	LIKE(text, "[DOCA][CRT]");
	LIKE(text, "to a descriptor\n");
	IS(doca_log_backend_set_level_upper_limit(backend,
						  DOCA_LOG_LEVEL_TRACE),
	   DOCA_SUCCESS);
	forget();
}

/* What a process writes to both of its streams that uses backends of both. */
static void log_and_exit(int out, int err)
{
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO);
	doca_log_backend_create_standard();
	DOCA_LOG_CRIT("one");
	DOCA_LOG_WARN("two");
	DOCA_LOG_INFO("three");
	DOCA_LOG_DBG("four");
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG);
	DOCA_LOG_DBG("five");
	_exit(0);		/* without a flush */
}

/* The last words of each line of @fd, up to its end. */
static void read_words(int fd, char *ret, size_t size)
{
	FILE *file = fdopen(fd, "r");
	char line[256], *word;

	for (ret[0] = '\0'; file && fgets(line, sizeof(line), file);) {
		word = strrchr(line, ' ');
		line[strcspn(line, "\n")] = '\0';
		strncat(ret, word ? word : "?", size - strlen(ret) - 1);
	}
	if (file)
		fclose(file);
}

static void warnings_and_errors_go_to_stderr(void)
{
	char words[256];
	int out[2], err[2];
	pid_t pid;

	if (!IS(pipe(out), 0) || !IS(pipe(err), 0))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		log_and_exit(out[1], err[1]);
	close(out[1]);
	close(err[1]);
	read_words(out[0], words, sizeof(words));
	IS_STR(words, " three five");
	read_words(err[0], words, sizeof(words));
	IS_STR(words, " one two");
	waitpid(pid, NULL, 0);
}

static void sources_have_numbers(void)
{
	int one = 0, two = 0;

	IS(doca_log_register_source(NULL, &one), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_register_source("A", &one), DOCA_SUCCESS);
	IS(doca_log_register_source("B", &two), DOCA_SUCCESS);
	OK(one != two);
	IS(doca_log_unregister_source(two), DOCA_SUCCESS);
	IS(doca_log_unregister_source(-1), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log(DOCA_LOG_LEVEL_DISABLE, one, "f", 1, "f", "x"),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log(DOCA_LOG_LEVEL_ERROR, one, NULL, 1, NULL, "x"),
	   DOCA_SUCCESS);
	forget();
}

static void a_long_message_is_cut(void)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	DOCA_LOG_ERR("%s", text);
	IS(strlen(app), sizeof(app_line) - 1);
	forget();
}

static atomic_bool over;

/* It makes pier log, with each change of the level as before or after it. */
static void *fail_all_the_time(void *arg)
{
	struct doca_buf_inventory *inv;

	(void)arg;
	while (!atomic_load(&over))
		doca_buf_inventory_create(SIZE_MAX, &inv);
	return NULL;
}

static void threads_log_while_levels_change(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		if (!IS(pthread_create(&threads[i], NULL, fail_all_the_time,
				       NULL), 0))
			return;
	}
	for (int i = 0; i < 20000; i++) {
		doca_log_backend_set_sdk_level(sdk_backend,
					       i % 2 ? DOCA_LOG_LEVEL_DEBUG :
						       DOCA_LOG_LEVEL_CRIT);
		doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO);
		DOCA_LOG_INFO("%d", i);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		IS(pthread_join(threads[i], NULL), 0);
	IS(doca_log_backend_set_sdk_level(sdk_backend, DOCA_LOG_LEVEL_INFO),
	   DOCA_SUCCESS);
	forget();
}

static int handled;

static void log_again(char *line)
{
	struct doca_buf_inventory *inv;

	(void)line;
	handled++;
	DOCA_LOG_ERR("from the handler");
	doca_buf_inventory_create(SIZE_MAX, &inv);
}

static void what_a_handler_logs_is_dropped(void)
{
	struct doca_log_backend *backend;
	char line[256];

	IS(doca_log_backend_create_with_buf(line, sizeof(line), log_again,
					    &backend), DOCA_SUCCESS);
	DOCA_LOG_ERR("once");
	IS(handled, 1);
	IS(doca_log_backend_set_level_upper_limit(backend,
						  DOCA_LOG_LEVEL_TRACE),
	   DOCA_SUCCESS);
	forget();
}

/* The log of the system is this. */
static const char *ident;
static char system_log[256];

void __syslog_chk(int priority, int flag, const char *format, ...);

void openlog(const char *name, int option, int facility)
{
	(void)option;
	(void)facility;
	ident = name;
}

static void say(void)
{
	size_t len = strlen(system_log);

	snprintf(system_log + len, sizeof(system_log) - len, "%s ",
		 ident ? ident : "?");
}

void syslog(int priority, const char *format, ...)
{
	(void)priority;
	(void)format;
	say();
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
	(void)priority;
	(void)flag;
	(void)format;
	say();
}

static void each_backend_has_its_name_in_the_system_log(void)
{
	struct doca_log_backend *one, *two;
	char name[] = "first";

	IS(doca_log_backend_create_with_syslog(name, &one), DOCA_SUCCESS);
	memset(name, 'x', sizeof(name) - 1);
	IS(doca_log_backend_create_with_syslog("second", &two), DOCA_SUCCESS);
	IS(doca_log_backend_create_with_syslog(NULL, &two),
	   DOCA_ERROR_INVALID_VALUE);
	DOCA_LOG_INFO("to both");
	DOCA_LOG_INFO("to both");
	IS_STR(system_log, "first second first second ");
	forget();
}

/* A library's message, for a backend of the library that writes to @fd. */
static void gets_what_the_library_logs(struct doca_log_backend *backend, int fd)
{
	struct doca_buf_inventory *inv;
	char text[512] = "";

	IS(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	DOCA_LOG_ERR("by the program");
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	OK(read(fd, text, sizeof(text) - 1) > 0);
	LIKE(text, "[DOCA][ERR]");
	LIKE(text, "inventory: ");
	OK(!strstr(text, "by the program"));
	IS(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE),
	   DOCA_SUCCESS);
	forget();
}

static void the_library_logs_to_files_and_descriptors(void)
{
	struct doca_log_backend *backend = NULL;
	int fds[2];

	IS(doca_log_backend_create_with_file_sdk(NULL, &backend),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_create_with_fd_sdk(-1, &backend),
	   DOCA_ERROR_INVALID_VALUE);
	OK(!backend);
	if (!IS(pipe(fds), 0))
		return;
	IS(doca_log_backend_create_with_file_sdk(fdopen(fds[1], "w"), &backend),
	   DOCA_SUCCESS);
	gets_what_the_library_logs(backend, fds[0]);
	if (!IS(pipe(fds), 0))
		return;
	IS(doca_log_backend_create_with_fd_sdk(fds[1], &backend), DOCA_SUCCESS);
	gets_what_the_library_logs(backend, fds[0]);
}

static void the_library_logs_to_the_system(void)
{
	struct doca_log_backend *backend;
	struct doca_buf_inventory *inv;

	system_log[0] = '\0';
	IS(doca_log_backend_create_with_syslog_sdk(NULL, &backend),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_create_with_syslog_sdk("library", &backend),
	   DOCA_SUCCESS);
	system_log[0] = '\0';
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	IS_STR(system_log, "library ");
	IS(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	IS_STR(system_log, "library ");
	forget();
}

static char other[512];

static void on_other(char *line)
{
	strncat(other, line, sizeof(other) - strlen(other) - 1);
}

/* One backend is pinned, the other follows. */
static void an_upper_limit_is_of_all_backends_or_pinned(void)
{
	struct doca_log_backend *pinned;
	static char line[256];

	IS(doca_log_backend_create_with_buf(line, sizeof(line), on_other,
					    &pinned), DOCA_SUCCESS);
	IS(doca_log_level_set_global_upper_limit(15), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING),
	   DOCA_SUCCESS);
	IS(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_WARNING);
	DOCA_LOG_ERR("too severe");
	IS_STR(app, "");
	IS_STR(other, "");
	IS(doca_log_backend_set_level_upper_limit_strict(NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_level_upper_limit_strict(sdk_backend),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_level_upper_limit_strict(pinned),
	   DOCA_SUCCESS);
	IS(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT),
	   DOCA_SUCCESS);
	DOCA_LOG_ERR("too severe for one");
	LIKE(app, "too severe for one");
	IS_STR(other, "");
	DOCA_LOG_WARN("for both");
	LIKE(other, "for both");
	forget();
}

static void what_programs_expect_is_for_debugging(void)
{
	const enum doca_rdma_transport_type dc = DOCA_RDMA_TRANSPORT_TYPE_DC;
	struct doca_dev *dev = end_device();
	struct doca_rdma *rdma;
	uint8_t yes;

	forget();
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_rdma_set_transport_type(rdma, dc), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
		doca_dev_as_devinfo(dev), &yes), DOCA_ERROR_NOT_SUPPORTED);
	IS_STR(sdk, "");
	IS(doca_log_backend_set_sdk_level(sdk_backend, DOCA_LOG_LEVEL_DEBUG),
	   DOCA_SUCCESS);
	IS(doca_rdma_set_transport_type(rdma, dc), DOCA_ERROR_NOT_SUPPORTED);
	LIKE(sdk, "[DOCA][DBG][doca] rdma: a transport other than RC");
	forget();
	IS(doca_rdma_set_sl(rdma, 16), DOCA_ERROR_INVALID_VALUE);
	LIKE(sdk, "[DOCA][ERR][doca] rdma: service level 16");
	IS(doca_log_backend_set_sdk_level(sdk_backend, DOCA_LOG_LEVEL_INFO),
	   DOCA_SUCCESS);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	forget();
}

int main(void)
{
	TEST(without_a_backend_nothing_happens);
	TEST(backends_take_lines);
	TEST(levels_are_limited);
	TEST(what_is_no_level_is_refused);
	TEST(the_library_logs_to_its_own_backends);
	TEST(lines_are_flushed_to_files);
	TEST(the_library_logs_to_files);
	TEST(lines_are_written_to_descriptors);
	TEST(warnings_and_errors_go_to_stderr);
	TEST(sources_have_numbers);
	TEST(a_long_message_is_cut);
	TEST(threads_log_while_levels_change);
	TEST(what_a_handler_logs_is_dropped);
	TEST(each_backend_has_its_name_in_the_system_log);
	TEST(the_library_logs_to_files_and_descriptors);
	TEST(the_library_logs_to_the_system);
	TEST(an_upper_limit_is_of_all_backends_or_pinned);
	TEST(what_programs_expect_is_for_debugging);
	return tap_done();
}
