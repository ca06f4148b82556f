# SPDX-License-Identifier: BSD-2-Clause
#
# libpier-core: every object of the library, internal names included; tests
# are linked with it.
#
# libpier: the same objects, of which programs see what libpier.map names.
# The map also makes calls inside the library direct, so that no source needs
# to say what is hidden.

noinst_LTLIBRARIES += %D%/libpier-core.la
%C%_libpier_core_la_LIBADD = $(CARES_LIBS) $(IBVERBS_LIBS) $(ISAL_LIBS) \
	$(JANSSON_LIBS) $(MSGPACK_LIBS) $(RDMACM_LIBS)
%C%_libpier_core_la_SOURCES = \
	%D%/core/args.c \
	%D%/core/args.h \
	%D%/core/args_help.c \
	%D%/core/args_json.c \
	%D%/core/args_value.c \
	%D%/core/clock.c \
	%D%/core/clock.h \
	%D%/core/copy.c \
	%D%/core/copy.h \
	%D%/core/crc.c \
	%D%/core/crc.h \
	%D%/core/crc_copy.c \
	%D%/core/error.c \
	%D%/core/fail.c \
	%D%/core/fail.h \
	%D%/core/file.c \
	%D%/core/file.h \
	%D%/core/item.c \
	%D%/core/item.h \
	%D%/core/list.h \
	%D%/core/log.c \
	%D%/core/op.h \
	%D%/core/random.c \
	%D%/core/random.h \
	%D%/core/sockaddr.c \
	%D%/core/sockaddr.h \
	%D%/core/version.c \
	%D%/core/wire.c \
	%D%/core/wire.h \
	%D%/dev/bridge.c \
	%D%/dev/counters.c \
	%D%/dev/dev.c \
	%D%/dev/dev.h \
	%D%/dev/devinfo.c \
	%D%/dev/devlist.c \
	%D%/dev/events.c \
	%D%/engine/ctx.c \
	%D%/engine/ctx.h \
	%D%/engine/pe.c \
	%D%/engine/pe.h \
	%D%/engine/source.h \
	%D%/engine/task.c \
	%D%/engine/task.h \
	%D%/fabric/fabric.c \
	%D%/fabric/fabric.h \
	%D%/fabric/pci.c \
	%D%/fabric/pci.h \
	%D%/fabric/soft/capture.c \
	%D%/fabric/soft/capture.h \
	%D%/fabric/soft/chan.c \
	%D%/fabric/soft/chan.h \
	%D%/fabric/soft/cm.c \
	%D%/fabric/soft/cm.h \
	%D%/fabric/soft/cm_active.c \
	%D%/fabric/soft/cm_close.c \
	%D%/fabric/soft/cm_conn.h \
	%D%/fabric/soft/cm_event.c \
	%D%/fabric/soft/cm_find.c \
	%D%/fabric/soft/cm_passive.c \
	%D%/fabric/soft/cm_send.c \
	%D%/fabric/soft/cm_table.c \
	%D%/fabric/soft/cm_timer.c \
	%D%/fabric/soft/codec.c \
	%D%/fabric/soft/codec.h \
	%D%/fabric/soft/count.c \
	%D%/fabric/soft/count.h \
	%D%/fabric/soft/cq.c \
	%D%/fabric/soft/delay.c \
	%D%/fabric/soft/dest.c \
	%D%/fabric/soft/dev.c \
	%D%/fabric/soft/done.c \
	%D%/fabric/soft/ep.c \
	%D%/fabric/soft/ep.h \
	%D%/fabric/soft/heap.c \
	%D%/fabric/soft/heap.h \
	%D%/fabric/soft/helper.c \
	%D%/fabric/soft/helper.h \
	%D%/fabric/soft/icrc.c \
	%D%/fabric/soft/io.h \
	%D%/fabric/soft/mad.c \
	%D%/fabric/soft/mad.h \
	%D%/fabric/soft/mapped.c \
	%D%/fabric/soft/modify.c \
	%D%/fabric/soft/mr.c \
	%D%/fabric/soft/mr.h \
	%D%/fabric/soft/netif.c \
	%D%/fabric/soft/netif.h \
	%D%/fabric/soft/page.c \
	%D%/fabric/soft/page.h \
	%D%/fabric/soft/page_read.c \
	%D%/fabric/soft/pcap.c \
	%D%/fabric/soft/pcap.h \
	%D%/fabric/soft/post.c \
	%D%/fabric/soft/publish.c \
	%D%/fabric/soft/qp.c \
	%D%/fabric/soft/qp.h \
	%D%/fabric/soft/reply.c \
	%D%/fabric/soft/req.c \
	%D%/fabric/soft/resp.c \
	%D%/fabric/soft/route.c \
	%D%/fabric/soft/sge.c \
	%D%/fabric/soft/socks.c \
	%D%/fabric/soft/soft.c \
	%D%/fabric/soft/soft.h \
	%D%/fabric/soft/softcm.c \
	%D%/fabric/soft/srq.c \
	%D%/fabric/soft/table.c \
	%D%/fabric/soft/timer.c \
	%D%/fabric/soft/tx.c \
	%D%/fabric/soft/udp.c \
	%D%/fabric/soft/udp.h \
	%D%/fabric/soft/udp_rx.c \
	%D%/fabric/soft/udp_sock.h \
	%D%/fabric/soft/udp_tx.c \
	%D%/fabric/soft/wqe.c \
	%D%/fabric/verbs/cm.c \
	%D%/fabric/verbs/cm.h \
	%D%/fabric/verbs/cm_end.c \
	%D%/fabric/verbs/cm_hold.c \
	%D%/fabric/verbs/cm_step.c \
	%D%/fabric/verbs/cm_why.c \
	%D%/fabric/verbs/cm_why.h \
	%D%/fabric/verbs/dev.c \
	%D%/fabric/verbs/error.c \
	%D%/fabric/verbs/limits.c \
	%D%/fabric/verbs/list.c \
	%D%/fabric/verbs/mr.c \
	%D%/fabric/verbs/port.c \
	%D%/fabric/verbs/qp.c \
	%D%/fabric/verbs/queue.c \
	%D%/fabric/verbs/sys.c \
	%D%/fabric/verbs/sys.h \
	%D%/fabric/verbs/verbs.c \
	%D%/fabric/verbs/verbs.h \
	%D%/fabric/verbs/watch.c \
	%D%/fabric/verbs/watch.h \
	%D%/fabric/verbs/why.c \
	%D%/fabric/verbs/why.h \
	%D%/mem/bridge.c \
	%D%/mem/buf.c \
	%D%/mem/buf.h \
	%D%/mem/chain.c \
	%D%/mem/export.c \
	%D%/mem/mmap.c \
	%D%/mem/mmap.h \
	%D%/ops/desc.c \
	%D%/ops/desc.h \
	%D%/ops/rdma.c \
	%D%/ops/rdma.h \
	%D%/ops/rdma_build.c \
	%D%/ops/rdma_cm.c \
	%D%/ops/rdma_config.c \
	%D%/ops/rdma_oneshot.c \
	%D%/ops/rdma_pool.c \
	%D%/ops/rdma_submit.c \
	%D%/ops/rdma_submit.h \
	%D%/ops/rdma_task.c \
	%D%/ops/rendezvous.c \
	%D%/ops/rendezvous.h \
	%D%/ops/rendezvous_cm.c \
	%D%/ops/rendezvous_many.c \
	%D%/ops/serve.c \
	# end, sorted

lib_LTLIBRARIES += %D%/libpier.la
%C%_libpier_la_SOURCES =
%C%_libpier_la_LIBADD = %D%/libpier-core.la
# The soname is libpier.so.C-A of -version-info C:R:A.  At a release: R + 1 if
# code changed; C + 1, R = 0, A + 1 if calls were added; C + 1, R = 0, A = 0
# if one was changed or taken away, which before 1.0 the NEWS tells and after
# 1.0 does not happen.  A released node of the map never changes.
%C%_libpier_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libpier.map \
	-Wl,-Bsymbolic-functions
if !SANITIZE
%C%_libpier_la_LDFLAGS += -no-undefined -Wl,-z,defs
endif
EXTRA_%C%_libpier_la_DEPENDENCIES = %D%/libpier.map
EXTRA_DIST += %D%/libpier.map

pierincludedir = $(includedir)/pier
pierinclude_HEADERS = \
	%D%/include/pier/args.h \
	%D%/include/pier/buf.h \
	%D%/include/pier/cm.h \
	%D%/include/pier/conn.h \
	%D%/include/pier/counters.h \
	%D%/include/pier/ctx.h \
	%D%/include/pier/desc.h \
	%D%/include/pier/dev.h \
	%D%/include/pier/error.h \
	%D%/include/pier/exchange.h \
	%D%/include/pier/log.h \
	%D%/include/pier/mmap.h \
	%D%/include/pier/pe.h \
	%D%/include/pier/pier.h \
	%D%/include/pier/rdma.h \
	%D%/include/pier/rendezvous.h \
	%D%/include/pier/task.h \
	%D%/include/pier/uv.h \
	%D%/include/pier/verbs.h \
	%D%/include/pier/version.h \
	# end, sorted
