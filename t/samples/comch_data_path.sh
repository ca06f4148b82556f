#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of consumers and producers.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"

server=$build/samples/comch_data_path_server
client=$build/samples/comch_data_path_client
[ -x "$server" ] && [ -x "$client" ] || skip_all "the samples are not built"
. "$srcdir/t/lib/device.sh"

# random LEN - so many characters
random()
{
	tr -dc '[:graph:]' </dev/urandom | head -c "$1"
}

# moves TEXT OPTION... - the options are the client's, those of the server are
# $server_options; it is printed like that or as $printed, and $greeting
moves()
{
	text=$1 greeting=${greeting:-Hi DOCA RDMA!}
	shift
	# shellcheck disable=SC2086
	timeout 40 "$server" -p "$device" "--text=$greeting" $server_options \
	    >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 20 has_name
	timeout 40 "$client" -p "$device" "--text=$text" "$@" \
	    >"$tmp/client" 2>&1
	status=$?
	wait $serving || status=1
	printf 'received "%s"\nsent "%s"\n' "${printed:-$greeting}" "$text" \
	    >"$tmp/want"
	printf 'sent "%s"\nreceived "%s"\n' "$greeting" "${printed:-$text}" \
	    >"$tmp/wanted"
	[ $status -eq 0 ] && cmp "$tmp/want" "$tmp/client" &&
	    cmp "$tmp/wanted" "$tmp/server" ||
	    { cat "$tmp/server" "$tmp/client"; return 1; }
}

random_texts_are_moved()
{
	for len in 1 100 4097 100000; do
		greeting=$(random $((len < 4080 ? len : 4080))) \
		    moves "$(random $len)" || return
	done
}

control_characters_are_printed_as_numbers()
{
	trick=$(printf '\033[2J')
	greeting=$trick printed='\x1b[2J' moves "$trick"
}

a_server_has_a_representor()
{
	if timeout 40 "$server" -p "$device" -r none >"$tmp/out" 2>&1; then
		cat "$tmp/out"
		return 1
	fi
	cat "$tmp/out"
	grep -q '"none" among' "$tmp/out" || return
	case $device in
	soft_*) server_options="-r ${device#soft_}" moves "by a representor" ;;
	esac
}

a_client_takes_an_address()
{
	device_known
	moves "to an address" -sa "$address"
}

without_a_server_the_client_says_so()
{
	timeout 40 "$client" -p "$device" >"$tmp/out" 2>&1
	status=$?
	cat "$tmp/out"
	[ $status -eq 1 ] &&
	    grep -q 'no server "comch_data_path_sample_server"' "$tmp/out"
}

run random_texts_are_moved
run control_characters_are_printed_as_numbers
run a_server_has_a_representor
run a_client_takes_an_address
run without_a_server_the_client_says_so
tap_done
