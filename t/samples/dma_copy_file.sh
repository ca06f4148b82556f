#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample that copies a file to the side that lacks it.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"

copy=$build/samples/dma_copy
[ -x "$copy" ] || skip_all "the sample is not built"
. "$srcdir/t/lib/device.sh"
case $device in
soft_*) rep=${device#soft_} ;;
*) skip_all "$device has no representor" ;;
esac

# pair - a server and a client end; their status is in $server and $client
pair()
{
	timeout 40 "$copy" -p "$device" -r "$rep" -f "$tmp/there" \
	    >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 20 has_name || { cat "$tmp/server"; return 1; }
	# shellcheck disable=SC2086
	timeout 60 "$copy" -p "$device" -f "$tmp/here" $options \
	    >"$tmp/client" 2>&1
	client=$?
	wait $serving
	server=$?
	cat "$tmp/server" "$tmp/client"
}

# copied LEN - both ends have succeeded with so many bytes
copied()
{
	[ $server -eq 0 ] && [ $client -eq 0 ] &&
	    cmp "$tmp/source" "$tmp/here" && cmp "$tmp/source" "$tmp/there" &&
	    echo "copied $1 bytes of $tmp/there" | cmp - "$tmp/server" &&
	    echo "copied $1 bytes of $tmp/here" | cmp - "$tmp/client"
}

options=
sizes="0 1 4096 1048576 7654321"

the_client_sends_what_it_has()
{
	for len in $sizes; do
		head -c $len /dev/urandom >"$tmp/source"
		rm -f "$tmp/there"
		cp "$tmp/source" "$tmp/here"
		pair
		copied $len || return
	done
}

the_server_sends_what_it_has()
{
	for len in $sizes; do
		head -c $len /dev/urandom >"$tmp/source"
		rm -f "$tmp/here"
		cp "$tmp/source" "$tmp/there"
		pair
		copied $len || return
	done
}

# fails TEXT - both ends report it
fails()
{
	pair
	[ $server -eq 1 ] && [ $client -eq 1 ] &&
	    grep -q "dma_copy: copy: $1" "$tmp/server" &&
	    grep -q "dma_copy: copy: the peer: copy: $1" "$tmp/client"
}

a_file_on_both_sides_is_an_error()
{
	echo 1 >"$tmp/here"
	echo 2 >"$tmp/there"
	fails "both ends have the file" && [ "$(cat "$tmp/here")" = 1 ] &&
	    [ "$(cat "$tmp/there")" = 2 ]
}

a_file_on_neither_side_is_an_error()
{
	rm -f "$tmp/here" "$tmp/there"
	fails "neither end has the file" && [ ! -e "$tmp/here" ] &&
	    [ ! -e "$tmp/there" ]
}

arguments_come_from_a_json_file()
{
	head -c 12345 /dev/urandom >"$tmp/source"
	cp "$tmp/source" "$tmp/here"
	rm -f "$tmp/there"
	echo "{ \"server-addr\": \"$address\" }" >"$tmp/args"
	options="-j $tmp/args"
	pair
	options=
	copied 12345
}

# grouped FILE - the arguments of one side as programs for DOCA have them
grouped()
{
	cat <<-END
	{
		"doca_general_flags": {
			// -l - the log level
			"log-level": 40
		},
		"doca_program_flags": {
			// -f - the file
			"file": "$1",
			"pci-addr": "$device"$2
		}
	}
	END
}

all_arguments_come_from_files_for_doca()
{
	head -c 12345 /dev/urandom >"$tmp/source"
	cp "$tmp/source" "$tmp/here"
	rm -f "$tmp/there"
	grouped "$tmp/there" ", \"rep-pci\": \"$rep\"" >"$tmp/dpu.json"
	grouped "$tmp/here" >"$tmp/host.json"
	timeout 40 "$copy" --json "$tmp/dpu.json" >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 20 has_name || { cat "$tmp/server"; return 1; }
	timeout 60 "$copy" -j "$tmp/host.json" >"$tmp/client" 2>&1
	client=$?
	wait $serving
	server=$?
	cat "$tmp/server" "$tmp/client"
	copied 12345
}

the_help_has_no_word_twice()
{
	"$copy" --help >"$tmp/help" 2>&1 &&
	    grep -q "the file, which exists on one side (required)" \
		"$tmp/help" || { cat "$tmp/help"; return 1; }
}

an_address_leads_to_the_server()
{
	head -c 12345 /dev/urandom >"$tmp/source"
	cp "$tmp/source" "$tmp/there"
	rm -f "$tmp/here"
	options="-sa $address"
	pair
	options=
	copied 12345
}

without_a_server_the_client_says_so()
{
	echo 1 >"$tmp/here"
	timeout 60 "$copy" -p "$device" -f "$tmp/here" >"$tmp/out" 2>&1
	[ $? -eq 1 ] && grep -q 'no server "dma copy server"' "$tmp/out"
}

device_known
run the_client_sends_what_it_has
run the_server_sends_what_it_has
run a_file_on_both_sides_is_an_error
run a_file_on_neither_side_is_an_error
run arguments_come_from_a_json_file
run all_arguments_come_from_files_for_doca
run the_help_has_no_word_twice
run an_address_leads_to_the_server
run without_a_server_the_client_says_so
tap_done
