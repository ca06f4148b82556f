/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>

#include "doca_argp_impl.h"
#include "doca_fail.h"
#include "doca_log_impl.h"

#define LEVELS \
	"<10=DISABLE, 20=CRITICAL, 30=ERROR, 40=WARNING, 50=INFO, 60=DEBUG, " \
	"70=TRACE>"

static struct doca_argp *const argp = &pier__doca_argp;

static doca_error_t help(void *param, void *config)
{
	(void)param;
	(void)config;
	doca_argp_usage();
	exit(EXIT_SUCCESS);
}

static doca_error_t version(void *param, void *config)
{
	doca_error_t error = DOCA_SUCCESS;

	(void)param;
	if (argp->version)
		error = argp->version(NULL, config);
	else
		printf("DOCA %s (pier)\n", doca_version_runtime());
	exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
}

static doca_error_t check_level(int level)
{
	if (level < 0 || !pier__doca_level_valid((uint32_t)level))
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "log level %d: 10, 20 ... 70",
					    level);
	return DOCA_SUCCESS;
}

static doca_error_t log_level(void *param, void *config)
{
	int level = *(int *)param;
	doca_error_t error = check_level(level);

	(void)config;
	if (error)
		return error;
	argp->log_level = level;
	return doca_log_level_set_global_lower_limit((uint32_t)level);
}

static doca_error_t sdk_log_level(void *param, void *config)
{
	int level = *(int *)param;
	doca_error_t error = check_level(level);

	(void)config;
	if (error)
		return error;
	argp->sdk_log_level = level;
	return doca_log_level_set_global_sdk_limit((uint32_t)level);
}

/* It is read when the whole command line has been. */
static doca_error_t json(void *param, void *config)
{
	(void)config;
	argp->file = strdup(param);
	return argp->file ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static const struct general {
	const char *short_name, *long_name, *arguments, *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t callback;
	bool cli_only;
} generals[] = {
	{ "h", "help", NULL, "Print this help", DOCA_ARGP_TYPE_BOOLEAN, help,
	  true },
	{ "v", "version", NULL, "Print the version", DOCA_ARGP_TYPE_BOOLEAN,
	  version, true },
	{ "l", "log-level", NULL, "Log level of the program " LEVELS,
	  DOCA_ARGP_TYPE_INT, log_level, false },
	{ NULL, "sdk-log-level", NULL, "Log level of the library " LEVELS,
	  DOCA_ARGP_TYPE_INT, sdk_log_level, false },
	{ "j", "json", "<path>", "Read the flags from a JSON file",
	  DOCA_ARGP_TYPE_STRING, json, true },
};

static doca_error_t add(const struct general *row)
{
	struct doca_argp_param *param;
	doca_error_t error = doca_argp_param_create(&param);

	if (error)
		return error;
	if (row->short_name)
		doca_argp_param_set_short_name(param, row->short_name);
	doca_argp_param_set_long_name(param, row->long_name);
	doca_argp_param_set_arguments(param, row->arguments);
	doca_argp_param_set_description(param, row->description);
	doca_argp_param_set_callback(param, row->callback);
	doca_argp_param_set_type(param, row->type);
	param->cli_only = row->cli_only;
	param->general = true;
	return doca_argp_register_param(param);
}

doca_error_t pier__doca_argp_general(void)
{
	doca_error_t error = DOCA_SUCCESS;

	for (size_t i = 0; i < sizeof(generals) / sizeof(generals[0]); i++)
		DOCA_ERROR_PROPAGATE(error, add(&generals[i]));
	return error;
}

static void print(const struct doca_argp_param *p)
{
	char names[80];

	snprintf(names, sizeof(names), "%s%s%s%s%s%s%s",
		 p->short_name ? "-" : "", p->short_name ? p->short_name : "",
		 p->short_name && p->long_name ? ", " : "",
		 p->long_name ? "--" : "", p->long_name ? p->long_name : "",
		 p->arguments ? " " : "", p->arguments ? p->arguments : "");
	printf("  %-33s %s\n", names, p->description);
}

static void print_all(bool general)
{
	for (struct doca_argp_param *p = argp->params; p; p = p->next) {
		if (p->general == general && !p->hidden)
			print(p);
	}
}

void doca_argp_usage(void)
{
	printf("Usage: %s [DOCA Flags] [Program Flags]\n\nDOCA Flags:\n",
	       argp->name ? argp->name : "program");
	print_all(true);
	printf("\nProgram Flags:\n");
	print_all(false);
	fflush(stdout);
}
