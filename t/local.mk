# SPDX-License-Identifier: BSD-2-Clause
#
# Tests.  A new one is t/NAME.c and one word here: automake finds NAME.c by
# itself.  `make check` runs them through automake's driver, `make prove`
# through prove; both by t/run, which knows the time limits.

check_PROGRAMS += \
	%D%/addr.t \
	%D%/addresses.t \
	%D%/alloc.t \
	%D%/args.t \
	%D%/args_json.t \
	%D%/bounded.t \
	%D%/bridge.t \
	%D%/buf.t \
	%D%/bulk.t \
	%D%/cm.t \
	%D%/cm_abort.t \
	%D%/cm_address.t \
	%D%/cm_answer.t \
	%D%/cm_away.t \
	%D%/cm_gone.t \
	%D%/cm_hosts.t \
	%D%/cm_killed.t \
	%D%/cm_link.t \
	%D%/cm_listen.t \
	%D%/cm_many.t \
	%D%/cm_seam.t \
	%D%/cm_wait.t \
	%D%/cm_why.t \
	%D%/codec.t \
	%D%/config.t \
	%D%/conn.t \
	%D%/counters.t \
	%D%/ctx.t \
	%D%/cut.t \
	%D%/dev.t \
	%D%/driver.t \
	%D%/enddesc.t \
	%D%/enter.t \
	%D%/error.t \
	%D%/exchange_lies.t \
	%D%/exchange_slow.t \
	%D%/fabric.t \
	%D%/fabric_cm.t \
	%D%/file.t \
	%D%/forge.t \
	%D%/frame.t \
	%D%/gone.t \
	%D%/goodbye.t \
	%D%/killed.t \
	%D%/limits.t \
	%D%/link.t \
	%D%/log.t \
	%D%/lookup.t \
	%D%/mad.t \
	%D%/mmap.t \
	%D%/oom.t \
	%D%/page.t \
	%D%/pe.t \
	%D%/process.t \
	%D%/rdma.t \
	%D%/rdma_config.t \
	%D%/reject.t \
	%D%/rendezvous.t \
	%D%/rendezvous_cm.t \
	%D%/so.t \
	%D%/soft.t \
	%D%/soft_capture.t \
	%D%/soft_cm.t \
	%D%/soft_cm_end.t \
	%D%/soft_cm_find.t \
	%D%/soft_cm_flood.t \
	%D%/soft_cm_hostile.t \
	%D%/soft_cm_lossy.t \
	%D%/soft_crafted.t \
	%D%/soft_delay.t \
	%D%/soft_drops.t \
	%D%/soft_errors.t \
	%D%/soft_flood.t \
	%D%/soft_guess.t \
	%D%/soft_hostile.t \
	%D%/soft_lossy.t \
	%D%/soft_many.t \
	%D%/soft_mr.t \
	%D%/soft_order.t \
	%D%/soft_replay.t \
	%D%/soft_states.t \
	%D%/soft_time.t \
	%D%/soft_wire.t \
	%D%/softdev.t \
	%D%/softport.t \
	%D%/softsock.t \
	%D%/task.t \
	%D%/task_bufs.t \
	%D%/uv.t \
	%D%/verbs.t \
	%D%/verbs_cm.t \
	%D%/verbs_events.t \
	%D%/verbs_memory.t \
	%D%/wake.t \
	%D%/wire.t \
	# end, sorted

dist_check_SCRIPTS += \
	%D%/capture.sh \
	%D%/docs.sh \
	%D%/examples.sh \
	%D%/exchange.sh \
	%D%/headers.sh \
	%D%/interop.sh \
	%D%/interop_cm.sh \
	%D%/interop_cm_bad.sh \
	%D%/layers.sh \
	%D%/perf.sh \
	%D%/ping.sh \
	%D%/rxe.sh \
	%D%/samples.sh \
	%D%/samples_addr.sh \
	%D%/samples_lossy.sh \
	%D%/samples_many.sh \
	%D%/style.sh \
	%D%/symbols.sh \
	%D%/tool.sh \
	%D%/why.sh \
	# end, sorted

# What tests share, and the insides of the library.
check_LTLIBRARIES += %D%/libtap.la
%C%_libtap_la_SOURCES = \
	%D%/argline.c \
	%D%/argline.h \
	%D%/cable.c \
	%D%/cable.h \
	%D%/caller.c \
	%D%/caller.h \
	%D%/crowd.c \
	%D%/crowd.h \
	%D%/failing.c \
	%D%/failing.h \
	%D%/fakecm.c \
	%D%/fakecm.h \
	%D%/liar.c \
	%D%/liar.h \
	%D%/loop.c \
	%D%/loop.h \
	%D%/netns.c \
	%D%/netns.h \
	%D%/nic.c \
	%D%/nic.h \
	%D%/pair.c \
	%D%/pair.h \
	%D%/pcap.c \
	%D%/pcap.h \
	%D%/peer.c \
	%D%/peer.h \
	%D%/rights.c \
	%D%/rights.h \
	%D%/tap.c \
	%D%/tap.h \
	%D%/vnet.c \
	%D%/vnet.h \
	# end, sorted

$(check_PROGRAMS): %D%/libtap.la lib/libpier-core.la
$(check_PROGRAMS): private LDADD = %D%/libtap.la lib/libpier-core.la

# Tests t/soft*.c have two ends of the soft device in one process, without a
# network between them.
soft_tests = $(filter %D%/soft%,$(check_PROGRAMS))
check_LTLIBRARIES += %D%/libsoft.la
%C%_libsoft_la_SOURCES = \
	%D%/cmpair.c \
	%D%/cmpair.h \
	%D%/softpair.c \
	%D%/softpair.h \
	# end, sorted
$(soft_tests): %D%/libsoft.la
$(soft_tests): private LDADD = %D%/libsoft.la %D%/libtap.la \
	lib/libpier-core.la

%C%_verbs_cm_t_SOURCES = \
	%D%/cmside.c \
	%D%/cmside.h \
	%D%/cmtool.c \
	%D%/verbs_cm.c \
	# end, sorted

# These count the library's allocations, or make them fail.
wrap_alloc = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=strdup,--wrap=free
%C%_alloc_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)
%C%_oom_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)
%C%_verbs_cm_t_LDFLAGS = $(AM_LDFLAGS) $(wrap_alloc)

# This one loses packets on their way to the socket.
%C%_soft_wire_t_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=sendmsg,--wrap=sendmmsg,--wrap=sendto,--wrap=setsockopt

# This one takes the library as a program does.
%C%_so_t_LDADD = %D%/libtap.la lib/libpier.la

# These take libpier-uv, whose calls into libpier need the one library.
%C%_exchange_lies_t_LDADD = %D%/libtap.la cm/uv/libpier-uv.la lib/libpier.la
%C%_exchange_slow_t_LDADD = %D%/libtap.la cm/uv/libpier-uv.la lib/libpier.la
%C%_uv_t_LDADD = %D%/libtap.la cm/uv/libpier-uv.la lib/libpier.la $(LIBUV_LIBS)

EXTRA_DIST += \
	%D%/api.sh \
	%D%/data/fuzz/cm \
	%D%/data/fuzz/codec \
	%D%/data/fuzz/ep \
	%D%/data/fuzz/frame \
	%D%/data/fuzz/private \
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
	%D%/device.sh \
	%D%/metrics.awk \
	%D%/run \
	%D%/tap.sh \
	%D%/toolbox.sh \
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

tests: $(check_LTLIBRARIES) $(check_PROGRAMS)

prove: all tests
	prove -j2 --timer --exec '$(SHELL) $(srcdir)/%D%/run' \
		$(check_PROGRAMS) $(addprefix $(srcdir)/,$(dist_check_SCRIPTS))

.PHONY: prove tests
