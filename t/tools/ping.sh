#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier ping, by real processes on the device that PIER_DEVICE names.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"

pier=$build/tools/pier
[ -x "$pier" ] || skip_all "the tool is not built"
device_known

# start OPTION... - a server in the background; sets $server
start()
{
	: >"$tmp/serve.out" && : >"$tmp/serve.err"
	"$pier" ping -d "$device" --listen "$@" >"$tmp/serve.out" \
	    2>"$tmp/serve.err" &
	server=$!
	wait_for 20 serves_or_ended
}

serves_or_ended()
{
	grep -q 'listens on port' "$tmp/serve.out" ||
		! kill -0 "$server" 2>/dev/null
}

# serve [PORT] - the address, on a free port without it; sets $port
serve()
{
	start "$address:${1:-0}"
	port=$(sed -n 's/.*listens on port \([0-9]*\),.*/\1/p' "$tmp/serve.out")
	[ "$port" ] || {
		cat "$tmp/serve.err"
		return 1
	}
}

# ask STATUS OPTION...
ask()
{
	wanted=$1
	shift
	timeout 60 "$pier" ping -d "$device" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got -eq "$wanted" ] || {
		echo "exit $got, not $wanted: $*"
		cat "$tmp/out" "$tmp/err"
		return 1
	}
}

says()
{
	grep -q -- "$2" "$1" || {
		echo "not in $1: $2"
		cat "$1"
		return 1
	}
}

every_operation_makes_its_round()
{
	serve && ask 0 -c 3 -i 0 "$address:$port" &&
		says "$tmp/out" "($address port $port), 56 bytes, device" &&
		says "$tmp/out" "^seq=3 send=" &&
		says "$tmp/out" " us write=.* us read=.* us atomic=.* us$" &&
		says "$tmp/out" "^3 rounds, 3 answered, 0% lost" &&
		says "$tmp/out" "^send   min/avg/max/mdev = " &&
		says "$tmp/out" "^atomic min/avg/max/mdev = " &&
		wait_for 20 grep -q 'disconnected' "$tmp/serve.out" &&
		kill -TERM $server && wait $server
}

one_operation_is_enough_and_messages_may_be_large()
{
	serve && ask 0 -c 2 -i 0 -s 64K -o read "$address:$port" &&
		says "$tmp/out" " 65536 bytes (64 KiB), device" &&
		says "$tmp/out" "^seq=2 read=[0-9.]* us$" &&
		! grep '.\{81\}' "$tmp/out" &&
		! grep -q "^write" "$tmp/out" &&
		ask 0 -c 2 -i 0 -s 65536 -o send "$address:$port" &&
		says "$tmp/out" "^2 rounds, 2 answered"
}

the_report_is_json_too()
{
	serve && ask 0 -c 2 -i 0 --json "$address:$port" &&
		says "$tmp/out" '"answered": 2' &&
		says "$tmp/out" '"mdev": ' &&
		[ "$(head -c 1 "$tmp/out")" = "{" ]
}

a_server_on_all_devices_is_reached_by_this_one()
{
	: >"$tmp/serve.out"
	(unset PIER_DEVICE && exec "$pier" ping --listen 0 \
	    >"$tmp/serve.out" 2>"$tmp/serve.err") &
	server=$!
	wait_for 20 serves_or_ended
	port=$(sed -n 's/.*on port \([0-9]*\), devices .*/\1/p' \
	    "$tmp/serve.out")
	[ "$port" ] && ask 0 -c 2 -i 0 "$address:$port" &&
		kill -TERM $server && wait $server || {
		cat "$tmp/serve.out" "$tmp/serve.err"
		return 1
	}
}

# Its bytes are printed as U+FFFD.
a_host_that_is_not_utf8_is_json_too()
{
	ask 1 -c 1 --timeout 1 --json "$(printf 'a\377\376')" &&
		says "$tmp/out" \
		"\"host\": \"a$(printf '\357\277\275\357\277\275')\""
}

# The port is on stderr then, as stdout is for the program that reads it.
the_servers_report_is_json_too()
{
	: >"$tmp/serve.err"
	"$pier" ping -d "$device" --json --listen "$address:0" \
	    >"$tmp/serve.out" 2>"$tmp/serve.err" &
	server=$!
	wait_for 20 grep -q 'listens on port' "$tmp/serve.err" || return 1
	port=$(sed -n 's/.*on port \([0-9]*\),.*/\1/p' "$tmp/serve.err")
	ask 0 -c1 "$address:$port" && ask 0 -c1 -i0 "$address:$port" &&
		kill -TERM $server && wait $server &&
		says "$tmp/serve.out" '"clients": 2' &&
		says "$tmp/serve.out" "\"port\": $port" &&
		[ "$(head -c 1 "$tmp/serve.out")" = "{" ] &&
		! grep waiting "$tmp/serve.err"
}

# Not when its output is for a program.
both_sides_say_for_what_they_wait()
{
	serve && says "$tmp/serve.err" \
		"waiting for clients; Ctrl-C ends it" &&
		kill -KILL $server &&
		ask 1 -c1 --timeout 1 "$address:$port" &&
		says "$tmp/err" "waiting 1 s for pier ping --listen on " &&
		[ "$(grep -c waiting "$tmp/err")" -eq 1 ] &&
		ask 1 -c1 --json --timeout 1 "$address:$port" &&
		! grep waiting "$tmp/err"
}

an_interrupt_prints_the_statistics()
{
	serve || return 1
	"$pier" ping -d "$device" -i 3600 "$address:$port" >"$tmp/out" \
	    2>"$tmp/err" &
	asker=$!
	wait_for 20 grep -q 'seq=1' "$tmp/out" && kill -INT $asker &&
		wait $asker && says "$tmp/out" "^1 rounds, 1 answered, 0% lost"
}

# It is counted and reported, and a peer that comes back is reached again.
a_dead_peer_is_a_loss()
{
	serve || return 1
	"$pier" ping -d "$device" -i 0.02 "$address:$port" >"$tmp/out" \
	    2>"$tmp/err" &
	asker=$!
	wait_for 20 grep -q 'seq=2' "$tmp/out" && kill -KILL $server &&
		wait_for 20 grep -q "pier ping: $address:$port: " "$tmp/err" &&
		serve "$port" &&
		wait_for 20 grep -q connected: "$tmp/serve.out" || return 1
	seen=$(grep -c 'seq=' "$tmp/out")
	wait_for 20 more_than "$seen" && kill -INT $asker &&
		wait $asker && says "$tmp/out" " answered, [0-9.]*% lost" &&
		! grep -q " answered, 0% lost" "$tmp/out"
}

more_than()
{
	[ "$(grep -c 'seq=' "$tmp/out")" -gt "$1" ]
}

no_peer_there_is_reported_with_the_reason()
{
	serve && kill -KILL $server &&
		ask 1 -c 1 --timeout 1 "$address:$port" &&
		says "$tmp/err" "no program listens on that port" &&
		says "$tmp/out" "^1 rounds, 0 answered, 100% lost" &&
		ask 1 --json --timeout 1 "$address:$port" &&
		says "$tmp/out" '"sent": 1' && says "$tmp/out" '"answered": 0'
}

an_interrupt_before_anybody_was_there_prints_them_too()
{
	serve && kill -KILL $server || return 1
	: >"$tmp/err"
	PIER_LOG=debug "$pier" ping -d "$device" --timeout 60 \
	    "$address:$port" >"$tmp/out" 2>"$tmp/err" &
	asker=$!
	wait_for 20 grep -q "no program listens on that port" "$tmp/err" &&
		kill -INT $asker || return 1
	wait $asker
	[ $? -eq 1 ] && says "$tmp/out" "^1 rounds, 0 answered, 100% lost" &&
		says "$tmp/err" "^pier ping: .*no program listens on that port"
}

# It has been refused before there is anybody.
the_client_may_be_started_first()
{
	serve && kill -KILL $server || return 1
	: >"$tmp/err"
	PIER_LOG=debug timeout 60 "$pier" ping -d "$device" -c 1 \
	    --timeout 30 "$address:$port" >"$tmp/out" 2>"$tmp/err" &
	asker=$!
	wait_for 20 grep -q "no program listens on that port" "$tmp/err" &&
		serve "$port" && wait $asker &&
		says "$tmp/out" "^1 rounds, 1 answered, 0% lost"
}

a_port_in_use_is_named()
{
	serve || return 1
	timeout 20 "$pier" ping -d "$device" --listen "$address:$port" \
	    >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && says "$tmp/err" "$port"
}

# The error message has the address, the device, and what can be used instead.
no_process_listens_on_an_address_that_the_device_lacks()
{
	for lacks in 127.0.0.9 203.0.113.1 '[2001:db8::1]' 'fe80::9'; do
		ask 1 --listen "$lacks" &&
			says "$tmp/err" "$device: cannot listen on" &&
			says "$tmp/err" "$(echo "$lacks" | tr -d '[]') port" &&
			says "$tmp/err" "$address" || return 1
	done
}

# Another process may have that port.
a_server_may_name_an_address_without_a_port()
{
	start "$address"
	says "$tmp/serve.out" "on port 13579," ||
		says "$tmp/serve.err" "port 13579"
}

# A client asks for the way, and does not wait for it to appear.
an_address_without_a_way_to_it_is_reported()
{
	ask 1 -c 1 203.0.113.1:7471 &&
		says "$tmp/err" "cannot connect to 203.0.113.1 port 7471" &&
		says "$tmp/err" "over $device, GID $address,"
}

wrong_words_are_named()
{
	ask 2 && says "$tmp/err" "give one HOST\[:PORT\]" &&
		ask 2 --listen nowhere && says "$tmp/err" '"nowhere"' &&
		ask 2 --listen 99999 && says "$tmp/err" '"99999"' &&
		ask 2 --listen "$address:x" && says "$tmp/err" ":x" &&
		ask 2 --listen "[::1" && says "$tmp/err" "::1" &&
		ask 2 -i soon host && says "$tmp/err" '"soon"' &&
		ask 2 -i -1 host &&
		ask 2 -o fly host && says "$tmp/err" '"fly"' &&
		ask 2 -s 65537 host && says "$tmp/err" "65537" &&
		ask 2 -c 0 host && ask 2 --listen 1 host
}

# Another process that has that port is as good a server.
without_a_port_both_sides_take_the_same()
{
	start
	grep -qs -e 13579 "$tmp/serve.out" "$tmp/serve.err" &&
		ask 0 -c 1 "$address" && says "$tmp/out" " answered, 0% lost"
}

run every_operation_makes_its_round
run one_operation_is_enough_and_messages_may_be_large
run a_server_on_all_devices_is_reached_by_this_one
natively run the_report_is_json_too
natively run a_host_that_is_not_utf8_is_json_too
natively run the_servers_report_is_json_too
natively run both_sides_say_for_what_they_wait
natively run an_interrupt_prints_the_statistics
run a_dead_peer_is_a_loss
run no_peer_there_is_reported_with_the_reason
natively run an_interrupt_before_anybody_was_there_prints_them_too
run the_client_may_be_started_first
run a_port_in_use_is_named
run no_process_listens_on_an_address_that_the_device_lacks
natively run a_server_may_name_an_address_without_a_port
run an_address_without_a_way_to_it_is_reported
natively run wrong_words_are_named
natively run without_a_port_both_sides_take_the_same
tap_done
