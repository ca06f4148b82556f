#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program for DOCA of about 100 lines builds with pkg-config and what is
# installed, and its two processes move data.
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

# moves DEVICE TEXT - each of the processes has the other's
moves()
{
	letter "$1" "$2" >"$tmp/moved" &&
	    [ "$(grep -cx "read $2" "$tmp/moved")" -eq 2 ] && return
	cat "$tmp/moved"
	return 1
}

its_processes_move_data()
{
	moves soft_lo "any text"
}

they_do_so_on_the_device_under_test()
{
	moves "$device" "other text"
}

a_device_that_there_is_not_is_an_error()
{
	letter no_such "any text" >"$tmp/moved" 2>&1
	[ $? -eq 1 ] && grep -q "Invalid value" "$tmp/moved" &&
	    ! grep -q "^read" "$tmp/moved"
}

run pier_is_installed
run the_program_builds_with_one_line
run its_processes_move_data
run they_do_so_on_the_device_under_test
run a_device_that_there_is_not_is_an_error
tap_done
