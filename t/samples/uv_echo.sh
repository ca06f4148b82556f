#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample of a service in a loop of libuv, by real processes.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/device.sh"
take_ports

bin=$build/samples/services
[ -x "$bin/uv_echo" ] || skip_all "the samples are not built"
device_known
port=$first_port

serve()
{
	"$bin/uv_echo" -d "$device" -lp $port >"$tmp/server.out" \
	    2>"$tmp/server.err" &
	server=$!
}

# ask NAME COUNT - in the background
ask()
{
	"$bin/reconnect_client" -d "$device" -sa "$address" -lp $port \
	    -n "$2" --timeout 60 >"$tmp/$1" 2>&1 &
	client=$!
}

# came NAME COUNT - after it has waited, the numbers 1 to COUNT, on one
# connection
came()
{
	{
		echo "waiting for the server; Ctrl-C ends it"
		seq 1 "$2"
		echo "$2 numbers on 1 connections"
	} | cmp - "$tmp/$1"
}

counted()
{
	[ "$(tail -n 1 "$tmp/server.out")" = "$1 messages" ]
}

ends_well()
{
	kill -INT $server && wait $server && [ ! -s "$tmp/server.err" ] || {
		cat "$tmp"/server.*
		return 1
	}
}

messages_come_back_and_the_timer_counts_them()
{
	serve
	ask one 100
	wait $client && came one 100 && wait_for 20 counted 100 && ends_well &&
		grep -qx "100 messages in all" "$tmp/server.out"
}

many_clients_have_theirs()
{
	serve
	clients=
	for i in 1 2 3 4 5 6 7 8; do
		ask "many$i" 50
		clients="$clients $client"
	done
	for client in $clients; do
		wait "$client" || {
			cat "$tmp"/many* "$tmp"/server.*
			return 1
		}
	done
	for i in 1 2 3 4 5 6 7 8; do
		came "many$i" 50 || return
	done
	wait_for 20 counted 400 && ends_well
}

a_client_that_is_killed_harms_no_other()
{
	serve
	ask killed 1000000
	wait_for 60 grep -qx 100 "$tmp/killed" && kill -KILL $client || return
	ask other 10
	wait $client && came other 10 && ends_well
}

a_port_in_use_is_reported()
{
	serve
	ask one 1
	wait $client
	if "$bin/uv_echo" -d "$device" -lp $port 2>"$tmp/second"; then
		return 1
	fi
	cat "$tmp/second"
	grep -q "^uv_echo: .*$port" "$tmp/second" && ends_well
}

run messages_come_back_and_the_timer_counts_them
run many_clients_have_theirs
run a_client_that_is_killed_harms_no_other
run a_port_in_use_is_reported
tap_done
