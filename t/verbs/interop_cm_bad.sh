#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connection management between the soft device and the kernel's when it does
# not go well: what is rejected, a peer that leaves halfway, packets that are
# lost.  Needs what t/vm/run makes.
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
foreign=$build/t/foreign/foreign
peer=$build/t/foreign/peer
samples=$build/samples
for program in "$foreign" "$peer" "$samples/rdma_multi_conn_send"; do
	[ -x "$program" ] || skip_all "$program is not built"
done
. "$top/t/vm/net.sh"
. "$top/t/foreign/ends.sh"

# ends A B - A's is the server, B's the client; $addr is A's
ends()
{
	server_end=$1
	client_end=$2
	case $1 in
	rxe) addr=$rxe_addr ;;
	*) addr=$soft_addr ;;
	esac
}

both_ways()
{
	ends rxe soft && "$@" && ends soft rxe && "$@"
}

# pier MODE - pier on both devices
pier()
{
	serve on "$server_end" "$foreign" "$1" -P -p $((port + 1))
	listening || return
	client on "$client_end" "$foreign" data -P -p "$port" "$addr"
}

gives_data()
{
	pier data
	ended $? && both_have "^private data: 4096 as sent"
}

rejects()
{
	pier reject
	[ $? -eq 3 ] && ended 0 &&
		grep -q "^reject reason: 28" "$tmp/client" &&
		grep -q "its program has rejected the request" "$tmp/client" &&
		grep -q "^private data: 140 as sent" "$tmp/client"
}

has_no_listener()
{
	# A process must have UDP port 4791 for the REJ to arrive.
	serve on "$server_end" "$foreign" many -P -p $((port + 1))
	listening || return
	client on "$client_end" "$foreign" data -P -p 18599 "$addr"
	held=$?
	leave
	cat "$tmp/client"
	[ $held -eq 3 ] && grep -q "^reject reason: 8" "$tmp/client" &&
		grep -q "from .*no program listens on that port" "$tmp/client"
}

pier_on_rxe_and_on_soft_give_each_other_4096_bytes()
{
	both_ways gives_data
}

pier_on_rxe_and_on_soft_do_so_over_ipv6()
{
	over_ipv6
	both_ways gives_data
}

pier_on_rxe_and_on_soft_reject_each_other_with_140_bytes()
{
	both_ways rejects
}

pier_on_rxe_and_on_soft_report_that_no_process_listens()
{
	both_ways has_no_listener
}

pier_on_rxe_and_on_soft_report_so_over_ipv6()
{
	over_ipv6
	both_ways has_no_listener
}

# The kernel rejects for a program that is no more.
soft_client_is_rejected_for_a_server_that_was_killed()
{
	serve "$peer" hold $rxe_addr $((port + 1))
	listening || return
	soft data -d soft_p1 -p "$port" $rxe_addr >"$tmp/client" 2>&1 &
	asking=$!
	vm_wait grep -q "^requested" "$tmp/server"
	kill -9 $server
	wait $asking
	held=$?
	wait $server
	cat "$tmp/client"
	[ $held -eq 3 ] && grep -q "^reject reason: 28" "$tmp/client" &&
		grep -q "its program or system" "$tmp/client"
}

# notices ADDRESS - the server that was begun, of a client killed meanwhile
notices()
{
	listening || return
	"$peer" client "$1" "$port" >"$tmp/client" 2>&1 &
	asking=$!
	vm_wait grep -q "^requested" "$tmp/server"
	kill -9 $asking
	wait $server
	held=$?
	wait $asking
	cat "$tmp/server"
	[ $held -eq 0 ] && grep -q "^status: -103" "$tmp/server" &&
		grep -q "connection request: the client has given up" \
			"$tmp/server" &&
		grep -q "^accept: -103" "$tmp/server"
}

# The kernel sends a REJ of reason 4, "timeout", for it.
soft_server_notices_a_client_that_was_killed()
{
	serve soft slow -d soft_p1 -p $((port + 1))
	notices $soft_addr
}

# As the one before, with pier on the kernel's device.
server_on_rxe_notices_a_client_that_was_killed()
{
	serve on rxe "$foreign" slow -P -p $((port + 1))
	notices $rxe_addr
}

# many COMMAND... - connections to the server that was begun
many()
{
	client "$@"
	held=$?
	leave
	cat "$tmp/client" "$tmp/server"
	[ $held -eq 0 ]
}

# most_up COUNT WHO - of so many attempts three quarters and more were
# established, as the client, or the server, has counted
most_up()
{
	up=$(sed -n -e 's/^[0-9]* begun, \([0-9]*\) up,.*/\1/p' \
		-e 's/^\([0-9]*\) of [0-9]* up$/\1/p' "$tmp/$2")
	[ "${up:-0}" -ge $(($1 * 3 / 4)) ] && return
	echo "up at the $2: ${up:-none} of $1"
	return 1
}

# What fails has printed why; see t/foreign/many.c.
pier_connects()
{
	serve on "$server_end" "$foreign" many -P -p $((port + 1))
	listening || return
	many on "$client_end" "$foreign" many -P -n 40 -p "$port" "$addr" &&
		[ $server_status -eq 0 ] &&
		most_up 40 client && most_up 40 server
}

# Both directions of the cable lose one packet in twenty.
lossy()
{
	modprobe sch_netem || return
	tc qdisc add dev p0 root netem loss 5% &&
	vm_in_peer tc qdisc add dev p1 root netem loss 5% || return
	"$@"
	held=$?
	tc qdisc del dev p0 root
	vm_in_peer tc qdisc del dev p1 root
	return $held
}

pier_on_rxe_and_on_soft_connect_at_a_loss_of_5_percent()
{
	lossy both_ways pier_connects
}

# clients COUNT SAMPLE - at once; all of them succeed
clients()
{
	n=$1 pids= failed=0
	while [ "$n" -gt 0 ]; do
		on "$client_end" "$samples/rdma_multi_conn_$2" -cm -sa "$addr" \
			-lp "$port" --timeout 60 &
		pids="$pids $!"
		n=$((n - 1))
	done
	for pid in $pids; do
		wait "$pid" || failed=$?
	done
	return $failed
}

# texts COUNT SERVER_SAMPLE CLIENT_SAMPLE
texts()
{
	serve on "$server_end" "$samples/rdma_multi_conn_$2" -cm \
		-lp $((port + 1)) -nc "$1" --timeout 60
	client clients "$1" "$3"
	ended $?
}

# A RoCE device answers to one port of an address, so to one soft process
# at a time: those that send take turns, those that receive would all wait.
samples_move_texts()
{
	case $client_end in
	rxe) most=3 ;;
	*) most=1 ;;
	esac
	texts 3 receive send && texts $most send receive
}

samples_of_several_connections_meet_at_a_loss_of_5_percent()
{
	lossy both_ways samples_move_texts
}

soft_connects()
{
	serve timeout 150 "$peer" serve $rxe_addr $((port + 1))
	listening || return
	many soft many -d soft_p1 -n 20 -p "$port" $rxe_addr &&
		most_up 20 client
}

soft_client_connects_to_librdmacm_at_a_loss_of_5_percent()
{
	lossy soft_connects
}

soft_is_connected_to()
{
	serve soft many -d soft_p1 -p $((port + 1))
	listening || return
	many timeout 150 "$peer" connect $soft_addr "$port" &&
		[ $server_status -eq 0 ] &&
		most_up 12 client && most_up 12 server
}

librdmacm_connects_to_soft_server_at_a_loss_of_5_percent()
{
	lossy soft_is_connected_to
}

vm_peer || skip_all "the second namespace could not be made"
run pier_on_rxe_and_on_soft_give_each_other_4096_bytes
run pier_on_rxe_and_on_soft_do_so_over_ipv6
run pier_on_rxe_and_on_soft_reject_each_other_with_140_bytes
run pier_on_rxe_and_on_soft_report_that_no_process_listens
run pier_on_rxe_and_on_soft_report_so_over_ipv6
run soft_client_is_rejected_for_a_server_that_was_killed
run soft_server_notices_a_client_that_was_killed
run server_on_rxe_notices_a_client_that_was_killed
run pier_on_rxe_and_on_soft_connect_at_a_loss_of_5_percent
run samples_of_several_connections_meet_at_a_loss_of_5_percent
run soft_client_connects_to_librdmacm_at_a_loss_of_5_percent
run librdmacm_connects_to_soft_server_at_a_loss_of_5_percent
vm_peer_end
tap_done
