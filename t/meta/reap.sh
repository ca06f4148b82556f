#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What a test leaves in the background ends with it.
. "${0%/*}/../lib/tap.sh"

# waits - at the end of three processes
waits()
{
	timeout 600 timeout 600 sh -c 'echo $$; exec tail -f /dev/null' \
	    >"$tmp/left" &
	wait_for 20 [ -s "$tmp/left" ]
}

gone()
{
	! kill -0 "$left" 2>/dev/null
}

what_a_job_has_started_ends_with_the_test()
{
	(trap tap_reap EXIT; waits) || return
	left=$(cat "$tmp/left")
	wait_for 10 gone || {
		echo "process $left goes on"
		kill "$left"
		return 1
	}
}

run what_a_job_has_started_ends_with_the_test
tap_done
