#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples where acknowledgements are lost, every other one: on the loopback
# interface of a network namespace of the test's own.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"

bin=$build/samples
[ -x "$bin/rdma_send" ] || skip_all "the samples are not built"

# The first byte behind the UDP header is the opcode, 0x11 the one of RC's
# acknowledgements.
lose_acks()
{
	ip link set lo up && nft -f - <<END
table inet pier {
	chain in {
		type filter hook input priority 0;
		meta l4proto udp @th,64,8 0x11 numgen inc mod 2 0 counter drop
	}
}
END
}

[ "${1:-}" = inside ] || command -v nft >/dev/null ||
    skip_all "there is no nft(8)"
own_net "$@"
lose_acks >"$tmp/nft" 2>&1 || skip_all "$(head -n 1 "$tmp/nft")"

# sample FILE NAME OPTION...
sample()
{
	file=$tmp/$1 name=$2
	shift 2
	timeout 60 "$bin/rdma_$name" -d soft_lo --timeout 20 "$@" \
	    >"$file.out" 2>"$file.err"
}

# ended STATUS... - all are 0, and something was lost
ended()
{
	for status; do
		[ "$status" -eq 0 ] && continue
		echo "exit $*"
		cat "$tmp"/*.out "$tmp"/*.err
		return 1
	done
	nft list table inet pier >"$tmp/nft"
	grep -q "counter packets [1-9]" "$tmp/nft" || {
		cat "$tmp/nft"
		return 1
	}
}

# by_files A B OPTION... - those of both
by_files()
{
	one=$1 other=$2
	shift 2
	sample a "$one" -ld "$tmp/a" -re "$tmp/b" -m "$tmp/m" "$@" &
	sample b "$other" -ld "$tmp/b" -re "$tmp/a" -m "$tmp/m" "$@"
	status=$?
	wait $!
	ended $? $status
}

# by_address COUNT SERVER CLIENT OPTION... - so many clients; the server's
by_address()
{
	n=$1 server=$2 client=$3 pids=
	shift 3
	sample server "$server" -cm "$@" &
	pids=$!
	while [ "$n" -gt 0 ]; do
		sample "client$n" "$client" -cm -sa 127.0.0.1 &
		pids="$pids $!"
		n=$((n - 1))
	done
	statuses=
	for pid in $pids; do
		wait "$pid"
		statuses="$statuses $?"
	done
	# shellcheck disable=SC2086 # several numbers
	ended $statuses
}

pairs_by_files_move_their_text()
{
	by_files receive send &&
		by_files read_responder read_requester &&
		by_files write_responder write_requester &&
		by_files receive_immediate send_immediate &&
		by_files atomic_responder atomic_requester &&
		by_files sync_event_responder sync_event_requester
}

pairs_by_address_move_their_text()
{
	by_address 1 receive send && by_address 1 send receive &&
		by_address 1 read_responder read_requester &&
		by_address 1 write_responder write_requester
}

what_has_arrived_on_several_connections_by_files_is_sent()
{
	by_files multi_conn_receive multi_conn_send -nc 8 &&
		by_files multi_conn_send multi_conn_receive -nc 8
}

what_a_server_has_received_of_many_clients_is_sent()
{
	by_address 8 multi_conn_receive multi_conn_send -nc 8
}

what_many_clients_have_received_is_sent()
{
	by_address 8 multi_conn_send multi_conn_receive -nc 8
}

run pairs_by_files_move_their_text
run pairs_by_address_move_their_text
run what_has_arrived_on_several_connections_by_files_is_sent
run what_a_server_has_received_of_many_clients_is_sent
run what_many_clients_have_received_is_sent
tap_done
