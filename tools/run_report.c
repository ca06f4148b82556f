/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pier/dev.h>
#include <pier/error.h>

#include "run_real.h"
#include "run_report.h"
#include "run_stats.h"
#include "tool.h"

/* The program of pier run as a child, and what is printed of it. */

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

static void child(const char *path, char *argv[], const sigset_t *mask,
		  const struct sigaction *on_child, int quiet)
{
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (quiet && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		tool_message("pier run: %s", pier_strerror(errno));
	else
		_exit(tool_run_exec(path, argv));
	_exit(1);
}

/*
 * Until @pid has ended.  It has the signals of the terminal already: those that
 * a process sent to this one are sent on.
 */
static int await(pid_t pid, const sigset_t *set, int *ret_status)
{
	siginfo_t info;
	pid_t ended = 0;

	while (!ended || (ended < 0 && errno == EINTR)) {
		int number = sigwaitinfo(set, &info);

		if (number > 0 && number != SIGCHLD && info.si_code <= 0)
			kill(pid, number);
		ended = waitpid(pid, ret_status, WNOHANG);
	}
	return ended == pid ? 0 : -errno;
}

/* Run it with those signals and the end of children waited for. */
static int run(const char *path, char *argv[], int quiet, int *ret_status)
{
	struct sigaction ended = { .sa_handler = SIG_DFL }, on_child;
	sigset_t set, mask;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaddset(&set, passed_on[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	sigaction(SIGCHLD, &ended, &on_child);
	pid = fork();
	if (!pid)
		child(path, argv, &mask, &on_child, quiet);
	return pid < 0 ? -errno : await(pid, &set, ret_status);
}

static json_t *real_devices(void)
{
	const char *const *name = tool_run_real_names();
	json_t *names = json_array();

	while (*name)
		tool_json_append(names, tool_json_text(*name++));
	return names;
}

/* A soft device of that name is not among those of the program. */
static int is_real(const char *name)
{
	const char *const *real = tool_run_real_names();

	while (*real && strcmp(*real, name))
		real++;
	return *real != NULL;
}

/* The names of what the program finds. */
static json_t *devices(void)
{
	struct pier_devlist *list;
	json_t *names = real_devices();

	if (pier_devlist_create(&list))
		return names;
	for (size_t i = 0; i < pier_devlist_count(list); i++) {
		const struct pier_devinfo *info = pier_devlist_get(list, i);

		if (!strcmp(pier_devinfo_kind(info), "soft") &&
		    !is_real(pier_devinfo_name(info)))
			tool_json_append(names, tool_json_text(
					 pier_devinfo_name(info)));
	}
	pier_devlist_destroy(list);
	return names;
}

int tool_run_exec(const char *path, char *argv[])
{
	execv(path, argv);
	tool_message("pier run: cannot run %s: %s", path, pier_strerror(errno));
	return errno == ENOENT ? RUN_NOT_FOUND : RUN_NOT_RUN;
}

/* Their library counts nothing for this. */
static void print_real(void)
{
	const char *const *name = tool_run_real_names();

	for (; *name; name++)
		tool_message("pier run: %s is a device of the host, without "
			     "counters here", *name);
}

static void print_json(const char *path, char *argv[], const char *library,
		       int status, int number, json_t *stats)
{
	json_t *root = json_object(), *words = json_array();

	tool_json_set_name(root, "program", path);
	for (char **word = argv + 1; *word; word++)
		tool_json_append(words, tool_json_text(*word));
	tool_json_set(root, "arguments", words);
	tool_json_set_name(root, "library", library);
	tool_json_set(root, "devices", devices());
	tool_json_set(root, "real_devices", real_devices());
	tool_json_set(root, "exit_status", json_integer(status));
	tool_json_set(root, "signal", json_integer(number));
	if (stats)
		tool_json_set(root, "stats", stats);
	tool_json_print(root);
}

int tool_run_report(const char *path, char *argv[],
		    const struct run_report *report)
{
	json_t *stats = NULL;
	int status = 0, number, err;

	if (report->stats && tool_run_stats_begin())
		return 1;
	err = run(path, argv, report->json, &status);
	if (report->stats)
		stats = tool_run_stats_end();
	if (err) {
		tool_message("pier run: %s: %s", path, pier_strerror(err));
		json_decref(stats);
		return 1;
	}
	number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	status = number ? 128 + number : WEXITSTATUS(status);
	if (report->json) {
		print_json(path, argv, report->library, status, number, stats);
		return status;
	}
	if (stats) {
		tool_run_stats_print(stats);
		print_real();
	}
	json_decref(stats);
	return status;
}
