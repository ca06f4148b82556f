#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian's rdmacm-utils, as they are, on soft devices: two processes
# each.  perftest with -R connects by rdma_cm, too.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need rdmacm-utils rping ucmatose cmtime rdma_server rdma_client udaddy
need perftest ib_send_lat ib_write_bw

# start PROGRAM OPTION... - a server, which is ready then
start()
{
	next_port
	serve "$@"
	wait_for 30 accepts_or_ended
}

# -V compares what was received.
a_ping_is_verified()
{
	start rping -s -C 100
	client rping -c -a "$address" -C 100 -V
	both_succeed
}

# Private data, which each side prints, and data in both directions.
connections_are_made_and_ended()
{
	start ucmatose -c 4 -C 10
	client ucmatose -s "$address" -c 4 -C 10
	both_succeed && says "$tmp/client" "data transfers complete" &&
	    says "$tmp/server" "data transfers complete"
}

# Ids that wait for their calls, set up by one call each.
calls_wait_for_their_end()
{
	start rdma_server
	client rdma_client -s "$address"
	both_succeed && says "$tmp/client" "rdma_client: end 0" &&
	    says "$tmp/server" "rdma_server: end 0"
}

# Two services, of which the address and the QP are all that is exchanged; the
# server replies to each datagram.  The port cannot be chosen.
datagrams_are_exchanged()
{
	port=7174
	timeout 60 "$pier" run -- udaddy -c 2 -C 10 >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 accepts_or_ended
	timeout 60 "$pier" run -- udaddy -s "$address" -c 2 -C 10 \
	    >"$tmp/client" 2>&1
	client=$?
	both_succeed && says "$tmp/client" "data transfers complete" &&
	    says "$tmp/server" "data transfers complete"
}

# The server goes on until it is ended.
many_connections_are_made()
{
	start cmtime -c 100
	client cmtime -s "$address" -c 100
	kill "$server"
	wait "$server"
	[ "$client" -eq 0 ] || {
		cat "$tmp/client" "$tmp/server"
		return 1
	}
	says "$tmp/client" "us / conn"
}

# measure PROGRAM OPTION...
measure()
{
	start "$@" -R -d soft_lo -n 200
	client "$@" -R -d soft_lo -n 200 "$address"
	both_succeed
}

perftest_connects_by_address()
{
	measure ib_send_lat && measure ib_write_bw
}

a_port_without_a_listener_is_reported()
{
	next_port
	client rping -c -a "$address" -C 1
	[ "$client" -ne 0 ] && says "$tmp/client" "RDMA_CM_EVENT_REJECTED"
}

run a_ping_is_verified
run connections_are_made_and_ended
run calls_wait_for_their_end
run datagrams_are_exchanged
run many_connections_are_made
run perftest_connects_by_address
run a_port_without_a_listener_is_reported
tap_done
