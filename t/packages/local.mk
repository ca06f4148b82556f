# SPDX-License-Identifier: BSD-2-Clause
#
# Packages, which take minutes and are built on request, and what is installed
# for CMake and Meson; the ABI.

dist_check_SCRIPTS += \
	%D%/abi.sh \
	%D%/cmake.sh \
	%D%/samples.sh \
	%D%/versions.sh \
	# end, sorted

EXTRA_DIST += \
	%D%/abi_of.sh \
	%D%/again.sh \
	%D%/deb.sh \
	%D%/lintian.sh \
	%D%/root.sh \
	%D%/rpm.sh \
	# end, sorted

# Later ones use what deb.sh has built, in packages.d.
packages_by_run = PIER_TEST_REQUIRE=1 \
	PIER_PACKAGES_DIR=$(abs_builddir)/packages.d prove --timer --exec sh

# Built without -g, as what it makes is stripped anyway.
check-packages: Makefile
	rm -rf packages.d
	DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g \
		$(packages_by_run) $(srcdir)/%D%/deb.sh
	$(packages_by_run) -j2 $(srcdir)/%D%/root.sh $(srcdir)/%D%/lintian.sh

# What .ci/run has no time for: each builds everything once more.
check-packages-all: Makefile
	rm -rf packages.d
	$(packages_by_run) $(srcdir)/%D%/deb.sh
	$(packages_by_run) -j2 $(srcdir)/%D%/root.sh $(srcdir)/%D%/lintian.sh
	$(packages_by_run) $(srcdir)/%D%/again.sh $(srcdir)/%D%/rpm.sh

# After a change of the ABI that is meant, in a build with default flags.
abi_libraries = lib/libpier lib/uv/libpier-uv \
	bindings/doca/libpier-doca bindings/doca-2.0/libpier-doca-2.0
abi-baseline: all
	for library in $(abi_libraries); do \
		name=$$(basename $$library); \
		sh $(srcdir)/%D%/abi_of.sh $(srcdir) \
		    $$(dirname $$library)/.libs/$$name.so >abi.xml && \
		xz -9 <abi.xml >$(srcdir)/t/data/abi/$$name-0.1.0.xml.xz || \
		    exit; \
	done
	rm abi.xml

.PHONY: abi-baseline check-packages check-packages-all
