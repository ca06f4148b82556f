#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of several connections, by real processes.
. "${0%/*}/../lib/tap.sh"
take_ports

bin=$build/samples
[ -x "$bin/rdma_multi_conn_send" ] || skip_all "the samples are not built"
device=${PIER_DEVICE:-soft_lo}
port=$first_port

# many NAME SAMPLE OPTION... - with the output in $tmp/NAME.out and .err
many()
{
	name=$1 sample=$2
	shift 2
	timeout 60 "$bin/rdma_multi_conn_$sample" -d "$device" --timeout 20 \
	    "$@" >"$tmp/$name.out" 2>"$tmp/$name.err"
}

# has FILE COUNT LINE - exactly so many
has()
{
	got=$(grep -cxF -- "$3" "$1")
	[ "$got" -eq "$2" ] || {
		echo "$1: $got times, not $2: $3"
		cat "$tmp"/*.out "$tmp"/*.err
		return 1
	}
}

ended()
{
	wait "$1" || {
		echo "exit $?"
		cat "$tmp"/*.err
		return 1
	}
}

each_connection_by_files_brings_its_text()
{
	many a receive -ld "$tmp/a" -re "$tmp/b" -nc 8 &
	receiver=$!
	many b send -ld "$tmp/b" -re "$tmp/a" -nc 8 -s "by files" || {
		cat "$tmp/b.err"
		return 1
	}
	ended $receiver && has "$tmp/a.out" 8 'received "by files"' &&
		has "$tmp/b.out" 1 'sent "by files" on 8 connections' &&
		[ -z "$(find "$tmp" -name 'a-0*' -o -name 'b-0*')" ]
}

a_connection_has_a_file_with_its_number()
{
	many a receive -ld "$tmp/a" -re "$tmp/b" -nc 2 --timeout 2 &
	wait_for 10 test -e "$tmp/a-0000" || return 1
	wait $!
	[ $? -eq 1 ] && grep -qF "$tmp/b-0000" "$tmp/a.err"
}

as_many_as_are_allowed_connect_by_files()
{
	many a receive -ld "$tmp/a" -re "$tmp/b" --num-connections 64 &
	receiver=$!
	many b send -ld "$tmp/b" -re "$tmp/a" --num-connections=64 || {
		cat "$tmp/b.err"
		return 1
	}
	ended $receiver && has "$tmp/a.out" 64 'received "Hi DOCA RDMA!"' &&
		has "$tmp/b.out" 1 'sent "Hi DOCA RDMA!" on 64 connections'
}

# clients COUNT SAMPLE OPTION... - all of them succeed
clients()
{
	n=$1 sample=$2 pids=
	shift 2
	while [ "$n" -gt 0 ]; do
		many "client$n" "$sample" -cm -sa 127.0.0.1 -lp $port "$@" &
		pids="$pids $!"
		n=$((n - 1))
	done
	for pid in $pids; do
		ended "$pid" || return 1
	done
}

many_clients_send_to_one_server()
{
	many a receive -cm -lp $port -nc 5 &
	receiver=$!
	clients 5 send -s "to the$(printf '\033') server" && ended $receiver &&
		has "$tmp/a.out" 5 'received "to the\x1b server"'
}

one_server_sends_to_many_clients()
{
	many a send -cm -lp $port -nc 5 -s "from the server" &
	sender=$!
	clients 5 receive && ended $sender &&
		has "$tmp/a.out" 1 'sent "from the server" on 5 connections' &&
		has "$tmp/client5.out" 1 'received "from the server"'
}

a_server_says_when_fewer_clients_come()
{
	many a receive -cm -lp $port -nc 3 --timeout 6 &
	receiver=$!
	clients 2 send
	wait $receiver
	[ $? -eq 1 ] && grep -qF "no client has connected to port $port" \
	    "$tmp/a.err"
}

a_client_with_more_than_one_is_refused()
{
	for sample in send receive; do
		for how in "-cm -nc 2" "-nc 64"; do
			# shellcheck disable=SC2086
			many a $sample $how -sa 127.0.0.1 -lp $port
			[ $? -eq 1 ] && grep -qF "rdma_multi_conn_$sample:" \
			    "$tmp/a.err" && grep -qF "${how##* } connections:"\
" a client by CM makes one; run ${how##* } clients" "$tmp/a.err" || {
				cat "$tmp/a.err"
				return 1
			}
		done
	done
}

a_number_out_of_range_is_a_usage_error()
{
	for count in 0 65 -1 x; do
		many a send -nc $count
		[ $? -eq 2 ] && [ -s "$tmp/a.err" ] || return 1
	done
}

each_ends_in_time_without_a_peer()
{
	for sample in send receive; do
		many a $sample -cm -lp $port --timeout 1
		[ $? -eq 1 ] && grep -qF "$port" "$tmp/a.err" || return 1
	done
}

run each_connection_by_files_brings_its_text
run a_connection_has_a_file_with_its_number
run as_many_as_are_allowed_connect_by_files
run many_clients_send_to_one_server
run one_server_sends_to_many_clients
natively run a_server_says_when_fewer_clients_come
natively run a_client_with_more_than_one_is_refused
natively run a_number_out_of_range_is_a_usage_error
natively run each_ends_in_time_without_a_peer
tap_done
