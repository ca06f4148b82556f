/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pier/pier.h>

#include "core/fail.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

#define THREADS 4
#define MESSAGES 500
#define LIMIT_S 20

/* What was passed to a callback. */
struct log_record {
	int count;
	enum pier_log_level level;
	char area[16], message[2048];
};

static void tell(enum pier_log_level level, const char *area,
		 const char *message, void *arg)
{
	struct log_record *logged = arg;

	logged->count++;
	logged->level = level;
	snprintf(logged->area, sizeof(logged->area), "%s", area);
	snprintf(logged->message, sizeof(logged->message), "%s", message);
}

static void only_critical_messages_are_wanted_unless_asked_for(void)
{
	IS(pier__log_enabled(PIER_LOG_CRITICAL), 1);
	pier_log_set_level(PIER_LOG_TRACE);
	IS(pier__log_enabled(PIER_LOG_CRITICAL), 1);
	IS(pier__log_enabled(PIER_LOG_ERROR), 0);
	pier_log_set_level(PIER_LOG_DISABLE);
	IS(pier__log_enabled(PIER_LOG_CRITICAL), 0);
	pier_log_set_level(PIER_LOG_INFO);
}

static void a_program_can_discard_all_messages(void)
{
	pier_log_set_callback(NULL, NULL);
	IS(pier__log_enabled(PIER_LOG_CRITICAL), 0);
	pier_log_set_file(stderr);
	IS(pier__log_enabled(PIER_LOG_CRITICAL), 1);
	pier_log_set_file(NULL);
	IS(pier__log_enabled(PIER_LOG_CRITICAL), 0);
}

static void a_callback_gets_level_area_and_message(void)
{
	struct log_record logged = { 0 };

	pier_log_set_callback(tell, &logged);
	pier__log(PIER_LOG_ERROR, "soft", "port %d is down", 3);
	pier_log_set_callback(NULL, NULL);
	pier__log(PIER_LOG_ERROR, "soft", "not delivered");
	IS(logged.count, 1);
	IS(logged.level, PIER_LOG_ERROR);
	IS_STR(logged.area, "soft");
	IS_STR(logged.message, "port 3 is down");
}

static void messages_above_the_level_are_dropped(void)
{
	struct log_record logged = { 0 };

	pier_log_set_callback(tell, &logged);
	IS(pier_log_set_level(PIER_LOG_WARNING), 0);
	IS(pier_log_level(), PIER_LOG_WARNING);
	IS(pier__log_enabled(PIER_LOG_WARNING), 1);
	IS(pier__log_enabled(PIER_LOG_INFO), 0);
	pier__log(PIER_LOG_INFO, "t", "dropped");
	IS(logged.count, 0);
	pier__log(PIER_LOG_WARNING, "t", "kept");
	IS(logged.count, 1);
	pier_log_set_level(PIER_LOG_DISABLE);
	pier__log(PIER_LOG_CRITICAL, "t", "dropped");
	IS(logged.count, 1);
	IS(pier__log_enabled(PIER_LOG_DISABLE), 0);
	pier_log_set_level(PIER_LOG_INFO);
	pier_log_set_callback(NULL, NULL);
}

static void a_failure_is_logged_for_debuggers(void)
{
	struct log_record logged = { 0 };

	pier_log_set_callback(tell, &logged);
	pier__fail(-EINVAL, "quiet");
	IS(logged.count, 0);
	pier_log_set_level(PIER_LOG_DEBUG);
	pier__fail(-EINVAL, "mtu 7");
	pier_log_set_level(PIER_LOG_INFO);
	pier_log_set_callback(NULL, NULL);
	IS(logged.count, 1);
	IS(logged.level, PIER_LOG_DEBUG);
	IS_STR(logged.message, "mtu 7 (EINVAL)");
}

static void a_file_gets_lines(void)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!OK(file))
		return;
	pier_log_set_file(file);
	pier__log(PIER_LOG_INFO, "cm", "two\nlines\033");
	pier__log(PIER_LOG_CRITICAL, "core", "x");
	pier_log_set_file(NULL);
	fclose(file);
	IS_STR(text, "pier: INFO cm: two?lines?\npier: CRITICAL core: x\n");
	free(text);
}

static void a_callback_replaces_the_file(void)
{
	struct log_record logged = { 0 };
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	if (!OK(file))
		return;
	pier_log_set_file(file);
	pier_log_set_callback(tell, &logged);
	pier__log(PIER_LOG_INFO, "t", "x");
	pier_log_set_callback(NULL, NULL);
	fclose(file);
	IS(logged.count, 1);
	IS(len, 0);
	free(text);
}

static void levels_have_names_and_numbers(void)
{
	enum pier_log_level level = PIER_LOG_DISABLE;

	IS(pier_log_parse_level("debug", &level), 0);
	IS(level, PIER_LOG_DEBUG);
	IS(pier_log_parse_level("Warning", &level), 0);
	IS(level, PIER_LOG_WARNING);
	IS(pier_log_parse_level("70", &level), 0);
	IS(level, PIER_LOG_TRACE);
	IS(pier_log_parse_level("10", &level), 0);
	IS(level, PIER_LOG_DISABLE);
}

static void what_is_no_level_is_refused(void)
{
	static const char *const bad[] = {
		"", "loud", "debugger", "0", "65", "80", "060", " 60", "60 ",
		"-60",
	};
	enum pier_log_level level = PIER_LOG_INFO;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		IS(pier_log_parse_level(bad[i], &level), -EINVAL);
	IS(level, PIER_LOG_INFO);
	pier_log_parse_level("loud", &level);
	LIKE(pier_last_error(), "\"loud\"");
	LIKE(pier_last_error(), "debug");
	IS(pier_log_set_level(65), -EINVAL);
	LIKE(pier_last_error(), "65");
	IS(pier_log_level(), PIER_LOG_INFO);
}

static void a_long_message_is_cut(void)
{
	struct log_record logged = { 0 };

	pier_log_set_callback(tell, &logged);
	pier__log(PIER_LOG_INFO, "t", "%2000d", 1);
	pier_log_set_callback(NULL, NULL);
	IS(strlen(logged.message), 1023);
}

static void log_again(enum pier_log_level level, const char *area,
		      const char *message, void *arg)
{
	(void)message;
	++*(int *)arg;
	pier__log(level, area, "from within");
}

static void logging_from_a_callback_is_dropped(void)
{
	int count = 0;

	pier_log_set_callback(log_again, &count);
	pier__log(PIER_LOG_INFO, "t", "x");
	pier_log_set_callback(NULL, NULL);
	IS(count, 1);
}

static atomic_int in_callback;

struct log_crowd {
	int count;		/* not atomic: calls are one at a time */
	int crossed;
};

static void count_crowd(enum pier_log_level level, const char *area,
			const char *message, void *arg)
{
	struct log_crowd *crowd = arg;

	(void)level;
	(void)area;
	(void)message;
	if (atomic_fetch_add(&in_callback, 1))
		crowd->crossed++;
	crowd->count++;
	atomic_fetch_sub(&in_callback, 1);
}

static void *log_much(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < MESSAGES; i++)
		pier__log(PIER_LOG_INFO, "t", "%d", i);
	return NULL;
}

static void threads_log_one_at_a_time(void)
{
	struct log_crowd crowd = { 0 };
	pthread_t threads[THREADS];
	int i;

	pier_log_set_callback(count_crowd, &crowd);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, log_much, NULL))
			break;
	IS(i, THREADS);
	while (i--)
		pthread_join(threads[i], NULL);
	pier_log_set_callback(NULL, NULL);
	IS(crowd.count, THREADS * MESSAGES);
	IS(crowd.crossed, 0);
}

static sem_t entered, go_on;
static atomic_bool forked;

static void wait_in_callback(enum pier_log_level level, const char *area,
			     const char *message, void *arg)
{
	(void)level;
	(void)area;
	(void)message;
	(void)arg;
	sem_post(&entered);
	while (!forked && sem_wait(&go_on))
		;
}

static void *log_one(void *arg)
{
	pier__log(PIER_LOG_ERROR, "soft", "one");
	return arg;
}

static void a_child_logs_though_a_thread_of_its_parent_did(void)
{
	pthread_t thread;
	int status = -1;
	pid_t pid;

	sem_init(&entered, 0, 0);
	sem_init(&go_on, 0, 0);
	pier_log_set_callback(wait_in_callback, NULL);
	if (!IS(pthread_create(&thread, NULL, log_one, NULL), 0))
		return;
	while (sem_wait(&entered))
		;
	pid = fork();
	if (!pid) {
		alarm(LIMIT_S);
		forked = true;
		pier__log(PIER_LOG_ERROR, "soft", "two");
		_exit(3);
	}
	IS(waitpid(pid, &status, 0), pid);
	if (OK(WIFEXITED(status)))
		IS(WEXITSTATUS(status), 3);
	sem_post(&go_on);
	IS(pthread_join(thread, NULL), 0);
	pier_log_set_callback(NULL, NULL);
}

static void errno_survives_logging(void)
{
	struct log_record logged = { 0 };

	pier_log_set_callback(tell, &logged);
	errno = EDOM;
	pier__log(PIER_LOG_INFO, "t", "x");
	IS(errno, EDOM);
	pier_log_set_callback(NULL, NULL);
}

/* Run again as another program, which does what @arg names. */
static int speak(struct pair *pair, void *arg)
{
	dup2(pair->fd, STDERR_FILENO);
	execl("/proc/self/exe", "log", (const char *)arg, NULL);
	return 1;
}

/* The length of what it writes to stderr; -1: it failed. */
static ssize_t stderr_of(char *what, char *ret, size_t size)
{
	struct pair pair;
	size_t len = 0;
	ssize_t n;

	pair_start(&pair, speak, what);
	while (len < size - 1) {
		n = read(pair.fd, ret + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	ret[len] = '\0';
	return pair_wait(&pair) ? -1 : (ssize_t)len;
}

/* The same with @value in PIER_LOG. */
static ssize_t stderr_with(const char *value, char *ret, size_t size)
{
	ssize_t len;

	if (value)
		setenv("PIER_LOG", value, 1);
	len = stderr_of("speak", ret, size);
	unsetenv("PIER_LOG");
	return len;
}

/* What that program does. */
static int be_speaker(void)
{
	pier__log(PIER_LOG_INFO, "t", "info");
	pier__log(PIER_LOG_DEBUG, "t", "debug");
	pier__log_to_stderr();
	return 0;
}

static char memory[64];

/* It closes a device in use. */
static int close_in_use(void)
{
	struct pier_mmap *mmap;
	struct pier_dev *dev;

	if (pier_dev_open("soft_lo", &dev) ||
	    pier_mmap_map(dev, memory, sizeof(memory), 0, &mmap))
		return 1;
	pier_dev_close(dev);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return 0;
}

static int do_nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* It destroys a context and does not free its task. */
static int leave_task(void)
{
	struct pier_pe *pe;
	struct pier_func *func;
	struct pier_task *task;

	if (pier_pe_create(&pe) || pier_func_create(&func) ||
	    pier_ctx_start(pier_func_ctx(func), pe) ||
	    pier_func_task_call(func, do_nothing, NULL, &task))
		return 1;
	pier_ctx_stop(pier_func_ctx(func));
	pier_func_destroy(func);
	pier_task_free(task);
	pier_pe_destroy(pe);
	return 0;
}

static void a_device_closed_in_use_is_reported_on_stderr(void)
{
	char text[512];

	OK(stderr_of("close-in-use", text, sizeof(text)) > 0);
	LIKE(text, "pier: CRITICAL dev: soft_lo closed while 1 objects");
	OK(strchr(text, '\n') == text + strlen(text) - 1);
}

static void tasks_that_are_not_freed_are_reported_on_stderr(void)
{
	char text[512];

	OK(stderr_of("leave-task", text, sizeof(text)) > 0);
	LIKE(text, "pier: CRITICAL func: a context is destroyed whose tasks");
}

static void the_environment_sends_to_stderr(void)
{
	char text[512];

	IS(stderr_with(NULL, text, sizeof(text)), 0);
	IS(stderr_with("", text, sizeof(text)), 0);
	OK(stderr_with("debug", text, sizeof(text)) > 0);
	IS_STR(text, "pier: INFO t: info\npier: DEBUG t: debug\n");
	OK(stderr_with("50", text, sizeof(text)) > 0);
	IS_STR(text, "pier: INFO t: info\n");
	IS(stderr_with("error", text, sizeof(text)), 0);
}

static void a_wrong_environment_is_reported_once(void)
{
	char text[512];

	OK(stderr_with("loud", text, sizeof(text)) > 0);
	LIKE(text, "pier: WARNING log: PIER_LOG \"loud\" is not a level: ");
	OK(strchr(text, '\n') == text + strlen(text) - 1);
}

int main(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], "speak") == 0)
		return be_speaker();
	if (argc > 1 && strcmp(argv[1], "close-in-use") == 0)
		return close_in_use();
	if (argc > 1 && strcmp(argv[1], "leave-task") == 0)
		return leave_task();
	unsetenv("PIER_LOG");
	TEST(only_critical_messages_are_wanted_unless_asked_for);
	TEST(a_program_can_discard_all_messages);
	TEST(a_callback_gets_level_area_and_message);
	TEST(messages_above_the_level_are_dropped);
	TEST(a_failure_is_logged_for_debuggers);
	TEST(a_file_gets_lines);
	TEST(a_callback_replaces_the_file);
	TEST(levels_have_names_and_numbers);
	TEST(what_is_no_level_is_refused);
	TEST(a_long_message_is_cut);
	TEST(logging_from_a_callback_is_dropped);
	TEST(threads_log_one_at_a_time);
	TEST(a_child_logs_though_a_thread_of_its_parent_did);
	TEST(errno_survives_logging);
	TEST(the_environment_sends_to_stderr);
	TEST(a_wrong_environment_is_reported_once);
	TEST(a_device_closed_in_use_is_reported_on_stderr);
	TEST(tasks_that_are_not_freed_are_reported_on_stderr);
	return tap_done();
}
