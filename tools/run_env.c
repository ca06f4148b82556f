/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/error.h>

#include "run_env.h"
#include "run_real.h"
#include "run_report.h"
#include "tool.h"

/* The environment of the program of pier run. */

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

/*
 * What others preload stays first, as a sanitizer must be.  The libraries have
 * whole paths, which programs find that are started with another
 * LD_LIBRARY_PATH, too.  A space is an end of a path in LD_PRELOAD alone: with
 * one in @dir they are found by that other variable.
 */
static int set_libraries(const char *dir)
{
	const char *folder = strchr(dir, ' ') ? "" : dir;
	const char *slash = *folder ? "/" : "";
	char library[3 * PATH_MAX + 64];

	snprintf(library, sizeof(library),
		 "%s%s" RUN_LIBRARY ":%s%s" RUN_CM_LIBRARY ":%s%s"
		 RUN_FILES_LIBRARY, folder, slash, folder, slash, folder,
		 slash);
	return set_list("LD_PRELOAD", getenv("LD_PRELOAD"), library) ||
	       set_list("LD_LIBRARY_PATH", dir, getenv("LD_LIBRARY_PATH"));
}

/*
 * The program may change its directory before its first device is opened.  That
 * the file cannot be written the library logs as a warning.
 */
static int set_capture(const char *path)
{
	char *here = *path == '/' ? NULL : getcwd(NULL, 0);
	char *whole = NULL;
	int err;

	if (*path != '/' && !here) {
		tool_message("pier run: the current directory: %s",
			     pier_strerror(errno));
		return 1;
	}
	err = asprintf(&whole, "%s%s%s", here ? here : "", here ? "/" : "",
		       path) < 0 ||
	      setenv("PIER_PCAP", whole, 1) || setenv("PIER_LOG", "warning", 0);
	free(whole);
	free(here);
	return err;
}

/* Neither variable can name a folder with an end of its own paths. */
static int check_folder(const char *dir)
{
	if (!strpbrk(dir, ":;"))
		return 0;
	tool_message("pier run: the libraries are in \"%s\": the dynamic "
		     "linker finds none in a folder with \":\" or \";\" in its "
		     "path", dir);
	return 1;
}

int tool_run_env(const char *dir, const struct run_env *env)
{
	int err = check_folder(dir);

	if (!err)
		err = tool_faults_set("pier run", &env->faults);
	if (!err && env->pcap)
		err = set_capture(env->pcap);
	if (!err && (tool_run_real(env->only_soft) ||
		     set_libraries(dir))) {
		tool_message("pier run: out of memory");
		err = 1;
	}
	return err;
}
