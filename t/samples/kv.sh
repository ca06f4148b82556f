#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of a key-value service, by real processes.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/device.sh"
take_ports

bin=$build/samples/services
[ -x "$bin/kv_client" ] || skip_all "the samples are not built"
device_known
port=$first_port

serve()
{
	"$bin/kv_server" -d "$device" -lp $port "$@" >"$tmp/server.out" \
	    2>"$tmp/server.err" &
	server=$!
}

# get NAME KEY... - in the background; what it prints is in $tmp/NAME
get()
{
	name=$1
	shift
	"$bin/kv_client" -d "$device" -sa "$address" -lp $port --timeout 60 \
	    "$@" >"$tmp/$name" 2>&1 &
	client=$!
}

# counted GETS ERRORS - the server ends well, and has counted so many
counted()
{
	kill -INT $server && wait $server &&
		[ "$(cat "$tmp/server.out")" = "$1 gets" ] &&
		[ "$(grep -c "" "$tmp/server.err")" -eq "$2" ] && return
	cat "$tmp"/server.*
	return 1
}

values_are_read()
{
	serve apple=red "plum=dark blue" 'x==y' "tint=$(printf '\033[31m')"
	get one apple plum x tint
	wait $client
	printf '%s\n' "waiting for $address; Ctrl-C ends it" \
	    "apple=red, get 0" "plum=dark blue, get 1" \
	    "x==y, get 2" 'tint=\x1b[31m, get 3' >"$tmp/want"
	cmp "$tmp/want" "$tmp/one" && counted 4 0 || {
		cat "$tmp/one"
		return 1
	}
}

a_key_that_is_not_there_is_reported()
{
	serve apple=red
	get one pear
	! wait $client && cat "$tmp/one" &&
		grep -q "no key \"pear\"" "$tmp/one" && counted 1 0
}

a_client_without_a_key_is_a_wrong_command_line()
{
	"$bin/kv_client" -d "$device" >"$tmp/one" 2>&1
	[ $? -eq 2 ] && grep -q "give at least one KEY" "$tmp/one"
}

# No slot has it, though empty ones look so.
an_empty_key_is_not_there()
{
	serve apple=red
	get one ""
	! wait $client && cat "$tmp/one" &&
		grep -q 'no key ""' "$tmp/one" && counted 1 0
}

pairs()
{
	i=1
	while [ $i -le "$1" ]; do
		echo "key$i=value $i"
		i=$((i + 1))
	done
}

# Of 400 keys with probes of 8 slots; 25 gets of each of 40 clients.
every_get_of_many_clients_is_counted_once()
{
	pairs 400 >"$tmp/pairs"
	set --
	while read -r pair; do
		set -- "$@" "$pair"
	done <"$tmp/pairs"
	serve "$@"
	clients=
	i=0
	while [ $i -lt 40 ]; do
		# shellcheck disable=SC2046
		get "many$i" $(seq -f key%g $((10 * i + 1)) $((10 * i + 10))) \
		    $(seq -f key%g 386 400)
		clients="$clients $client"
		i=$((i + 1))
	done
	for client in $clients; do
		wait "$client" || {
			cat "$tmp"/many* "$tmp"/server.*
			return 1
		}
	done
	cat "$tmp"/many* | sed -n 's/.*, get //p' | sort -n >"$tmp/numbers"
	seq 0 999 | cmp - "$tmp/numbers" && counted 1000 0 || return
	cat "$tmp"/many* | sed -n 's/, get .*//p' | sort -u >"$tmp/read"
	sort "$tmp/pairs" | cmp - "$tmp/read"
}

failed()
{
	grep -q . "$tmp/server.err"
}

# It has gets in flight, or has none yet.
a_client_that_is_killed_harms_no_other()
{
	serve apple=red
	# shellcheck disable=SC2046
	get killed $(yes apple | head -n 100000)
	killed=$client
	wait_for 60 grep -q "get 100$" "$tmp/killed" &&
		kill -KILL "$killed" || return
	get other apple
	wait "$client" && grep -q "^apple=red, get" "$tmp/other" &&
		wait_for 60 failed && get later apple && wait "$client" &&
		last=$(sed -n 's/.*, get //p' "$tmp/later") &&
		counted $((last + 1)) 1
}

a_table_is_checked()
{
	for pair in apple =red apple= "$(printf '%024d' 0)=x" \
	    "x=$(printf '%0104d' 0)"; do
		"$bin/kv_server" -d "$device" -lp $port "$pair" 2>"$tmp/err"
		[ $? -eq 2 ] && grep -qF "\"$pair\": not KEY=VALUE" \
		    "$tmp/err" || { cat "$tmp/err"; return 1; }
	done
}

run values_are_read
run a_key_that_is_not_there_is_reported
run a_client_without_a_key_is_a_wrong_command_line
run an_empty_key_is_not_there
natively run every_get_of_many_clients_is_counted_once
natively run a_client_that_is_killed_harms_no_other
natively run a_table_is_checked
tap_done
