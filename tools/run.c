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
#include "run_report.h"
#include "tool.h"

/*
 * pier run: run a program with pier's libibverbs and librdmacm in place of the
 * system's.
 */

#define LIBRARY "libibverbs.so.1"
#define CM_LIBRARY "librdmacm.so.1"

static int as_json;

static const struct pier_option options[] = {
	{
		.long_name = "json",
		.help = "print JSON at its end, and its output on stderr",
		.type = PIER_OPTION_FLAG,
		.value = &as_json,
	},
	{ 0 },
};

static int is_library(const char *dir)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/" LIBRARY, dir) <
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
	tool_message("pier run: there is no " LIBRARY " in %s", ret);
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

/*
 * Make the variable @name a list of @first and @second, either of which may be
 * NULL or empty.
 */
static int set_list(const char *name, const char *first, const char *second)
{
	int both = first && *first && second && *second, err;
	char *all;

	if (asprintf(&all, "%s%s%s", first ? first : "", both ? ":" : "",
		     second ? second : "") < 0)
		return -1;
	err = setenv(name, all, 1);
	free(all);
	return err;
}

/* What others preload stays first, as a sanitizer must be. */
static int set_environment(const char *dir)
{
	char library[2 * PATH_MAX + 64];

	snprintf(library, sizeof(library), "%s/" LIBRARY ":%s/" CM_LIBRARY, dir,
		 dir);
	return set_list("LD_PRELOAD", getenv("LD_PRELOAD"), library) ||
	       set_list("LD_LIBRARY_PATH", dir, getenv("LD_LIBRARY_PATH"));
}

static int run(char *argv[])
{
	char path[PATH_MAX], dir[PATH_MAX];
	int status = find_program(argv[0], path);

	if (!status)
		status = check_reach(path);
	if (!status)
		status = find_library(dir);
	if (status)
		return status;
	if (set_environment(dir)) {
		tool_message("pier run: out of memory");
		return 1;
	}
	return as_json ? tool_run_report(path, argv, dir) :
			 tool_run_exec(path, argv);
}

/*
 * Words from the program's name on are the program's: the options of pier run
 * are those before.  Returns where that name is, or @argc.
 */
static int split(int argc, char *argv[])
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--")) {
		/* of the common options two have a value */
		if (!strcmp(argv[i], "-l") || !strcmp(argv[i], "-j") ||
		    !strcmp(argv[i], "--log-level"))
			i++;
		i++;
	}
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
