#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs for DOCA build without a warning, for either side, with its headers
# alone in reach.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

# build ARCH: every program of this folder but those that look at pier's own
# objects, too.
build()
{
	for file in t/doca/*.c; do
		! grep -q '^#include <pier/' "$file" || continue
		"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only \
		    -D_GNU_SOURCE "-DDOCA_ARCH_$1" \
		    -DDOCA_ALLOW_EXPERIMENTAL_API \
		    -Ibindings/doca/include -I. "$file" || echo "$file"
	done
}

programs_build_for_the_host()
{
	build HOST
}

programs_build_for_the_dpu()
{
	build DPU
}

# parse LANGUAGE COMPILER: every header, with no other before it.
parse()
{
	for file in bindings/doca/include/*.h; do
		for arch in HOST DPU; do
			echo 'extern int nothing;' |
			    "$2" -x "$1" -Wall -Wextra -Wpedantic -Werror \
			    -fsyntax-only "-DDOCA_ARCH_$arch" \
			    -Ibindings/doca/include -include "$file" - ||
				echo "$file"
		done
	done
}

headers_need_no_other_before_them()
{
	parse c "${CC:-gcc}"
}

headers_are_cplusplus_too()
{
	command -v "${CXX:-g++}" >/dev/null || skip "there is no ${CXX:-g++}"
	parse c++ "${CXX:-g++}"
}

# Programs have macros of these names.
headers_leave_names_to_programs()
{
	grep -E -n '#[[:space:]]*define[[:space:]]+(MIN|MAX)\>' \
	    bindings/doca/include/*.h || :
}

# A program asks pkg-config for what it uses; all of it is one library.
modules_of_pkg_config_lead_to_the_library()
{
	command -v pkg-config >/dev/null || skip "there is no pkg-config"
	PKG_CONFIG_PATH=$build/bindings/doca:$build:$PKG_CONFIG_PATH
	export PKG_CONFIG_PATH
	for module in doca doca-argp doca-comch doca-common doca-dma \
	    doca-rdma; do
		pkg-config --libs --cflags "$module" >"$tmp/flags" ||
			echo "$module: unknown"
		grep -q -e '-lpier-doca' "$tmp/flags" &&
		    grep -q -e '/pier-doca' "$tmp/flags" ||
			echo "$module: $(cat "$tmp/flags")"
		[ "$(pkg-config --modversion "$module")" = 3.3.0 ] ||
			echo "$module: another version"
	done
}

none programs_build_for_the_host
none programs_build_for_the_dpu
none headers_need_no_other_before_them
none headers_are_cplusplus_too
none headers_leave_names_to_programs
none modules_of_pkg_config_lead_to_the_library
tap_done
