/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_clock.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <doca_types.h>
#include <doca_version.h>

#include "t/lib/tap.h"

/* What programs written for DOCA 3.3 call: each is there. */

#define FUNCTION(name) { #name, (void (*)(void))name }

static const struct function {
	const char *name;
	void (*fn)(void);
} functions[] = {
	FUNCTION(doca_argp_destroy),
	FUNCTION(doca_argp_init),
	FUNCTION(doca_argp_param_create),
	FUNCTION(doca_argp_param_set_arguments),
	FUNCTION(doca_argp_param_set_callback),
	FUNCTION(doca_argp_param_set_description),
	FUNCTION(doca_argp_param_set_long_name),
	FUNCTION(doca_argp_param_set_mandatory),
	FUNCTION(doca_argp_param_set_short_name),
	FUNCTION(doca_argp_param_set_type),
	FUNCTION(doca_argp_register_param),
	FUNCTION(doca_argp_register_validation_callback),
	FUNCTION(doca_argp_register_version_callback),
	FUNCTION(doca_argp_start),
	FUNCTION(doca_buf_chain_list),
	FUNCTION(doca_buf_dec_refcount),
	FUNCTION(doca_buf_get_data),
	FUNCTION(doca_buf_get_data_len),
	FUNCTION(doca_buf_get_len),
	FUNCTION(doca_buf_inventory_buf_get_by_args),
	FUNCTION(doca_buf_inventory_create),
	FUNCTION(doca_buf_inventory_destroy),
	FUNCTION(doca_buf_inventory_start),
	FUNCTION(doca_buf_inventory_stop),
	FUNCTION(doca_buf_reset_data_len),
	FUNCTION(doca_buf_set_data),
	FUNCTION(doca_clock_cap_nic_dpa_timer_is_supported),
	FUNCTION(doca_clock_cap_nic_free_running_is_supported),
	FUNCTION(doca_clock_cap_nic_real_time_is_supported),
	FUNCTION(doca_clock_create),
	FUNCTION(doca_clock_destroy),
	FUNCTION(doca_clock_get_crosstimestamp),
	FUNCTION(doca_clock_get_timestamp),
	FUNCTION(doca_comch_cap_client_is_supported),
	FUNCTION(doca_comch_cap_get_max_msg_size),
	FUNCTION(doca_comch_cap_server_is_supported),
	FUNCTION(doca_comch_client_as_ctx),
	FUNCTION(doca_comch_client_create),
	FUNCTION(doca_comch_client_destroy),
	FUNCTION(doca_comch_client_event_consumer_register),
	FUNCTION(doca_comch_client_event_msg_recv_register),
	FUNCTION(doca_comch_client_get_client_ctx),
	FUNCTION(doca_comch_client_get_connection),
	FUNCTION(doca_comch_client_set_max_msg_size),
	FUNCTION(doca_comch_client_set_recv_queue_size),
	FUNCTION(doca_comch_client_task_send_alloc_init),
	FUNCTION(doca_comch_client_task_send_set_conf),
	FUNCTION(doca_comch_connection_get_user_data),
	FUNCTION(doca_comch_connection_set_user_data),
	FUNCTION(doca_comch_consumer_as_ctx),
	FUNCTION(doca_comch_consumer_create),
	FUNCTION(doca_comch_consumer_destroy),
	FUNCTION(doca_comch_consumer_task_post_recv_alloc_init),
	FUNCTION(doca_comch_consumer_task_post_recv_as_task),
	FUNCTION(doca_comch_consumer_task_post_recv_get_buf),
	FUNCTION(doca_comch_consumer_task_post_recv_set_conf),
	FUNCTION(doca_comch_producer_as_ctx),
	FUNCTION(doca_comch_producer_create),
	FUNCTION(doca_comch_producer_destroy),
	FUNCTION(doca_comch_producer_task_send_alloc_init),
	FUNCTION(doca_comch_producer_task_send_as_task),
	FUNCTION(doca_comch_producer_task_send_get_buf),
	FUNCTION(doca_comch_producer_task_send_set_conf),
	FUNCTION(doca_comch_server_as_ctx),
	FUNCTION(doca_comch_server_create),
	FUNCTION(doca_comch_server_destroy),
	FUNCTION(doca_comch_server_disconnect),
	FUNCTION(doca_comch_server_event_connection_status_changed_register),
	FUNCTION(doca_comch_server_event_consumer_register),
	FUNCTION(doca_comch_server_event_msg_recv_register),
	FUNCTION(doca_comch_server_get_server_ctx),
	FUNCTION(doca_comch_server_set_max_msg_size),
	FUNCTION(doca_comch_server_set_recv_queue_size),
	FUNCTION(doca_comch_server_task_send_alloc_init),
	FUNCTION(doca_comch_server_task_send_set_conf),
	FUNCTION(doca_comch_task_send_as_task),
	FUNCTION(doca_ctx_get_num_inflight_tasks),
	FUNCTION(doca_ctx_get_state),
	FUNCTION(doca_ctx_get_user_data),
	FUNCTION(doca_ctx_set_state_changed_cb),
	FUNCTION(doca_ctx_set_user_data),
	FUNCTION(doca_ctx_start),
	FUNCTION(doca_ctx_stop),
	FUNCTION(doca_dev_as_devinfo),
	FUNCTION(doca_dev_close),
	FUNCTION(doca_dev_open),
	FUNCTION(doca_dev_rep_close),
	FUNCTION(doca_dev_rep_open),
	FUNCTION(doca_devinfo_create_list),
	FUNCTION(doca_devinfo_destroy_list),
	FUNCTION(doca_devinfo_get_ibdev_name),
	FUNCTION(doca_devinfo_get_iface_name),
	FUNCTION(doca_devinfo_get_pci_func_type),
	FUNCTION(doca_devinfo_get_sf_index),
	FUNCTION(doca_devinfo_is_equal_pci_addr),
	FUNCTION(doca_devinfo_rep_create_list),
	FUNCTION(doca_devinfo_rep_destroy_list),
	FUNCTION(doca_devinfo_rep_get_vuid),
	FUNCTION(doca_devinfo_rep_is_equal_pci_addr),
	FUNCTION(doca_dma_as_ctx),
	FUNCTION(doca_dma_cap_task_memcpy_get_max_buf_list_len),
	FUNCTION(doca_dma_cap_task_memcpy_get_max_buf_size),
	FUNCTION(doca_dma_cap_task_memcpy_is_supported),
	FUNCTION(doca_dma_create),
	FUNCTION(doca_dma_destroy),
	FUNCTION(doca_dma_task_memcpy_alloc_init),
	FUNCTION(doca_dma_task_memcpy_as_task),
	FUNCTION(doca_dma_task_memcpy_get_dst),
	FUNCTION(doca_dma_task_memcpy_get_src),
	FUNCTION(doca_dma_task_memcpy_set_conf),
	FUNCTION(doca_dma_task_memcpy_set_dst),
	FUNCTION(doca_dma_task_memcpy_set_src),
	FUNCTION(doca_error_get_descr),
	FUNCTION(doca_error_get_name),
	FUNCTION(doca_graph_add_dependency),
	FUNCTION(doca_graph_create),
	FUNCTION(doca_graph_destroy),
	FUNCTION(doca_graph_instance_create),
	FUNCTION(doca_graph_instance_destroy),
	FUNCTION(doca_graph_instance_set_ctx_node_data),
	FUNCTION(doca_graph_instance_set_user_data),
	FUNCTION(doca_graph_instance_set_user_node_data),
	FUNCTION(doca_graph_instance_submit),
	FUNCTION(doca_graph_node_create_from_ctx),
	FUNCTION(doca_graph_node_create_from_user),
	FUNCTION(doca_graph_set_conf),
	FUNCTION(doca_graph_set_user_data),
	FUNCTION(doca_graph_start),
	FUNCTION(doca_graph_stop),
	FUNCTION(doca_log),
	FUNCTION(doca_log_backend_create_standard),
	FUNCTION(doca_log_backend_create_with_file_sdk),
	FUNCTION(doca_log_backend_set_sdk_level),
	FUNCTION(doca_log_register_source),
	FUNCTION(doca_mmap_add_dev),
	FUNCTION(doca_mmap_advise_as_ctx),
	FUNCTION(doca_mmap_advise_cap_task_cache_invalidate_is_supported),
	FUNCTION(doca_mmap_advise_create),
	FUNCTION(doca_mmap_advise_destroy),
	FUNCTION(doca_mmap_advise_task_invalidate_cache_alloc_init),
	FUNCTION(doca_mmap_advise_task_invalidate_cache_as_doca_task),
	FUNCTION(doca_mmap_advise_task_invalidate_cache_set_conf),
	FUNCTION(doca_mmap_create),
	FUNCTION(doca_mmap_create_from_export),
	FUNCTION(doca_mmap_destroy),
	FUNCTION(doca_mmap_export_pci),
	FUNCTION(doca_mmap_export_rdma),
	FUNCTION(doca_mmap_get_memrange),
	FUNCTION(doca_mmap_set_memrange),
	FUNCTION(doca_mmap_set_permissions),
	FUNCTION(doca_mmap_start),
	FUNCTION(doca_mmap_stop),
	FUNCTION(doca_pe_clear_notification),
	FUNCTION(doca_pe_connect_ctx),
	FUNCTION(doca_pe_create),
	FUNCTION(doca_pe_destroy),
	FUNCTION(doca_pe_get_notification_handle),
	FUNCTION(doca_pe_progress),
	FUNCTION(doca_pe_request_notification),
	FUNCTION(doca_rdma_addr_create),
	FUNCTION(doca_rdma_addr_destroy),
	FUNCTION(doca_rdma_as_ctx),
	FUNCTION(doca_rdma_cap_task_read_is_supported),
	FUNCTION(doca_rdma_cap_task_receive_is_supported),
	FUNCTION(doca_rdma_cap_task_remote_net_sync_event_get_is_supported),
	FUNCTION(
	    doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported),
	FUNCTION(doca_rdma_cap_task_send_imm_is_supported),
	FUNCTION(doca_rdma_cap_task_send_is_supported),
	FUNCTION(doca_rdma_cap_task_write_is_supported),
	FUNCTION(doca_rdma_connect),
	FUNCTION(doca_rdma_connect_to_addr),
	FUNCTION(doca_rdma_connection_accept),
	FUNCTION(doca_rdma_connection_disconnect),
	FUNCTION(doca_rdma_connection_set_user_data),
	FUNCTION(doca_rdma_create),
	FUNCTION(doca_rdma_destroy),
	FUNCTION(doca_rdma_export),
	FUNCTION(doca_rdma_set_connection_state_callbacks),
	FUNCTION(doca_rdma_set_gid_index),
	FUNCTION(doca_rdma_set_max_num_connections),
	FUNCTION(doca_rdma_set_permissions),
	FUNCTION(doca_rdma_set_transport_type),
	FUNCTION(doca_rdma_start_listen_to_port),
	FUNCTION(doca_rdma_task_read_allocate_init),
	FUNCTION(doca_rdma_task_read_as_task),
	FUNCTION(doca_rdma_task_read_set_conf),
	FUNCTION(doca_rdma_task_receive_allocate_init),
	FUNCTION(doca_rdma_task_receive_as_task),
	FUNCTION(doca_rdma_task_receive_get_dst_buf),
	FUNCTION(doca_rdma_task_receive_get_result_immediate_data),
	FUNCTION(doca_rdma_task_receive_get_result_opcode),
	FUNCTION(doca_rdma_task_receive_get_result_rdma_connection),
	FUNCTION(doca_rdma_task_receive_set_conf),
	FUNCTION(doca_rdma_task_remote_net_sync_event_get_allocate_init),
	FUNCTION(doca_rdma_task_remote_net_sync_event_get_as_task),
	FUNCTION(doca_rdma_task_remote_net_sync_event_get_get_dst_buf),
	FUNCTION(doca_rdma_task_remote_net_sync_event_get_set_conf),
	FUNCTION(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init),
	FUNCTION(doca_rdma_task_remote_net_sync_event_notify_set_as_task),
	FUNCTION(doca_rdma_task_remote_net_sync_event_notify_set_set_conf),
	FUNCTION(doca_rdma_task_send_allocate_init),
	FUNCTION(doca_rdma_task_send_as_task),
	FUNCTION(doca_rdma_task_send_get_src_buf),
	FUNCTION(doca_rdma_task_send_imm_allocate_init),
	FUNCTION(doca_rdma_task_send_imm_as_task),
	FUNCTION(doca_rdma_task_send_imm_set_conf),
	FUNCTION(doca_rdma_task_send_set_conf),
	FUNCTION(doca_rdma_task_write_allocate_init),
	FUNCTION(doca_rdma_task_write_as_task),
	FUNCTION(doca_rdma_task_write_imm_allocate_init),
	FUNCTION(doca_rdma_task_write_imm_as_task),
	FUNCTION(doca_rdma_task_write_imm_set_conf),
	FUNCTION(doca_rdma_task_write_set_conf),
	FUNCTION(doca_sync_event_add_publisher_location_remote_net),
	FUNCTION(doca_sync_event_add_publisher_location_remote_pci),
	FUNCTION(doca_sync_event_add_subscriber_location_cpu),
	FUNCTION(doca_sync_event_as_ctx),
	FUNCTION(doca_sync_event_cap_is_create_from_export_supported),
	FUNCTION(doca_sync_event_cap_is_export_to_remote_pci_supported),
	FUNCTION(doca_sync_event_cap_task_wait_eq_is_supported),
	FUNCTION(doca_sync_event_create),
	FUNCTION(doca_sync_event_create_from_export),
	FUNCTION(doca_sync_event_destroy),
	FUNCTION(doca_sync_event_export_to_remote_net),
	FUNCTION(doca_sync_event_export_to_remote_pci),
	FUNCTION(doca_sync_event_remote_net_create_from_export),
	FUNCTION(doca_sync_event_remote_net_destroy),
	FUNCTION(doca_sync_event_start),
	FUNCTION(doca_sync_event_stop),
	FUNCTION(doca_sync_event_task_get_as_doca_task),
	FUNCTION(doca_sync_event_task_get_set_conf),
	FUNCTION(doca_sync_event_task_notify_add_alloc_init),
	FUNCTION(doca_sync_event_task_notify_add_as_doca_task),
	FUNCTION(doca_sync_event_task_notify_add_set_conf),
	FUNCTION(doca_sync_event_task_notify_set_alloc_init),
	FUNCTION(doca_sync_event_task_notify_set_as_doca_task),
	FUNCTION(doca_sync_event_task_notify_set_set_conf),
	FUNCTION(doca_sync_event_task_wait_eq_alloc_init),
	FUNCTION(doca_sync_event_task_wait_eq_as_doca_task),
	FUNCTION(doca_sync_event_task_wait_eq_set_conf),
	FUNCTION(doca_sync_event_update_add),
	FUNCTION(doca_sync_event_update_set),
	FUNCTION(doca_sync_event_wait_eq),
	FUNCTION(doca_sync_event_wait_eq_yield),
	FUNCTION(doca_sync_event_wait_gt),
	FUNCTION(doca_task_free),
	FUNCTION(doca_task_get_status),
	FUNCTION(doca_task_get_user_data),
	FUNCTION(doca_task_set_user_data),
	FUNCTION(doca_task_submit),
	FUNCTION(doca_task_try_submit),
	FUNCTION(doca_version_runtime),
};

#define COUNT (sizeof(functions) / sizeof(functions[0]))

static void all_functions_are_linked(void)
{
	IS(COUNT, 252);
	for (size_t i = 0; i < COUNT; i++) {
		if (!functions[i].fn)
			tap_note("%s", functions[i].name);
		OK(functions[i].fn != NULL);
	}
}

static void a_producer_that_does_not_exist_is_refused(void)
{
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;

	IS(doca_comch_producer_create(NULL, &producer),
	   DOCA_ERROR_INVALID_VALUE);
	ctx = doca_comch_producer_as_ctx(NULL);
	OK(!ctx);
	IS(doca_ctx_stop(ctx), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_producer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_comch_producer_cap_is_supported(NULL),
	   DOCA_ERROR_INVALID_VALUE);
}

static void a_program_is_built_for_one_architecture(void)
{
#if defined(DOCA_ARCH_HOST) && defined(DOCA_ARCH_DPU)
	OK(!"both");
#elif defined(DOCA_ARCH_HOST) || defined(DOCA_ARCH_DPU)
	OK(!!DOCA_VERSION_EQ_CURRENT(3, 3, 0));
	IS_STR(doca_version(), "3.3.0");
	IS_STR(doca_version_runtime(), "3.3.0");
#else
	OK(!"neither");
#endif
}

int main(void)
{
	TEST(all_functions_are_linked);
	TEST(a_producer_that_does_not_exist_is_refused);
	TEST(a_program_is_built_for_one_architecture);
	return tap_done();
}
