#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of a Comm Channel.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"

server=$build/samples/comch_ctrl_path_server
client=$build/samples/comch_ctrl_path_client
[ -x "$server" ] && [ -x "$client" ] || skip_all "the samples are not built"
. "$srcdir/t/lib/device.sh"

# random LEN - so many characters
random()
{
	tr -dc '[:graph:]' </dev/urandom | head -c "$1"
}

# talks TEXT ANSWER OPTION... - the options are the server's; what is received
# is printed like that or as $printed
talks()
{
	text=$1 answer=$2
	shift 2
	timeout 40 "$server" -p "$device" "--text=$answer" "$@" \
	    >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 20 has_name
	# shellcheck disable=SC2086
	timeout 40 "$client" -p "$device" "--text=$text" $client_options \
	    >"$tmp/client" 2>&1
	wait $serving
	status=$?
	printf 'sent "%s", received "%s"\n' "$text" "${printed:-$answer}" \
	    >"$tmp/want"
	printf 'received "%s"\nsent "%s"\n' "${printed:-$text}" "$answer" \
	    >"$tmp/wanted"
	[ $status -eq 0 ] && cmp "$tmp/want" "$tmp/client" &&
	    cmp "$tmp/wanted" "$tmp/server" ||
	    { cat "$tmp/server" "$tmp/client"; return 1; }
}

random_texts_are_answered()
{
	for len in 1 100 4080; do
		talks "$(random $len)" "$(random $len)" || return
	done
}

control_characters_are_printed_as_numbers()
{
	trick=$(printf '\033[2J')
	printed='\x1b[2J' talks "$trick" "$trick"
}

a_server_has_a_representor()
{
	if "$server" -p "$device" -r none >"$tmp/out" 2>&1; then
		cat "$tmp/out"
		return 1
	fi
	cat "$tmp/out"
	case $device in
	soft_*) talks a b -r "${device#soft_}" ;;
	esac
}

a_client_takes_an_address()
{
	device_known
	client_options="-sa $address -r ignored"
	talks "to an address" "from there"
	status=$?
	client_options=
	return $status
}

without_a_server_the_client_says_so()
{
	timeout 40 "$client" -p "$device" >"$tmp/out" 2>&1
	status=$?
	cat "$tmp/out"
	[ $status -eq 1 ] &&
	    grep -q 'no server "comch_ctrl_path_sample_server"' "$tmp/out"
}

a_second_server_says_so()
{
	"$server" -p "$device" >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 20 has_name
	timeout 40 "$server" -p "$device" >"$tmp/out" 2>&1
	cat "$tmp/out" "$tmp/server"
	kill $serving
	wait $serving
	grep -q "another server on this host has the name" "$tmp/out"
}

run random_texts_are_answered
run control_characters_are_printed_as_numbers
run a_server_has_a_representor
run a_client_takes_an_address
run without_a_server_the_client_says_so
run a_second_server_says_so
tap_done
