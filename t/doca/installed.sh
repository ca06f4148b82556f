#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program for DOCA builds with pkg-config and what is installed, and its two
# processes move data.
. "${0%/*}/../lib/tap.sh"

command -v pkg-config >/dev/null || skip_all "there is no pkg-config"

# A file of the installation.
installed()
{
	find "$tmp/dest" -name "$1"
}

pier_is_installed()
{
	make -s -C "$build" install DESTDIR="$tmp/dest" >"$tmp/log" 2>&1 ||
	    { tail "$tmp/log"; return 1; }
	[ "$(installed doca-rdma.pc)" ] && [ "$(installed libpier-doca.so)" ]
}

the_program_builds_with_one_line()
{
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
	pc=$(installed doca-rdma.pc)
	export PKG_CONFIG_SYSROOT_DIR="$tmp/dest"
	export PKG_CONFIG_PATH="${pc%/*}:$PKG_CONFIG_PATH"
	"${CC:-cc}" "$top/t/doca/letter.c" -o "$tmp/letter" $sanitize \
	    $(pkg-config --cflags --libs doca-common doca-rdma)
}

# letter TEXT - with the libraries of the installation
letter()
{
	lib=$(installed libpier-doca.so)
	LD_LIBRARY_PATH=${lib%/*} timeout 60 "$tmp/letter" soft_lo "$1"
}

its_processes_move_data()
{
	letter "any text" >"$tmp/out" || return
	sort "$tmp/out" >"$tmp/sorted"
	is "$(cat "$tmp/sorted")" "read any text
received ANY TEXT"
}

run pier_is_installed
run the_program_builds_with_one_line
run its_processes_move_data
tap_done
