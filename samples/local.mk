# SPDX-License-Identifier: BSD-2-Clause
#
# A sample is one file, and one word in each list; it is built here, and its
# source installed.

noinst_PROGRAMS += \
	%D%/comch_ctrl_path_client \
	%D%/comch_ctrl_path_server \
	%D%/comch_data_path_client \
	%D%/comch_data_path_server \
	%D%/dma_copy \
	%D%/dma_copy_dpu \
	%D%/dma_copy_host \
	%D%/dma_local_copy \
	%D%/doca_workq \
	%D%/graph \
	%D%/pe_async_stop \
	%D%/pe_event \
	%D%/pe_multi_context \
	%D%/pe_polling \
	%D%/pe_reactive \
	%D%/pe_task_error \
	%D%/pe_task_resubmit \
	%D%/pe_task_try_submit \
	%D%/pe_threads \
	%D%/rdma_atomic_requester \
	%D%/rdma_atomic_responder \
	%D%/rdma_multi_conn_receive \
	%D%/rdma_multi_conn_send \
	%D%/rdma_read_requester \
	%D%/rdma_read_responder \
	%D%/rdma_receive \
	%D%/rdma_receive_immediate \
	%D%/rdma_send \
	%D%/rdma_send_immediate \
	%D%/rdma_sync_event_requester \
	%D%/rdma_sync_event_responder \
	%D%/rdma_write_immediate_requester \
	%D%/rdma_write_immediate_responder \
	%D%/rdma_write_requester \
	%D%/rdma_write_responder \
	%D%/services/kv_client \
	%D%/services/kv_server \
	%D%/services/reconnect_client \
	%D%/services/reconnect_server \
	%D%/services/request_reply_client \
	%D%/services/request_reply_server \
	%D%/services/threads \
	%D%/services/uv_echo \
	%D%/sync_event_dpu \
	%D%/sync_event_host \
	%D%/sync_event_local \
	%D%/workq \
	# end, sorted

# This one is for DOCA 2.0.
%C%_doca_workq_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/bindings/doca-2.0/include \
	-I$(top_srcdir)/bindings/doca/include
%C%_doca_workq_LDADD = bindings/doca-2.0/libpier-doca-2.0.la lib/libpier.la

# This one is for libuv.
%C%_services_uv_echo_CPPFLAGS = $(AM_CPPFLAGS) $(LIBUV_CFLAGS)
%C%_services_uv_echo_LDADD = lib/uv/libpier-uv.la lib/libpier.la $(LIBUV_LIBS)

samplesdir = $(docdir)/samples
dist_samples_DATA = \
	%D%/comch_ctrl_path_client.c \
	%D%/comch_ctrl_path_server.c \
	%D%/comch_data_path_client.c \
	%D%/comch_data_path_server.c \
	%D%/dma_copy.c \
	%D%/dma_copy_dpu.c \
	%D%/dma_copy_host.c \
	%D%/dma_local_copy.c \
	%D%/doca_workq.c \
	%D%/graph.c \
	%D%/meson.build \
	%D%/pe_async_stop.c \
	%D%/pe_event.c \
	%D%/pe_multi_context.c \
	%D%/pe_polling.c \
	%D%/pe_reactive.c \
	%D%/pe_task_error.c \
	%D%/pe_task_resubmit.c \
	%D%/pe_task_try_submit.c \
	%D%/pe_threads.c \
	%D%/rdma_atomic_requester.c \
	%D%/rdma_atomic_responder.c \
	%D%/rdma_multi_conn_receive.c \
	%D%/rdma_multi_conn_send.c \
	%D%/rdma_read_requester.c \
	%D%/rdma_read_responder.c \
	%D%/rdma_receive.c \
	%D%/rdma_receive_immediate.c \
	%D%/rdma_send.c \
	%D%/rdma_send_immediate.c \
	%D%/rdma_sync_event_requester.c \
	%D%/rdma_sync_event_responder.c \
	%D%/rdma_write_immediate_requester.c \
	%D%/rdma_write_immediate_responder.c \
	%D%/rdma_write_requester.c \
	%D%/rdma_write_responder.c \
	%D%/sync_event_dpu.c \
	%D%/sync_event_host.c \
	%D%/sync_event_local.c \
	%D%/workq.c \
	# end, sorted

servicesdir = $(docdir)/samples/services
dist_services_DATA = \
	%D%/services/kv_client.c \
	%D%/services/kv_server.c \
	%D%/services/meson.build \
	%D%/services/reconnect_client.c \
	%D%/services/reconnect_server.c \
	%D%/services/request_reply_client.c \
	%D%/services/request_reply_server.c \
	%D%/services/threads.c \
	%D%/services/uv_echo.c \
	# end, sorted
