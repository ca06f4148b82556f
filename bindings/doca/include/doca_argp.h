/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_ARGP_H
#define DOCA_ARGP_H

#include <stdarg.h>

#include <doca_error.h>
#include <doca_log.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The command line: register parameters, start, and each value that is found
 * is passed to the callback of its parameter.  Names of parameters and of
 * values in a JSON file are the same.  One parser a process.
 */

struct doca_argp_param;
struct doca_argp_cmd;

enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,
	DOCA_ARGP_TYPE_STRING,
	DOCA_ARGP_TYPE_INT,
	DOCA_ARGP_TYPE_BOOLEAN,
	DOCA_ARGP_TYPE_JSON_OBJ,
};

/* @param is a char *, an int * or a bool *, valid during the call. */
typedef doca_error_t (*doca_argp_param_cb_t)(void *param, void *config);
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *config);
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);
typedef doca_error_t (*doca_argp_validation_cb_t)(void *config);
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level,
					      const char *format, va_list args);

void doca_argp_usage(void);
doca_error_t doca_argp_init(const char *name, void *config);
doca_error_t doca_argp_register_param(struct doca_argp_param *param);
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd);
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);
doca_error_t
doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);
doca_error_t doca_argp_disable_logger_callback(void);
doca_error_t doca_argp_start(int argc, char **argv);
doca_error_t doca_argp_destroy(void);
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/*
 * A parameter.  Once registered it belongs to the parser, whatever the call
 * returned; destroy is for one that never was.
 */
doca_error_t doca_argp_param_create(struct doca_argp_param **param);
void doca_argp_param_set_short_name(struct doca_argp_param *param,
				    const char *name);
void doca_argp_param_set_long_name(struct doca_argp_param *param,
				   const char *name);
void doca_argp_param_set_arguments(struct doca_argp_param *param,
				   const char *arguments);
void doca_argp_param_set_description(struct doca_argp_param *param,
				     const char *description);
void doca_argp_param_set_callback(struct doca_argp_param *param,
				  doca_argp_param_cb_t callback);
void doca_argp_param_set_type(struct doca_argp_param *param,
			      enum doca_argp_type type);
void doca_argp_param_set_mandatory(struct doca_argp_param *param);
void doca_argp_param_set_cli_only(struct doca_argp_param *param);
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);
void doca_argp_param_set_singular(struct doca_argp_param *param);
void doca_argp_param_set_inherited(struct doca_argp_param *param);
void doca_argp_param_set_hidden(struct doca_argp_param *param);
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/* Commands, "program COMMAND [flags]", are not supported: create says so. */
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd,
				   const char *description);
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd,
				doca_argp_cmd_cb_t callback);
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
					  struct doca_argp_param *param);
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd,
					struct doca_argp_cmd *input_cmd);
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/* The level that was given, else the global limit. */
doca_error_t doca_argp_get_log_level(int *log_level);
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif
