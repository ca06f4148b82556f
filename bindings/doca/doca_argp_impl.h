/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_ARGP_IMPL_H
#define DOCA_ARGP_IMPL_H

#include <doca_argp.h>

struct doca_argp_param {
	struct doca_argp_param *next;
	char *short_name, *long_name;	/* without dashes; NULL: none */
	char *arguments, *description;
	doca_argp_param_cb_t callback;
	enum doca_argp_type type;
	bool mandatory, cli_only, multiplicity, singular, hidden;
	bool general;		/* one of the parser's own */
	bool registered;
	unsigned int seen;	/* on the command line or in the file */
};

/* The one parser of the process. */
struct doca_argp {
	bool active;
	char *name;
	void *config;
	struct doca_argp_param *params;
	doca_argp_param_cb_t version;
	doca_argp_validation_cb_t validation;
	doca_argp_logger_cb_t logger;
	doca_argp_dpdk_cb_t dpdk;	/* NULL: no program for DPDK */
	int log_level, sdk_log_level;	/* 0: not given */
	char *file;			/* of flags; NULL: not given */
};
extern struct doca_argp pier__doca_argp;

/* BAD_STATE unless it is initialized. */
doca_error_t pier__doca_argp_check(void);

/* Say what is wrong, to the callback or standard error.  Returns @error. */
doca_error_t pier__doca_argp_fail(doca_error_t error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The parameter of that name; NULL: there is none. */
struct doca_argp_param *pier__doca_argp_short(const char *name);
struct doca_argp_param *pier__doca_argp_long(const char *name, size_t len);

/* Pass the value @text, NULL for a flag, to the callback of @param. */
doca_error_t pier__doca_argp_value(struct doca_argp_param *param,
				   const char *text);

/* The values of the file @path, for parameters not seen before. */
doca_error_t pier__doca_argp_json(const char *path);

/* Register the parser's own parameters. */
doca_error_t pier__doca_argp_general(void);

void pier__doca_argp_param_free(struct doca_argp_param *param);

#endif
