#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Copies that are killed at any moment.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/copying.sh"

# kill_at WAIT NUMBER - one side, so long after the begin of a copy; the target
# is the old file or the new one, and the next copy is complete
kill_at()
{
	echo old >../root/file
	begin --resume file 127.0.0.1:
	sleep "$1"
	kill_one "$2"
	[ "$(cat ../root/file)" = old ] || cmp file ../root/file || return
	copy --resume file 127.0.0.1: && cmp file ../root/file &&
	    [ "$(ls -A ../root)" = file ] ||
	    { cat "$tmp/err" "$tmp/server"; ls -lA ../root; return 1; }
}

# At any moment between the begin of the process and its end: before it is
# connected, while both negotiate, copy, sync and rename.
a_copy_that_is_killed_at_any_moment_leaves_a_whole_target()
{
	fresh
	echo old >../root/file
	head -c 5000000 /dev/urandom >file
	begun=$(date +%s%N)
	copy file 127.0.0.1: || return
	lasts=$((($(date +%s%N) - begun) / 1000))	# microseconds
	for n in $(seq "${PIER_TEST_KILLS:-25}"); do
		us=$(printf %06d $(($(random $lasts) % 1000000)))
		kill_at "0.$us" $n || return
	done
}

device_known
run a_copy_that_is_killed_at_any_moment_leaves_a_whole_target
tap_done
