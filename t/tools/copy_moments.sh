#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Copies that are killed at any moment.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/copying.sh"

# kill_at WAIT NUMBER - one side, so long after the begin of a copy, of every
# other pair of copies after a part of the file is there; the target is the old
# file or the new one, and the next copy is complete
kill_at()
{
	echo old >../root/file
	begin --resume file 127.0.0.1:
	[ $(($2 % 4)) -lt 2 ] || at_moment has_part
	sleep "$1"
	kill_one "$2"
	[ "$(part ../root)" -eq 0 ] || midst=$((midst + 1))
	[ "$(head -c 4 ../root/file)" = old ] || cmp file ../root/file ||
	    return
	copy --resume file 127.0.0.1: && cmp file ../root/file &&
	    [ "$(ls -A ../root)" = file ] ||
	    { cat "$tmp/err" "$tmp/server"; ls -lA ../root; return 1; }
}

# has_part - or the client has ended
has_part()
{
	[ "$(part ../root)" -gt 0 ] || ! kill -0 "$client" 2>/dev/null
}

# At any moment between the begin of the process and its end: before it is
# connected, while both negotiate, copy, sync and rename.
a_copy_that_is_killed_at_any_moment_leaves_a_whole_target()
{
	fresh
	head -c 60000000 /dev/urandom >file
	begun=$(date +%s%N)
	copy file 127.0.0.1: || return
	lasts=$((($(date +%s%N) - begun) / 1000))	# microseconds
	midst=0
	n=0
	while [ $n -lt "${PIER_TEST_KILLS:-16}" ]; do
		n=$((n + 1))
		us=$(random $lasts)
		[ $((n % 4)) -lt 2 ] || us=$((us / 8))
		kill_at "$((us / 1000000)).$(printf %06d $((us % 1000000)))" \
		    $n || return
	done
	[ $midst -gt 0 ] || [ $n -lt 2 ] ||
	    { echo "no kill of $n in the middle"; return 1; }
}

device_known
run a_copy_that_is_killed_at_any_moment_leaves_a_whole_target
tap_done
