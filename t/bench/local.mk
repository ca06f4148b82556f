# SPDX-License-Identifier: BSD-2-Clause
#
# Measurements; each prints a line a target and last how many were met.

EXTRA_PROGRAMS += %D%/overhead
%C%_overhead_SOURCES = \
	%D%/nullcm.c \
	%D%/nullcm.h \
	%D%/nullfabric.c \
	%D%/nullfabric.h \
	%D%/overhead.c \
	%D%/overhead_clock.c \
	%D%/overhead_clock.h \
	%D%/overhead_graphs.c \
	%D%/overhead_graphs.h \
	%D%/overhead_mode.c \
	%D%/overhead_mode.h \
	%D%/overhead_peer.c \
	%D%/overhead_peer.h \
	%D%/overhead_tasks.c \
	%D%/overhead_tasks.h \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_overhead_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_overhead_LDADD = lib/libpier-core.la

EXTRA_PROGRAMS += %D%/overhead_doca
%C%_overhead_doca_SOURCES = \
	%D%/nullcm.c \
	%D%/nullcm.h \
	%D%/nullfabric.c \
	%D%/nullfabric.h \
	%D%/overhead_clock.c \
	%D%/overhead_clock.h \
	%D%/overhead_doca.c \
	%D%/overhead_doca_comch.c \
	%D%/overhead_doca_comch.h \
	%D%/overhead_doca_tasks.c \
	%D%/overhead_doca_tasks.h \
	%D%/overhead_mode.c \
	%D%/overhead_mode.h \
	%D%/overhead_peer.c \
	%D%/overhead_peer.h \
	# end, sorted
%C%_overhead_doca_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t \
	-I$(top_srcdir)/bindings/doca/include \
	-I$(top_srcdir)/bindings/doca
%C%_overhead_doca_LDADD = bindings/doca/libpier-doca-core.la \
	lib/libpier-core.la

if CXX
EXTRA_PROGRAMS += %D%/overhead_cpp
overhead_cpp = %D%/overhead_cpp
endif
%C%_overhead_cpp_SOURCES = \
	%D%/nullcm.c \
	%D%/nullcm.h \
	%D%/nullfabric.c \
	%D%/nullfabric.h \
	%D%/overhead_clock.c \
	%D%/overhead_clock.h \
	%D%/overhead_cpp.cpp \
	%D%/overhead_cpp.hpp \
	%D%/overhead_cpp_channel.cpp \
	%D%/overhead_cpp_coro.cpp \
	%D%/overhead_cpp_event.cpp \
	%D%/overhead_cpp_local.cpp \
	%D%/overhead_cpp_rdma.cpp \
	%D%/overhead_peer.c \
	%D%/overhead_peer.h \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_overhead_cpp_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t $(cpp_cppflags)
%C%_overhead_cpp_LDADD = lib/libpier-core.la
if COROUTINES
%D%/overhead_cpp-overhead_cpp_coro.$(OBJEXT): private AM_CXXFLAGS += -std=c++20
endif

EXTRA_PROGRAMS += \
	%D%/bare_pingpong \
	%D%/bare_shm \
	%D%/bare_stream \
	%D%/soft_load \
	# end, sorted
%C%_bare_pingpong_SOURCES = \
	%D%/bare_pingpong.c \
	%D%/procs.c \
	%D%/procs.h \
	# end, sorted
%C%_bare_pingpong_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_bare_shm_SOURCES = \
	%D%/bare_shm.c \
	%D%/procs.c \
	%D%/procs.h \
	# end, sorted
%C%_bare_shm_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_bare_stream_SOURCES = \
	%D%/bare_stream.c \
	%D%/procs.c \
	%D%/procs.h \
	# end, sorted
%C%_bare_stream_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_bare_stream_LDADD = lib/libpier-core.la
%C%_soft_load_SOURCES = \
	%D%/procs.c \
	%D%/procs.h \
	%D%/soft_load.c \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_soft_load_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_soft_load_LDADD = lib/libpier-core.la

# Headers of other libraries may come later than configure.
EXTRA_PROGRAMS += %D%/ucx_put
%C%_ucx_put_SOURCES = \
	%D%/procs.c \
	%D%/procs.h \
	%D%/ucx_put.c \
	# end, sorted
%C%_ucx_put_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_ucx_put_LDADD = -lucp -lucs

EXTRA_PROGRAMS += %D%/pair_nng
%C%_pair_nng_SOURCES = \
	%D%/pair_lib.h \
	%D%/pair_load.c \
	%D%/pair_nng.c \
	%D%/procs.c \
	%D%/procs.h \
	# end, sorted
%C%_pair_nng_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_pair_nng_LDADD = -lnng

EXTRA_PROGRAMS += %D%/pair_zmq
%C%_pair_zmq_SOURCES = \
	%D%/pair_lib.h \
	%D%/pair_load.c \
	%D%/pair_zmq.c \
	%D%/procs.c \
	%D%/procs.h \
	# end, sorted
%C%_pair_zmq_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_pair_zmq_LDADD = -lzmq

EXTRA_PROGRAMS += %D%/cm
%C%_cm_SOURCES = \
	%D%/cm.c \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_cm_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_cm_LDADD = lib/libpier-core.la

EXTRA_PROGRAMS += %D%/comch
%C%_comch_SOURCES = \
	%D%/comch.c \
	%D%/comch_copy.c \
	%D%/comch_message.c \
	%D%/comch_round.c \
	%D%/comch_ways.h \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_comch_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_comch_LDADD = lib/libpier-core.la

EXTRA_PROGRAMS += %D%/dma
%C%_dma_SOURCES = \
	%D%/dma.c \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_dma_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_dma_LDADD = lib/libpier-core.la

EXTRA_PROGRAMS += %D%/net
%C%_net_SOURCES = \
	%D%/net.c \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_net_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_net_LDADD = t/libsoft.la t/libtap.la lib/libpier-core.la

EXTRA_PROGRAMS += %D%/recorder
%C%_recorder_SOURCES = \
	%D%/procs.c \
	%D%/procs.h \
	%D%/recorder.c \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_recorder_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_recorder_LDADD = t/libsoft.la t/libtap.la lib/libpier-core.la

EXTRA_PROGRAMS += %D%/link
%C%_link_SOURCES = \
	%D%/link.c \
	%D%/procs.c \
	%D%/procs.h \
	# end, sorted
%C%_link_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_link_LDADD =

EXTRA_PROGRAMS += %D%/stress
%C%_stress_SOURCES = \
	%D%/stress.c \
	# end, sorted
%C%_stress_LDADD = t/libtap.la lib/libpier-core.la

EXTRA_PROGRAMS += %D%/graph
%C%_graph_SOURCES = \
	%D%/graph.c \
	%D%/procs.c \
	%D%/procs.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_graph_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_graph_LDADD = lib/libpier-core.la

EXTRA_PROGRAMS += %D%/sync_event
%C%_sync_event_SOURCES = \
	%D%/procs.c \
	%D%/procs.h \
	%D%/sync_event.c \
	%D%/sync_event_remote.c \
	%D%/sync_event_remote.h \
	%D%/target.c \
	%D%/target.h \
	# end, sorted
%C%_sync_event_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_sync_event_LDADD = lib/libpier-core.la

EXTRA_DIST += \
	%D%/all.sh \
	%D%/cm.sh \
	%D%/copy.sh \
	%D%/dropin.sh \
	%D%/net_plot.sh \
	%D%/overhead.sh \
	%D%/pairs.sh \
	%D%/peers.sh \
	%D%/python.py \
	%D%/python.sh \
	%D%/shm.sh \
	%D%/soft.sh \
	%D%/tables.awk \
	%D%/tables.sh \
	%D%/tcp.sh \
	%D%/vm.sh \
	# end, sorted

# What is built of other libraries' headers.
BENCH_PEERS = \
	%D%/pair_nng \
	%D%/pair_zmq \
	%D%/ucx_put \
	# end, sorted

# They are built with the tests, so that they compile: all but those.
bench-programs: $(filter-out $(BENCH_PEERS),$(filter %D%/%,$(EXTRA_PROGRAMS)))

tests: bench-programs

# All benchmarks, and the tables and pictures of docs/benchmarks.md.  BENCH_LIST
# is what to run, BENCH_TURNS how often.
BENCHES = cm comch copy dma dropin graph net overhead peers python recorder \
	shm soft sync-event tcp vm
BENCH_LIST = $(BENCHES)
BENCH_PAGE = $(srcdir)/docs/benchmarks.md
bench: all bench-programs
	MAKE="$(MAKE)" $(SHELL) $(srcdir)/%D%/all.sh $(srcdir) $(BENCH_PAGE) \
	    $(BENCH_LIST)

bench-overhead: %D%/overhead %D%/overhead_doca $(overhead_cpp)
	$(LIBTOOL) --mode=execute $(SHELL) $(srcdir)/%D%/overhead.sh \
		%D%/overhead %D%/overhead_doca $(overhead_cpp)

# Many connections by address, on the soft device.
bench-cm: %D%/cm
	$(SHELL) $(srcdir)/%D%/cm.sh %D%/cm

# Comm Channels beside RDMA sends, copies between processes beside writes.
bench-comch: %D%/comch
	%D%/comch

# Copies of files beside rsync and nc.  libtool passes the program itself: its
# script takes several times as long to start.
bench-copy: tools/pier
	$(LIBTOOL) --mode=execute $(SHELL) $(srcdir)/%D%/copy.sh \
	    $(abs_builddir)/tools/pier

# Copies beside memcpy().
bench-dma: %D%/dma
	%D%/dma

# Programs of other projects by `pier run`, beside pier's own.
bench-dropin: all
	$(SHELL) $(srcdir)/%D%/dropin.sh $(abs_builddir)/tools/pier

# A digest and a copy at the same time.
bench-graph: %D%/graph
	%D%/graph

# Soft devices of one host by shared memory, beside UCX by its own.
bench-shm: all %D%/bare_shm
	$(SHELL) $(srcdir)/%D%/shm.sh $(abs_builddir)/tools/pier \
	    $(abs_builddir)/%D%/bare_shm

# The soft device on simulated networks; NET_SEEDS=N, 20 without it.
NET_SEEDS = 20
bench-net: %D%/net
	%D%/net -s $(NET_SEEDS) $(NET_SCENES)

CLEANFILES += bench-net.txt bench-sizes.svg

clean-local-bench:
	rm -rf bench-results bench-vm

# The picture of docs/benchmarks.md.
bench-net-plot: %D%/net
	%D%/net -s $(NET_SEEDS) >bench-net.txt || :
	$(SHELL) $(srcdir)/%D%/net_plot.sh $(srcdir)/docs/bench-net.svg \
	    <bench-net.txt

# The soft device beside other libraries, by size of message.
bench-peers: all
	@! test -e /usr/include/nng/nng.h || $(MAKE) -s %D%/pair_nng
	@! $(PKG_CONFIG) --exists libzmq || $(MAKE) -s %D%/pair_zmq
	$(SHELL) $(srcdir)/%D%/peers.sh $(abs_builddir)/tools/pier %D% \
	    bench-sizes.svg

# From Python, beside pier perf.
bench-python: all
	$(SHELL) $(srcdir)/%D%/python.sh $(abs_builddir)/tools/pier \
	    $(abs_builddir)/bindings/python/built

# The flight recorder, beside without it.
bench-recorder: %D%/recorder
	%D%/recorder

# Sync events beside a futex and a cache line.
bench-sync-event: %D%/sync_event
	%D%/sync_event

SOFT_BENCH = \
	%D%/bare_pingpong \
	%D%/bare_stream \
	%D%/soft_load \
	# end, sorted

# The soft device beside bare sockets, UCX and libfabric.
bench-soft: $(SOFT_BENCH)
	@! $(PKG_CONFIG) --exists ucx || $(MAKE) %D%/ucx_put || \
	    echo "ucx_put cannot be built: its targets count as missed" >&2
	$(SHELL) $(srcdir)/%D%/soft.sh %D%

# Beside perftest on kernel Soft-RoCE, in one boot.
bench-vm: all
	@status=0; \
	$(SHELL) $(srcdir)/t/vm/run -b . -l bench-vm -t 3000 t/bench/vm.sh || \
	    status=$$?; \
	tr -d '\r' <bench-vm/tap.log | \
	    sed -n 's/^# \(.* x perftest\)/\1/p'; \
	tr -d '\r' <bench-vm/tap.log | sed -n 's/^# \(targets: \)/\1/p' | \
	    grep . || { echo "targets: 0 met, 6 missed"; status=1; }; \
	tr -d '\r' <bench-vm/tap.log | grep -q '^# targets: 6 met' || \
	    status=1; \
	exit $$status

# Writes between soft devices beside TCP, over links that this makes.
bench-tcp: %D%/link all
	$(SHELL) $(srcdir)/%D%/tcp.sh

# Threads with an engine each, for a minute; build with --enable-tsan.  Then
# histories, of more seeds than `make check` has.
STRESS_SEEDS = 10000
stress: %D%/stress t/soft/history.t
	$(LIBTOOL) --mode=execute %D%/stress $(STRESS_SECONDS)
	t/soft/history.t -n $(STRESS_SEEDS)

.PHONY: bench bench-cm bench-comch bench-copy bench-dma bench-dropin \
	bench-graph bench-net bench-net-plot bench-overhead bench-peers \
	bench-programs bench-python bench-recorder bench-shm bench-soft \
	bench-sync-event bench-tcp bench-vm clean-local-bench stress
