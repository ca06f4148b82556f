#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier perf --listen without an operation: a server that stays, and takes
# everything from its clients.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
device_known
. "$top/t/lib/perf.sh"

one_server_measures_every_operation()
{
	serve || return 1
	for what in "lat send" "bw write" "lat read" "bw send" "lat write" \
	    "bw read" "lat fetch-add" "lat send-imm" "bw write-imm"; do
		measures $what -n 20 || return 1
	done
	counts 2 "send: received" && counts 5 "done: the peer was served" &&
		counts 2 "-imm: received 120 messages"
}

one_server_takes_sizes_from_its_clients()
{
	serve && measures lat send --sizes 8,3M,64 -n 10 --warmup 0 &&
		measures lat send -s 5M -n 4 --warmup 0 &&
		measures bw send -a -n 5 --warmup 0 &&
		counts 1 "received 30 messages of up to 3145728" &&
		counts 1 "received 4 messages of up to 5242880" &&
		counts 1 "received 120 messages of up to 8388608"
}

a_server_may_limit_what_its_clients_send()
{
	serve && status 1 "$pier" perf -d "$device" lat send -s 65M \
		"$address:$port" &&
		says "$tmp/err" "68157440 bytes: the server takes up to" &&
		serve -s 66M && measures lat write -s 66M -n 1 --warmup 0
}

# What they send is not a parameter of pier perf.
strangers_are_rejected_and_the_next_client_is_served()
{
	serve && status 1 "$pier" ping -d "$device" -c 1 --timeout 2 \
		"$address:$port" &&
		says "$tmp/a.err" "rejected: the client is not pier perf" &&
		measures lat send -n 5 && counts 1 "lat send: received"
}

a_server_of_another_kind_is_named()
{
	port=$((port + 1))
	"$pier" ping -d "$device" --listen $port >"$tmp/a.out" 2>&1 &
	wait_for 20 grep -q listens "$tmp/a.out" &&
		status 1 "$pier" perf -d "$device" lat send \
			"$address:$port" &&
		says "$tmp/err" "is not pier perf --listen"
}

a_client_that_is_killed_does_not_end_the_server()
{
	serve || return 1
	for what in "lat send" "bw write" "bw send"; do
		"$pier" perf -d "$device" $what -n 100000000 --events \
			"$address:$port" >"$tmp/c.out" 2>&1 &
		client=$!
		wait_for 20 sends && kill -KILL $client || return 1
		wait $client
		measures $what -n 20 --timeout 40 || return 1
	done
}

# outlives WORD... - the server is killed, with some measured
outlives()
{
	serve || return 1
	"$pier" perf -d "$device" "$@" -n 1000000000 -s 8 --warmup 0 \
		"$address:$port" >"$tmp/b.out" 2>"$tmp/b.err" &
	client=$!
	wait_for 20 sends && kill -KILL $server || return 1
	wait $client
	[ $? -eq 1 ] && says "$tmp/b.err" "pier perf: " || {
		cat "$tmp"/b.out "$tmp"/b.err
		return 1
	}
}

what_was_measured_outlives_the_server()
{
	outlives lat send && grep '^  *8  *[1-9][0-9]* ' "$tmp/b.out" &&
		outlives bw read --csv --events &&
		awk -F , 'NR == 2 { exit !($4 == 8 && $5 > 0 && $13 > 0) }
			END { exit NR != 2 }' "$tmp/b.out" || {
		cat "$tmp/b.out"
		return 1
	}
	python3 -c pass || return 0
	for what in "bw write" "lat read" "bw send --bidirectional"; do
		outlives $what --json && holds 'd["error"]' &&
			holds 'not d["interrupted"]' &&
			holds 'r[0]["iterations"] > 0' &&
			holds 'r[0]["messages_per_s"] > 0' &&
			holds '"server_gb_per_s" not in r[0]' || return 1
	done
}

# pings - to a server of its own, $pinged
pings()
{
	port=$((port + 1))
	"$pier" ping -d "$device" --listen $port >"$tmp/p.out" 2>&1 &
	pinged=$!
	wait_for 20 grep -q listens "$tmp/p.out" || return 1
	"$pier" ping -d "$device" -i 0.001 "$address:$port" \
		>"$tmp/q.out" 2>&1 &
	client=$!
	wait_for 20 sends
}

# waits_for OPERATION - while nothing is scheduled that it is sent to
waits_for()
{
	pings && serve || return 1
	$interruptible \
		"$pier" perf -d "$device" lat "$1" -n 100000000 -s 8 --json \
		"$address:$port" >"$tmp/b.out" 2>"$tmp/b.err" &
	client=$!
	wait_for 20 sends || return 1
	kill -STOP $server $pinged
	wait_for 20 grep -q -e "has failed" -e "no reply" "$tmp/q.out"
	kill -CONT $server $pinged
	kill -INT $client && wait $client && holds 'd["interrupted"]' || {
		cat "$tmp"/[abq].out "$tmp"/[ab].err
		return 1
	}
}

# On a loaded machine a server may not be scheduled for long: by then a
# connection with the usual limit, that of pier ping, has failed, or its ping
# without a reply if all that was sent had been acknowledged.
a_server_that_is_not_scheduled_is_waited_for()
{
	waits_for send && waits_for comch
}

# The second one tries again until the first has ended.
two_clients_are_served_one_after_the_other()
{
	serve || return 1
	"$pier" perf -d "$device" lat send -t 2 "$address:$port" \
		>"$tmp/c.out" 2>"$tmp/c.err" &
	client=$!
	wait_for 20 sends
	measures bw send -n 20 && wait $client &&
		counts 1 "lat send: received" && counts 1 "bw send: received"
}

a_busy_server_is_named_when_the_time_is_over()
{
	serve || return 1
	"$pier" perf -d "$device" lat send -n 100000000 "$address:$port" \
		>"$tmp/c.out" 2>"$tmp/c.err" &
	client=$!
	wait_for 20 sends || return 1
	status 1 "$pier" perf -d "$device" bw send --timeout 2 \
		"$address:$port" &&
		says "$tmp/err" "not connected after 2 s: " "another client"
}

two_sides_on_one_processor_are_warned_of()
{
	cpu=$(allowed_cpu)
	serve --cpu "$cpu" && measures lat send -n 5 --cpu "$cpu" &&
		says "$tmp/b.err" "WARNING: both sides run on one processor" ||
		return 1
	[ "$(nproc)" -gt 1 ] || return 0
	measures lat send -n 5 && ! grep WARNING "$tmp/b.err"
}

# lines_are_json ADDRESS - each one, of a client of this address
lines_are_json()
{
	python3 - "$tmp/a.out" "$1" <<-'END'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1])]
		assert len(lines) == 2, lines
		assert all(l["peer"].startswith(sys.argv[2]) for l in lines)
	END
}

# Each at once, as a signal ends it, in a line.
a_server_that_stays_prints_json_for_each_client()
{
	port=$((port + 1))
	"$pier" perf -d "$device" --json --listen $port >"$tmp/a.out" \
		2>"$tmp/a.err" &
	measures lat send -n 5 && measures bw send -n 7 --warmup 0 &&
		counts 1 '"received": 105' && counts 1 '"received": 7' &&
		[ ! -s "$tmp/a.err" ] || return 1
	python3 -c pass || return 0
	lines_are_json "$address port "
}

batches_and_inline_data_are_measured()
{
	serve && measures bw send -n 50 -s 32 --batch 1 --inline 32 &&
		measures bw write -n 50 -s 8 --batch 64 --inline 8 &&
		status 2 "$pier" perf bw send --outstanding 4 --batch 5 host &&
		says "$tmp/err" "--batch 5: at most the 4" &&
		status 1 "$pier" perf -d "$device" lat send --cpu 1023 host &&
		says "$tmp/err" "--cpu 1023: "
}

run one_server_measures_every_operation
natively run two_sides_on_one_processor_are_warned_of
natively run batches_and_inline_data_are_measured
natively run a_server_that_stays_prints_json_for_each_client
natively run one_server_takes_sizes_from_its_clients
natively run a_server_may_limit_what_its_clients_send
natively run strangers_are_rejected_and_the_next_client_is_served
natively run a_server_of_another_kind_is_named
natively run a_client_that_is_killed_does_not_end_the_server
natively run what_was_measured_outlives_the_server
natively run a_server_that_is_not_scheduled_is_waited_for
natively run two_clients_are_served_one_after_the_other
natively run a_busy_server_is_named_when_the_time_is_over
tap_done
