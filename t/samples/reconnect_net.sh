#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A client whose network to the server is cut and comes back: hosts are network
# namespaces of the test's own, with a switch between them.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/reconnect.sh"

bin=$build/samples/services
[ -x "$bin/reconnect_client" ] || skip_all "the samples are not built"
own_net "$@"
unset PIER_DEVICE
port=7700

serve()
{
	nsenter -t $far -n "$bin/reconnect_server" -lp $port \
	    2>"$tmp/server.err" &
	server=$!
}

# ask COUNT - in the background
ask()
{
	"$bin/reconnect_client" -d soft_near0 -sa 10.77.0.2 -lp $port \
	    -n "$1" --timeout 60 >"$tmp/client.out" 2>"$tmp/client.err" &
	client=$!
}

# cut_twice CUT JOIN - commands; the client goes on after both
cut_twice()
{
	serve
	ask 1000000
	goes_on && $1 && lost 0 && $2 && goes_on &&
		$1 && lost 1 && $2 && goes_on && each_came_once
	result=$?
	for process in $client $server; do
		kill "$process"
		wait "$process"
	done 2>/dev/null
	[ $result -eq 0 ] || tail -n 5 "$tmp"/*.err
	return $result
}

a_client_goes_on_when_a_network_that_was_cut_is_back()
{
	cut_twice cut_switch join_switch
}

# ends_well COUNT - the client, with so many numbers
ends_well()
{
	wait $client && tail -n 1 "$tmp/client.out" |
		grep -qx "$1 numbers on 1 connections"
}

# One of this host by its cable, and one of the server's own host.
a_server_is_reached_by_each_of_its_devices()
{
	in_far ip link set lo up && serve && ask 10 && ends_well 10 || return
	in_far "$bin/reconnect_client" -d soft_lo -sa 127.0.0.1 -lp $port \
	    -n 12 --timeout 60 >"$tmp/client.out" 2>"$tmp/client.err" &
	client=$!
	ends_well 12 && kill -TERM $server && wait $server && return
	cat "$tmp"/*.err
	return 1
}

unplug()
{
	in_far ip link set far0 down
}

plug_in()
{
	in_far ip link set far0 up
}

# The port of the client's own device is down meanwhile.
a_client_goes_on_when_its_cable_is_back()
{
	cut_twice unplug plug_in
}

far_host && connect_by_switch >"$tmp/ip" 2>&1 ||
    skip_all "no switch: $(head -n 1 "$tmp/ip")"
run a_server_is_reached_by_each_of_its_devices
run a_client_goes_on_when_a_network_that_was_cut_is_back
run a_client_goes_on_when_its_cable_is_back
tap_done
