# SPDX-License-Identifier: BSD-2-Clause
#
# The tool `pier`, a user of the installed library like any other program.

bin_PROGRAMS += %D%/pier
%C%_pier_LDADD = lib/uv/libpier-uv.la lib/libpier.la $(JANSSON_LIBS) -lm
%C%_pier_CPPFLAGS = $(AM_CPPFLAGS) -DDROPIN_DIR='"$(dropindir)"'
%C%_pier_SOURCES = \
	%D%/brief.c \
	%D%/copy.c \
	%D%/copy.h \
	%D%/copy_reach.c \
	%D%/copy_report.c \
	%D%/copy_ssh.c \
	%D%/copy_where.c \
	%D%/counters.c \
	%D%/counters_events.c \
	%D%/counters_prometheus.c \
	%D%/desc.c \
	%D%/doctor.c \
	%D%/doctor.h \
	%D%/doctor_addr.c \
	%D%/doctor_answer.c \
	%D%/doctor_cgroup.c \
	%D%/doctor_devices.c \
	%D%/doctor_file.c \
	%D%/doctor_gids.c \
	%D%/doctor_host.c \
	%D%/doctor_limits.c \
	%D%/doctor_modules.c \
	%D%/doctor_nft.c \
	%D%/doctor_path.c \
	%D%/doctor_ports.c \
	%D%/doctor_probe.c \
	%D%/doctor_report.c \
	%D%/doctor_route.c \
	%D%/doctor_versions.c \
	%D%/exchange.c \
	%D%/faults.c \
	%D%/info.c \
	%D%/json.c \
	%D%/message.c \
	%D%/perf.c \
	%D%/perf.h \
	%D%/perf_both.c \
	%D%/perf_client.c \
	%D%/perf_comch.c \
	%D%/perf_connect.c \
	%D%/perf_conns.c \
	%D%/perf_cpu.c \
	%D%/perf_csv.c \
	%D%/perf_hist.c \
	%D%/perf_host.c \
	%D%/perf_join.c \
	%D%/perf_kind.c \
	%D%/perf_loop.c \
	%D%/perf_memory.c \
	%D%/perf_plot.c \
	%D%/perf_report.c \
	%D%/perf_respond.c \
	%D%/perf_setup.c \
	%D%/perf_sizes.c \
	%D%/perf_slots.c \
	%D%/perf_spec.c \
	%D%/perf_stream.c \
	%D%/perf_verify.c \
	%D%/perf_watch.c \
	%D%/perf_where.c \
	%D%/pier.c \
	%D%/ping.c \
	%D%/ping.h \
	%D%/ping_ask.c \
	%D%/ping_report.c \
	%D%/ping_serve.c \
	%D%/run.c \
	%D%/run_elf.c \
	%D%/run_elf.h \
	%D%/run_env.c \
	%D%/run_env.h \
	%D%/run_real.c \
	%D%/run_real.h \
	%D%/run_report.c \
	%D%/run_report.h \
	%D%/run_stats.c \
	%D%/run_stats.h \
	%D%/server.c \
	%D%/services.c \
	%D%/text.c \
	%D%/tool.h \
	%D%/where.c \
	# end, sorted

# `make install prefix=DIR` may change where the library is.
%D%/pier-run.$(OBJEXT): directories

# Scripts for the static probes.
bpftracedir = $(pkgdatadir)/bpftrace
dist_bpftrace_DATA = \
	%D%/bpftrace/pier-events.bt \
	%D%/bpftrace/pier-latency.bt \
	# end, sorted

# Completion in shells, where they look for it.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/completion/pier
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = %D%/completion/_pier
