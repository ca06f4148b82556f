# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # $tmp, $pier, $address
#
# Multicast by Debian's mckey, as it is: source it after dropin.sh.  $address is
# the one that they are bound to, $on the command that runs them elsewhere.
need rdmacm-utils mckey

messages=10
on=
by=-m

# receiver NUMBER GROUP [OPTION...]
receiver()
{
	number=$1
	group=$2
	shift 2
	$on timeout -k 5 60 "$pier" run -- mckey $by "$group" -b "$address" \
	    -C "$messages" "$@" >"$tmp/receiver$number" 2>&1 &
}

# sender GROUP [OPTION...]
sender()
{
	group=$1
	shift
	$on timeout -k 5 60 "$pier" run -- mckey -s $by "$group" \
	    -b "$address" -C "$messages" "$@" >"$tmp/sender" 2>&1 || {
		cat "$tmp/sender"
		return 1
	}
}

# A receiver ends when it has all messages.
received()
{
	wait "$1" || {
		cat "$tmp/sender" "$tmp"/receiver*
		return 1
	}
}
