#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample of threads, each with an engine.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/device.sh"

threads=$build/samples/services/threads
[ -x "$threads" ] || skip_all "the samples are not built"

# reply COUNT - so many pairs of threads
reply()
{
	timeout 100 "$threads" -d "$device" -t "$1" >"$tmp/out" 2>&1
	status=$?
	cat "$tmp/out"
	[ $status -eq 0 ] && [ "$(cat "$tmp/out")" = "$(($1 * 1000)) replies" ]
}

a_pair_of_threads_gets_every_reply()
{
	reply 1
}

many_threads_get_every_reply()
{
	reply 12
}

an_error_is_reported()
{
	timeout 100 "$threads" -d no_such0 >"$tmp/out" 2>&1
	status=$?
	cat "$tmp/out"
	[ $status -eq 1 ] && grep -q '^threads: .*no_such0' "$tmp/out" &&
		[ "$(tail -n 1 "$tmp/out")" = "0 replies" ]
}

run a_pair_of_threads_gets_every_reply
run many_threads_get_every_reply
natively run an_error_is_reported
tap_done
