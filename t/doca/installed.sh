#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program for DOCA builds with pkg-config and what is installed, and its two
# processes move data.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"

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
	"${CC:-cc}" -Wall -Wextra -Werror "$top/t/doca/letter.c" \
	    -o "$tmp/letter" $sanitize \
	    $(pkg-config --cflags --libs doca-common doca-rdma)
}

# letter DEVICE TEXT - with the libraries of the installation
letter()
{
	lib=$(installed libpier-doca.so)
	LD_LIBRARY_PATH=${lib%/*} timeout 60 "$tmp/letter" "$1" "$2"
}

its_processes_move_data()
{
	is "$(letter soft_lo "any text")" "read any text"
}

they_do_so_on_the_device_under_test()
{
	is "$(letter "$device" "other text")" "read other text"
}

run pier_is_installed
run the_program_builds_with_one_line
run its_processes_move_data
run they_do_so_on_the_device_under_test
tap_done
