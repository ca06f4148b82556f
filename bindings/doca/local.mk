# SPDX-License-Identifier: BSD-2-Clause
#
# libpier-doca: programs written for DOCA build on pier.  It sees pier as every
# program does.  Its soname follows the same rules as libpier's.

# libpier-doca-both: what libpier-doca-2.0 has too.
noinst_LTLIBRARIES += %D%/libpier-doca-both.la
%C%_libpier_doca_both_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/%D%/include
%C%_libpier_doca_both_la_LIBADD = $(JANSSON_LIBS)
%C%_libpier_doca_both_la_SOURCES = \
	%D%/doca_argp.c \
	%D%/doca_argp_cmd.c \
	%D%/doca_argp_general.c \
	%D%/doca_argp_impl.h \
	%D%/doca_argp_json.c \
	%D%/doca_argp_param.c \
	%D%/doca_argp_parse.c \
	%D%/doca_buf.c \
	%D%/doca_buf_array.c \
	%D%/doca_buf_impl.h \
	%D%/doca_buf_inventory.c \
	%D%/doca_buf_inventory_impl.h \
	%D%/doca_buf_list.c \
	%D%/doca_buf_pool.c \
	%D%/doca_dev.c \
	%D%/doca_dev_absent.c \
	%D%/doca_dev_impl.h \
	%D%/doca_dev_rep.c \
	%D%/doca_devinfo.c \
	%D%/doca_error.c \
	%D%/doca_fail.h \
	%D%/doca_log.c \
	%D%/doca_log_backend.c \
	%D%/doca_log_impl.h \
	%D%/doca_log_sink.c \
	%D%/doca_mmap.c \
	%D%/doca_mmap_attr.c \
	%D%/doca_mmap_impl.h \
	%D%/doca_mmap_pci.c \
	%D%/doca_rdma_bridge.c \
	%D%/doca_sync_event_call.c \
	%D%/doca_sync_event_call.h \
	# end, sorted

# libpier-doca-core: every object, which t/bench measures; libpier-doca: the
# same, of which programs see what the map names.
noinst_LTLIBRARIES += %D%/libpier-doca-core.la
%C%_libpier_doca_core_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/%D%/include
%C%_libpier_doca_core_la_LIBADD = %D%/libpier-doca-both.la
%C%_libpier_doca_core_la_SOURCES = \
	%D%/doca_buf_inventory_create.c \
	%D%/doca_clock.c \
	%D%/doca_comch.c \
	%D%/doca_comch_cap.c \
	%D%/doca_comch_client.c \
	%D%/doca_comch_conn.c \
	%D%/doca_comch_consumer.c \
	%D%/doca_comch_event.c \
	%D%/doca_comch_impl.h \
	%D%/doca_comch_processor.c \
	%D%/doca_comch_producer.c \
	%D%/doca_comch_server.c \
	%D%/doca_comch_task.c \
	%D%/doca_ctx.c \
	%D%/doca_ctx_impl.h \
	%D%/doca_dma.c \
	%D%/doca_graph.c \
	%D%/doca_graph_impl.h \
	%D%/doca_graph_instance.c \
	%D%/doca_mmap_advise.c \
	%D%/doca_mmap_create.c \
	%D%/doca_pe.c \
	%D%/doca_processor.c \
	%D%/doca_rdma.c \
	%D%/doca_rdma_addr.c \
	%D%/doca_rdma_cap.c \
	%D%/doca_rdma_cm.c \
	%D%/doca_rdma_config.c \
	%D%/doca_rdma_conn.c \
	%D%/doca_rdma_get.c \
	%D%/doca_rdma_impl.h \
	%D%/doca_rdma_sync_event.c \
	%D%/doca_rdma_task.c \
	%D%/doca_rdma_task_atomic_cmp_swp.c \
	%D%/doca_rdma_task_atomic_fetch_add.c \
	%D%/doca_rdma_task_read.c \
	%D%/doca_rdma_task_receive.c \
	%D%/doca_rdma_task_send.c \
	%D%/doca_rdma_task_send_imm.c \
	%D%/doca_rdma_task_write.c \
	%D%/doca_rdma_task_write_imm.c \
	%D%/doca_sync_event.c \
	%D%/doca_sync_event_impl.h \
	%D%/doca_sync_event_net.c \
	%D%/doca_sync_event_pci.c \
	%D%/doca_sync_event_processor.c \
	%D%/doca_sync_event_task.c \
	%D%/doca_task.c \
	%D%/doca_task_batch.c \
	%D%/doca_task_impl.h \
	%D%/doca_task_pool.c \
	%D%/doca_version.c \
	# end, sorted

lib_LTLIBRARIES += %D%/libpier-doca.la
%C%_libpier_doca_la_SOURCES =
%C%_libpier_doca_la_LIBADD = %D%/libpier-doca-core.la lib/libpier.la
%C%_libpier_doca_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libpier-doca.map \
	-Wl,-Bsymbolic-functions
EXTRA_%C%_libpier_doca_la_DEPENDENCIES = %D%/libpier-doca.map
EXTRA_DIST += %D%/libpier-doca.map

# Not among the system's headers: a DOCA that is installed has its own.
docaincludedir = $(pkgincludedir)-doca
docainclude_HEADERS = \
	%D%/include/doca_argp.h \
	%D%/include/doca_buf.h \
	%D%/include/doca_buf_array.h \
	%D%/include/doca_buf_inventory.h \
	%D%/include/doca_buf_pool.h \
	%D%/include/doca_build_config.h \
	%D%/include/doca_clock.h \
	%D%/include/doca_comch.h \
	%D%/include/doca_comch_consumer.h \
	%D%/include/doca_comch_producer.h \
	%D%/include/doca_compat.h \
	%D%/include/doca_config.h \
	%D%/include/doca_ctx.h \
	%D%/include/doca_dev.h \
	%D%/include/doca_dma.h \
	%D%/include/doca_error.h \
	%D%/include/doca_graph.h \
	%D%/include/doca_log.h \
	%D%/include/doca_mmap.h \
	%D%/include/doca_mmap_advise.h \
	%D%/include/doca_pe.h \
	%D%/include/doca_rdma.h \
	%D%/include/doca_rdma_bridge.h \
	%D%/include/doca_sync_event.h \
	%D%/include/doca_types.h \
	%D%/include/doca_version.h \
	# end, sorted

# One library under each name that programs ask for.
pkgconfig_DATA += \
	%D%/doca-argp.pc \
	%D%/doca-comch.pc \
	%D%/doca-common.pc \
	%D%/doca-dma.pc \
	%D%/doca-rdma.pc \
	%D%/doca.pc \
	# end, sorted
