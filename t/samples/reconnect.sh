#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A client whose server is killed, and stopped, by real processes.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/device.sh"
. "$top/t/lib/reconnect.sh"
take_ports

bin=$build/samples/services
[ -x "$bin/reconnect_client" ] || skip_all "the samples are not built"
device_known
port=$first_port
client=

serve()
{
	"$bin/reconnect_server" -d "$device" -lp $port \
	    2>"$tmp/server.err" &
	server=$!
}

# ask COUNT - in the background
ask()
{
	"$bin/reconnect_client" -d "$device" -sa "$address" -lp $port \
	    -n "$1" --timeout 60 >"$tmp/client.out" 2>"$tmp/client.err" &
	client=$!
}

finish()
{
	for process in $client $server; do
		kill -CONT "$process" 2>/dev/null
		kill "$process" 2>/dev/null
		wait "$process" 2>/dev/null
	done
	client='' server=''
}

numbers_come_back_on_one_connection()
{
	serve
	ask 10
	wait $client && client='' && more_than 10 &&
		grep -qx 'waiting for the server; Ctrl-C ends it' \
			"$tmp/client.err" &&
		grep -qx '10 numbers on 1 connections' "$tmp/client.out" &&
		each_came_once
	result=$?
	finish
	return $result
}

a_client_may_be_there_first()
{
	ask 3
	serve
	wait $client && client='' &&
		grep -qx '3 numbers on 1 connections' "$tmp/client.out"
	result=$?
	finish
	return $result
}

a_client_survives_its_server()
{
	serve
	ask 1000000
	goes_on && kill -KILL $server && lost 0 && serve && goes_on &&
		kill -KILL $server && lost 1 && serve && goes_on &&
		each_came_once
	result=$?
	finish
	return $result
}

# As if the network between them was cut.
a_client_survives_a_server_that_does_not_answer()
{
	serve
	ask 1000000
	goes_on && kill -STOP $server && lost 0 && kill -CONT $server &&
		goes_on && each_came_once
	result=$?
	finish
	return $result
}

a_server_survives_its_clients()
{
	serve
	ask 1000000
	goes_on && kill -KILL $client
	wait $client 2>/dev/null
	ask 10
	wait $client && client='' &&
		grep -qx '10 numbers on 1 connections' "$tmp/client.out" &&
		kill -TERM $server && wait $server && [ ! -s "$tmp/server.err" ]
	result=$?
	finish
	return $result
}

run numbers_come_back_on_one_connection
run a_client_may_be_there_first
run a_client_survives_its_server
# An adapter, and the kernel, answer for a process that has been stopped.
case $device in
soft*) run a_client_survives_a_server_that_does_not_answer ;;
esac
run a_server_survives_its_clients
tap_done
