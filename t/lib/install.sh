# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What `make tests` has installed: source it after tap.sh.
#
# $root is the root of the installation.  Tests read there, and do not install:
# libtool links again in the build tree, where it moves libraries aside that
# other tests use.

root=$build/installed
[ -f "$root/stamp" ] ||
    skip_all "nothing is installed in $root: run make tests"

# installed_tools - cc, c++ and pkg-config for programs that use what is
# installed, first in $PATH: commands work as on a system that has pier, on
# soft_lo.  What libpier-uv needs is the system's own.
installed_tools()
{
	command -v "${CC:-gcc}" >/dev/null || skip_all "there is no compiler"
	command -v pkg-config >/dev/null || skip_all "there is no pkg-config"
	lib=$(find "$root" -name pkgconfig -path '*/lib*/pkgconfig' \
	    ! -path '*/pier-doca-2.0/*')
	lib=${lib%/pkgconfig}
	mkdir "$tmp/bin" || exit
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
	cat >"$tmp/bin/cc" <<-END
	#!/bin/sh
	exec ${CC:-gcc} -Wall -Wextra -Werror -Wshadow "\$@" $sanitize
	END
	cat >"$tmp/bin/c++" <<-END
	#!/bin/sh
	exec ${CXX:-g++} -Wall -Wextra -Werror "\$@" $sanitize
	END
	cat >"$tmp/bin/pkg-config" <<-END
	#!/bin/sh
	PKG_CONFIG_PATH=
	PKG_CONFIG_SYSROOT_DIR=$root
	PKG_CONFIG_LIBDIR=$lib/pkgconfig:$(pkg-config \
		--variable pc_path pkg-config)
	export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
	exec $(command -v pkg-config) "\$@"
	END
	chmod +x "$tmp/bin/cc" "$tmp/bin/c++" "$tmp/bin/pkg-config" || exit
	PATH=$tmp/bin:$PATH
	LD_LIBRARY_PATH=$lib
	PIER_DEVICE=soft_lo
	export PATH LD_LIBRARY_PATH PIER_DEVICE
}
