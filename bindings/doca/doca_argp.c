/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "doca_argp_impl.h"
#include "doca_fail.h"

struct doca_argp pier__doca_argp;

static struct doca_argp *const argp = &pier__doca_argp;

/* Through the callback, whose type takes a list of arguments. */
static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (argp->logger)
		argp->logger(DOCA_LOG_LEVEL_ERROR, format, args);
	else
		vfprintf(stderr, format, args);
	va_end(args);
}

doca_error_t pier__doca_argp_fail(doca_error_t error, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tell("%s\n", text);
	return error;
}

doca_error_t doca_argp_init(const char *name, void *config)
{
	doca_error_t error;

	if (argp->active)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE,
				       "argp: initialized already");
	*argp = (struct doca_argp){ .active = true, .config = config };
	argp->name = name ? strdup(name) : NULL;
	if (name && !argp->name)
		error = DOCA_ERROR_NO_MEMORY;
	else
		error = pier__doca_argp_general();
	if (error)
		doca_argp_destroy();
	return error;
}

void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	argp->dpdk = callback;
}

doca_error_t pier__doca_argp_check(void)
{
	return argp->active ? DOCA_SUCCESS :
			      pier__doca_fail(DOCA_ERROR_BAD_STATE,
					      "argp: not initialized");
}

doca_error_t doca_argp_destroy(void)
{
	doca_error_t error = pier__doca_argp_check();
	struct doca_argp_param *param;

	if (error)
		return error;
	while ((param = argp->params)) {
		argp->params = param->next;
		pier__doca_argp_param_free(param);
	}
	free(argp->name);
	free(argp->file);
	*argp = (struct doca_argp){ .active = false };
	return DOCA_SUCCESS;
}

struct doca_argp_param *pier__doca_argp_short(const char *name)
{
	struct doca_argp_param *p;

	for (p = argp->params; p; p = p->next) {
		if (p->short_name && !strcmp(p->short_name, name))
			return p;
	}
	return NULL;
}

struct doca_argp_param *pier__doca_argp_long(const char *name, size_t len)
{
	struct doca_argp_param *p;

	for (p = argp->params; p; p = p->next) {
		if (p->long_name && strlen(p->long_name) == len &&
		    !memcmp(p->long_name, name, len))
			return p;
	}
	return NULL;
}

static doca_error_t check(const struct doca_argp_param *param)
{
	const char *longer = param->long_name;
	const char *name = longer ? longer : param->short_name;

	if (!name || !param->description || !param->callback ||
	    param->type <= DOCA_ARGP_TYPE_UNKNOWN ||
	    param->type > DOCA_ARGP_TYPE_JSON_OBJ)
		return pier__doca_fail(DOCA_ERROR_INITIALIZATION, "argp: %s: "
				       "lacks a name, a type, a description or "
				       "a callback", name ? name : "?");
	if (param->type == DOCA_ARGP_TYPE_JSON_OBJ)
		return pier__doca_unsupported("argp: a parameter of type JSON",
					      "flags are booleans, numbers and "
					      "strings");
	if ((longer && pier__doca_argp_long(longer, strlen(longer))) ||
	    (param->short_name && pier__doca_argp_short(param->short_name)))
		return pier__doca_fail(DOCA_ERROR_ALREADY_EXIST, "argp: %s: "
				       "the name is taken", name);
	return DOCA_SUCCESS;
}

static void append(struct doca_argp_param *param)
{
	struct doca_argp_param **at = &argp->params;

	while (*at)
		at = &(*at)->next;
	*at = param;
}

doca_error_t doca_argp_register_param(struct doca_argp_param *param)
{
	doca_error_t error;

	if (!param || param->registered)
		return DOCA_ERROR_INVALID_VALUE;
	error = pier__doca_argp_check();
	if (!error)
		error = check(param);
	if (error) {
		pier__doca_argp_param_free(param);
		return error;
	}
	param->registered = true;
	append(param);
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	doca_error_t error = pier__doca_argp_check();

	if (error)
		return error;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	argp->version = callback;
	return DOCA_SUCCESS;
}

doca_error_t
doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	doca_error_t error = pier__doca_argp_check();

	if (error)
		return error;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	argp->validation = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
	doca_error_t error = pier__doca_argp_check();

	if (error)
		return error;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	argp->logger = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_logger_callback(void)
{
	doca_error_t error = pier__doca_argp_check();

	if (!error)
		argp->logger = NULL;
	return error;
}

doca_error_t doca_argp_get_log_level(int *level)
{
	doca_error_t error = pier__doca_argp_check();

	if (error)
		return error;
	if (!level)
		return DOCA_ERROR_INVALID_VALUE;
	*level = argp->log_level ? argp->log_level :
		 (int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_sdk_log_level(int *level)
{
	doca_error_t error = pier__doca_argp_check();

	if (error)
		return error;
	if (!level)
		return DOCA_ERROR_INVALID_VALUE;
	*level = argp->sdk_log_level ? argp->sdk_log_level :
		 (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}
