/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_argp.h>
#include <doca_buf_array.h>
#include <doca_log.h>
#include <doca_version.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/*
 * What pier has nothing for: arrays of buffers for other processors, commands
 * of a command line, completion vectors, LIDs of Ethernet.  Each call answers
 * so, changes nothing, and the library's log has the reason.
 */
static struct doca_dev *dev;
static char logged[1024], line[512];

static void on_line(char *text)
{
	snprintf(logged, sizeof(logged), "%s", text);
}

static void open_log(void)
{
	struct doca_log_backend *backend;

	IS(doca_log_backend_create_with_buf_sdk(line, sizeof(line), on_line,
						&backend), DOCA_SUCCESS);
	IS(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DEBUG),
	   DOCA_SUCCESS);
}

/* The call that returned @error is not supported, which the log has. */
static void is_unsupported(doca_error_t error, const char *name)
{
	char text[128];

	IS(error, DOCA_ERROR_NOT_SUPPORTED);
	snprintf(text, sizeof(text), "%s: not supported", name);
	LIKE(logged, text);
	logged[0] = '\0';
}

static void there_are_no_arrays_of_buffers(void)
{
	struct doca_buf_arr *arr = NULL;

	is_unsupported(doca_buf_arr_create(4, &arr), "doca_buf_arr_create");
	OK(!arr);
	is_unsupported(doca_buf_arr_set_params(arr, NULL, 64, 0),
		       "doca_buf_arr_set_params");
	is_unsupported(doca_buf_arr_start(arr), "doca_buf_arr_start");
	is_unsupported(doca_buf_arr_stop(arr), "doca_buf_arr_stop");
	is_unsupported(doca_buf_arr_destroy(arr), "doca_buf_arr_destroy");
}

static doca_error_t on_command(void *config)
{
	*(int *)config = -1;
	return DOCA_SUCCESS;
}

static doca_error_t on_number(void *param, void *config)
{
	*(int *)config = *(int *)param;
	return DOCA_SUCCESS;
}

static struct doca_argp_param *number(void)
{
	struct doca_argp_param *param = NULL;

	IS(doca_argp_param_create(&param), DOCA_SUCCESS);
	doca_argp_param_set_long_name(param, "number");
	doca_argp_param_set_description(param, "A number");
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_callback(param, on_number);
	return param;
}

/* What their setters are called with is not read. */
static void a_command_line_has_no_commands(void)
{
	char *argv[] = { (char *)"program", (char *)"--number", (char *)"7",
			 NULL };
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd = NULL;
	int config = 0;

	IS(doca_argp_init("program", &config), DOCA_SUCCESS);
	is_unsupported(doca_argp_cmd_create(&cmd), "doca_argp_cmd_create");
	OK(!cmd);
	doca_argp_cmd_set_name(cmd, "command");
	doca_argp_cmd_set_description(cmd, "What it does");
	doca_argp_cmd_set_callback(cmd, on_command);
	doca_argp_cmd_set_hidden(cmd);
	param = number();
	is_unsupported(doca_argp_cmd_register_param(cmd, param),
		       "doca_argp_cmd_register_param");
	is_unsupported(doca_argp_cmd_register_cmd(cmd, cmd),
		       "doca_argp_cmd_register_cmd");
	is_unsupported(doca_argp_register_cmd(cmd), "doca_argp_register_cmd");
	is_unsupported(doca_argp_cmd_destroy(cmd), "doca_argp_cmd_destroy");
	doca_argp_param_set_inherited(param);	/* by commands */
	IS(doca_argp_register_param(param), DOCA_SUCCESS);
	IS(doca_argp_start(3, argv), DOCA_SUCCESS);
	IS(config, 7);
	argv[1] = (char *)"command";
	IS(doca_argp_destroy(), DOCA_SUCCESS);
	config = 0;
	IS(doca_argp_init("program", &config), DOCA_SUCCESS);
	OK(doca_argp_start(2, argv) != DOCA_SUCCESS);
	IS(config, 0);
	IS(doca_argp_destroy(), DOCA_SUCCESS);
}

static void there_is_one_completion_vector(void)
{
	struct doca_rdma *rdma = NULL;
	uint32_t count = 0;

	IS(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(dev),
						   &count), DOCA_SUCCESS);
	IS(count, 1);
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_ctx_set_completion_vector(doca_rdma_as_ctx(rdma), 0),
	   DOCA_SUCCESS);
	is_unsupported(doca_ctx_set_completion_vector(doca_rdma_as_ctx(rdma),
						      count),
		       "a completion vector");
	IS(doca_ctx_set_completion_vector(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
}

/* A LID is an address of InfiniBand; these devices are of Ethernet. */
static void a_port_of_ethernet_has_no_lid(void)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint16_t lid = 77;

	IS(doca_devinfo_get_lid(info, &lid), DOCA_ERROR_NOT_SUPPORTED);
	IS(lid, 77);
	IS(doca_devinfo_get_lid(NULL, &lid), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_lid(info, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void the_library_has_the_version_of_its_headers(void)
{
	IS_STR(doca_version(), DOCA_VERSION_STRING);
	IS_STR(doca_version_runtime(), doca_version());
	OK(DOCA_VERSION_EQ_CURRENT(3, 3, 0));
	OK(DOCA_VERSION_LTE_CURRENT(3, 2, 9));
	OK(!DOCA_VERSION_LTE_CURRENT(3, 4, 0));
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	open_log();
	TEST(there_are_no_arrays_of_buffers);
	TEST(a_command_line_has_no_commands);
	TEST(there_is_one_completion_vector);
	TEST(a_port_of_ethernet_has_no_lid);
	TEST(the_library_has_the_version_of_its_headers);
	doca_dev_close(dev);
	return tap_done();
}
