#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Copies that are killed again and again, and resumed.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/copying.sh"

# grown FOLDER BYTES - its part is longer than that, or the client has ended
grown()
{
	[ "$(part "$1")" -gt "$2" ] || ! kill -0 "$client" 2>/dev/null
}

# kill_and_resume FOLDER WORDS... - 25 times, or as many as PIER_TEST_KILLS has,
# when more has come than there was before; from its begin again when it was
# complete.  A kill takes a second until the other one has found out.
kill_and_resume()
{
	folder=$1
	shift
	midst=0
	tries=0
	while [ $midst -lt "${PIER_TEST_KILLS:-25}" ]; do
		tries=$((tries + 1))
		had=$(part "$folder")
		[ $tries -le $((8 * ${PIER_TEST_KILLS:-25})) ] || {
			echo "killed $midst times in the middle, of $tries"
			return 1
		}
		begin --resume "$@"
		at_moment grown "$folder" $((had + $(random 10000000)))
		kill_one $midst
		if [ "$(head -c 4 "$folder/file")" != old ]; then
			cmp file ../root/file || return
			echo old >"$folder/file"	# it was complete before
		elif [ "$(part "$folder")" -gt "$had" ]; then
			midst=$((midst + 1))
		fi
	done
	copy --resume "$@" && cmp file ../root/file &&
	    [ "$(ls -A "$folder")" = file ] ||
	    { cat "$tmp/err" "$tmp/server"; ls -lA "$folder"; return 1; }
}

# A client or a server dies when a random part of the file is there.
a_copy_that_is_killed_many_times_is_resumed()
{
	fresh
	echo old >../root/file
	head -c 200000000 /dev/urandom >file
	kill_and_resume ../root file 127.0.0.1:
}

a_copy_from_the_server_that_is_killed_many_times_is_resumed()
{
	fresh
	echo old >file
	head -c 200000000 /dev/urandom >../root/file
	kill_and_resume . 127.0.0.1:file .
}

device_known
run a_copy_that_is_killed_many_times_is_resumed
run a_copy_from_the_server_that_is_killed_many_times_is_resumed
tap_done
