#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian's rdmacm-utils over rsockets, as they are, on soft devices,
# and a program of TCP that gets rsockets by the preload library of librdmacm1:
# two processes each.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need rdmacm-utils rstream rcopy riostream udpong

# start PROGRAM OPTION... - a server, which is ready then
start()
{
	next_port
	serve "$@"
	wait_for 30 accepts_or_ended
}

# ended_by_us - the client has succeeded, the server goes on until it is ended
ended_by_us()
{
	kill "$server"
	wait "$server"
	[ "$client" -eq 0 ] || {
		echo "client: exit $client"
		cat "$tmp/client" "$tmp/server"
		return 1
	}
}

# stream OPTION... - what is received is compared
stream()
{
	start rstream -T v "$@"
	client rstream -T v "$@" -s "$address"
	both_succeed && says "$tmp/client" "custom" && says "$tmp/server" custom
}

# Each message is longer than a half of the ring.
a_stream_is_verified()
{
	stream -S 100000 -C 20
}

a_stream_that_is_polled_is_verified()
{
	stream -T a -S 10000 -C 20
}

a_stream_blocks_or_does_not()
{
	stream -T b -S 1000 -C 20 && stream -T n -S 1000 -C 20
}

addresses_are_resolved_by_rdma_cm()
{
	stream -T r -S 64 -C 20
}

memory_of_the_peer_is_written()
{
	start riostream -T v -S 10000 -C 20
	client riostream -T v -S 10000 -C 20 -s "$address"
	both_succeed
}

a_file_is_copied()
{
	head -c 3000000 /dev/urandom >"$tmp/from"
	start rcopy
	client rcopy "$tmp/from" "$address:$tmp/to"
	ended_by_us && cmp "$tmp/from" "$tmp/to"
}

# udpong's server goes on, too.  UDP is what it is sent by.
datagrams_are_exchanged()
{
	start udpong -b "$address" -C 20 -S 1000
	client udpong -C 20 -S 1000 -s "$address"
	ended_by_us
}

# rstream with sockets of TCP, which the preload library takes the place of.
sockets_of_tcp_become_streams()
{
	preload=$(dpkg -L librdmacm1 2>/dev/null | grep 'librspreload\.so$')
	[ -f "$preload" ] || skip "there is no librspreload.so"
	# shellcheck disable=SC2016 # the shell of pier run expands it
	by='LD_PRELOAD="$LD_PRELOAD $0" exec rstream -T s -T v -S 50 -C 9 "$@"'
	options=--stats
	start sh -c "$by" "$preload"
	client sh -c "$by" "$preload" -s "$address"
	options=
	both_succeed && says "$tmp/client" custom "soft devices of 1 process"
}

a_port_without_a_listener_is_reported()
{
	next_port
	client rstream -T b -s "$address"
	[ "$client" -ne 0 ] && says "$tmp/client" "Connection refused"
}

run a_stream_is_verified
run a_stream_that_is_polled_is_verified
run a_stream_blocks_or_does_not
run addresses_are_resolved_by_rdma_cm
run memory_of_the_peer_is_written
run a_file_is_copied
run datagrams_are_exchanged
run sockets_of_tcp_become_streams
run a_port_without_a_listener_is_reported
tap_done
