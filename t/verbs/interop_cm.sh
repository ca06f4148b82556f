#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connection management between the soft device, the kernel's, and programs
# that do not use pier: rxe2 on p0 here, soft_p1 in the namespace "peer".
# Needs what t/vm/run makes.
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
foreign=$build/t/foreign/foreign
peer=$build/t/foreign/peer
samples=$build/samples
for program in "$foreign" "$peer" "$samples/rdma_send"; do
	[ -x "$program" ] || skip_all "$program is not built"
done
for program in rping ib_send_lat; do
	command -v $program >/dev/null || skip_all "no $program here"
done
. "$top/t/vm/net.sh"
. "$top/t/foreign/ends.sh"

soft_pings()
{
	serve timeout 150 rping -s -a $rxe_addr -S 1000 \
		-p $((port + 1))
	vm_wait kernel_listens
	client soft rping -d soft_p1 -n 20 -s 1000 -p $port $rxe_addr
	ended $? && grep -q "^20 pings" "$tmp/client"
}

soft_is_pinged()
{
	serve soft rping -d soft_p1 -n 20 -p $((port + 1))
	listening || return
	client timeout 150 rping -c -a $soft_addr -p $port -C 20 -S 1000 -V
	ended $? && grep -q "^20 pings" "$tmp/server"
}

soft_gives_data()
{
	serve timeout 150 "$peer" server $rxe_addr $((port + 1))
	listening || return
	client soft data -d soft_p1 -p $port $rxe_addr
	ended $? && both_have "^private data: [0-9]* as sent" &&
		grep -q "from $soft_addr" "$tmp/client"
}

soft_is_given_data()
{
	serve soft data -d soft_p1 -p $((port + 1))
	listening || return
	client timeout 150 "$peer" client $soft_addr $port
	ended $? && both_have "^private data: [0-9]* as sent" &&
		grep -q "request from $rxe_addr" "$tmp/server"
}

# perf VERB - in both roles; with -R its listener takes IPv4 only
perf()
{
	options="-R -d rxe2 -n 200 -s 64"
	# shellcheck disable=SC2086 # several words
	serve timeout 150 "ib_$1_lat" $options -p $((port + 1))
	vm_wait kernel_listens
	client soft "$1" -d soft_p1 -n 200 -s 64 -p $port $rxe_addr
	ended $? && grep -q "^200 of $1" "$tmp/client" || return
	serve soft "$1" -d soft_p1 -n 200 -s 64 -p $((port + 1))
	listening || return
	# shellcheck disable=SC2086
	client timeout 150 "ib_$1_lat" $options -p $port $soft_addr
	ended $? && grep -q "^200 of $1" "$tmp/server"
}

# Each pair of samples, with either device as the server.
samples_meet()
{
	for what in "send receive -s" "receive send -s" \
	    "multi_conn_send multi_conn_receive -s" \
	    "multi_conn_receive multi_conn_send -s" \
	    "read_responder read_requester -r" \
	    "write_requester write_responder -w"; do
		# shellcheck disable=SC2086 # three words
		meet rxe soft $what && meet soft rxe $what || return
	done
}

# meet A B A_SAMPLE B_SAMPLE OPTION - A listens, B connects
meet()
{
	case $1 in
	rxe) addr=$rxe_addr ;;
	*) addr=$soft_addr ;;
	esac
	case $3 in
	*receive) a= b="$5 over-cm" ;;
	*) a="$5 over-cm" b= ;;
	esac
	# shellcheck disable=SC2086
	serve on "$1" "$samples/rdma_$3" -cm -lp $((port + 1)) $a --timeout 60
	# shellcheck disable=SC2086
	client on "$2" "$samples/rdma_$4" -cm -sa $addr -lp $port $b \
		--timeout 60
	held=$?
	echo "$* over $addr"
	ended $held && grep -q '"over-cm"' "$tmp/client" "$tmp/server"
}

soft_client_pings_rping()
{
	soft_pings
}

soft_client_pings_rping_over_ipv6()
{
	over_ipv6
	soft_pings
}

rping_pings_soft_server()
{
	soft_is_pinged
}

rping_pings_soft_server_over_ipv6()
{
	over_ipv6
	soft_is_pinged
}

soft_client_exchanges_data_with_librdmacm()
{
	soft_gives_data
}

soft_client_exchanges_data_with_librdmacm_over_ipv6()
{
	over_ipv6
	soft_gives_data
}

librdmacm_exchanges_data_with_soft_server()
{
	soft_is_given_data
}

librdmacm_exchanges_data_with_soft_server_over_ipv6()
{
	over_ipv6
	soft_is_given_data
}

soft_client_is_rejected_by_librdmacm_with_data()
{
	serve timeout 150 "$peer" reject $rxe_addr $((port + 1))
	listening || return
	client soft data -d soft_p1 -p $port $rxe_addr
	[ $? -eq 3 ] && ended 0 && grep -q "^reject reason: 28" "$tmp/client" &&
		both_have "^private data: [0-9]* as sent"
}

librdmacm_is_rejected_by_soft_server_with_data()
{
	serve soft reject -d soft_p1 -p $((port + 1))
	listening || return
	client timeout 150 "$peer" client $soft_addr $port
	[ $? -eq 3 ] && ended 0 &&
		grep -q "REJECTED 28" "$tmp/client" &&
		both_have "^private data: [0-9]* as sent"
}

soft_client_gets_a_reject_where_no_process_listens_at_rxe()
{
	client soft data -d soft_p1 -p 18599 $rxe_addr
	held=$?
	cat "$tmp/client"
	[ $held -eq 3 ] && grep -q "^reject reason: 8" "$tmp/client"
}

# A process must have UDP port 4791 for the REJ to arrive.
librdmacm_gets_a_reject_where_no_process_listens_at_soft()
{
	serve soft data -d soft_p1 -p $((port + 1))
	listening || return
	client timeout 150 "$peer" client $soft_addr 18599
	held=$?
	cat "$tmp/client"
	[ $held -eq 3 ] && grep -q "REJECTED 8" "$tmp/client"
	held=$?
	client timeout 150 "$peer" client $soft_addr $port
	ended $? && [ $held -eq 0 ]
}

ib_send_lat_runs_against_soft_in_both_roles()
{
	perf send
}

ib_write_lat_runs_against_soft_in_both_roles()
{
	perf write
}

ib_read_lat_runs_against_soft_in_both_roles()
{
	perf read
}

samples_on_rxe_and_on_soft_meet_over_ipv4()
{
	samples_meet
}

samples_on_rxe_and_on_soft_meet_over_ipv6()
{
	over_ipv6
	samples_meet
}

vm_peer || skip_all "the second namespace could not be made"
run soft_client_pings_rping
run soft_client_pings_rping_over_ipv6
run rping_pings_soft_server
run rping_pings_soft_server_over_ipv6
run soft_client_exchanges_data_with_librdmacm
run soft_client_exchanges_data_with_librdmacm_over_ipv6
run librdmacm_exchanges_data_with_soft_server
run librdmacm_exchanges_data_with_soft_server_over_ipv6
run soft_client_is_rejected_by_librdmacm_with_data
run librdmacm_is_rejected_by_soft_server_with_data
run soft_client_gets_a_reject_where_no_process_listens_at_rxe
run librdmacm_gets_a_reject_where_no_process_listens_at_soft
run ib_send_lat_runs_against_soft_in_both_roles
run ib_write_lat_runs_against_soft_in_both_roles
run ib_read_lat_runs_against_soft_in_both_roles
run samples_on_rxe_and_on_soft_meet_over_ipv4
run samples_on_rxe_and_on_soft_meet_over_ipv6
vm_peer_end
tap_done
