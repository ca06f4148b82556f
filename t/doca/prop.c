/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* The properties of an RDMA context: what is set, rounded, returned. */

static struct end a;

static void queues_have_powers_of_two(void)
{
	uint32_t value = 0;

	end_open(&a);
	IS(doca_rdma_get_recv_queue_size(a.rdma, &value), DOCA_SUCCESS);
	OK(value >= END_TASKS);
	IS(doca_rdma_set_recv_queue_size(a.rdma, 300), DOCA_SUCCESS);
	IS(doca_rdma_get_recv_queue_size(a.rdma, &value), DOCA_SUCCESS);
	IS(value, 512);
	IS(doca_rdma_set_recv_queue_size(a.rdma, UINT32_MAX),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_set_recv_queue_size(a.rdma, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_send_queue_size(a.rdma, 0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_get_recv_queue_size(a.rdma, &value), DOCA_SUCCESS);
	IS(value, 512);
	end_close(&a);
}

static void lists_are_limited_by_the_device(void)
{
	uint32_t most = 0, value = 0;

	end_open(&a);
	IS(doca_rdma_cap_get_max_send_buf_list_len(doca_dev_as_devinfo(a.dev),
						   &most), DOCA_SUCCESS);
	IS(doca_rdma_set_max_send_buf_list_len(a.rdma, 2), DOCA_SUCCESS);
	IS(doca_rdma_get_max_send_buf_list_len(a.rdma, &value), DOCA_SUCCESS);
	IS(value, 2);
	IS(doca_rdma_set_max_send_buf_list_len(a.rdma, most + 1),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
		doca_dev_as_devinfo(a.dev), DOCA_RDMA_TRANSPORT_TYPE_RC,
		&most), DOCA_SUCCESS);
	IS(doca_rdma_task_receive_set_dst_buf_list_len(a.rdma, 3),
	   DOCA_SUCCESS);
	IS(doca_rdma_task_receive_get_dst_buf_list_len(a.rdma, &value),
	   DOCA_SUCCESS);
	IS(value, 3);
	IS(doca_rdma_task_receive_set_dst_buf_list_len(a.rdma, most + 1),
	   DOCA_ERROR_NOT_SUPPORTED);
	end_close(&a);
}

static void a_new_context_has_defaults(void)
{
	struct doca_dev *dev = end_device();
	enum doca_mtu_size mtu = DOCA_MTU_SIZE_RAW_ETHERNET;
	uint32_t access = 9, sl = 9;
	uint16_t conns = 9;
	uint8_t retries = 0;
	struct doca_rdma *rdma;

	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_rdma_get_permissions(rdma, &access), DOCA_SUCCESS);
	IS(access, 0);
	IS(doca_rdma_get_sl(rdma, &sl), DOCA_SUCCESS);
	IS(sl, 0);
	IS(doca_rdma_get_max_num_connections(rdma, &conns), DOCA_SUCCESS);
	IS(conns, 1);
	IS(doca_rdma_get_rnr_retry_count(rdma, &retries), DOCA_SUCCESS);
	IS(retries, 7);
	IS(doca_rdma_get_mtu(rdma, &mtu), DOCA_SUCCESS);
	OK(mtu <= DOCA_MTU_SIZE_4K_BYTES);
	IS(doca_rdma_set_mtu(rdma, mtu), DOCA_SUCCESS);	/* the port's */
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
}

static void a_request_has_time_enough(void)
{
	uint16_t ms = 0;

	end_open(&a);
	IS(doca_rdma_set_connection_request_timeout(a.rdma, 0),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_set_connection_request_timeout(a.rdma, 1), DOCA_SUCCESS);
	IS(doca_rdma_get_connection_request_timeout(a.rdma, &ms), DOCA_SUCCESS);
	IS(ms, 10000);
	IS(doca_rdma_set_connection_request_timeout(a.rdma, 30000),
	   DOCA_SUCCESS);
	IS(doca_rdma_get_connection_request_timeout(a.rdma, &ms), DOCA_SUCCESS);
	IS(ms, 30000);
	end_close(&a);
}

static void service_levels_are_those_of_infiniband(void)
{
	uint32_t sl = 0;

	end_open(&a);
	IS(doca_rdma_set_sl(a.rdma, 15), DOCA_SUCCESS);
	IS(doca_rdma_get_sl(a.rdma, &sl), DOCA_SUCCESS);
	IS(sl, 15);
	IS(doca_rdma_set_sl(a.rdma, 16), DOCA_ERROR_INVALID_VALUE);
	end_close(&a);
}

static void nothing_is_set_after_the_start(void)
{
	const doca_error_t no = DOCA_ERROR_BAD_STATE;

	end_open(&a);
	end_start(&a);
	IS(doca_rdma_set_send_queue_size(a.rdma, 64), no);
	IS(doca_rdma_set_recv_queue_size(a.rdma, 64), no);
	IS(doca_rdma_set_max_send_buf_list_len(a.rdma, 1), no);
	IS(doca_rdma_task_receive_set_dst_buf_list_len(a.rdma, 1), no);
	IS(doca_rdma_set_transport_type(a.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC),
	   no);
	IS(doca_rdma_set_mtu(a.rdma, DOCA_MTU_SIZE_256_BYTES), no);
	IS(doca_rdma_set_grh_enabled(a.rdma, 1), no);
	IS(doca_rdma_set_sl(a.rdma, 0), no);
	IS(doca_rdma_set_connection_request_timeout(a.rdma, 60000), no);
	IS(doca_rdma_set_rnr_retry_count(a.rdma, 7), no);
	end_close(&a);
}

static void setters_need_a_context(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;

	IS(doca_rdma_set_send_queue_size(NULL, 64), no);
	IS(doca_rdma_set_recv_queue_size(NULL, 64), no);
	IS(doca_rdma_set_max_send_buf_list_len(NULL, 1), no);
	IS(doca_rdma_task_receive_set_dst_buf_list_len(NULL, 1), no);
	IS(doca_rdma_set_transport_type(NULL, DOCA_RDMA_TRANSPORT_TYPE_RC),
	   no);
	IS(doca_rdma_set_mtu(NULL, DOCA_MTU_SIZE_256_BYTES), no);
	IS(doca_rdma_set_permissions(NULL, 0), no);
	IS(doca_rdma_set_grh_enabled(NULL, 1), no);
	IS(doca_rdma_set_gid_index(NULL, 0), no);
	IS(doca_rdma_set_sl(NULL, 0), no);
	IS(doca_rdma_set_connection_request_timeout(NULL, 1), no);
	IS(doca_rdma_set_max_num_connections(NULL, 1), no);
	IS(doca_rdma_set_rnr_retry_count(NULL, 7), no);
	IS(doca_rdma_set_connection_state_callbacks(NULL, NULL, NULL, NULL,
						    NULL), no);
}

static void getters_need_a_place(void)
{
	const doca_error_t no = DOCA_ERROR_INVALID_VALUE;

	end_open(&a);
	IS(doca_rdma_get_send_queue_size(a.rdma, NULL), no);
	IS(doca_rdma_get_recv_queue_size(a.rdma, NULL), no);
	IS(doca_rdma_get_max_send_buf_list_len(a.rdma, NULL), no);
	IS(doca_rdma_task_receive_get_dst_buf_list_len(a.rdma, NULL), no);
	IS(doca_rdma_get_transport_type(a.rdma, NULL), no);
	IS(doca_rdma_get_mtu(a.rdma, NULL), no);
	IS(doca_rdma_get_permissions(a.rdma, NULL), no);
	IS(doca_rdma_get_grh_enabled(a.rdma, NULL), no);
	IS(doca_rdma_get_gid_index(a.rdma, NULL), no);
	IS(doca_rdma_get_sl(a.rdma, NULL), no);
	IS(doca_rdma_get_connection_request_timeout(a.rdma, NULL), no);
	IS(doca_rdma_get_max_num_connections(a.rdma, NULL), no);
	IS(doca_rdma_get_rnr_retry_count(a.rdma, NULL), no);
	end_close(&a);
}

int main(void)
{
	TEST(queues_have_powers_of_two);
	TEST(lists_are_limited_by_the_device);
	TEST(a_new_context_has_defaults);
	TEST(a_request_has_time_enough);
	TEST(service_levels_are_those_of_infiniband);
	TEST(nothing_is_set_after_the_start);
	TEST(setters_need_a_context);
	TEST(getters_need_a_place);
	return tap_done();
}
