/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_argp.h>
#include <doca_buf_array.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#include <doca_version.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/*
 * What pier has nothing for: whatever is for a DPA or a GPU, batches of tasks,
 * commands of a command line, completion vectors, LIDs of Ethernet.  Each call
 * answers so, changes nothing, and the library's log has the reason.
 */
static struct doca_dev *dev;

/* For objects that are not made here: no call reads them. */
static uint64_t opaque;
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

/* That @name is not supported, and why. */
static void is_logged(const char *name)
{
	const char *reason;
	char text[128];

	snprintf(text, sizeof(text), "%s: not supported: ", name);
	LIKE(logged, text);
	reason = strstr(logged, text);
	OK(reason && strlen(reason + strlen(text)) > 2);
	logged[0] = '\0';
}

/* The call that returned @error is not supported, which the log has. */
static void is_unsupported(doca_error_t error, const char *name)
{
	IS(error, DOCA_ERROR_NOT_SUPPORTED);
	is_logged(name);
}

/* With what it needs it is not supported; without that it is @without. */
static void is_absent(doca_error_t with, doca_error_t without, const char *name)
{
	is_unsupported(with, name);
	IS(without, DOCA_ERROR_INVALID_VALUE);
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

static void arrays_of_buffers_have_no_target(void)
{
	struct doca_buf_arr *arr = (struct doca_buf_arr *)&opaque;
	struct doca_gpu_buf_arr *gpu = NULL;
	doca_dpa_dev_buf_arr_t dpa = 77;

	is_unsupported(doca_buf_arr_set_target_gpu(arr, NULL),
		       "doca_buf_arr_set_target_gpu");
	is_unsupported(doca_buf_arr_set_target_dpa(arr, NULL),
		       "doca_buf_arr_set_target_dpa");
	is_unsupported(doca_buf_arr_get_gpu_handle(arr, &gpu),
		       "doca_buf_arr_get_gpu_handle");
	OK(!gpu);
	is_unsupported(doca_buf_arr_get_dpa_handle(arr, &dpa),
		       "doca_buf_arr_get_dpa_handle");
	IS(dpa, 77);
}

static void memory_is_not_of_a_dpa(void)
{
	doca_dpa_dev_mmap_t dpa = 77;
	struct doca_mmap *mmap;
	size_t len = 0;
	void *addr;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	is_absent(doca_mmap_set_dpa_memrange(mmap, NULL, 4096, 64),
		  doca_mmap_set_dpa_memrange(NULL, NULL, 4096, 64),
		  "doca_mmap_set_dpa_memrange");
	OK(doca_mmap_get_memrange(mmap, &addr, &len) != DOCA_SUCCESS);
	is_absent(doca_mmap_dev_get_dpa_handle(mmap, dev, &dpa),
		  doca_mmap_dev_get_dpa_handle(NULL, dev, &dpa),
		  "doca_mmap_dev_get_dpa_handle");
	IS(doca_mmap_dev_get_dpa_handle(mmap, NULL, &dpa),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_dev_get_dpa_handle(mmap, dev, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(dpa, 77);
	is_absent(doca_mmap_enable_thread_safety(mmap),
		  doca_mmap_enable_thread_safety(NULL),
		  "doca_mmap_enable_thread_safety");
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void tasks_are_not_submitted_by_another_processor(void)
{
	struct doca_gpu_dma *handle = NULL;
	struct doca_dma *dma;
	struct doca_ctx *ctx;

	IS(doca_dma_create(dev, &dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
	is_absent(doca_ctx_set_datapath_on_gpu(ctx, NULL),
		  doca_ctx_set_datapath_on_gpu(NULL, NULL),
		  "doca_ctx_set_datapath_on_gpu");
	is_absent(doca_ctx_set_datapath_on_dpa(ctx, NULL),
		  doca_ctx_set_datapath_on_dpa(NULL, NULL),
		  "doca_ctx_set_datapath_on_dpa");
	is_absent(doca_dma_get_gpu_handle(dma, &handle),
		  doca_dma_get_gpu_handle(NULL, &handle),
		  "doca_dma_get_gpu_handle");
	IS(doca_dma_get_gpu_handle(dma, NULL), DOCA_ERROR_INVALID_VALUE);
	OK(!handle);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
}

static void connections_are_not_of_another_processor(void)
{
	struct doca_gpu_dev_rdma *gpu = NULL;
	doca_dpa_dev_rdma_t dpa = 77;
	struct doca_rdma *rdma;

	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	is_absent(doca_rdma_get_gpu_handle(rdma, &gpu),
		  doca_rdma_get_gpu_handle(NULL, &gpu),
		  "doca_rdma_get_gpu_handle");
	IS(doca_rdma_get_gpu_handle(rdma, NULL), DOCA_ERROR_INVALID_VALUE);
	OK(!gpu);
	is_absent(doca_rdma_get_dpa_handle(rdma, &dpa),
		  doca_rdma_get_dpa_handle(NULL, &dpa),
		  "doca_rdma_get_dpa_handle");
	IS(doca_rdma_get_dpa_handle(rdma, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(dpa, 77);
	is_absent(doca_rdma_dpa_completion_attach(rdma, NULL),
		  doca_rdma_dpa_completion_attach(NULL, NULL),
		  "doca_rdma_dpa_completion_attach");
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
}

static void sync_events_have_no_location_on_another_processor(void)
{
	struct doca_sync_event *event;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	is_absent(doca_sync_event_add_publisher_location_dpa(event, NULL),
		  doca_sync_event_add_publisher_location_dpa(NULL, NULL),
		  "doca_sync_event_add_publisher_location_dpa");
	is_absent(doca_sync_event_add_publisher_location_gpu(event, NULL),
		  doca_sync_event_add_publisher_location_gpu(NULL, NULL),
		  "doca_sync_event_add_publisher_location_gpu");
	is_absent(doca_sync_event_add_subscriber_location_dpa(event, NULL),
		  doca_sync_event_add_subscriber_location_dpa(NULL, NULL),
		  "doca_sync_event_add_subscriber_location_dpa");
	is_absent(doca_sync_event_add_subscriber_location_gpu(event, NULL),
		  doca_sync_event_add_subscriber_location_gpu(NULL, NULL),
		  "doca_sync_event_add_subscriber_location_gpu");
	OK(doca_sync_event_start(event) != DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void sync_events_have_no_handles_for_another_processor(void)
{
	struct doca_sync_event_remote_net *net =
		(struct doca_sync_event_remote_net *)&opaque;
	uint64_t handle = 77;
	struct doca_sync_event *event;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	is_absent(doca_sync_event_get_dpa_handle(event, NULL, &handle),
		  doca_sync_event_get_dpa_handle(event, NULL, NULL),
		  "doca_sync_event_get_dpa_handle");
	is_absent(doca_sync_event_get_gpu_handle(event, NULL, &handle),
		  doca_sync_event_get_gpu_handle(NULL, NULL, &handle),
		  "doca_sync_event_get_gpu_handle");
	is_absent(doca_sync_event_remote_net_get_dpa_handle(net, NULL, &handle),
		  doca_sync_event_remote_net_get_dpa_handle(NULL, NULL,
							    &handle),
		  "doca_sync_event_remote_net_get_dpa_handle");
	is_absent(doca_sync_event_remote_net_get_gpu_handle(net, NULL, &handle),
		  doca_sync_event_remote_net_get_gpu_handle(net, NULL, NULL),
		  "doca_sync_event_remote_net_get_gpu_handle");
	IS(handle, 77);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

/* What no device has is no failure to log. */
static void no_device_exports_sync_events_to_another_processor(void)
{
	typedef doca_error_t has(const struct doca_devinfo *info);
	static has *const questions[] = {
		doca_sync_event_cap_is_export_to_dpa_supported,
		doca_sync_event_cap_is_export_to_gpu_supported,
		doca_sync_event_cap_remote_net_is_export_to_dpa_supported,
		doca_sync_event_cap_remote_net_is_export_to_gpu_supported,
	};

	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		IS(questions[i](doca_dev_as_devinfo(dev)),
		   DOCA_ERROR_NOT_SUPPORTED);
		IS(questions[i](NULL), DOCA_ERROR_INVALID_VALUE);
	}
	IS_STR(logged, "");
}

static void a_dpa_has_no_consumers_of_messages(void)
{
	struct doca_comch_consumer *consumer =
		(struct doca_comch_consumer *)&opaque;
	doca_dpa_dev_comch_consumer_t handle = 77;

	is_absent(doca_comch_consumer_set_dev_max_num_recv(consumer, 4),
		  doca_comch_consumer_set_dev_max_num_recv(NULL, 4),
		  "doca_comch_consumer_set_dev_max_num_recv");
	is_absent(doca_comch_consumer_set_completion(consumer, NULL, 0),
		  doca_comch_consumer_set_completion(NULL, NULL, 0),
		  "doca_comch_consumer_set_completion");
	is_absent(doca_comch_consumer_get_dpa_handle(consumer, &handle),
		  doca_comch_consumer_get_dpa_handle(NULL, &handle),
		  "doca_comch_consumer_get_dpa_handle");
	IS(doca_comch_consumer_get_dpa_handle(consumer, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(handle, 77);
}

static void a_dpa_has_no_producers_of_messages(void)
{
	struct doca_comch_producer *producer =
		(struct doca_comch_producer *)&opaque;
	doca_dpa_dev_comch_producer_t handle = 77;

	is_absent(doca_comch_producer_set_dev_max_num_send(producer, 4),
		  doca_comch_producer_set_dev_max_num_send(NULL, 4),
		  "doca_comch_producer_set_dev_max_num_send");
	is_absent(doca_comch_producer_dpa_completion_attach(producer, NULL),
		  doca_comch_producer_dpa_completion_attach(NULL, NULL),
		  "doca_comch_producer_dpa_completion_attach");
	is_absent(doca_comch_producer_get_dpa_handle(producer, &handle),
		  doca_comch_producer_get_dpa_handle(NULL, &handle),
		  "doca_comch_producer_get_dpa_handle");
	IS(doca_comch_producer_get_dpa_handle(producer, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(handle, 77);
}

static void consumers_have_no_completions_of_a_dpa(void)
{
	struct doca_comch_consumer_completion *completion = NULL;
	doca_dpa_dev_comch_consumer_completion_t handle = 77;

	is_unsupported(doca_comch_consumer_completion_create(&completion),
		       "doca_comch_consumer_completion_create");
	OK(!completion);
	is_unsupported(doca_comch_consumer_completion_set_dpa_thread(completion,
								     NULL),
		       "doca_comch_consumer_completion_set_dpa_thread");
	is_unsupported(doca_comch_consumer_completion_start(completion),
		       "doca_comch_consumer_completion_start");
	is_unsupported(doca_comch_consumer_completion_stop(completion),
		       "doca_comch_consumer_completion_stop");
	is_unsupported(doca_comch_consumer_completion_get_dpa_handle(completion,
								     &handle),
		       "doca_comch_consumer_completion_get_dpa_handle");
	IS(handle, 77);
	is_unsupported(doca_comch_consumer_completion_destroy(completion),
		       "doca_comch_consumer_completion_destroy");
}

/* Of the calls of one property. */
typedef doca_error_t set(struct doca_comch_consumer_completion *completion,
			 uint32_t value);
typedef doca_error_t
get(const struct doca_comch_consumer_completion *completion, uint32_t *value);

static void is_no_property(set *set_value, get *get_value, const char *name)
{
	uint32_t value = 77;
	char text[128];

	snprintf(text, sizeof(text), "doca_comch_consumer_completion_set_%s",
		 name);
	is_unsupported(set_value(NULL, 4), text);
	snprintf(text, sizeof(text), "doca_comch_consumer_completion_get_%s",
		 name);
	is_unsupported(get_value(NULL, &value), text);
	IS(value, 77);
}

static void completions_of_a_dpa_have_no_properties(void)
{
	is_no_property(doca_comch_consumer_completion_set_max_num_consumers,
		       doca_comch_consumer_completion_get_max_num_consumers,
		       "max_num_consumers");
	is_no_property(doca_comch_consumer_completion_set_max_num_recv,
		       doca_comch_consumer_completion_get_max_num_recv,
		       "max_num_recv");
	is_no_property(doca_comch_consumer_completion_set_imm_data_len,
		       doca_comch_consumer_completion_get_imm_data_len,
		       "imm_data_len");
}

static void there_are_no_batches_of_tasks(void)
{
	struct doca_task_batch *batch = (struct doca_task_batch *)&opaque;
	union doca_data data = { .u64 = 77 };

	is_unsupported(doca_task_batch_submit(batch), "doca_task_batch_submit");
	is_unsupported(doca_task_batch_try_submit(batch),
		       "doca_task_batch_try_submit");
	is_unsupported(doca_task_batch_get_status(batch),
		       "doca_task_batch_get_status");
	doca_task_batch_set_user_data(batch, data);
	is_logged("doca_task_batch_set_user_data");
	IS(doca_task_batch_get_user_data(batch).u64, 0);
	is_logged("doca_task_batch_get_user_data");
	IS(doca_task_batch_get_ctx_user_data(batch).u64, 0);
	is_logged("doca_task_batch_get_ctx_user_data");
	OK(!doca_task_batch_get_ctx(batch));
	is_logged("doca_task_batch_get_ctx");
	IS(doca_task_batch_get_tasks_num(batch), 0);
	is_logged("doca_task_batch_get_tasks_num");
	doca_task_batch_free(batch);
	is_logged("doca_task_batch_free");
	IS(opaque, 0);
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
	TEST(arrays_of_buffers_have_no_target);
	TEST(memory_is_not_of_a_dpa);
	TEST(tasks_are_not_submitted_by_another_processor);
	TEST(connections_are_not_of_another_processor);
	TEST(sync_events_have_no_location_on_another_processor);
	TEST(sync_events_have_no_handles_for_another_processor);
	TEST(no_device_exports_sync_events_to_another_processor);
	TEST(a_dpa_has_no_consumers_of_messages);
	TEST(a_dpa_has_no_producers_of_messages);
	TEST(consumers_have_no_completions_of_a_dpa);
	TEST(completions_of_a_dpa_have_no_properties);
	TEST(there_are_no_batches_of_tasks);
	TEST(a_command_line_has_no_commands);
	TEST(there_is_one_completion_vector);
	TEST(a_port_of_ethernet_has_no_lid);
	TEST(the_library_has_the_version_of_its_headers);
	doca_dev_close(dev);
	return tap_done();
}
