/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_argp.h>

#include "doca_fail.h"

#define REASON "the parser has one set of flags, and no commands"

/* There are no commands. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd)
{
	return pier__doca_unsupported(__func__, REASON);
}

doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
	return pier__doca_unsupported(__func__, REASON);
}

void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
}

void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd,
				   const char *description)
{
}

void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd,
				doca_argp_cmd_cb_t callback)
{
}

void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
}

doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
					  struct doca_argp_param *param)
{
	return pier__doca_unsupported(__func__, REASON);
}

doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd,
					struct doca_argp_cmd *input_cmd)
{
	return pier__doca_unsupported(__func__, REASON);
}

doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
	return pier__doca_unsupported(__func__, REASON);
}
