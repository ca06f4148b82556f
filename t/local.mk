# SPDX-License-Identifier: BSD-2-Clause
#
# Tests.  A new one is t/NAME.c and one word here: automake finds NAME.c by
# itself.  `make check` runs them through automake's driver, `make prove`
# through prove; both by t/run, which knows the time limits.

check_PROGRAMS += \
	%D%/fabric.t \
	%D%/so.t \
	%D%/verbs.t \
	%D%/wake.t \
	# end, sorted

dist_check_SCRIPTS += \
	%D%/docs.sh \
	%D%/headers.sh \
	%D%/layers.sh \
	%D%/samples.sh \
	%D%/style.sh \
	%D%/symbols.sh \
	%D%/tool.sh \
	# end, sorted

# What tests share, and the insides of the library.
check_LTLIBRARIES += %D%/libtap.la
%C%_libtap_la_SOURCES = \
	%D%/loop.c \
	%D%/loop.h \
	%D%/pair.c \
	%D%/pair.h \
	%D%/softpair.c \
	%D%/softpair.h \
	%D%/tap.c \
	%D%/tap.h \
	%D%/vnet.c \
	%D%/vnet.h \
	# end, sorted

$(check_PROGRAMS): %D%/libtap.la lib/libpier-core.la
$(check_PROGRAMS): private LDADD = %D%/libtap.la lib/libpier-core.la

# This one takes the library as a program does.
%C%_so_t_LDADD = %D%/libtap.la lib/libpier.la

EXTRA_DIST += \
	%D%/api.sh \
	%D%/metrics.awk \
	%D%/run \
	%D%/tap.sh \
	%D%/vm/guest.sh \
	%D%/vm/init \
	%D%/vm/judge.awk \
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
