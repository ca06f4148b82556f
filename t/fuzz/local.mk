# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzz targets.  `make check` replays the inputs of t/data/fuzz on each; with
# configure --enable-fuzz, `make fuzz` makes up new ones for FUZZ_SECONDS a
# target, and `make fuzz-corpus` keeps those that show something new.

FUZZ_SECONDS = 60
fuzz_targets = cm codec ep frame private ring wire

fuzz_tests = \
	%D%/cm.t \
	%D%/codec.t \
	%D%/ep.t \
	%D%/frame.t \
	%D%/private.t \
	%D%/ring.t \
	%D%/wire.t \
	# end, sorted
check_PROGRAMS += $(fuzz_tests)

check_LTLIBRARIES += %D%/libreplay.la
%C%_libreplay_la_SOURCES = \
	%D%/fuzz.h \
	%D%/replay.c \
	# end, sorted

%C%_cm_t_SOURCES = \
	%D%/chance.c \
	%D%/cm.c \
	%D%/cm.h \
	%D%/net.c \
	%D%/net_program.c \
	# end, sorted

%C%_ep_t_SOURCES = \
	%D%/chance.c \
	%D%/ep.c \
	%D%/ep.h \
	%D%/step.c \
	%D%/world.c \
	# end, sorted

%C%_ring_t_SOURCES = \
	%D%/chance.c \
	%D%/ep.h \
	%D%/ring.c \
	%D%/step.c \
	%D%/world.c \
	# end, sorted

# Of libpier-uv, what a peer's bytes go through.
check_LTLIBRARIES += %D%/libframe.la
%C%_libframe_la_SOURCES = lib/uv/frame.c lib/uv/inbox.c

$(fuzz_tests): %D%/libreplay.la
$(fuzz_tests): private LDADD = %D%/libreplay.la t/libtap.la \
	lib/libpier-core.la
%C%_frame_t_LDADD = %D%/libreplay.la %D%/libframe.la t/libtap.la \
	lib/libpier-core.la

# Inputs to begin with, for a new target or a new format.
EXTRA_PROGRAMS += %D%/seed
%C%_seed_SOURCES = \
	%D%/seed.c \
	# end, sorted
%C%_seed_LDADD = t/libsoft.la t/libtap.la lib/libpier-core.la

EXTRA_DIST += \
	%D%/run.sh \
	# end, sorted

if FUZZ
fuzzers = %D%/cm.fuzz %D%/codec.fuzz %D%/ep.fuzz %D%/frame.fuzz \
	%D%/private.fuzz %D%/ring.fuzz %D%/wire.fuzz
noinst_PROGRAMS += $(fuzzers)
%C%_cm_fuzz_SOURCES = $(%C%_cm_t_SOURCES)
%C%_codec_fuzz_SOURCES = %D%/codec.c
%C%_ep_fuzz_SOURCES = $(%C%_ep_t_SOURCES)
%C%_frame_fuzz_SOURCES = %D%/frame.c
%C%_frame_fuzz_LDADD = %D%/libframe.la lib/libpier-core.la
%C%_private_fuzz_SOURCES = %D%/private.c
%C%_ring_fuzz_SOURCES = $(%C%_ring_t_SOURCES)
%C%_wire_fuzz_SOURCES = %D%/wire.c
$(fuzzers): lib/libpier-core.la
$(fuzzers): private LDADD = lib/libpier-core.la
$(fuzzers): private AM_LDFLAGS += -fsanitize=fuzzer

fuzz: $(fuzzers) $(fuzz_tests)
	$(SHELL) $(srcdir)/%D%/run.sh fuzz $(FUZZ_SECONDS) $(fuzz_targets)

fuzz-corpus: $(fuzzers) $(fuzz_tests)
	$(SHELL) $(srcdir)/%D%/run.sh corpus $(FUZZ_SECONDS) $(fuzz_targets)
endif

.PHONY: fuzz fuzz-corpus
