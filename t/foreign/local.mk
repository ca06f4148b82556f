# SPDX-License-Identifier: BSD-2-Clause
#
# Programs for t/verbs/interop_cm.sh: foreign speaks by pier's public calls to
# programs that do not use it; peer is such a program.

EXTRA_PROGRAMS += \
	%D%/foreign \
	%D%/peer \
	# end, sorted

%C%_foreign_SOURCES = \
	%D%/data.c \
	%D%/foreign.c \
	%D%/foreign.h \
	%D%/main.c \
	%D%/many.c \
	%D%/pattern.c \
	%D%/pattern.h \
	%D%/perftest.c \
	%D%/rping.c \
	# end, sorted

%C%_peer_SOURCES = \
	%D%/pattern.c \
	%D%/pattern.h \
	%D%/peer.c \
	# end, sorted
%C%_peer_LDADD = $(IBVERBS_LIBS) $(RDMACM_LIBS)

EXTRA_DIST += \
	%D%/ends.sh \
	# end, sorted

tests: %D%/foreign %D%/peer
