#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The guides for programs of other libraries, docs/from-*.md: their programs are
# built against what is installed, with the commands that the guides have, and
# print what the guides print.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/install.sh"
take_ports

installed_tools
port=$first_port

# program GUIDE - its only text in C, with a port and a name of this test's own
program()
{
	sed '1,/^```c$/d; /^```$/,$d' "$1" |
	    sed "s/\<13579\>/$port/; s/\"colours\"/\"colours-$$\"/"
}

# commands GUIDE, output GUIDE - of its lines that are a terminal's
commands()
{
	sed -n 's/^    \$ //p' "$1" | sed "s/\<13579\>/$port/g"
}

output()
{
	awk '/^    \$ / { on = 1; next } !/^    / { on = 0 }
		on { print substr($0, 5) }' "$1"
}

# try GUIDE - build and run its program as it has it, and compare
try()
{
	guide=$top/docs/from-$1.md
	mkdir "$tmp/$1" && cd "$tmp/$1" || return
	program "$guide" >"$1.c"
	commands "$guide" >commands
	[ "$(grep -c '^```c$' "$guide")" -eq 1 ] && [ -s "$1.c" ] &&
	    [ "$(wc -l <commands)" -ge 2 ] || {
		echo "the guide has not one program and its commands"
		return 1
	}
	sh ./commands >out 2>&1
	output "$guide" >want
	[ -s want ] && diff want out
}

the_program_for_verbs_prints_what_its_guide_has() { try verbs; }
the_program_for_ucx_prints_what_its_guide_has() { try ucx; }
the_program_for_libfabric_prints_what_its_guide_has() { try libfabric; }
the_program_for_mpi_prints_what_its_guide_has() { try mpi; }
the_program_for_zeromq_prints_what_its_guide_has() { try zeromq; }

# What is tried above.
each_guide_with_a_program_is_tried()
{
	grep -l '^```c$' "$top"/docs/from-*.md | while read -r guide; do
		name=${guide##*/from-}
		grep -q "{ try ${name%.md}; }" "$0" || echo "$guide"
	done
}

# They are read beside the page that they lead to.
guides_are_short()
{
	for guide in "$top"/docs/from-*.md; do
		[ "${guide##*/}" = from-doca.md ] ||
		    [ "$(wc -l <"$guide")" -le 150 ] || echo "$guide"
	done
}

none the_program_for_verbs_prints_what_its_guide_has
none the_program_for_ucx_prints_what_its_guide_has
none the_program_for_libfabric_prints_what_its_guide_has
none the_program_for_mpi_prints_what_its_guide_has
none the_program_for_zeromq_prints_what_its_guide_has
none each_guide_with_a_program_is_tried
none guides_are_short
tap_done
