/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <pier/args.h>
#include <pier/error.h>

#include "run_elf.h"
#include "run_env.h"
#include "run_report.h"
#include "tool.h"

/*
 * pier run: run a program with pier's libibverbs and librdmacm in place of the
 * system's.
 */

static struct run_report report;
static struct run_env env = { .faults.seed = TOOL_SEED };

static const struct pier_option options[] = {
	{ .long_name = "loss", .value_name = "PERCENT",
	  .help = "lose packets that it is sent, 0 to 100",
	  .type = PIER_OPTION_STRING, .value = &env.faults.loss },
	{ .long_name = "corrupt", .value_name = "PERCENT",
	  .help = "change a bit in packets that it is sent, 0 to 100",
	  .type = PIER_OPTION_STRING, .value = &env.faults.corrupt },
	{ .long_name = "delay", .value_name = "MS",
	  .help = "delay packets that it is sent, 0 to 1000",
	  .type = PIER_OPTION_STRING, .value = &env.faults.late },
	{ .long_name = "seed", .value_name = "NUMBER",
	  .help = "choose other packets, 0 to 4294967295",
	  .type = PIER_OPTION_NUMBER, .max = UINT32_MAX,
	  .value = &env.faults.seed },
	{ .long_name = "pcap", .value_name = "FILE",
	  .help = "write its packets to FILE, for Wireshark",
	  .type = PIER_OPTION_STRING, .min = 1, .max = 4095,
	  .value = &env.pcap },
	{ .long_name = "only-soft", .help = "leave out devices of the host",
	  .type = PIER_OPTION_FLAG, .value = &env.only_soft },
	{ .long_name = "stats", .help = "print its counters at its end",
	  .type = PIER_OPTION_FLAG, .value = &report.stats },
	{ .long_name = "json",
	  .help = "print JSON at its end, and its output on stderr",
	  .type = PIER_OPTION_FLAG, .value = &report.json },
	{ 0 },
};

static int is_library(const char *dir)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/" RUN_LIBRARY, dir) <
		       (int)sizeof(path) && !access(path, R_OK);
}

/* The last place of @part in @text, or NULL. */
static char *last_of(char *text, const char *part)
{
	char *at = strstr(text, part), *last = NULL;

	for (; at; at = strstr(at + 1, part))
		last = at;
	return last;
}

/*
 * The folder of the library: that of the build tree that this program is in,
 * else where it is installed.
 */
static int find_library(char ret[PATH_MAX])
{
	char self[PATH_MAX - 64];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end;

	if (len > 0) {
		self[len] = '\0';
		end = last_of(self, "/tools/");
		if (end) {
			*end = '\0';
			snprintf(ret, PATH_MAX, "%s/dropin/.libs", self);
			if (is_library(ret))
				return 0;
		}
	}
	snprintf(ret, PATH_MAX, "%s", DROPIN_DIR);
	if (is_library(ret))
		return 0;
	tool_message("pier run: there is no " RUN_LIBRARY " in %s", ret);
	return 1;
}

/* Is @path a program?  Of several errors PATH's last one is reported. */
static int is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	if (S_ISREG(st.st_mode) && !access(path, X_OK))
		return 1;
	errno = EACCES;
	return 0;
}

/* As execvp(3) does.  Returns 0, or a shell's status with a message. */
static int find_program(const char *name, char ret[PATH_MAX])
{
	const char *dir = getenv("PATH");
	int denied = 0;

	if (strchr(name, '/')) {
		snprintf(ret, PATH_MAX, "%s", name);
		if (is_program(ret))
			return 0;
		denied = errno == EACCES;
		dir = NULL;
	}
	while (dir) {
		size_t len = strcspn(dir, ":");

		snprintf(ret, PATH_MAX, "%.*s/%s", (int)len, dir, name);
		if (is_program(ret))
			return 0;
		denied |= errno == EACCES;
		dir = dir[len] ? dir + len + 1 : NULL;
	}
	tool_message("pier run: %s: %s", name,
		     denied ? "not an executable file" : "no such program");
	return denied ? RUN_NOT_RUN : RUN_NOT_FOUND;
}

/* Does the dynamic linker ignore what the environment names? */
static int is_privileged(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getegid()))
		return 1;
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int check_reach(const char *path)
{
	int kind = tool_run_elf(path);

	if (kind < 0) {
		tool_message("pier run: cannot read %s: %s", path,
			     pier_strerror(errno));
		return RUN_NOT_RUN;
	}
	if (kind == RUN_ELF_STATIC)
		tool_message("pier run: %s is linked statically: no library "
			     "can take the place of its own", path);
	else if (kind == RUN_ELF_FOREIGN)
		tool_message("pier run: %s is for another kind of machine "
			     "than the libraries of pier", path);
	else if (is_privileged(path))
		tool_message("pier run: %s gets privileges when it is run "
			     "(setuid, setgid or capabilities): libraries of "
			     "others are not loaded then", path);
	else
		return 0;
	return RUN_NOT_RUN;
}

static int run(char *argv[])
{
	char path[PATH_MAX], dir[PATH_MAX];
	int status = find_program(argv[0], path);

	if (!status)
		status = check_reach(path);
	if (!status)
		status = find_library(dir);
	if (!status)
		status = tool_run_env(dir, &env);
	if (status)
		return status;
	report.library = dir;
	return report.json || report.stats ?
		tool_run_report(path, argv, &report) :
		tool_run_exec(path, argv);
}

/* Is the value of @word, an option, the next word? */
static int has_value(const char *word)
{
	const struct pier_option *option;

	/* of the common options two have one */
	if (!strcmp(word, "-l") || !strcmp(word, "-j") ||
	    !strcmp(word, "--log-level"))
		return 1;
	for (option = options; option->long_name; option++)
		if (!strncmp(word, "--", 2) &&
		    !strcmp(word + 2, option->long_name))
			return option->type != PIER_OPTION_FLAG;
	return 0;
}

/*
 * Words from the program's name on are the program's: the options of pier run
 * are those before.  Returns where that name is, or @argc.
 */
static int split(int argc, char *argv[])
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"))
		i += 1 + has_value(argv[i]);
	return i < argc ? i : argc;
}

int tool_run(int argc, char *argv[])
{
	struct pier_args args = {
		.size = sizeof(args),
		.groups = PIER_ARGS_ATTACHED,
		.about = "Run a program written for libibverbs on soft "
			 "devices.",
		.operands = "-- PROGRAM [ARG...]",
		.options = options,
	};
	int first = split(argc, argv), err;
	char *after = first < argc ? argv[first] : NULL;

	argv[first] = NULL;
	err = pier_args_parse(&args, first, argv);
	if (err)
		return pier_args_exit(err);
	argv[first] = after;
	if (after && !strcmp(after, "--"))
		first++;
	if (first >= argc) {
		tool_message("pier run: without a program");
		return 2;
	}
	return run(argv + first);
}
