/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "doca_argp_impl.h"
#include "doca_fail.h"

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
	struct doca_argp_param *new;

	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	*param = new;
	return DOCA_SUCCESS;
}

void pier__doca_argp_param_free(struct doca_argp_param *param)
{
	free(param->short_name);
	free(param->long_name);
	free(param->arguments);
	free(param->description);
	free(param);
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	if (param->registered)
		return pier__doca_fail(DOCA_ERROR_BAD_STATE, "argp: a "
				       "registered parameter is destroyed");
	pier__doca_argp_param_free(param);
	return DOCA_SUCCESS;
}

/* What cannot be copied is missed when it is registered. */
static void set_text(char **at, const char *text)
{
	free(*at);
	*at = text ? strdup(text) : NULL;
}

void doca_argp_param_set_short_name(struct doca_argp_param *param,
				    const char *name)
{
	set_text(&param->short_name, name);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param,
				   const char *name)
{
	set_text(&param->long_name, name);
}

void doca_argp_param_set_arguments(struct doca_argp_param *param,
				   const char *arguments)
{
	set_text(&param->arguments, arguments);
}

void doca_argp_param_set_description(struct doca_argp_param *param,
				     const char *description)
{
	set_text(&param->description, description);
}

void doca_argp_param_set_callback(struct doca_argp_param *param,
				  doca_argp_param_cb_t callback)
{
	param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param,
			      enum doca_argp_type type)
{
	param->type = type;
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
	param->mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
	param->cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
	param->multiplicity = true;
}

void doca_argp_param_set_singular(struct doca_argp_param *param)
{
	param->singular = true;
}

/* It is about commands, which there are none of. */
void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	(void)param;
}

void doca_argp_param_set_hidden(struct doca_argp_param *param)
{
	param->hidden = true;
}
