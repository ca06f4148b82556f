#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier perf of Comm Channels, of connections a second, and with a server whose
# program does nothing.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
device_known
. "$top/t/lib/perf.sh"

messages_of_a_channel_are_measured()
{
	serve || return 1
	measures lat comch -n 30 --warmup 2 &&
		says "$tmp/b.out" "comch latency, us half the round trip" &&
		measures bw comch -n 100 --warmup 20 &&
		says "$tmp/b.out" "comch bandwidth, 64 outstanding" &&
		counts 1 "lat comch: received 32 messages of up to 64 bytes" &&
		counts 1 "bw comch: received 120 messages of up to 65536"
}

requests_of_a_channel_are_measured()
{
	serve || return 1
	measures lat request -n 30 --warmup 2 &&
		says "$tmp/b.out" "request latency, us to the reply" &&
		measures bw request -n 100 --warmup 20 -s 100 --json &&
		says "$tmp/b.out" '"operation": "request"' &&
		holds 'r[0]["iterations"] == 100 and r[0]["gb_per_s"] > 0' &&
		counts 1 "lat request: received 32 messages" &&
		counts 1 "bw request: received 120 messages of up to 100"
}

# Each of the client's connections has a channel beside it.
several_channels_are_measured_and_verified()
{
	serve || return 1
	for what in comch request; do
		measures bw $what -q 3 --verify -n 500 --sizes 1,4096 --json &&
			says "$tmp/b.out" '"connections": 3' \
				'"verified": true' '"iterations": 500' &&
			measures lat $what -q 2 --verify -n 20 --csv &&
			measures bw $what -q 8 --outstanding 16 -n 2000 ||
			return 1
	done
}

# The server has one channel a client, and this one's is connected again.
sizes_of_a_channel_end_at_its_limit()
{
	serve || return 1
	for what in "bw comch" "lat request"; do
		measures $what -a -n 3 --warmup 1 &&
			[ "$(grep -c '^ *[0-9]' "$tmp/b.out")" -eq 17 ] &&
			grep -q '^ *65536 ' "$tmp/b.out" || return 1
	done
	status 2 "$pier" perf lat comch -s 65537 host &&
		says "$tmp/err" "comch: 65537 bytes: a message has at most" \
			65536
}

# The server sends on the channel, and requests on one that its client has.
both_directions_of_a_channel_are_measured()
{
	serve || return 1
	for what in comch request; do
		measures bw $what --bidirectional --verify -q 2 -n 300 \
			--sizes 8,2000 --json &&
			holds 'd["bidirectional"] and len(r) == 2' &&
			holds 'all(x["iterations"] == 300 for x in r)' &&
			holds 'all(x["server_iterations"] > 0 for x in r)' &&
			counts 1 "bw $what: received" || return 1
	done
	[ ! -f /run/vm/job ] || return 0
	for what in comch request; do
		measures bw $what --bidirectional -t 1 -s 8 --events \
			--outstanding 255 && measures lat $what -n 5 || return 1
	done
}

# The client that is killed leaves both channels to the server.
ends_of_both_directions_of_a_channel_end_the_client_alone()
{
	serve || return 1
	for what in comch request; do
		"$pier" perf -d "$device" bw $what -s 64 -n 100000000 \
			--bidirectional "$address:$port" >"$tmp/c.out" 2>&1 &
		client=$!
		wait_for 20 sends && kill -KILL $client || return 1
		wait $client
		$interruptible "$pier" perf -d "$device" bw $what -s 64 \
			-n 100000000 --json --warmup 0 \
			--bidirectional --timeout 40 \
			"$address:$port" >"$tmp/b.out" 2>"$tmp/b.err" &
		client=$!
		wait_for 40 sends && kill -INT $client && wait $client &&
			holds 'd["interrupted"]' || {
			cat "$tmp"/[ab].out "$tmp"/[ab].err
			return 1
		}
	done
}

# More than the channel has at a time wait for credits.
messages_without_credits_are_sent_later()
{
	serve || return 1
	for what in comch request; do
		measures bw $what --outstanding 1000 -n 5000 -s 32 &&
			counts 1 "bw $what: received 5100 messages" || return 1
	done
	measures bw comch -t 1 -s 8 && measures lat comch -n 20 --events &&
		measures bw request -n 200 --events
}

# The client that is killed leaves its channel to the server.
a_channel_whose_client_was_killed_is_forgotten()
{
	serve || return 1
	"$pier" perf -d "$device" bw comch -s 64 -n 100000000 \
		"$address:$port" >"$tmp/c.out" 2>&1 &
	client=$!
	wait_for 20 sends && kill -KILL $client || return 1
	wait $client
	measures lat request -n 20 --timeout 40
}

a_server_for_one_operation_has_channels_too()
{
	serve lat comch && measures lat comch -n 5 && wait $server
}

connections_a_second_are_measured()
{
	serve || return 1
	measures bw connect -n 40 --warmup 4 --outstanding 8 &&
		says "$tmp/b.out" "connect bandwidth, 8 outstanding" \
			connections/s &&
		grep -q '^ *16  *40 ' "$tmp/b.out" || return 1
	[ ! -f /run/vm/job ] || return 0
	measures bw connect -t 1 --outstanding 4 --json &&
		holds 'r[0]["messages_per_s"] > 0' &&
		measures lat connect -n 5 && measures lat send -n 5
}

# What the server does not do is done by its device.
a_passive_server_is_measured()
{
	serve || return 1
	for what in $(some write read fetch-add); do
		measures lat $what --passive -n 50 --json &&
			says "$tmp/b.out" '"passive": true' || return 1
	done
	[ ! -f /run/vm/job ] || return 0
	measures bw write --passive -n 50 &&
		says "$tmp/b.out" ", passive server" &&
		measures lat write -n 5 --json &&
		says "$tmp/b.out" '"passive": false' || return 1
	port=$((port + 1))
	"$pier" perf -d "$device" --json --listen $port >"$tmp/a.out" \
		2>"$tmp/a.err" &
	measures lat read --passive -n 5 && counts 1 '"passive": true'
}

options_that_an_operation_does_not_have_are_named()
{
	for words in "-q 2" --bidirectional --passive "--inline 8"; do
		status 2 "$pier" perf bw copy $words -d "$device" &&
			says "$tmp/err" "copy does not have ${words% *}: it " ||
			return 1
	done
	for words in "copy --outstanding 64" "copy --batch 1" \
	    "send --batch 2 host" "connect --outstanding 8 host"; do
		status 2 "$pier" perf lat $words -d "$device" &&
			says "$tmp/err" "lat does not have --" \
				": it has one message in flight" || return 1
	done
	for words in "connect -q 2" "connect --verify" "connect --sge 2" \
	    "connect --bidirectional"; do
		status 2 "$pier" perf bw $words host &&
			says "$tmp/err" "connect does not have -" \
				": it moves no data" || return 1
	done
	status 2 "$pier" perf bw comch --sge 2 host &&
		says "$tmp/err" "--sge: its messages are copied" &&
		status 2 "$pier" perf lat request -q 65 host &&
		says "$tmp/err" "request: -q 65: at most 64" || return 1
	status 2 "$pier" perf bw connect --outstanding 65 host &&
		says "$tmp/err" "connect: --outstanding 65: at most 64" &&
		status 2 "$pier" perf bw send --passive host &&
		says "$tmp/err" "--passive: of write, read and atomics" &&
		status 2 "$pier" perf lat comch -d "$device" &&
		says "$tmp/err" "comch: an option of the client" &&
		status 2 "$pier" perf lat write --passive -d "$device" &&
		says "$tmp/err" "--passive: an option of the client"
}

run messages_of_a_channel_are_measured
run requests_of_a_channel_are_measured
run several_channels_are_measured_and_verified
run both_directions_of_a_channel_are_measured
run connections_a_second_are_measured
run a_passive_server_is_measured
run sizes_of_a_channel_end_at_its_limit
natively run messages_without_credits_are_sent_later
natively run a_channel_whose_client_was_killed_is_forgotten
natively run ends_of_both_directions_of_a_channel_end_the_client_alone
natively run a_server_for_one_operation_has_channels_too
natively run options_that_an_operation_does_not_have_are_named
tap_done
