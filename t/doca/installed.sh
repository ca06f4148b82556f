#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs for DOCA build with pkg-config and what is installed, and their
# processes move data.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/install.sh"

command -v pkg-config >/dev/null || skip_all "there is no pkg-config"

# A file of the installation.
installed()
{
	find "$root" -name "$1"
}

pier_is_installed()
{
	[ "$(installed doca-rdma.pc)" ] && [ "$(installed libpier-doca.so)" ]
}

# compile SOURCE PROGRAM MODULES [FLAG]
compile()
{
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
	pc=$(installed doca-rdma.pc)
	export PKG_CONFIG_SYSROOT_DIR="$root"
	export PKG_CONFIG_PATH="${pc%/*}:$PKG_CONFIG_PATH"
	"${CC:-cc}" -Wall -Wextra -Werror ${4:+"$4"} "$top/t/doca/$1" \
	    -o "$tmp/$2" $sanitize $(pkg-config --cflags --libs $3)
}

# program NAME ARGUMENT... - with the libraries of the installation
program()
{
	name=$1
	shift
	lib=$(installed libpier-doca.so)
	LD_LIBRARY_PATH=${lib%/*} timeout 60 "$tmp/$name" "$@"
}

the_program_builds_with_one_line()
{
	compile letter.c letter "doca-common doca-rdma"
}

# As the meson.build.public of DOCA's samples do.
it_builds_with_meson()
{
	command -v meson >/dev/null && command -v ninja >/dev/null ||
	    skip "there is no meson, or no ninja"
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
	pc=$(installed doca-rdma.pc)
	export PKG_CONFIG_SYSROOT_DIR="$root"
	export PKG_CONFIG_PATH="${pc%/*}:$PKG_CONFIG_PATH"
	mkdir "$tmp/meson"
	cp "$top/t/doca/letter.c" "$top/t/doca/channel.c" "$tmp/meson"
	cat >"$tmp/meson/meson.build" <<-'END'
	project('doca', 'c',
		default_options: ['werror=true', 'warning_level=2'])
	common = dependency('doca-common')
	executable('letter', 'letter.c',
		dependencies: [common, dependency('doca-rdma')])
	executable('channel', 'channel.c', c_args: '-DDOCA_ARCH_HOST',
		dependencies: [common, dependency('doca-comch')])
	END
	CFLAGS="$sanitize" LDFLAGS="$sanitize" meson setup \
	    "$tmp/meson/build" "$tmp/meson" >"$tmp/log" 2>&1 &&
	    ninja -C "$tmp/meson/build" >>"$tmp/log" 2>&1 || {
		cat "$tmp/log"
		return 1
	}
	cp "$tmp/meson/build/letter" "$tmp/letter" && moves soft_lo meson
}

# moves DEVICE TEXT - each of the processes has the other's
moves()
{
	program letter "$1" "$2" >"$tmp/moved" &&
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
	program letter no_such "any text" >"$tmp/moved" 2>&1
	[ $? -eq 1 ] && grep -q "Invalid value" "$tmp/moved" &&
	    ! grep -q "^read" "$tmp/moved"
}

both_sides_of_a_channel_build()
{
	compile channel.c server "doca-common doca-comch" -DDOCA_ARCH_DPU &&
	    compile channel.c client "doca-common doca-comch" -DDOCA_ARCH_HOST
}

# address DEVICE - its PCI address
address()
{
	"$build/tools/pier" info -d "$1" | sed -n 's/^  pci *//p'
}

# channel PCI - the server, whose process ends with that of the client; what
# both print, the server first.
channel()
{
	program server "$1" "$1" "text of the server" >"$tmp/server.out" 2>&1 &
	pid=$!
	wait_for 40 grep -qs "the server runs" "$tmp/server.out"
	program client "$1" "$1" "text of the client" >"$tmp/client.out" \
	    2>"$tmp/client.err" || cat "$tmp/client.err"
	wait "$pid" || echo "the server failed"
	grep -v '^\[' "$tmp/server.out" "$tmp/client.out" |
	    sed "s|^$tmp/||"
}

its_sides_meet_by_an_address_of_pci()
{
	channel "$(address soft_lo)" >"$tmp/channel"
	diff "$tmp/channel" - <<END
server.out:the server runs
server.out:a client is connected: 1
server.out:the server received text of the client
server.out:a client has disconnected: 1
server.out:over
client.out:the client received text of the server
client.out:over
END
}

a_channel_without_a_server_fails()
{
	pci=$(address soft_lo)
	program client "$pci" "$pci" text >"$tmp/out" 2>&1 &&
	    { echo "it succeeded"; return 1; }
	grep -q "comch: no server" "$tmp/out" &&
	    grep -q "Connection aborted" "$tmp/out" || cat "$tmp/out"
}

run pier_is_installed
run the_program_builds_with_one_line
run its_processes_move_data
run they_do_so_on_the_device_under_test
run a_device_that_there_is_not_is_an_error
run it_builds_with_meson
run both_sides_of_a_channel_build
none its_sides_meet_by_an_address_of_pci
none a_channel_without_a_server_fails
tap_done
