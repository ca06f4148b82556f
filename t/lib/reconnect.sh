# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What tests of reconnect_client share: source it after tap.sh.  The output of
# the client is in $tmp/client.out and client.err.

lines()
{
	wc -l <"$tmp/client.out"
}

more_than()
{
	[ "$(lines)" -gt "$1" ]
}

# Numbers come back that did not before.
goes_on()
{
	wait_for 60 more_than $(($(lines) + 3)) || {
		cat "$tmp"/*.err
		return 1
	}
}

# lost NUMBER - the client has lost more connections than that, each of which
# is a line beside that for what it waits
lost()
{
	wait_for 60 lost_more "$1"
}

lost_more()
{
	[ "$(grep -vc "^waiting for" "$tmp/client.err")" -gt "$1" ]
}

# No number was lost, and none came twice.
each_came_once()
{
	sed '$d' "$tmp/client.out" | awk '$1 != NR { print; exit 1 }'
}
