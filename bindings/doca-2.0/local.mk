# SPDX-License-Identifier: BSD-2-Clause
#
# libpier-doca-2.0: programs written for DOCA 2.0, with work queues and jobs,
# build on pier.  What has the same name and shape as today is libpier-doca's.

lib_LTLIBRARIES += %D%/libpier-doca-2.0.la
%C%_libpier_doca_2_0_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/%D%/include -I$(top_srcdir)/bindings/doca/include \
	-I$(top_srcdir)
%C%_libpier_doca_2_0_la_SOURCES = \
	%D%/doca20_buf.c \
	%D%/doca20_buf_inventory.c \
	%D%/doca20_ctx.c \
	%D%/doca20_dev.c \
	%D%/doca20_dma.c \
	%D%/doca20_graph.c \
	%D%/doca20_graph_impl.h \
	%D%/doca20_graph_instance.c \
	%D%/doca20_mmap.c \
	%D%/doca20_rdma.c \
	%D%/doca20_rdma_cap.c \
	%D%/doca20_rdma_impl.h \
	%D%/doca20_rdma_job.c \
	%D%/doca20_sha.c \
	%D%/doca20_sync_event.c \
	%D%/doca20_sync_event_absent.c \
	%D%/doca20_sync_event_dpu.c \
	%D%/doca20_sync_event_impl.h \
	%D%/doca20_version.c \
	%D%/doca20_workq.c \
	%D%/doca20_workq_impl.h \
	# end, sorted
%C%_libpier_doca_2_0_la_LIBADD = bindings/doca/libpier-doca-both.la \
	lib/libpier.la
%C%_libpier_doca_2_0_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libpier-doca-2.0.map \
	-Wl,-Bsymbolic-functions
EXTRA_%C%_libpier_doca_2_0_la_DEPENDENCIES = %D%/libpier-doca-2.0.map
EXTRA_DIST += %D%/libpier-doca-2.0.map

# The second list is of headers that are as today.
doca20includedir = $(pkgincludedir)-doca-2.0
doca20include_HEADERS = \
	%D%/include/doca_buf.h \
	%D%/include/doca_buf_inventory.h \
	%D%/include/doca_bufpool.h \
	%D%/include/doca_ctx.h \
	%D%/include/doca_dev.h \
	%D%/include/doca_dma.h \
	%D%/include/doca_dpa_sync_event.h \
	%D%/include/doca_graph.h \
	%D%/include/doca_mmap.h \
	%D%/include/doca_rdma.h \
	%D%/include/doca_sha.h \
	%D%/include/doca_sync_event.h \
	%D%/include/doca_types.h \
	%D%/include/doca_version.h \
	# end, sorted
doca20include_HEADERS += \
	bindings/doca/include/doca_argp.h \
	bindings/doca/include/doca_buf_array.h \
	bindings/doca/include/doca_buf_pool.h \
	bindings/doca/include/doca_build_config.h \
	bindings/doca/include/doca_compat.h \
	bindings/doca/include/doca_error.h \
	bindings/doca/include/doca_log.h \
	# end, sorted

# The name that programs ask for, in a directory of its own; and one that no
# other module has.
pkgconfig_DATA += %D%/doca-2.0.pc
doca20pkgconfigdir = $(libdir)/pier-doca-2.0/pkgconfig
doca20pkgconfig_DATA = %D%/doca.pc
