#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The servers of `pier ping` and `pier perf` on all devices of their host, and
# on one: in a network namespace of the test's own, with two interfaces.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/toolbox.sh"

own_net "$@"
unset PIER_DEVICE
port=7600

lay()
{
	ip link set lo up &&
	    ip link add du0 type veth peer name du1 &&
	    ip addr add 10.77.0.1/24 dev du0 && ip link set du0 up &&
	    ip addr add 10.77.1.1/24 dev du1 && ip link set du1 up
}

# serve WORD... - a server, until it has printed where it listens; $server
serve()
{
	port=$((port + 1))
	: >"$tmp/serve.out"
	"$pier" "$@" >"$tmp/serve.out" 2>&1 &
	server=$!
	wait_for 20 listens_or_ended && grep -q "listens on" "$tmp/serve.out" ||
	    { cat "$tmp/serve.out"; return 1; }
}

listens_or_ended()
{
	grep -q "listens on" "$tmp/serve.out" || ! kill -0 $server 2>/dev/null
}

# The source is 127.0.0.1, from which each address of the host is reached.
client="-d soft_lo -g 0"

# pings ADDRESS... - each is answered
pings()
{
	for at; do
		# shellcheck disable=SC2086 # several words
		status 0 "$pier" ping $client -c1 "$at:$port" || return
	done
}

# is_answered ADDRESS
is_answered()
{
	# shellcheck disable=SC2086
	"$pier" ping $client -c1 --timeout 1 "$1:$port" >"$tmp/out" 2>&1
}

# on_all - the server has printed that it listens on all devices
on_all()
{
	says "$tmp/serve.out" "listens on port $port, devices soft_" \
	    soft_du0 soft_du1 soft_lo
}

leave()
{
	kill -TERM $server
	wait $server
}

ping_is_answered_at_every_address_of_the_host()
{
	serve ping --listen $((port + 1)) &&
	    on_all &&
	    pings 127.0.0.1 10.77.0.1 10.77.1.1 && leave
}

# An address that is added later is found within five seconds.
ping_is_answered_at_a_new_address()
{
	serve ping --listen $((port + 1)) &&
	    ip addr add 10.77.1.9/24 dev du1 &&
	    wait_for 20 is_answered 10.77.1.9 && leave
}

a_device_that_is_named_is_the_only_one()
{
	serve ping -d soft_du0 --listen $((port + 1)) &&
	    says "$tmp/serve.out" "port $port, device soft_du0" &&
	    pings 10.77.0.1 &&
	    ! is_answered 10.77.1.1 &&
	    says "$tmp/out" "but listens at 10.77.0.1 (" && leave
}

a_device_in_the_environment_is_named_too()
{
	PIER_DEVICE=soft_du1 && export PIER_DEVICE
	serve ping --listen $((port + 1))
	held=$?
	unset PIER_DEVICE
	[ $held -eq 0 ] &&
	    says "$tmp/serve.out" "port $port, device soft_du1" &&
	    pings 10.77.1.1 && leave
}

an_address_chooses_the_device_that_has_it()
{
	serve ping --listen "10.77.1.1:$((port + 1))" &&
	    says "$tmp/serve.out" "port $port, device soft_du1" &&
	    pings 10.77.1.1 && leave &&
	    status 1 "$pier" ping --listen "10.99.0.1:$port" &&
	    says "$tmp/err" "cannot listen on 10.99.0.1"
}

a_device_whose_port_is_taken_is_named()
{
	serve ping --listen "10.77.0.1:$((port + 1))" || return
	other=$server
	port=$((port - 1))
	serve ping --listen $((port + 1)) &&
	    says "$tmp/serve.out" "port $port, devices soft_" \
		"soft_du0: cannot listen" &&
	    ! grep -q "listens on.*soft_du0" "$tmp/serve.out" &&
	    pings 127.0.0.1 10.77.1.1 && leave
	held=$?
	kill -TERM $other
	wait $other
	[ $held -eq 0 ]
}

a_port_that_is_taken_everywhere_is_an_error()
{
	serve ping --listen $((port + 1)) &&
	    status 1 "$pier" ping --listen "$port" &&
	    says "$tmp/err" "$port" && leave
}

pings_report_has_all_devices()
{
	serve ping --json --listen $((port + 1)) && leave &&
	    sed '/^pier/d' "$tmp/serve.out" >"$tmp/report" &&
	    is_json "$tmp/report" &&
	    says "$tmp/json" '"devices"' '"soft_du0"' '"soft_lo"'
}

# measures OPERATION ADDRESS - with a server on all devices
measures()
{
	# shellcheck disable=SC2086
	serve perf lat "$1" --listen $((port + 1)) --timeout 20 &&
	    on_all &&
	    status 0 "$pier" perf $client lat "$1" -n 20 "$2:$port" &&
	    grep -q "^ *64 *20 " "$tmp/out" && wait $server
}

perf_measures_to_every_address_of_the_host()
{
	measures send 127.0.0.1 && measures send 10.77.0.1 &&
	    measures write 10.77.1.1 && measures read 10.77.0.1
}

# It waits for another one, whose device need not be the same.
a_client_with_too_large_a_size_is_rejected_by_perfs_server()
{
	# shellcheck disable=SC2086
	serve perf lat send --listen $((port + 1)) --timeout 20 &&
	    status 1 "$pier" perf $client lat send -s 65M -n 5 \
		"10.77.1.1:$port" &&
	    says "$tmp/err" "takes up to 67108864, its -s" &&
	    status 0 "$pier" perf $client lat send -n 5 "10.77.0.1:$port" &&
	    wait $server && says "$tmp/serve.out" "rejected: 68157440 bytes"
}

perf_that_stays_serves_every_address_in_turn()
{
	serve perf --listen $((port + 1)) && on_all || return
	for at in 127.0.0.1 10.77.0.1 10.77.1.1 127.0.0.1; do
		# shellcheck disable=SC2086
		status 0 "$pier" perf $client lat send -n 5 "$at:$port" &&
		    status 0 "$pier" perf $client bw write -n 5 "$at:$port" ||
		    return
	done
	leave
	[ "$(grep -c "lat send: received" "$tmp/serve.out")" -eq 4 ]
}

perf_without_a_client_ends_in_time()
{
	serve perf lat send --listen $((port + 1)) --timeout 1
	wait $server
	[ $? -eq 1 ] && says "$tmp/serve.out" "no client has connected" \
	    "port $port after 1 s"
}

# narrow FILE - it has at most 80 columns
narrow()
{
	awk 'length > 80 { print; wide = 1 } END { exit wide }' "$1"
}

# Interfaces of 15 letters, and an address without a zero.
long_names_are_in_lines_of_at_most_80_columns()
{
	at=fd00:1111:2222:3333:4444:5555:6666:7777
	ip link add abcdefghijklmn0 type veth peer name abcdefghijklmn1 &&
	    ip addr add $at/64 dev abcdefghijklmn0 nodad &&
	    ip addr add 10.77.2.1/24 dev abcdefghijklmn1 &&
	    ip link set abcdefghijklmn0 up &&
	    ip link set abcdefghijklmn1 up &&
	    serve ping --listen $((port + 1)) &&
	    says "$tmp/serve.out" soft_abcdefghijklmn0 soft_abcdefghijklmn1 &&
	    narrow "$tmp/serve.out" &&
	    status 0 "$pier" ping -d soft_abcdefghijklmn0 -c1 "[$at]:$port" &&
	    says "$tmp/out" "($at port $port)" && narrow "$tmp/out" || return
	for words in info "info --brief" "info --representors"; do
		# shellcheck disable=SC2086
		status 0 "$pier" $words && narrow "$tmp/out" || return
	done
	"$pier" ping -d soft_abcdefghijklmn0 "[$at]:$port" >"$tmp/pings" &
	wait_for 20 counts && says "$tmp/counted" "[$at]" &&
	    narrow "$tmp/counted" && kill $! && leave
}

# The client of before has a connection that is counted.
counts()
{
	"$pier" counters $! >"$tmp/counted" 2>&1 &&
	    grep -q "  connection .*$at" "$tmp/counted"
}

lay >/dev/null 2>&1 || skip_all "no interfaces can be made"
run ping_is_answered_at_every_address_of_the_host
run ping_is_answered_at_a_new_address
run a_device_that_is_named_is_the_only_one
run a_device_in_the_environment_is_named_too
run an_address_chooses_the_device_that_has_it
run a_device_whose_port_is_taken_is_named
run a_port_that_is_taken_everywhere_is_an_error
run pings_report_has_all_devices
run perf_measures_to_every_address_of_the_host
run a_client_with_too_large_a_size_is_rejected_by_perfs_server
run perf_that_stays_serves_every_address_in_turn
run perf_without_a_client_ends_in_time
run long_names_are_in_lines_of_at_most_80_columns
tap_done
