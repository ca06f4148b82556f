# SPDX-License-Identifier: BSD-2-Clause
#
# Measurements, built and run by their own targets: they need valgrind, and
# their results are for people to look at.

EXTRA_PROGRAMS += %D%/overhead
%C%_overhead_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/t
%C%_overhead_LDADD = lib/libpier-core.la
%C%_overhead_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_overhead_SOURCES = \
	%D%/nullfabric.c \
	%D%/nullfabric.h \
	%D%/overhead.c \
	# end, sorted

EXTRA_DIST += \
	%D%/overhead.sh \
	# end, sorted

# Instructions that pier spends on an operation.
bench-overhead: %D%/overhead
	$(SHELL) $(srcdir)/%D%/overhead.sh %D%/overhead

.PHONY: bench-overhead
