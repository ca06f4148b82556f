# SPDX-License-Identifier: BSD-2-Clause
#
# libpier-core: every object of the library, internal names included; tests
# are linked with it.
#
# libpier: the same objects, of which programs see what libpier.map names.
# The map also makes calls inside the library direct, so that no source needs
# to say what is hidden.

# libpier-soft: the part of both that dropin/ is made of, too, the soft device
# and what it uses.

noinst_LTLIBRARIES += %D%/libpier-soft.la
%C%_libpier_soft_la_LIBADD = $(ISAL_LIBS) $(LIBMNL_LIBS)
%C%_libpier_soft_la_SOURCES = \
	%D%/core/bits.c \
	%D%/core/bits.h \
	%D%/core/clock.c \
	%D%/core/clock.h \
	%D%/core/copy.c \
	%D%/core/copy.h \
	%D%/core/crc.c \
	%D%/core/crc.h \
	%D%/core/crc_copy.c \
	%D%/core/device_access.h \
	%D%/core/error.c \
	%D%/core/fail.c \
	%D%/core/fail.h \
	%D%/core/file.c \
	%D%/core/file.h \
	%D%/core/futex.c \
	%D%/core/futex.h \
	%D%/core/guard.c \
	%D%/core/guard.h \
	%D%/core/hash.c \
	%D%/core/hash.h \
	%D%/core/item.c \
	%D%/core/item.h \
	%D%/core/list.h \
	%D%/core/log.c \
	%D%/core/op.h \
	%D%/core/random.c \
	%D%/core/random.h \
	%D%/core/roce.h \
	%D%/core/sockaddr.c \
	%D%/core/sockaddr.h \
	%D%/core/text.c \
	%D%/core/thread.c \
	%D%/core/thread.h \
	%D%/core/version.c \
	%D%/fabric/fabric.c \
	%D%/fabric/fabric.h \
	%D%/fabric/pci.c \
	%D%/fabric/pci.h \
	%D%/fabric/soft/cm/cm_active.c \
	%D%/fabric/soft/cm/cm_close.c \
	%D%/fabric/soft/cm/cm_conn.h \
	%D%/fabric/soft/cm/cm_event.c \
	%D%/fabric/soft/cm/cm_find.c \
	%D%/fabric/soft/cm/cm_passive.c \
	%D%/fabric/soft/cm/cm_recv.c \
	%D%/fabric/soft/cm/cm_send.c \
	%D%/fabric/soft/cm/cm_stale.c \
	%D%/fabric/soft/cm/cm_table.c \
	%D%/fabric/soft/cm/cm_timer.c \
	%D%/fabric/soft/cm/soft_cm.h \
	%D%/fabric/soft/io/chan.c \
	%D%/fabric/soft/io/chan.h \
	%D%/fabric/soft/io/fdev.c \
	%D%/fabric/soft/io/fdev.h \
	%D%/fabric/soft/io/helper.c \
	%D%/fabric/soft/io/helper.h \
	%D%/fabric/soft/io/netif.c \
	%D%/fabric/soft/io/netif.h \
	%D%/fabric/soft/io/route.c \
	%D%/fabric/soft/io/sock_stats.c \
	%D%/fabric/soft/io/socks.c \
	%D%/fabric/soft/io/udp.c \
	%D%/fabric/soft/io/udp.h \
	%D%/fabric/soft/io/udp_rx.c \
	%D%/fabric/soft/io/udp_sock.h \
	%D%/fabric/soft/io/udp_tx.c \
	%D%/fabric/soft/rc/ack_coalesce.c \
	%D%/fabric/soft/rc/board.c \
	%D%/fabric/soft/rc/board_pool.c \
	%D%/fabric/soft/rc/cq.c \
	%D%/fabric/soft/rc/cwnd.c \
	%D%/fabric/soft/rc/cwnd.h \
	%D%/fabric/soft/rc/early.c \
	%D%/fabric/soft/rc/ep.c \
	%D%/fabric/soft/rc/ep.h \
	%D%/fabric/soft/rc/fault.c \
	%D%/fabric/soft/rc/incast.c \
	%D%/fabric/soft/rc/mapped.c \
	%D%/fabric/soft/rc/mr.c \
	%D%/fabric/soft/rc/mr.h \
	%D%/fabric/soft/rc/post_send.c \
	%D%/fabric/soft/rc/probe.c \
	%D%/fabric/soft/rc/qp.c \
	%D%/fabric/soft/rc/qp.h \
	%D%/fabric/soft/rc/qp_modify.c \
	%D%/fabric/soft/rc/qp_table.c \
	%D%/fabric/soft/rc/qpn.h \
	%D%/fabric/soft/rc/requester.c \
	%D%/fabric/soft/rc/requester_ack.c \
	%D%/fabric/soft/rc/requester_read.c \
	%D%/fabric/soft/rc/responder.c \
	%D%/fabric/soft/rc/responder_reply.c \
	%D%/fabric/soft/rc/sge.c \
	%D%/fabric/soft/rc/srq.c \
	%D%/fabric/soft/rc/timer.c \
	%D%/fabric/soft/rc/timer_heap.c \
	%D%/fabric/soft/rc/timer_heap.h \
	%D%/fabric/soft/rc/tx.c \
	%D%/fabric/soft/rc/ud.c \
	%D%/fabric/soft/rc/wqe.c \
	%D%/fabric/soft/soft.c \
	%D%/fabric/soft/soft.h \
	%D%/fabric/soft/soft_cm.c \
	%D%/fabric/soft/soft_dev.c \
	%D%/fabric/soft/stats/capture.c \
	%D%/fabric/soft/stats/capture.h \
	%D%/fabric/soft/stats/count.c \
	%D%/fabric/soft/stats/count.h \
	%D%/fabric/soft/stats/counters_file.c \
	%D%/fabric/soft/stats/counters_file.h \
	%D%/fabric/soft/stats/counters_read.c \
	%D%/fabric/soft/stats/pcap.c \
	%D%/fabric/soft/stats/pcap.h \
	%D%/fabric/soft/wire/codec.c \
	%D%/fabric/soft/wire/codec.h \
	%D%/fabric/soft/wire/icrc.c \
	%D%/fabric/soft/wire/mad.c \
	%D%/fabric/soft/wire/mad.h \
	%D%/fabric/soft/wire/packet.h \
	# end, sorted

noinst_LTLIBRARIES += %D%/libpier-core.la
%C%_libpier_core_la_LIBADD = %D%/libpier-soft.la $(CARES_LIBS) \
	$(IBVERBS_LIBS) $(ISAL_LIBS) $(CRYPTO_LIBS) $(LIBURING_LIBS) \
	$(XXHASH_LIBS) $(JANSSON_LIBS) $(LIBMNL_LIBS) $(MSGPACK_LIBS) \
	$(RDMACM_LIBS)
%C%_libpier_core_la_SOURCES = \
	%D%/app/args.c \
	%D%/app/args_help.c \
	%D%/app/args_impl.h \
	%D%/app/args_json.c \
	%D%/app/args_value.c \
	%D%/app/desc_file.c \
	%D%/app/rendezvous.c \
	%D%/app/rendezvous_cm.c \
	%D%/app/rendezvous_impl.h \
	%D%/app/rendezvous_many.c \
	%D%/app/serve.c \
	%D%/copy/copy_ahead.c \
	%D%/copy/copy_bytes.h \
	%D%/copy/copy_client.c \
	%D%/copy/copy_config.c \
	%D%/copy/copy_digest.c \
	%D%/copy/copy_file.c \
	%D%/copy/copy_flight.c \
	%D%/copy/copy_flight.h \
	%D%/copy/copy_hash.c \
	%D%/copy/copy_hash.h \
	%D%/copy/copy_hello.c \
	%D%/copy/copy_impl.h \
	%D%/copy/copy_io.c \
	%D%/copy/copy_io.h \
	%D%/copy/copy_link.c \
	%D%/copy/copy_move.c \
	%D%/copy/copy_msg.c \
	%D%/copy/copy_msg.h \
	%D%/copy/copy_place.c \
	%D%/copy/copy_pool.c \
	%D%/copy/copy_pool.h \
	%D%/copy/copy_read.c \
	%D%/copy/copy_receiver.c \
	%D%/copy/copy_receiver.h \
	%D%/copy/copy_record.c \
	%D%/copy/copy_record.h \
	%D%/copy/copy_sender.c \
	%D%/copy/copy_sender.h \
	%D%/copy/copy_server.c \
	%D%/copy/copy_session.c \
	%D%/copy/copy_target.c \
	%D%/copy/copy_target.h \
	%D%/copy/copy_tree.c \
	%D%/copy/copy_tree.h \
	%D%/copy/copy_walk.c \
	%D%/copy/copy_write.c \
	%D%/core/wire.c \
	%D%/core/wire.h \
	%D%/dev/counters.c \
	%D%/dev/dev.c \
	%D%/dev/dev_impl.h \
	%D%/dev/dev_verbs.c \
	%D%/dev/devinfo.c \
	%D%/dev/devlist.c \
	%D%/dev/events.c \
	%D%/dev/rep.c \
	%D%/dev/rep_impl.h \
	%D%/dev/rep_port.c \
	%D%/dev/repinfo.c \
	%D%/dev/replist.c \
	%D%/engine/ctx.c \
	%D%/engine/ctx_impl.h \
	%D%/engine/finished.c \
	%D%/engine/pe.c \
	%D%/engine/pe_impl.h \
	%D%/engine/source.c \
	%D%/engine/source.h \
	%D%/engine/task.c \
	%D%/engine/task_impl.h \
	%D%/engine/task_pool.c \
	%D%/engine/task_pool.h \
	%D%/engine/task_queue.h \
	%D%/engine/task_timeout.c \
	%D%/engine/task_timeout.h \
	%D%/engine/task_wait.c \
	%D%/engine/worker.c \
	%D%/engine/worker.h \
	%D%/fabric/registry.c \
	%D%/fabric/registry.h \
	%D%/fabric/verbs/cm_access.c \
	%D%/fabric/verbs/cm_access.h \
	%D%/fabric/verbs/diagnose.c \
	%D%/fabric/verbs/diagnose.h \
	%D%/fabric/verbs/limits.c \
	%D%/fabric/verbs/list.c \
	%D%/fabric/verbs/port.c \
	%D%/fabric/verbs/queue.c \
	%D%/fabric/verbs/sys.c \
	%D%/fabric/verbs/sys.h \
	%D%/fabric/verbs/verbs.c \
	%D%/fabric/verbs/verbs_cm.c \
	%D%/fabric/verbs/verbs_cm.h \
	%D%/fabric/verbs/verbs_cm_end.c \
	%D%/fabric/verbs/verbs_cm_hold.c \
	%D%/fabric/verbs/verbs_cm_step.c \
	%D%/fabric/verbs/verbs_dev.c \
	%D%/fabric/verbs/verbs_errno.c \
	%D%/fabric/verbs/verbs_impl.h \
	%D%/fabric/verbs/verbs_mr.c \
	%D%/fabric/verbs/verbs_qp.c \
	%D%/fabric/verbs/watch.c \
	%D%/fabric/verbs/watch.h \
	%D%/mem/access.c \
	%D%/mem/access.h \
	%D%/mem/buf.c \
	%D%/mem/buf_array.c \
	%D%/mem/buf_impl.h \
	%D%/mem/buf_pool.c \
	%D%/mem/chain.c \
	%D%/mem/export.c \
	%D%/mem/mem_verbs.c \
	%D%/mem/mmap.c \
	%D%/mem/mmap_config.c \
	%D%/mem/mmap_devs.c \
	%D%/mem/mmap_impl.h \
	%D%/mem/mmap_origin.h \
	%D%/mem/mmap_users.c \
	%D%/mem/own.c \
	%D%/mem/own.h \
	%D%/ops/comch.c \
	%D%/ops/comch_call.c \
	%D%/ops/comch_call.h \
	%D%/ops/comch_call_send.c \
	%D%/ops/comch_client.c \
	%D%/ops/comch_conn.c \
	%D%/ops/comch_consumer.c \
	%D%/ops/comch_data.c \
	%D%/ops/comch_data.h \
	%D%/ops/comch_data_task.c \
	%D%/ops/comch_dir.c \
	%D%/ops/comch_dir.h \
	%D%/ops/comch_frame.c \
	%D%/ops/comch_impl.h \
	%D%/ops/comch_name.c \
	%D%/ops/comch_pending.c \
	%D%/ops/comch_producer.c \
	%D%/ops/comch_producer_task.c \
	%D%/ops/comch_recv.c \
	%D%/ops/comch_reply.c \
	%D%/ops/comch_send.c \
	%D%/ops/comch_server.c \
	%D%/ops/comch_share.c \
	%D%/ops/comch_target.h \
	%D%/ops/comch_wire.c \
	%D%/ops/comch_wire.h \
	%D%/ops/cpu_ctx.c \
	%D%/ops/cpu_ctx.h \
	%D%/ops/desc.c \
	%D%/ops/desc_impl.h \
	%D%/ops/digest.c \
	%D%/ops/digest.h \
	%D%/ops/dma.c \
	%D%/ops/dma_export.c \
	%D%/ops/dma_impl.h \
	%D%/ops/dma_piece.c \
	%D%/ops/dma_remote.c \
	%D%/ops/dma_remote.h \
	%D%/ops/feature.c \
	%D%/ops/func.c \
	%D%/ops/graph.c \
	%D%/ops/graph_claim.c \
	%D%/ops/graph_impl.h \
	%D%/ops/graph_run.c \
	%D%/ops/host.c \
	%D%/ops/limit.c \
	%D%/ops/limit.h \
	%D%/ops/local_buf.c \
	%D%/ops/local_buf.h \
	%D%/ops/origin.c \
	%D%/ops/origin.h \
	%D%/ops/origin_use.c \
	%D%/ops/rdma.c \
	%D%/ops/rdma_atomic.c \
	%D%/ops/rdma_build.c \
	%D%/ops/rdma_build.h \
	%D%/ops/rdma_cancel.c \
	%D%/ops/rdma_cm.c \
	%D%/ops/rdma_config.c \
	%D%/ops/rdma_impl.h \
	%D%/ops/rdma_read.c \
	%D%/ops/rdma_recv.c \
	%D%/ops/rdma_send.c \
	%D%/ops/rdma_submit.c \
	%D%/ops/rdma_sync_event.c \
	%D%/ops/rdma_task.c \
	%D%/ops/rdma_task.h \
	%D%/ops/rdma_wait.c \
	%D%/ops/rdma_write.c \
	%D%/ops/service.c \
	%D%/ops/service.h \
	%D%/ops/service_file.c \
	%D%/ops/service_file.h \
	%D%/ops/servicelist.c \
	%D%/ops/sha.c \
	%D%/ops/sync_event.c \
	%D%/ops/sync_event_call.c \
	%D%/ops/sync_event_export.c \
	%D%/ops/sync_event_impl.h \
	%D%/ops/sync_event_process.c \
	%D%/ops/sync_event_remote.c \
	%D%/ops/sync_event_remote.h \
	%D%/ops/sync_event_task.c \
	%D%/ops/sync_event_wait.c \
	%D%/ops/task_type.c \
	%D%/ops/task_type.h \
	%D%/ops/type_tasks.c \
	%D%/ops/type_tasks.h \
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
EXTRA_%C%_libpier_la_DEPENDENCIES = %D%/libpier.map directories
EXTRA_DIST += %D%/libpier.map

pierincludedir = $(includedir)/pier
pierinclude_HEADERS = \
	%D%/include/pier/args.h \
	%D%/include/pier/buf.h \
	%D%/include/pier/buf_array.h \
	%D%/include/pier/buf_pool.h \
	%D%/include/pier/cm.h \
	%D%/include/pier/comch.h \
	%D%/include/pier/comch_data.h \
	%D%/include/pier/comch_request.h \
	%D%/include/pier/conn.h \
	%D%/include/pier/copy.h \
	%D%/include/pier/counters.h \
	%D%/include/pier/ctx.h \
	%D%/include/pier/desc.h \
	%D%/include/pier/dev.h \
	%D%/include/pier/dma.h \
	%D%/include/pier/dma_export.h \
	%D%/include/pier/error.h \
	%D%/include/pier/exchange.h \
	%D%/include/pier/func.h \
	%D%/include/pier/graph.h \
	%D%/include/pier/host.h \
	%D%/include/pier/log.h \
	%D%/include/pier/mmap.h \
	%D%/include/pier/pe.h \
	%D%/include/pier/pier.h \
	%D%/include/pier/rdma.h \
	%D%/include/pier/rendezvous.h \
	%D%/include/pier/rep.h \
	%D%/include/pier/service.h \
	%D%/include/pier/sha.h \
	%D%/include/pier/sync_event.h \
	%D%/include/pier/task.h \
	%D%/include/pier/text.h \
	%D%/include/pier/uv.h \
	%D%/include/pier/verbs.h \
	%D%/include/pier/version.h \
	# end, sorted
