#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier perf with several connections between a client and its server, and in
# both directions at once.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
device_known
. "$top/t/lib/perf.sh"

each_operation_is_measured_with_several_connections()
{
	serve || return 1
	some "bw send" "lat send" "bw write" "lat read" "bw fetch-add" \
	    "bw write-imm" >"$tmp/list"
	while read -r what <&3; do
		measures $what -q 3 -n 40 && says "$tmp/b.out" \
			"${what#* } " ", 3 connections" || return 1
		case $what in
		*" send") counts 1 "$what: received 140 messages" ||
			return 1 ;;
		esac
	done 3<"$tmp/list"
}

# busy N - so many of the client's connections have sent many packets, or made
# as many direct accesses: more than those before the measured ones
busy()
{
	"$pier" counters --json "$client" >"$tmp/counted" 2>&1 || return 1
	found=$(awk '/"connections"/ { on = 1 }
		on && /"(tx_packets|shm_direct)"/ && $2 + 0 > 300 { busy = 1 }
		/}/ { n += busy; busy = 0 }
		END { print n + 0 }' "$tmp/counted")
	[ "$found" -eq "$1" ]
}

messages_are_spread_over_all_connections()
{
	serve || return 1
	for what in "lat send" "bw send" "bw read"; do
		$interruptible "$pier" perf -d "$device" $what -q 3 -s 64 \
			-n 100000000 "$address:$port" >"$tmp/c.out" 2>&1 &
		client=$!
		wait_for 20 busy 3 || { cat "$tmp/counted"; return 1; }
		kill -INT $client
		wait $client || return 1
	done
}

options_reach_the_report()
{
	python3 -c pass || skip "there is no python3"
	serve && measures bw send -q 5 -n 50 --outstanding 3 --json &&
		holds 'd["connections"] == 5 and d["outstanding"] == 3' &&
		measures bw write -q 2 -n 50 --csv &&
		awk -F , 'NR == 1 && $16 != "connections" { exit 1 }
			NR == 2 && $16 != 2 { exit 1 }
			END { exit NR != 2 }' "$tmp/b.out"
}

sleeping_ends_have_several_connections_too()
{
	serve && measures bw send -q 4 -n 50 --events &&
		measures lat send -q 4 -n 50 --events
}

# The others are the client's own.
many_connections_are_measured()
{
	serve && measures bw send -q 200 -n 800 --outstanding 2 -s 64 &&
		says "$tmp/b.out" "200 connections"
}

a_killed_client_of_many_connections_does_not_end_the_server()
{
	serve || return 1
	"$pier" perf -d "$device" bw send -n 100000000 -q 8 --events \
		"$address:$port" >"$tmp/c.out" 2>&1 &
	client=$!
	wait_for 20 sends && kill -KILL $client || return 1
	wait $client
	measures bw send -n 20 -q 2 --timeout 40
}

too_many_are_refused()
{
	for count in 0 257 x; do
		status 2 "$pier" perf lat send -q $count host &&
			[ -s "$tmp/err" ] || return 1
	done
	status 2 "$pier" perf bw send -q 256 --outstanding 4096 host &&
		says "$tmp/err" "-q 256 of --outstanding 4096: at most 65536"
}

only_a_client_has_several()
{
	for words in "bw send" "--listen" "--listen bw send" \
	    "--respond bw send"; do
		status 2 "$pier" perf $words -q 2 -d "$device" &&
			says "$tmp/err" "-q: an option of the client" ||
			return 1
	done
}

# Each end has had its part, and the sum is that of both.
both_directions_of_each_operation_are_measured()
{
	serve || return 1
	for what in $(some send write read write-imm fetch-add); do
		measures bw $what --bidirectional -n 300 --json || return 1
		python3 -c pass || continue
		holds 'd["bidirectional"]' &&
			holds 'r[0]["iterations"] == 300' &&
			holds 'r[0]["server_iterations"] > 0' &&
			x='r[0]["client_gb_per_s"] + r[0]["server_gb_per_s"]' &&
			holds "0 < abs($x) and abs(r[0]['gb_per_s'] /
				($x) - 1) < 1e-6" || return 1
	done
}

both_directions_have_sizes_connections_and_events()
{
	serve && measures bw send --bidirectional -q 2 -n 50 --sizes 8,4K &&
		says "$tmp/b.out" "sum of both directions, 2 connections" \
			" client  server" &&
		! grep '.\{81\}' "$tmp/b.out" &&
		measures bw write --bidirectional -q 3 -n 50 -s 8 --events &&
		measures bw send --bidirectional -t 1 --outstanding 255 --csv &&
		awk -F , 'NR == 1 && $17 != "client_gb_per_s" { exit 1 }
			NR == 2 && !($17 > 0 && $18 > 0) { exit 1 }
			END { exit NR != 2 }' "$tmp/b.out"
}

ctrl_c_ends_both_directions()
{
	serve || return 1
	$interruptible "$pier" perf -d "$device" bw send --bidirectional \
		-n 1000000000 -s 8 --warmup 0 --json "$address:$port" \
		>"$tmp/b.out" 2>"$tmp/b.err" &
	client=$!
	wait_for 20 sends && kill -INT $client && wait $client &&
		is_json "$tmp/b.out" &&
		says "$tmp/json" '"interrupted": true' '"server_iterations"' &&
		counts 1 "bw send: received" || {
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

both_directions_are_of_bandwidth_with_a_server()
{
	status 2 "$pier" perf lat send --bidirectional host &&
		says "$tmp/err" "--bidirectional: of bw only" &&
		status 2 "$pier" perf bw send --bidirectional -d "$device" &&
		says "$tmp/err" "--bidirectional: an option of the client" &&
		serve && status 1 "$pier" perf -d "$device" bw send \
			--bidirectional --outstanding 256 "$address:$port" &&
		says "$tmp/err" "--outstanding 256: this device takes up to 255"
}

run each_operation_is_measured_with_several_connections
natively run sleeping_ends_have_several_connections_too
connecting_is_measured()
{
	serve && measures lat connect -n 100 --warmup 5 &&
		says "$tmp/b.out" "connect latency, us to the established" &&
		counts 1 "lat connect: done" &&
		measures lat connect -n 20 --events --json &&
		is_json "$tmp/b.out" && says "$tmp/json" '"iterations": 20' &&
		measures bw send -n 20
}

connecting_has_one_connection_and_no_data()
{
	for words in "bw connect -q 2" "lat connect --verify"; do
		status 2 "$pier" perf $words host &&
			says "$tmp/err" "connect does not have -" || return 1
	done
	status 2 "$pier" perf lat connect -s 8 host &&
		says "$tmp/err" "connect: its size is 16 bytes" &&
		status 2 "$pier" perf lat connect -d "$device" &&
		says "$tmp/err" "connect: an option of the client"
}

run connecting_is_measured
natively run connecting_has_one_connection_and_no_data
run both_directions_of_each_operation_are_measured
natively run both_directions_have_sizes_connections_and_events
natively run ctrl_c_ends_both_directions
natively run both_directions_are_of_bandwidth_with_a_server
natively run messages_are_spread_over_all_connections
natively run options_reach_the_report
natively run many_connections_are_measured
natively run a_killed_client_of_many_connections_does_not_end_the_server
natively run too_many_are_refused
natively run only_a_client_has_several
tap_done
