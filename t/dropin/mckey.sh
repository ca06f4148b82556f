#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Multicast: Debian's mckey, as it is, on soft devices: a sender and receivers,
# a process each.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/groups.sh"

address=127.0.0.1

# are_joined GROUP COUNT - as the kernel has it, whose addresses are backwards
are_joined()
{
	(
		IFS=.
		set -- $1 "$2"
		awk -v group="$(printf '%02X%02X%02X%02X' $4 $3 $2 $1)" \
		    -v count="$5" '$1 == group { all += $2 }
		    END { exit all < count }' /proc/net/igmp
	)
}

each_receiver_gets_each_message()
{
	receiver 1 239.1.2.3
	first=$!
	receiver 2 239.1.2.3
	second=$!
	wait_for 30 are_joined 239.1.2.3 2
	sender 239.1.2.3 && received "$first" && received "$second"
}

# The sender's QP is not in the group.
a_sender_may_be_no_receiver()
{
	receiver 1 239.1.2.4
	first=$!
	wait_for 30 are_joined 239.1.2.4 1
	sender 239.1.2.4 -o && received "$first"
}

what_is_sent_to_another_group_does_not_arrive()
{
	receiver 1 239.1.2.5
	first=$!
	receiver 2 239.1.2.6
	second=$!
	wait_for 30 are_joined 239.1.2.5 1
	wait_for 30 are_joined 239.1.2.6 1
	sender 239.1.2.6 && received "$second" || return 1
	kill -0 "$first" || return 1
	sender 239.1.2.5 && received "$first"
}

an_address_of_no_group_is_refused()
{
	timeout -k 5 60 "$pier" run -- mckey -m 127.0.0.2 -b "$address" \
	    >"$tmp/out" 2>&1
	[ $? -ne 0 ] && says "$tmp/out" "failure joining"
}

run each_receiver_gets_each_message
run a_sender_may_be_no_receiver
run what_is_sent_to_another_group_does_not_arrive
run an_address_of_no_group_is_refused
tap_done
