#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A client whose network to the server is cut and comes back: hosts are network
# namespaces of the test's own, with a switch between them.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"

bin=$build/samples/services
[ -x "$bin/reconnect_client" ] || skip_all "the samples are not built"
own_net "$@"
port=7700

serve()
{
	in_far "$bin/reconnect_server" -d soft_host0 -lp $port \
	    2>"$tmp/server.err" &
	server=$!
}

ask()
{
	"$bin/reconnect_client" -d soft_near0 -sa 10.77.0.2 -lp $port \
	    -n 1000000 --timeout 60 >"$tmp/client.out" 2>"$tmp/client.err" &
	client=$!
}

lines()
{
	wc -l <"$tmp/client.out"
}

more_than()
{
	[ "$(lines)" -gt "$1" ]
}

# Numbers come back that did not before.
goes_on()
{
	wait_for 60 more_than $(($(lines) + 3))
}

# lost NUMBER - the client has lost more connections than that
lost()
{
	wait_for 60 lost_more "$1"
}

lost_more()
{
	[ "$(grep -vc "^waiting for" "$tmp/client.err")" -gt "$1" ]
}

# No number was lost, and none came twice.
each_came_once()
{
	sed '$d' "$tmp/client.out" | awk '$1 != NR { print; exit 1 }'
}

# cut_twice CUT JOIN - commands; the client goes on after both
cut_twice()
{
	serve
	ask
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
run a_client_goes_on_when_a_network_that_was_cut_is_back
run a_client_goes_on_when_its_cable_is_back
tap_done
