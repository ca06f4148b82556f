#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier perf, by real processes on the device that PIER_DEVICE names.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
take_ports
device_known

# A responder without a requester leaves two descriptors to look at.
desc_prints_both_kinds_of_descriptor()
{
	timeout 30 "$pier" perf lat read --respond -d "$device" \
		-ld "$tmp/a" -re "$tmp/b" -m "$tmp/m" \
		--timeout $((2 * ${PIER_TEST_SLOWER:-1})) \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	# they are removed when its time is over
	appears "$tmp/a" && appears "$tmp/m" && cp "$tmp/a" "$tmp/conn" &&
		cp "$tmp/m" "$tmp/memory" || return 1
	status 0 "$pier" desc "$tmp/conn" &&
		says "$tmp/out" connection "$address" created &&
		status 0 "$pier" desc "$tmp/memory" &&
		says "$tmp/out" memory "length: 2101248 bytes (2.0 MiB)" key &&
		status 0 "$pier" desc --json "$tmp/conn" &&
		is_json "$tmp/out" &&
		says "$tmp/json" '"kind": "connection"' '"qpn": ' '"gids": ' \
			"\"gid\": \"$address\"" '"age": ' '"valid": ' &&
		status 0 "$pier" desc --json "$tmp/memory" &&
		is_json "$tmp/out" &&
		says "$tmp/json" '"kind": "memory"' '"rkey": ' '"read"' \
			'"length": ' '"address": "0x' || return 1
	head -c 30 "$tmp/conn" >"$tmp/cut"
	wait $!
	[ $? -eq 1 ] &&
		says "$tmp/a.err" "pier perf: no descriptor in $tmp/b" &&
		status 1 "$pier" desc "$tmp/cut" &&
		says "$tmp/err" "pier desc: $tmp/cut: "
}

# with_largest HEX - the descriptor $tmp/a, whose largest message has that many
# bytes, as $tmp/changed
with_largest()
{
	python3 - "$tmp/a" "$tmp/changed" "$1" <<-'END'
		import struct, sys, zlib
		whole = open(sys.argv[1], "rb").read()
		old = bytes.fromhex("ce80000000")	# msgpack, 2 GiB
		assert whole.count(old) == 1
		new = bytes.fromhex("cf" + sys.argv[3])
		body = whole[16:].replace(old, new)
		head = whole[:8] + struct.pack(">I", len(body))
		crc = struct.pack(">I", zlib.crc32(head + body))
		open(sys.argv[2], "wb").write(head + crc + body)
	END
}

# Beyond those that JSON's readers have, too.
desc_prints_every_number_exactly()
{
	python3 -c pass || skip "there is no python3"
	timeout 50 "$pier" perf lat send --respond -d soft_lo -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" >"$tmp/a.out" 2>"$tmp/a.err" &
	appears "$tmp/a" && with_largest 7fffffffffffffff &&
		status 0 "$pier" desc --json "$tmp/changed" &&
		says "$tmp/out" '"largest_message": 9223372036854775807,' &&
		with_largest ffffffffffffffff &&
		status 0 "$pier" desc --json "$tmp/changed" &&
		says "$tmp/out" '"largest_message": "18446744073709551615",' &&
		status 0 "$pier" desc "$tmp/changed" &&
		says "$tmp/out" "largest message: 18446744073709551615 bytes"
	held=$?
	kill $! && ! wait $! && rm -f "$tmp/a" "$tmp/m" && [ $held -eq 0 ]
}

# perf RESPONDER REQUESTER - their options as words; sets both statuses
perf()
{
	timeout 50 "$pier" perf $1 --respond -d "$device" -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 10 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	timeout 50 "$pier" perf $2 -d "$device" -ld "$tmp/b" \
		-re "$tmp/a" -m "$tmp/m" --timeout 10 \
		>"$tmp/b.out" 2>"$tmp/b.err"
	requester=$?
	wait $!
	responder=$?
}

# good RESPONDER REQUESTER - the same, and both succeed, in 80 columns
good()
{
	perf "$@"
	! grep '.\{81\}' "$tmp/a.out" "$tmp/b.out" || return 1
	[ $requester -eq 0 ] && [ $responder -eq 0 ] || {
		echo "responder: $responder, requester: $requester"
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

# row FILE BYTES MESSAGES - there is one of these, and no other
row()
{
	rows=$(grep -c '^ *[0-9]' "$1")
	grep -q "^ *$2  *$3 " "$1" && [ "$rows" -eq 1 ] && return
	echo "no row of $3 messages of $2 bytes"
	cat "$1"
	return 1
}

perf_measures_latency_of_each_operation()
{
	for operation in send write read; do
		good "lat $operation" "lat $operation -n 50 --warmup 5" &&
			says "$tmp/b.out" "$operation latency" bytes \
				messages min median mean "99 %" "99.9 %" \
				max && row "$tmp/b.out" 64 50 || return 1
	done
}

perf_measures_bandwidth_of_each_operation()
{
	for operation in send write read; do
		good "bw $operation" "bw $operation -n 200" &&
			says "$tmp/b.out" "$operation bandwidth" \
				"64 outstanding" GB/s messages/s &&
			row "$tmp/b.out" 65536 200 || return 1
	done
}

perf_sleeps_if_asked_to()
{
	for measure in lat bw; do
		for operation in send write read; do
			good "$measure $operation --events" \
				"$measure $operation -n 50 --events" ||
				return 1
		done
	done
}

perf_reports_in_json()
{
	good "lat send --json" "lat send -n 20 --warmup 0 --json" &&
		is_json "$tmp/a.out" && says "$tmp/json" '"received": 20' &&
		is_json "$tmp/b.out" &&
		says "$tmp/json" '"time": "half the round trip"' '"min"' \
			'"median"' '"mean"' '"p99"' '"p999"' '"max"' \
			'"iterations": 20' '"size": 64' &&
		good "bw write --json" "bw write -n 20 --json" &&
		is_json "$tmp/a.out" && is_json "$tmp/b.out" &&
		says "$tmp/json" '"gb_per_s"' '"gbit_per_s"' '"seconds"' \
			'"messages_per_s"' '"outstanding": 64' \
			'"interrupted": false'
}

perf_counts_every_message()
{
	good "bw send -s 3000" "bw send -s 3000 -n 300 --warmup 50" &&
		says "$tmp/a.out" "received 350 messages of up to 3000 bytes"
}

perf_takes_sizes_from_one_byte_to_megabytes()
{
	good "lat send -s 1" "lat send -s 1 -n 20" &&
		good "bw write -s 2M" "bw write -s 2M -n 8 --warmup 1" &&
		row "$tmp/b.out" 2097152 8 &&
		good "bw read" "bw read -s 1M -n 8 --outstanding 2"
}

perf_works_with_one_message_outstanding()
{
	for operation in send write read; do
		good "bw $operation --outstanding 1" \
			"bw $operation --outstanding 1 -n 50" || return 1
	done
}

# met ORDER MEASURE OPERATION - by address, without files; both succeed
met()
{
	order=$1
	shift
	ports=$((${ports:-0} + 1))
	port=$((first_port + ports))
	client="-sa $address -n 50 --warmup 5"
	if [ "$order" = server_first ]; then
		by_address a --listen "$@" &
		by_address b $client "$@"
	else
		by_address b $client "$@" &
		by_address a --listen "$@"
	fi && wait $! || {
		echo "$order: $*"
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

# by_address WHICH OPTION...
by_address()
{
	which=$1
	shift
	timeout 50 "$pier" perf -d "$device" -lp "$port" --timeout 20 "$@" \
		>"$tmp/$which.out" 2>"$tmp/$which.err"
}

# all_met ORDER - each measure of each operation
all_met()
{
	for operation in send write read; do
		met "$1" lat "$operation" &&
			says "$tmp/b.out" "$operation latency" median &&
			row "$tmp/b.out" 64 50 &&
			met "$1" bw "$operation" &&
			says "$tmp/b.out" "$operation bandwidth" GB/s ||
			return 1
	done
}

perf_by_address_measures_a_server()
{
	all_met server_first && all_met client_first
}

# Being the server has one word, and samples' options lead to it.
perf_is_no_server_without_listen()
{
	status 2 "$pier" perf -cm lat send &&
		says "$tmp/err" "give --listen, which is the server" &&
		status 2 "$pier" perf -cm --respond lat send &&
		says "$tmp/err" "give --listen, which is the server" &&
		status 2 "$pier" perf --respond lat send "$address" &&
		says "$tmp/err" "the server $address, which does not measure"
}

# listening OPTION... - the server, in the background
listening()
{
	timeout 50 "$pier" perf -d "$device" --timeout 20 --listen "$@" \
		>"$tmp/a.out" 2>"$tmp/a.err" &
}

# dialling PLACE OPTION...
dialling()
{
	place=$1
	shift
	timeout 50 "$pier" perf -d "$device" --timeout 20 -n50 "$@" "$place" \
		>"$tmp/b.out" 2>"$tmp/b.err" && wait $! || {
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

perf_is_a_server_by_listen_and_its_client_names_host_and_port()
{
	port=$((first_port + 49))
	listening lat write "$port" && dialling "$address:$port" lat write &&
		says "$tmp/b.out" "write latency, us to completion" &&
		says "$tmp/a.out" "done: the peer was served" &&
		says "$tmp/a.err" "waiting 20 s for a client on port $port" \
			"Ctrl-C ends it" &&
		says "$tmp/b.err" "waiting 20 s for the server at $address" &&
		listening bw send "$address:$port" --json &&
		dialling "$address:$port" bw send --json &&
		is_json "$tmp/a.out" && is_json "$tmp/b.out" &&
		! grep waiting "$tmp"/[ab].err &&
		listening -lp "$port" lat write &&
		dialling "$address" -lp "$port" lat write &&
		says "$tmp/a.err" "waiting 20 s for a client on port $port"
}

perf_listens_on_all_devices_if_none_is_named()
{
	port=$((first_port + 47))
	for what in "lat send" "bw write"; do
		(
			unset PIER_DEVICE
			# shellcheck disable=SC2086 # two words
			exec timeout 50 "$pier" perf $what --listen "$port" \
				--timeout 20 >"$tmp/a.out" 2>"$tmp/a.err"
		) &
		# shellcheck disable=SC2086
		dialling "$address:$port" $what &&
			says "$tmp/a.err" "port $port, devices " \
			    "$device" || return 1
	done
}

perf_listens_on_all_addresses_of_the_device()
{
	port=$((first_port + 48))
	for any in "0.0.0.0:$port" "[::]:$port"; do
		listening lat write "$any" &&
			dialling "$address:$port" lat write &&
			listening "--listen=$any" lat write &&
			dialling "$address:$port" lat write || return 1
	done
}

perf_names_places_that_make_no_sense()
{
	for words in "--listen lat send nowhere:x" "--listen lat send 99999" \
	    "--listen lat send 0" "-sa a lat send b" \
	    "--listen -sa a lat send"; do
		status 2 "$pier" perf -d "$device" $words &&
			[ -s "$tmp/err" ] || return 1
	done
	for place in 127.0.0.1:99999 127.0.0.1:0 127.0.0.1: "" localhost:x \
	    "[::1]:" "[::1]:65536" :13579 13579; do
		status 2 "$pier" perf -d "$device" lat send "$place" &&
			says "$tmp/err" "\"$place\": give HOST[:PORT]; " \
				"a port is 1 to 65535" || return 1
	done
	for place in 203.0.113.1 '[2001:db8::1]:7000' nowhere; do
		status 1 "$pier" perf -d "$device" --listen lat send "$place" &&
			says "$tmp/err" "not an address of $device" || return 1
	done
}

perf_by_address_compares_the_options_of_both()
{
	port=$((first_port + 46))
	by_address a --listen bw read --timeout 10 &
	by_address b -sa "$address" lat send
	[ $? -eq 1 ] && says "$tmp/b.err" "pier perf: " "bw read" "lat send"
}

perf_by_address_says_who_is_missing()
{
	port=$first_port
	by_address b -sa "$address" --timeout ${PIER_TEST_SLOWER:-1} lat send
	[ $? -eq 1 ] && says "$tmp/b.err" "pier perf: " "$address port $port" \
		"no program listens" || return 1
	by_address a --listen --timeout 1 lat send
	[ $? -eq 1 ] && says "$tmp/a.err" "pier perf: " \
		"no client has connected"
}

# apart RESPONDER REQUESTER TEXT... - refused, with each text
apart()
{
	perf "$1" "$2"
	shift 2
	[ $requester -eq 1 ] || {
		echo "requester: $requester"
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
	says "$tmp/b.err" "pier perf: " "$@"
}

perf_names_both_sizes_when_they_differ()
{
	apart "lat send -s 2M" "lat send -s 3M" 2097152 3145728 &&
		[ $responder -eq 1 ] &&
		says "$tmp/a.err" "disconnected without sending" &&
		apart "bw write" "bw write -s 3M" 1048576 3145728
}

perf_names_both_operations_when_they_differ()
{
	apart "bw send" "lat send" '"bw send"' '"lat send"' &&
		apart "lat read" "lat send" '"lat read"' '"lat send"' &&
		apart "lat send" "bw write" '"lat send"' '"bw write"'
}

a_read_responder_serves_writes_and_either_measure()
{
	good "lat read" "bw write -n 20"
}

immediates_and_atomics_are_measured_too()
{
	for what in "lat send-imm" "bw send-imm" "lat write-imm" \
	    "bw write-imm" "lat fetch-add" "bw fetch-add" \
	    "lat compare-swap" "bw compare-swap"; do
		good "$what" "$what -n 50 --warmup 5" &&
			says "$tmp/b.out" "${what#* } " || return 1
		case $what in
		*-imm) says "$tmp/a.out" "received 55 messages" ;;
		lat*) row "$tmp/b.out" 8 50 ;;
		esac || return 1
	done
}

a_copy_needs_no_peer()
{
	for measure in lat bw; do
		status 0 "$pier" perf $measure copy -d "$device" -n 50 \
			-s 4K && row "$tmp/out" 4096 50 || return 1
	done
	status 0 "$pier" perf bw copy -d "$device" -n 50 --sizes 1,1M \
		--outstanding 3 --json && is_json "$tmp/out" &&
		says "$tmp/json" '"size": 1048576' '"operation": "copy"' &&
		status 2 "$pier" perf bw copy host &&
		says "$tmp/err" "copy has no peer"
}

atomics_have_one_size()
{
	for option in "-s 16" -a "--sizes 8,16"; do
		status 2 "$pier" perf lat fetch-add $option host &&
			says "$tmp/err" "its size is 8 bytes" || return 1
	done
	apart "lat read" "lat fetch-add" '"lat read"' '"lat fetch-add"'
}

perf_wants_a_measure_and_an_operation()
{
	for words in "" lat "lat jump" "run read" "bw read a b"; do
		status 2 "$pier" perf $words && says "$tmp/err" lat bw send \
			write read || return 1
	done
}

perf_refuses_numbers_out_of_range()
{
	for option in "-s 0" "-s 3G" "-n 0" "--outstanding 0" \
	    "--outstanding 5000" "--warmup -1" "-n many"; do
		status 2 "$pier" perf bw read $option && [ -s "$tmp/err" ] ||
			return 1
	done
}

# killed PID OTHER ERR - the other ends with 1 and an error message in ERR
killed()
{
	kill -KILL "$1"
	wait "$1"
	wait "$2"
	[ $? -eq 1 ] && grep -v waiting "$3" | grep "^pier perf: " || {
		cat "$3"
		return 1
	}
}

a_requester_ends_when_its_responder_is_killed()
{
	begin "--respond --events" "-n 10000000 --events" || return 1
	killed $side_a $side_b "$tmp/b.err"
}

a_responder_ends_when_its_requester_is_killed()
{
	begin "--respond --events" "-n 10000000 --events" || return 1
	killed $side_b $side_a "$tmp/a.err"
}

natively run desc_prints_both_kinds_of_descriptor
natively run desc_prints_every_number_exactly
run perf_measures_latency_of_each_operation
run perf_measures_bandwidth_of_each_operation
run perf_sleeps_if_asked_to
natively run perf_reports_in_json
natively run perf_counts_every_message
run perf_takes_sizes_from_one_byte_to_megabytes
run perf_works_with_one_message_outstanding
run perf_by_address_measures_a_server
run perf_is_no_server_without_listen
run perf_is_a_server_by_listen_and_its_client_names_host_and_port
run perf_listens_on_all_devices_if_none_is_named
natively run perf_listens_on_all_addresses_of_the_device
run perf_names_places_that_make_no_sense
natively run perf_by_address_compares_the_options_of_both
run perf_by_address_says_who_is_missing
natively run perf_names_both_sizes_when_they_differ
natively run perf_names_both_operations_when_they_differ
run a_read_responder_serves_writes_and_either_measure
run immediates_and_atomics_are_measured_too
run a_copy_needs_no_peer
natively run atomics_have_one_size
natively run perf_wants_a_measure_and_an_operation
natively run perf_refuses_numbers_out_of_range
run a_requester_ends_when_its_responder_is_killed
run a_responder_ends_when_its_requester_is_killed
tap_done
