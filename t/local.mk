# SPDX-License-Identifier: BSD-2-Clause
#
# Tests.  A new one is t/LAYER/NAME.c, one line here, and one in t/vm/tests or
# t/vm/native: automake finds NAME.c by itself.  `make check` runs them through
# automake's driver, `make prove` through prove; both by t/run, which knows the
# time limits.

check_PROGRAMS += \
	%D%/app/args.t \
	%D%/app/args_json.t \
	%D%/app/enter.t \
	%D%/app/rendezvous.t \
	%D%/app/rendezvous_cm.t \
	%D%/cm/addr.t \
	%D%/cm/bounded.t \
	%D%/cm/conn.t \
	%D%/cm/conn_state.t \
	%D%/cm/elsewhere.t \
	%D%/cm/enddesc.t \
	%D%/cm/ended.t \
	%D%/cm/goodbye.t \
	%D%/cm/lookup.t \
	%D%/cm/no_hello.t \
	%D%/cm/other_device.t \
	%D%/cm/owner.t \
	%D%/cm/private_data.t \
	%D%/cm/process.t \
	%D%/cm/rdmacm.t \
	%D%/cm/rdmacm_abort.t \
	%D%/cm/rdmacm_address.t \
	%D%/cm/rdmacm_answer.t \
	%D%/cm/rdmacm_away.t \
	%D%/cm/rdmacm_ends.t \
	%D%/cm/rdmacm_errors.t \
	%D%/cm/rdmacm_first.t \
	%D%/cm/rdmacm_hosts.t \
	%D%/cm/rdmacm_listen.t \
	%D%/cm/rdmacm_many.t \
	%D%/cm/rdmacm_seam.t \
	%D%/cm/rdmacm_wait.t \
	%D%/cm/retry.t \
	%D%/cm/retry_final.t \
	%D%/cm/stuck.t \
	%D%/copy/digest.t \
	%D%/copy/flight.t \
	%D%/copy/full.t \
	%D%/copy/greeting.t \
	%D%/copy/hostile.t \
	%D%/copy/hostile_client.t \
	%D%/copy/hostile_server.t \
	%D%/copy/once.t \
	%D%/copy/requested.t \
	%D%/copy/wire.t \
	%D%/core/config.t \
	%D%/core/error.t \
	%D%/core/file.t \
	%D%/core/hash.t \
	%D%/core/landing.t \
	%D%/core/log.t \
	%D%/core/text.t \
	%D%/core/wire.t \
	%D%/dev/bridge.t \
	%D%/dev/counters.t \
	%D%/dev/dev.t \
	%D%/dev/rep.t \
	%D%/dev/rep_hostile.t \
	%D%/doca-2.0/ctx.t \
	%D%/doca-2.0/dev.t \
	%D%/doca-2.0/dma.t \
	%D%/doca-2.0/graph.t \
	%D%/doca-2.0/mem.t \
	%D%/doca-2.0/process.t \
	%D%/doca-2.0/rdma.t \
	%D%/doca-2.0/sha.t \
	%D%/doca-2.0/sync_event.t \
	%D%/doca-2.0/workq.t \
	%D%/doca/access.t \
	%D%/doca/anew.t \
	%D%/doca/argp.t \
	%D%/doca/bridge.t \
	%D%/doca/buf.t \
	%D%/doca/cap.t \
	%D%/doca/cap_numbers.t \
	%D%/doca/cm.t \
	%D%/doca/cm_peers.t \
	%D%/doca/cm_rules.t \
	%D%/doca/comch.t \
	%D%/doca/comch_data.t \
	%D%/doca/comch_life.t \
	%D%/doca/comch_many.t \
	%D%/doca/conn.t \
	%D%/doca/conn_life.t \
	%D%/doca/ctx.t \
	%D%/doca/ctx_rules.t \
	%D%/doca/dma.t \
	%D%/doca/event_rules.t \
	%D%/doca/event_tasks.t \
	%D%/doca/graph.t \
	%D%/doca/graph_life.t \
	%D%/doca/limits.t \
	%D%/doca/link.t \
	%D%/doca/log.t \
	%D%/doca/mem.t \
	%D%/doca/mem_rules.t \
	%D%/doca/pci.t \
	%D%/doca/pe.t \
	%D%/doca/pe_rules.t \
	%D%/doca/port.t \
	%D%/doca/prop.t \
	%D%/doca/rdma.t \
	%D%/doca/rdma_rules.t \
	%D%/doca/remote_event_tasks.t \
	%D%/doca/rep.t \
	%D%/doca/rules.t \
	%D%/doca/setters.t \
	%D%/doca/setters_word.t \
	%D%/doca/sync_event.t \
	%D%/doca/sync_event_life.t \
	%D%/doca/task.t \
	%D%/doca/task_free.t \
	%D%/doca/task_rules.t \
	%D%/doca/text.t \
	%D%/doca/types.t \
	%D%/doca/unsupported.t \
	%D%/dropin/af_ib.t \
	%D%/dropin/async.t \
	%D%/dropin/careless.t \
	%D%/dropin/cma.t \
	%D%/dropin/cma_channel.t \
	%D%/dropin/cma_fork.t \
	%D%/dropin/cma_port.t \
	%D%/dropin/cma_qp.t \
	%D%/dropin/forks.t \
	%D%/dropin/memory.t \
	%D%/dropin/misuse.t \
	%D%/dropin/newer.t \
	%D%/dropin/older.t \
	%D%/dropin/port.t \
	%D%/dropin/roce_port.t \
	%D%/dropin/rsocket.t \
	%D%/dropin/rsocket_peer.t \
	%D%/dropin/signal.t \
	%D%/dropin/threads.t \
	%D%/dropin/words.t \
	%D%/dropin/wr.t \
	%D%/engine/ctx.t \
	%D%/engine/driver.t \
	%D%/engine/offender.t \
	%D%/engine/one_event.t \
	%D%/engine/pe.t \
	%D%/engine/pe_events.t \
	%D%/engine/standing_clock.t \
	%D%/engine/starting.t \
	%D%/engine/worker.t \
	%D%/fabric/fabric.t \
	%D%/fabric/fabric_cm.t \
	%D%/fabric/wake.t \
	%D%/faults/addresses.t \
	%D%/faults/comch_killed.t \
	%D%/faults/comch_request_killed.t \
	%D%/faults/copy_killed.t \
	%D%/faults/cut.t \
	%D%/faults/dma_killed.t \
	%D%/faults/forge.t \
	%D%/faults/gone.t \
	%D%/faults/gone_idle.t \
	%D%/faults/killed.t \
	%D%/faults/limits.t \
	%D%/faults/link.t \
	%D%/faults/oom.t \
	%D%/faults/rdmacm_gone.t \
	%D%/faults/rdmacm_killed.t \
	%D%/faults/rdmacm_link.t \
	%D%/faults/reject.t \
	%D%/faults/sync_event_killed.t \
	%D%/mem/buf.t \
	%D%/mem/buf_array.t \
	%D%/mem/buf_pool.t \
	%D%/mem/buf_thread.t \
	%D%/mem/dmabuf.t \
	%D%/mem/mmap.t \
	%D%/mem/own.t \
	%D%/meta/so.t \
	%D%/ops/again.t \
	%D%/ops/alloc.t \
	%D%/ops/bulk.t \
	%D%/ops/cancel.t \
	%D%/ops/cancel_ctx.t \
	%D%/ops/capable.t \
	%D%/ops/comch.t \
	%D%/ops/comch_batch.t \
	%D%/ops/comch_cancel.t \
	%D%/ops/comch_data.t \
	%D%/ops/comch_data_flow.t \
	%D%/ops/comch_data_hostile.t \
	%D%/ops/comch_data_in_place.t \
	%D%/ops/comch_data_threads.t \
	%D%/ops/comch_elsewhere.t \
	%D%/ops/comch_flow.t \
	%D%/ops/comch_hostile.t \
	%D%/ops/comch_many.t \
	%D%/ops/comch_receives.t \
	%D%/ops/comch_reply_buf.t \
	%D%/ops/comch_request.t \
	%D%/ops/comch_request_hostile.t \
	%D%/ops/comch_request_late.t \
	%D%/ops/comch_stop.t \
	%D%/ops/desc.t \
	%D%/ops/dma.t \
	%D%/ops/dma_conn.t \
	%D%/ops/dma_export.t \
	%D%/ops/dma_life.t \
	%D%/ops/dma_many.t \
	%D%/ops/feature.t \
	%D%/ops/flush.t \
	%D%/ops/func.t \
	%D%/ops/graph.t \
	%D%/ops/graph_adjust.t \
	%D%/ops/graph_chain.t \
	%D%/ops/graph_claim.t \
	%D%/ops/graph_comch.t \
	%D%/ops/graph_end.t \
	%D%/ops/graph_rdma.t \
	%D%/ops/host.t \
	%D%/ops/import.t \
	%D%/ops/limit.t \
	%D%/ops/misuse.t \
	%D%/ops/rdma.t \
	%D%/ops/rdma_config.t \
	%D%/ops/recover.t \
	%D%/ops/refused.t \
	%D%/ops/reply.t \
	%D%/ops/rights.t \
	%D%/ops/service.t \
	%D%/ops/sha.t \
	%D%/ops/stop.t \
	%D%/ops/sync_event.t \
	%D%/ops/sync_event_ctx.t \
	%D%/ops/sync_event_process.t \
	%D%/ops/sync_event_process_ctx.t \
	%D%/ops/sync_event_rdma.t \
	%D%/ops/take_back.t \
	%D%/ops/task.t \
	%D%/ops/task_bufs.t \
	%D%/ops/task_end.t \
	%D%/ops/task_free.t \
	%D%/ops/task_text.t \
	%D%/ops/threads.t \
	%D%/ops/timeout.t \
	%D%/ops/try_submit.t \
	%D%/ops/type_tasks.t \
	%D%/soft/ack_coalesce.t \
	%D%/soft/ack_held.t \
	%D%/soft/always.t \
	%D%/soft/capture.t \
	%D%/soft/capture_unmapped.t \
	%D%/soft/cm.t \
	%D%/soft/cm_data.t \
	%D%/soft/cm_elsewhere.t \
	%D%/soft/cm_end.t \
	%D%/soft/cm_find.t \
	%D%/soft/cm_flood.t \
	%D%/soft/cm_hostile.t \
	%D%/soft/cm_lossy.t \
	%D%/soft/cm_sidr.t \
	%D%/soft/cm_stale.t \
	%D%/soft/cm_table.t \
	%D%/soft/cm_tid.t \
	%D%/soft/cm_unproven.t \
	%D%/soft/codec.t \
	%D%/soft/counters_events.t \
	%D%/soft/counters_file.t \
	%D%/soft/crafted.t \
	%D%/soft/dev.t \
	%D%/soft/drops.t \
	%D%/soft/ecn.t \
	%D%/soft/errors.t \
	%D%/soft/far.t \
	%D%/soft/faults.t \
	%D%/soft/flood.t \
	%D%/soft/guess.t \
	%D%/soft/history.t \
	%D%/soft/hostile.t \
	%D%/soft/incast.t \
	%D%/soft/lossy.t \
	%D%/soft/mad.t \
	%D%/soft/many.t \
	%D%/soft/marks.t \
	%D%/soft/mr.t \
	%D%/soft/order.t \
	%D%/soft/pd.t \
	%D%/soft/port.t \
	%D%/soft/qp_address.t \
	%D%/soft/qpn.t \
	%D%/soft/queues.t \
	%D%/soft/rc.t \
	%D%/soft/receives.t \
	%D%/soft/recorder.t \
	%D%/soft/replay.t \
	%D%/soft/revoked.t \
	%D%/soft/selective.t \
	%D%/soft/selective_read.t \
	%D%/soft/shm.t \
	%D%/soft/shm_direct.t \
	%D%/soft/shm_faults.t \
	%D%/soft/shm_hostile.t \
	%D%/soft/shm_joined.t \
	%D%/soft/shm_killed.t \
	%D%/soft/shm_limits.t \
	%D%/soft/shm_lives.t \
	%D%/soft/shm_long.t \
	%D%/soft/shm_pull.t \
	%D%/soft/shm_queued.t \
	%D%/soft/shm_read.t \
	%D%/soft/shm_ring.t \
	%D%/soft/shm_short.t \
	%D%/soft/shm_steps.t \
	%D%/soft/shm_take_back.t \
	%D%/soft/shm_window.t \
	%D%/soft/sockets.t \
	%D%/soft/sockets_lossy.t \
	%D%/soft/sqd.t \
	%D%/soft/states.t \
	%D%/soft/threads.t \
	%D%/soft/time.t \
	%D%/soft/ud.t \
	%D%/soft/unmapped.t \
	%D%/soft/window.t \
	%D%/soft/window_bind.t \
	%D%/tools/ping_stranger.t \
	%D%/uv/exchange_lies.t \
	%D%/uv/exchange_slow.t \
	%D%/uv/exchange_whole.t \
	%D%/uv/uv.t \
	%D%/verbs/events.t \
	%D%/verbs/memory.t \
	%D%/verbs/verbs.t \
	%D%/verbs/verbs_cm.t \
	# end, sorted

dist_check_SCRIPTS += \
	%D%/core/probes.sh \
	%D%/cpp/examples.sh \
	%D%/cpp/guide.sh \
	%D%/cpp/no_exceptions.sh \
	%D%/doca-2.0/installed.sh \
	%D%/doca/build.sh \
	%D%/doca/installed.sh \
	%D%/doca/names.sh \
	%D%/dropin/ci.sh \
	%D%/dropin/elsewhere.sh \
	%D%/dropin/elsewhere_apps.sh \
	%D%/dropin/fabric.sh \
	%D%/dropin/faults.sh \
	%D%/dropin/files.sh \
	%D%/dropin/fio.sh \
	%D%/dropin/hard.sh \
	%D%/dropin/mckey.sh \
	%D%/dropin/mckey_net.sh \
	%D%/dropin/pairs.sh \
	%D%/dropin/pier.sh \
	%D%/dropin/pyverbs.sh \
	%D%/dropin/qemu.sh \
	%D%/dropin/qperf.sh \
	%D%/dropin/rdmacm.sh \
	%D%/dropin/real.sh \
	%D%/dropin/rpma.sh \
	%D%/dropin/rsocket.sh \
	%D%/dropin/run.sh \
	%D%/dropin/rxe.sh \
	%D%/dropin/rxe_apps.sh \
	%D%/dropin/rxe_beside.sh \
	%D%/dropin/symbols.sh \
	%D%/dropin/ucx.sh \
	%D%/manual/jobs.sh \
	%D%/manual/pages.sh \
	%D%/manual/ranges.sh \
	%D%/meta/bench.sh \
	%D%/meta/bindings.sh \
	%D%/meta/connections.sh \
	%D%/meta/contributing.sh \
	%D%/meta/docs.sh \
	%D%/meta/examples.sh \
	%D%/meta/guides.sh \
	%D%/meta/headers.sh \
	%D%/meta/installed.sh \
	%D%/meta/layers.sh \
	%D%/meta/manual.sh \
	%D%/meta/musl.sh \
	%D%/meta/mypy.sh \
	%D%/meta/net_plot.sh \
	%D%/meta/null.sh \
	%D%/meta/reap.sh \
	%D%/meta/style.sh \
	%D%/meta/symbols.sh \
	%D%/meta/words.sh \
	%D%/python/copies.sh \
	%D%/python/examples.sh \
	%D%/python/graphs.sh \
	%D%/python/guide.sh \
	%D%/python/life.sh \
	%D%/python/looks.sh \
	%D%/python/loop.sh \
	%D%/python/objects.sh \
	%D%/python/peers.sh \
	%D%/python/samples.sh \
	%D%/python/services.sh \
	%D%/samples/comch_ctrl_path.sh \
	%D%/samples/comch_data_path.sh \
	%D%/samples/comch_netns.sh \
	%D%/samples/dma_copy.sh \
	%D%/samples/dma_copy_file.sh \
	%D%/samples/dma_local_copy.sh \
	%D%/samples/doca_workq.sh \
	%D%/samples/engine.sh \
	%D%/samples/exports_netns.sh \
	%D%/samples/graph.sh \
	%D%/samples/kv.sh \
	%D%/samples/rdma_sync_event.sh \
	%D%/samples/reconnect.sh \
	%D%/samples/reconnect_net.sh \
	%D%/samples/request_reply.sh \
	%D%/samples/samples.sh \
	%D%/samples/samples_addr.sh \
	%D%/samples/samples_lossy.sh \
	%D%/samples/samples_many.sh \
	%D%/samples/sync_event.sh \
	%D%/samples/sync_event_local.sh \
	%D%/samples/threads.sh \
	%D%/samples/uv_echo.sh \
	%D%/soft/capture.sh \
	%D%/soft/python_peer.sh \
	%D%/tools/bpftrace.sh \
	%D%/tools/completion.sh \
	%D%/tools/copy.sh \
	%D%/tools/copy_errors.sh \
	%D%/tools/copy_faults.sh \
	%D%/tools/copy_kills.sh \
	%D%/tools/copy_moments.sh \
	%D%/tools/copy_net.sh \
	%D%/tools/copy_ssh.sh \
	%D%/tools/copy_target.sh \
	%D%/tools/doctor.sh \
	%D%/tools/doctor_adapter.sh \
	%D%/tools/doctor_path.sh \
	%D%/tools/events.sh \
	%D%/tools/examples.sh \
	%D%/tools/exchange.sh \
	%D%/tools/listen.sh \
	%D%/tools/perf.sh \
	%D%/tools/perf_channel.sh \
	%D%/tools/perf_conns.sh \
	%D%/tools/perf_data.sh \
	%D%/tools/perf_plot.sh \
	%D%/tools/perf_results.sh \
	%D%/tools/perf_server.sh \
	%D%/tools/ping.sh \
	%D%/tools/prometheus.sh \
	%D%/tools/tool.sh \
	%D%/verbs/diagnose.sh \
	%D%/verbs/interop.sh \
	%D%/verbs/interop_cm.sh \
	%D%/verbs/interop_cm_bad.sh \
	%D%/verbs/interop_elsewhere.sh \
	%D%/verbs/rxe.sh \
	# end, sorted

# Those of the C++ binding, if there is a compiler.
if CXX
check_PROGRAMS += \
	%D%/cpp/cm.t \
	%D%/cpp/comch.t \
	%D%/cpp/contexts.t \
	%D%/cpp/looks.t \
	%D%/cpp/rdma.t \
	%D%/cpp/result.t \
	# end, sorted
endif
if COROUTINES
check_PROGRAMS += \
	%D%/cpp/coro.t \
	# end, sorted
endif

# What tests share, and the insides of the library.
check_LTLIBRARIES += %D%/libtap.la
%C%_libtap_la_SOURCES = \
	%D%/lib/argline.c \
	%D%/lib/argline.h \
	%D%/lib/cable.c \
	%D%/lib/cable.h \
	%D%/lib/caller.c \
	%D%/lib/caller.h \
	%D%/lib/clerk.c \
	%D%/lib/clerk.h \
	%D%/lib/copier.c \
	%D%/lib/copier.h \
	%D%/lib/copyliar.c \
	%D%/lib/copyliar.h \
	%D%/lib/copythread.c \
	%D%/lib/copythread.h \
	%D%/lib/counted.c \
	%D%/lib/counted.h \
	%D%/lib/crowd.c \
	%D%/lib/crowd.h \
	%D%/lib/entries.c \
	%D%/lib/entries.h \
	%D%/lib/esw.c \
	%D%/lib/esw.h \
	%D%/lib/event.c \
	%D%/lib/event.h \
	%D%/lib/failing.c \
	%D%/lib/failing.h \
	%D%/lib/fakecm.c \
	%D%/lib/fakecm.h \
	%D%/lib/far.c \
	%D%/lib/far.h \
	%D%/lib/freight.c \
	%D%/lib/freight.h \
	%D%/lib/graphs.c \
	%D%/lib/graphs.h \
	%D%/lib/honest.c \
	%D%/lib/honest.h \
	%D%/lib/lane.c \
	%D%/lib/lane.h \
	%D%/lib/lane_cpu.c \
	%D%/lib/lane_events.c \
	%D%/lib/lane_op.h \
	%D%/lib/liar.c \
	%D%/lib/liar.h \
	%D%/lib/limit.c \
	%D%/lib/limit.h \
	%D%/lib/loop.c \
	%D%/lib/loop.h \
	%D%/lib/netns.c \
	%D%/lib/netns.h \
	%D%/lib/nic.c \
	%D%/lib/nic.h \
	%D%/lib/pair.c \
	%D%/lib/pair.h \
	%D%/lib/peer.c \
	%D%/lib/peer.h \
	%D%/lib/rights.c \
	%D%/lib/rights.h \
	%D%/lib/stage.c \
	%D%/lib/stage.h \
	%D%/lib/talker.c \
	%D%/lib/talker.h \
	%D%/lib/tap.c \
	%D%/lib/tap.h \
	%D%/lib/tree.c \
	%D%/lib/tree.h \
	%D%/lib/vlink.c \
	%D%/lib/vlink.h \
	%D%/lib/vnet.c \
	%D%/lib/vnet.h \
	# end, sorted

$(check_PROGRAMS): %D%/libtap.la lib/libpier-core.la
$(check_PROGRAMS): private LDADD = %D%/libtap.la lib/libpier-core.la

# Tests in t/soft have two ends of the soft device in one process, without a
# network between them.
soft_tests = $(filter %D%/soft/%,$(check_PROGRAMS))
check_LTLIBRARIES += %D%/libsoft.la
%C%_libsoft_la_LIBADD = $(LIBPCAP_LIBS)
%C%_libsoft_la_SOURCES = \
	%D%/lib/capture.c \
	%D%/lib/capture.h \
	%D%/lib/cmpair.c \
	%D%/lib/cmpair.h \
	%D%/lib/cubic.c \
	%D%/lib/cubic.h \
	%D%/lib/forbid.c \
	%D%/lib/forbid.h \
	%D%/lib/history.c \
	%D%/lib/history.h \
	%D%/lib/history_check.c \
	%D%/lib/history_conn.c \
	%D%/lib/history_host.c \
	%D%/lib/history_op.c \
	%D%/lib/history_words.c \
	%D%/lib/mw.c \
	%D%/lib/mw.h \
	%D%/lib/shmpair.c \
	%D%/lib/shmpair.h \
	%D%/lib/softpair.c \
	%D%/lib/softpair.h \
	%D%/lib/star.c \
	%D%/lib/star.h \
	%D%/lib/verbschan.c \
	%D%/lib/verbschan.h \
	# end, sorted
$(soft_tests): %D%/libsoft.la
$(soft_tests): private LDADD = %D%/libsoft.la %D%/libtap.la \
	lib/libpier-core.la

%C%_engine_standing_clock_t_SOURCES = \
	%D%/bench/overhead_clock.c \
	%D%/bench/overhead_clock.h \
	%D%/engine/standing_clock.c \
	# end, sorted
%C%_engine_standing_clock_t_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t

%C%_soft_shm_steps_t_SOURCES = \
	%D%/lib/steps.c \
	%D%/lib/steps.h \
	%D%/soft/shm_steps.c \
	%D%/soft/shm_victim.c \
	%D%/soft/shm_victim.h \
	# end, sorted

%C%_verbs_events_t_SOURCES = \
	%D%/verbs/events.c \
	%D%/verbs/fakeibv.c \
	%D%/verbs/fakeibv.h \
	# end, sorted

%C%_verbs_memory_t_SOURCES = \
	%D%/verbs/fakeibv.c \
	%D%/verbs/fakeibv.h \
	%D%/verbs/memory.c \
	# end, sorted

%C%_verbs_verbs_cm_t_SOURCES = \
	%D%/lib/cmnode.c \
	%D%/lib/cmnode.h \
	%D%/verbs/cmtool.c \
	%D%/verbs/verbs_cm.c \
	# end, sorted

# Those in which functions are exchanged for others.
wrap_tests = \
	%D%/copy/greeting.t \
	%D%/faults/oom.t \
	%D%/ops/alloc.t \
	%D%/ops/host.t \
	%D%/ops/task_text.t \
	%D%/soft/capture_unmapped.t \
	%D%/soft/history.t \
	%D%/soft/shm_steps.t \
	%D%/soft/sockets_lossy.t \
	%D%/verbs/verbs_cm.t \
	# end, sorted

# These count the library's allocations, or make them fail.
wrap_alloc = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=strdup,--wrap=free
%C%_ops_alloc_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)
%C%_ops_task_text_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)
%C%_faults_oom_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)
%C%_verbs_verbs_cm_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)

# This one unmaps what is on its way to the socket.
%C%_soft_capture_unmapped_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=sendmsg,--wrap=sendmmsg,--wrap=sendto

# This one loses packets on their way to the socket.
%C%_soft_sockets_lossy_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=sendmsg,--wrap=sendmmsg,--wrap=sendto,--wrap=setsockopt

# Here calls that make and use shared memory are steps.
%C%_soft_shm_steps_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pier__soft_attach_connect,--wrap=pier__soft_attach_pidfd \
	-Wl,--wrap=pier__soft_fds_send,--wrap=pier__soft_region_create \
	-Wl,--wrap=pier__soft_region_import,--wrap=pier__soft_region_map \
	-Wl,--wrap=pier__soft_region_unimport,--wrap=pier__soft_region_unmap \
	-Wl,--wrap=process_vm_readv

# Here random numbers are those of a seed.
%C%_soft_history_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getrandom

# Those that need no more than the insides of the library, and no flags of their
# own, are linked without libtool, which takes twice the time of the linker.
direct_folders = app cm copy core dev engine fabric faults mem ops soft tools \
	verbs
direct_tests = $(filter-out $(wrap_tests),$(filter \
	$(addprefix %D%/,$(addsuffix /%,$(direct_folders))),$(check_PROGRAMS)))
direct_archives = %D%/.libs/libtap.a lib/.libs/libpier-core.a
direct_libs = $(filter-out %.la,$(lib_libpier_core_la_LIBADD) \
	$(lib_libpier_soft_la_LIBADD))
direct_link = $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@
$(direct_tests): private LINK = $(direct_link)
$(direct_tests): private LDADD = $(direct_archives) $(direct_libs)
$(filter $(soft_tests),$(direct_tests)): private LDADD = \
	%D%/.libs/libsoft.a $(direct_archives) $(direct_libs) $(LIBPCAP_LIBS)

# Programs written for libibverbs and librdmacm, which get those of dropin/.
dropin_tests = %D%/dropin/af_ib.t \
	%D%/dropin/async.t \
	%D%/dropin/careless.t \
	%D%/dropin/cma.t \
	%D%/dropin/cma_channel.t \
	%D%/dropin/cma_fork.t \
	%D%/dropin/cma_port.t \
	%D%/dropin/cma_qp.t \
	%D%/dropin/forks.t \
	%D%/dropin/memory.t \
	%D%/dropin/misuse.t \
	%D%/dropin/newer.t \
	%D%/dropin/older.t \
	%D%/dropin/port.t \
	%D%/dropin/roce_port.t \
	%D%/dropin/rsocket.t \
	%D%/dropin/rsocket_peer.t \
	%D%/dropin/signal.t \
	%D%/dropin/threads.t \
	%D%/dropin/words.t \
	%D%/dropin/wr.t \
	# end, sorted
$(dropin_tests): dropin/libibverbs.la dropin/librdmacm.la
%C%_dropin_af_ib_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_async_t_LDADD = %D%/libtap.la dropin/libibverbs.la
%C%_dropin_async_t_SOURCES = \
	%D%/dropin/async.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_careless_t_LDADD = %D%/libtap.la dropin/libibverbs.la
%C%_dropin_careless_t_SOURCES = \
	%D%/dropin/careless.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_cma_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_cma_channel_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_cma_fork_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_cma_port_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_cma_qp_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_forks_t_LDADD = %D%/libtap.la dropin/libpier-files.la \
	dropin/librdmacm.la dropin/libibverbs.la
%C%_dropin_memory_t_LDADD = %D%/libtap.la dropin/libibverbs.la
%C%_dropin_memory_t_SOURCES = \
	%D%/dropin/memory.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_misuse_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_misuse_t_SOURCES = \
	%D%/dropin/misuse.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_newer_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_newer_t_SOURCES = \
	%D%/dropin/newer.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_older_t_LDADD = %D%/libtap.la dropin/libibverbs.la
%C%_dropin_port_t_LDADD = %D%/libtap.la dropin/libpier-files.la \
	dropin/librdmacm.la dropin/libibverbs.la
%C%_dropin_roce_port_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_rsocket_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_rsocket_peer_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_signal_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_signal_t_SOURCES = \
	%D%/dropin/signal.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_threads_t_LDADD = %D%/libtap.la dropin/libibverbs.la
%C%_dropin_threads_t_SOURCES = \
	%D%/dropin/threads.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted
%C%_dropin_words_t_LDADD = %D%/libtap.la dropin/librdmacm.la \
	dropin/libibverbs.la
%C%_dropin_wr_t_LDADD = %D%/libtap.la dropin/libibverbs.la
%C%_dropin_wr_t_SOURCES = \
	%D%/dropin/wr.c \
	%D%/lib/verbspair.c \
	%D%/lib/verbspair.h \
	# end, sorted

# This one takes the library as a program does.
%C%_meta_so_t_LDADD = %D%/libtap.la lib/libpier.la

# Programs in C++ see the binding, and the library as a program does.
cpp_tests = $(filter %D%/cpp/%,$(check_PROGRAMS))
$(cpp_tests): lib/libpier.la
$(cpp_tests): private LDADD = %D%/libtap.la lib/libpier.la
$(cpp_tests:.t=.$(OBJEXT)): private AM_CPPFLAGS += $(cpp_cppflags)
%C%_cpp_cm_t_SOURCES = %D%/cpp/cm.cpp
%C%_cpp_comch_t_SOURCES = %D%/cpp/comch.cpp
%C%_cpp_contexts_t_SOURCES = %D%/cpp/contexts.cpp
%C%_cpp_looks_t_SOURCES = %D%/cpp/looks.cpp
%D%/cpp/coro.$(OBJEXT): private AM_CXXFLAGS += -std=c++20
%C%_cpp_coro_t_SOURCES = %D%/cpp/coro.cpp
%C%_cpp_rdma_t_SOURCES = %D%/cpp/rdma.cpp
%C%_cpp_result_t_SOURCES = %D%/cpp/result.cpp

noinst_HEADERS = \
	%D%/cpp/ends.hpp \
	# end, sorted

# Programs for DOCA see its headers, and the two libraries.
doca_tests = $(filter %D%/doca/%,$(check_PROGRAMS))
check_LTLIBRARIES += %D%/libends.la
%C%_libends_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/bindings/doca/include
%C%_libends_la_SOURCES = \
	%D%/doca/chart.c \
	%D%/doca/chart.h \
	%D%/doca/ends.c \
	%D%/doca/ends.h \
	%D%/doca/party.c \
	%D%/doca/party.h \
	%D%/doca/trio.c \
	%D%/doca/trio.h \
	# end, sorted
$(doca_tests): %D%/libends.la bindings/doca/libpier-doca.la
$(doca_tests): private LDADD = %D%/libends.la %D%/libtap.la \
	bindings/doca/libpier-doca.la lib/libpier.la
$(doca_tests:.t=.$(OBJEXT)): private AM_CPPFLAGS += \
	-I$(top_srcdir)/bindings/doca/include

# Also without libtool, against the libraries of the build tree.
direct_doca_tests = $(filter-out %D%/doca/port.t %D%/doca/rep.t,$(doca_tests))
direct_shared = lib/.libs/libpier.so -Wl,-rpath,$(abs_builddir)/lib/.libs
direct_doca = bindings/doca/.libs/libpier-doca.so \
	-Wl,-rpath,$(abs_builddir)/bindings/doca/.libs $(direct_shared)
$(direct_doca_tests): private LINK = $(direct_link)
$(direct_doca_tests): private LDADD = %D%/.libs/libends.a \
	%D%/.libs/libtap.a $(direct_doca)

# Those for DOCA 2.0 see what is of its own, and what is as today.
doca20_tests = $(filter %D%/doca-2.0/%,$(check_PROGRAMS))
doca20_cppflags = -I$(top_srcdir)/bindings/doca-2.0/include \
	-I$(top_srcdir)/bindings/doca/include
check_LTLIBRARIES += %D%/libdesk.la
%C%_libdesk_la_CPPFLAGS = $(AM_CPPFLAGS) $(doca20_cppflags)
%C%_libdesk_la_SOURCES = \
	%D%/doca-2.0/desk.c \
	%D%/doca-2.0/desk.h \
	# end, sorted
$(doca20_tests): %D%/libdesk.la bindings/doca-2.0/libpier-doca-2.0.la
$(doca20_tests): private LDADD = %D%/libdesk.la %D%/libtap.la \
	bindings/doca-2.0/libpier-doca-2.0.la lib/libpier.la
$(doca20_tests:.t=.$(OBJEXT)): private AM_CPPFLAGS += $(doca20_cppflags)

# This one has a port of the test's own.
%C%_doca_port_t_SOURCES = \
	%D%/doca/port.c \
	%D%/lib/port_instead.c \
	%D%/lib/port_instead.h \
	# end, sorted
%C%_doca_port_t_LDADD = %D%/libends.la %D%/libtap.la \
	bindings/doca/libpier-doca-core.la lib/libpier-core.la
%C%_doca_port_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pier_devinfo_gid,--wrap=pier_devinfo_mtu \
	-Wl,--wrap=pier_devinfo_link,--wrap=pier_devinfo_can_import

# This one has a device with a second port.
%C%_ops_host_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pier_devlist_count,--wrap=pier_devlist_get

# This one closes the connection that the library sends on.
%C%_copy_greeting_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pier_comch_send

# This one has the library read a tree of the test's own.
%C%_doca_rep_t_SOURCES = \
	%D%/doca/rep.c \
	%D%/lib/esw_instead.c \
	# end, sorted
%C%_doca_rep_t_LDADD = %D%/libtap.la bindings/doca/libpier-doca-core.la \
	lib/libpier-core.la
%C%_doca_rep_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=pier_replist_create,--wrap=pier_rep_open

# These take libpier-uv, whose calls into libpier need the one library.
uv_ldadd = %D%/libtap.la lib/uv/libpier-uv.la lib/libpier.la
%C%_uv_exchange_lies_t_LDADD = $(uv_ldadd)
%C%_uv_exchange_slow_t_LDADD = $(uv_ldadd)
%C%_uv_exchange_whole_t_LDADD = $(uv_ldadd)
%C%_uv_uv_t_LDADD = $(uv_ldadd) $(LIBUV_LIBS)

EXTRA_DIST += \
	%D%/data/abi/libpier-0.1.0.xml.xz \
	%D%/data/abi/libpier-doca-0.1.0.xml.xz \
	%D%/data/abi/libpier-doca-2.0-0.1.0.xml.xz \
	%D%/data/abi/libpier-uv-0.1.0.xml.xz \
	%D%/data/dropin/libibverbs.debian12 \
	%D%/data/dropin/libibverbs.fedora \
	%D%/data/dropin/librdmacm.debian12 \
	%D%/data/dropin/librdmacm.fedora \
	%D%/data/fuzz/cm \
	%D%/data/fuzz/codec \
	%D%/data/fuzz/ep \
	%D%/data/fuzz/frame \
	%D%/data/fuzz/private \
	%D%/data/fuzz/ring \
	%D%/data/fuzz/wire \
	%D%/data/roce/cases \
	%D%/data/roce/cm-abort.pcap \
	%D%/data/roce/cm-ipv4.pcap \
	%D%/data/roce/cm-ipv6.pcap \
	%D%/data/roce/cm-lostdrep.pcap \
	%D%/data/roce/cm-lostdreq.pcap \
	%D%/data/roce/cm-lostrep.pcap \
	%D%/data/roce/cm-lostrtu-data.pcap \
	%D%/data/roce/cm-lostrtu.pcap \
	%D%/data/roce/cm-mra.pcap \
	%D%/data/roce/cm-noserver.pcap \
	%D%/data/roce/cm-pd-ipv6.pcap \
	%D%/data/roce/cm-pd.pcap \
	%D%/data/roce/cm-pdmax.pcap \
	%D%/data/roce/cm-reject.pcap \
	%D%/data/roce/cm-sdisc.pcap \
	%D%/data/roce/cm-sidr-reject.pcap \
	%D%/data/roce/cm-sidr.pcap \
	%D%/data/roce/peer/cm-same-commid-ignored.pcap \
	%D%/data/roce/peer/cmclient.pcap \
	%D%/data/roce/peer/cmclient6.pcap \
	%D%/data/roce/peer/cmserver.pcap \
	%D%/data/roce/peer/cmserver6.pcap \
	%D%/data/roce/peer/cmstale.pcap \
	%D%/data/roce/peer/rc-atomic-cas-v4.pcap \
	%D%/data/roce/peer/rc-atomic-faa-v4.pcap \
	%D%/data/roce/peer/rc-mix6-v6.pcap \
	%D%/data/roce/peer/rc-read-v4.pcap \
	%D%/data/roce/peer/rc-send-v4.pcap \
	%D%/data/roce/peer/rc-write-v4.pcap \
	%D%/data/roce/rc-atomic-cas.pcap \
	%D%/data/roce/rc-atomic-faa.pcap \
	%D%/data/roce/rc-batch.pcap \
	%D%/data/roce/rc-dup.pcap \
	%D%/data/roce/rc-fence.pcap \
	%D%/data/roce/rc-long.pcap \
	%D%/data/roce/rc-mix6.pcap \
	%D%/data/roce/rc-mtu.pcap \
	%D%/data/roce/rc-nak-access.pcap \
	%D%/data/roce/rc-nak-inval.pcap \
	%D%/data/roce/rc-nak-op.pcap \
	%D%/data/roce/rc-psn-wrap.pcap \
	%D%/data/roce/rc-rdatomic.pcap \
	%D%/data/roce/rc-read.pcap \
	%D%/data/roce/rc-reorder.pcap \
	%D%/data/roce/rc-retry-ackcoalesced.pcap \
	%D%/data/roce/rc-retry-acklost.pcap \
	%D%/data/roce/rc-retry-atomiclost.pcap \
	%D%/data/roce/rc-retry-implicitnak.pcap \
	%D%/data/roce/rc-retry-lastlost.pcap \
	%D%/data/roce/rc-retry-readlastlost.pcap \
	%D%/data/roce/rc-retry-readlost.pcap \
	%D%/data/roce/rc-retry-readreqlost.pcap \
	%D%/data/roce/rc-retry-reqlost.pcap \
	%D%/data/roce/rc-retry-writelost.pcap \
	%D%/data/roce/rc-retry.pcap \
	%D%/data/roce/rc-rnr.pcap \
	%D%/data/roce/rc-send-imm.pcap \
	%D%/data/roce/rc-send-inv-multi.pcap \
	%D%/data/roce/rc-send-inv.pcap \
	%D%/data/roce/rc-send.pcap \
	%D%/data/roce/rc-timeout.pcap \
	%D%/data/roce/rc-write-imm.pcap \
	%D%/data/roce/rc-write.pcap \
	%D%/data/roce/ud-v4.pcap \
	%D%/data/roce/ud-v6.pcap \
	%D%/doca/channel.c \
	%D%/doca/letter.c \
	%D%/doca/names-2.0 \
	%D%/doca/names-3.3 \
	%D%/dropin/beside.c \
	%D%/dropin/beside_cma.c \
	%D%/dropin/fake_rdmacm.c \
	%D%/dropin/fake_rdmacm.h \
	%D%/dropin/fake_verbs.c \
	%D%/dropin/fake_verbs.h \
	%D%/dropin/pier_not \
	%D%/dropin/qmp.py \
	%D%/dropin/rpma.c \
	%D%/lib/alone.sh \
	%D%/lib/api.sh \
	%D%/lib/copying.sh \
	%D%/lib/coverage.awk \
	%D%/lib/coverage.sh \
	%D%/lib/deb.sh \
	%D%/lib/device.sh \
	%D%/lib/doctor.sh \
	%D%/lib/dropin.sh \
	%D%/lib/elsewhere.sh \
	%D%/lib/groups.sh \
	%D%/lib/install.sh \
	%D%/lib/netns.sh \
	%D%/lib/peers.sh \
	%D%/lib/perf.sh \
	%D%/lib/perftest.sh \
	%D%/lib/python.sh \
	%D%/lib/python.supp \
	%D%/lib/qemu.sh \
	%D%/lib/reconnect.sh \
	%D%/lib/rxe.sh \
	%D%/lib/sshd.sh \
	%D%/lib/tap.sh \
	%D%/lib/toolbox.sh \
	%D%/lib/without.awk \
	%D%/manual/jobs.h \
	%D%/manual/jobs_client.c \
	%D%/manual/jobs_server.c \
	%D%/meta/metrics.awk \
	%D%/python/copies.py \
	%D%/python/graphs.py \
	%D%/python/life.py \
	%D%/python/looks.py \
	%D%/python/loop.py \
	%D%/python/objects.py \
	%D%/python/services.py \
	%D%/python/tap.py \
	%D%/run \
	%D%/shm/not \
	%D%/soft/python_peer.py \
	%D%/tools/deny.py \
	%D%/tools/doctor_gids.c \
	%D%/vm/guest.sh \
	%D%/vm/init \
	%D%/vm/judge.awk \
	%D%/vm/native \
	%D%/vm/net.sh \
	%D%/vm/run \
	%D%/vm/splats \
	%D%/vm/tests \
	# end, sorted

TESTS = $(check_PROGRAMS) $(dist_check_SCRIPTS)
TEST_EXTENSIONS = .t .sh
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
T_LOG_COMPILER = $(SHELL) $(srcdir)/%D%/run
SH_LOG_DRIVER = $(T_LOG_DRIVER)
SH_LOG_COMPILER = $(T_LOG_COMPILER)

tests: $(check_LTLIBRARIES) $(check_PROGRAMS) $(check_DATA)

# What is installed for tests: before any of them runs, and after everything is
# linked, since libtool moves libraries of the build tree aside meanwhile.
check_DATA += installed/stamp
installed/stamp: Makefile $(bin_PROGRAMS) $(lib_LTLIBRARIES) $(DATA) \
		$(HEADERS) $(MANS) \
		| all $(check_LTLIBRARIES) $(check_PROGRAMS)
	$(AM_V_at)rm -rf installed
	$(AM_V_GEN)log=`$(MAKE) $(AM_MAKEFLAGS) install \
		DESTDIR="$(abs_builddir)/installed" 2>&1` || \
		{ printf '%s\n' "$$log" >&2; exit 1; }
	$(AM_V_at)touch $@

clean-local: clean-python clean-local-bench
	rm -rf installed packages.d

# Those that wait longest begin first, and scripts last, which begin many
# processes: where time ends they are left out.  Those that fill the machine, or
# measure what it does, run alone.
prove_first = %D%/faults/link.t %D%/faults/rdmacm_link.t \
	%D%/faults/killed.t %D%/faults/rdmacm_gone.t
prove_alone = %D%/cm/rdmacm_many.t %D%/engine/driver.t %D%/ops/bulk.t
prove_rest = $(filter-out $(prove_first) $(prove_alone),$(check_PROGRAMS))
prove_by_run = prove --timer --exec '$(SHELL) $(srcdir)/%D%/run'

# SCRIPT_TESTS='$(run_scripts)': without those that look at the source, which
# is the same in a build with other options.
run_scripts = $(filter-out %D%/meta/%,$(dist_check_SCRIPTS))
SCRIPT_TESTS = $(dist_check_SCRIPTS)

prove: all tests
	status=0; \
	$(prove_by_run) -j4 $(prove_first) $(prove_rest) \
		$(addprefix $(srcdir)/,$(SCRIPT_TESTS)) || status=1; \
	$(prove_by_run) $(prove_alone) || status=1; \
	exit $$status

# Programs of other projects on soft devices: one that is missing is a failure.
# What needs the guest of t/vm/run is not among them.
prove-dropin: all tests
	PIER_TEST_REQUIRE=1 $(prove_by_run) -j2 $(dropin_tests) \
		$(addprefix $(srcdir)/,$(filter-out %D%/dropin/rxe%, \
		$(filter %D%/dropin/%,$(dist_check_SCRIPTS))))

# The tests of connections by shared memory, or SHM=off.  %D%/shm/not has those
# that are not run, with reasons, and names no others.
shm_tests = $(filter %D%/cm/% %D%/fabric/% %D%/faults/% %D%/ops/%, \
	$(check_PROGRAMS))
SHM = require
check-shm: all tests
	run=`echo $(shm_tests) | tr ' ' '\n' | awk \
		-f $(srcdir)/%D%/lib/without.awk $(srcdir)/%D%/shm/not -` && \
	PIER_SHM=$(SHM) $(prove_by_run) -j4 $$run

# The tests of the guest of t/vm/run that are programs, but for those of
# %D%/dropin/pier_not, with pier itself under pier run.
check-pier: all tests
	PATH=$$PATH:/usr/sbin:/sbin PIER_TEST_REQUIRE=1 PIER_TEST_WHOLE=1 \
		prove --timer --exec '$(SHELL)' $(srcdir)/%D%/dropin/pier.sh

# docs/coverage.md: what tests execute; the inputs of t/data/fuzz apart.
COVERAGE_TESTS = $(filter-out %D%/fuzz/%,$(check_PROGRAMS))
COVERAGE_FUZZ = $(filter %D%/fuzz/%,$(check_PROGRAMS))
coverage: $(check_LTLIBRARIES) $(COVERAGE_TESTS) $(COVERAGE_FUZZ)
	$(SHELL) $(srcdir)/%D%/lib/coverage.sh $(COVERAGE_FUZZ)
	$(SHELL) $(srcdir)/%D%/lib/coverage.sh $(COVERAGE_TESTS)

.PHONY: check-pier check-shm coverage prove prove-dropin tests
