# SPDX-License-Identifier: BSD-2-Clause
#
# Libraries in place of rdma-core's, for `pier run`: a folder of their own, so
# that no program finds them by itself.

# The sockets of each library are its own: dropin/socket.c.
own_socket = -Wl,--defsym=socket=pier__dropin_socket

dropindir = $(libdir)/pier/dropin
dropin_LTLIBRARIES = %D%/libibverbs.la %D%/libpier-files.la %D%/librdmacm.la
%C%_libibverbs_la_LIBADD = lib/libpier-soft.la
%C%_libibverbs_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-info 1:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libibverbs.map \
	$(own_socket)
if !SANITIZE
%C%_libibverbs_la_LDFLAGS += -no-undefined -Wl,-z,defs
endif
EXTRA_%C%_libibverbs_la_DEPENDENCIES = %D%/libibverbs.map directories
EXTRA_DIST += %D%/libibverbs.map
%C%_libibverbs_la_SOURCES = \
	%D%/cm.h \
	%D%/dropin.h \
	%D%/ibv_absent.c \
	%D%/ibv_ah.c \
	%D%/ibv_async.c \
	%D%/ibv_bell.c \
	%D%/ibv_buf.c \
	%D%/ibv_channel.c \
	%D%/ibv_cm.c \
	%D%/ibv_context.c \
	%D%/ibv_cq.c \
	%D%/ibv_cq_ex.c \
	%D%/ibv_device.c \
	%D%/ibv_marshall.c \
	%D%/ibv_mcast.c \
	%D%/ibv_mr.c \
	%D%/ibv_mw.c \
	%D%/ibv_other.c \
	%D%/ibv_pd.c \
	%D%/ibv_peers.c \
	%D%/ibv_post.c \
	%D%/ibv_private.c \
	%D%/ibv_qp.c \
	%D%/ibv_qp_modify.c \
	%D%/ibv_query.c \
	%D%/ibv_rate.c \
	%D%/ibv_srq.c \
	%D%/ibv_sysfs.c \
	%D%/ibv_text.c \
	%D%/ibv_wr.c \
	%D%/private.h \
	%D%/real/calls.h \
	%D%/real/context.c \
	%D%/real/forward.c \
	%D%/real/load.c \
	%D%/real/names.h \
	%D%/real/real.h \
	%D%/socket.c \
	# end, sorted

# The second needs the first: a process has one engine.
%C%_librdmacm_la_LIBADD = %D%/libibverbs.la
%C%_librdmacm_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-info 1:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/librdmacm.map \
	$(own_socket)
if !SANITIZE
%C%_librdmacm_la_LDFLAGS += -no-undefined -Wl,-z,defs
endif
EXTRA_%C%_librdmacm_la_DEPENDENCIES = %D%/librdmacm.map directories
EXTRA_DIST += %D%/librdmacm.map
%C%_librdmacm_la_SOURCES = \
	%D%/cm.h \
	%D%/cma/cma.h \
	%D%/cma/cma_absent.c \
	%D%/cma/cma_addr.c \
	%D%/cma/cma_addrinfo.c \
	%D%/cma/cma_channel.c \
	%D%/cma/cma_connect.c \
	%D%/cma/cma_device.c \
	%D%/cma/cma_ep.c \
	%D%/cma/cma_event.c \
	%D%/cma/cma_fork.c \
	%D%/cma/cma_id.c \
	%D%/cma/cma_join.c \
	%D%/cma/cma_listen.c \
	%D%/cma/cma_name.c \
	%D%/cma/cma_param.c \
	%D%/cma/cma_port.c \
	%D%/cma/cma_qp.c \
	%D%/cma/cma_real.h \
	%D%/cma/cma_real_calls.h \
	%D%/cma/cma_real_channel.c \
	%D%/cma/cma_real_id.c \
	%D%/cma/cma_real_load.c \
	%D%/cma/cma_real_qp.c \
	%D%/cma/cma_srq.c \
	%D%/cma/cma_text.c \
	%D%/cma/cma_watch.c \
	%D%/rsocket/rs.h \
	%D%/rsocket/rs_conn.c \
	%D%/rsocket/rs_iomap.c \
	%D%/rsocket/rs_option.c \
	%D%/rsocket/rs_poll.c \
	%D%/rsocket/rs_queue.c \
	%D%/rsocket/rs_recv.c \
	%D%/rsocket/rs_send.c \
	%D%/rsocket/rs_table.c \
	%D%/rsocket/rs_wait.c \
	%D%/socket.c \
	# end, sorted

# Calls of the C library, in front of those: it is preloaded, and has no version
# of its own, so that it stands for all of them.
%C%_libpier_files_la_CPPFLAGS = $(AM_CPPFLAGS) -U_FORTIFY_SOURCE
%C%_libpier_files_la_LIBADD = %D%/libibverbs.la
%C%_libpier_files_la_LDFLAGS = $(AM_LDFLAGS) -shared -avoid-version \
	-export-symbols-regex '^(__)?(f?open|[fl]?x?stat|f?access|re|close)'
%C%_libpier_files_la_SOURCES = \
	%D%/dropin.h \
	%D%/files/files.c \
	%D%/files/files.h \
	%D%/files/files_calls.c \
	%D%/files/folder.c \
	%D%/files/folder_calls.c \
	# end, sorted
