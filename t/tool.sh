#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tool `pier`, by real processes on the soft device.
. "${0%/*}/tap.sh"

pier=$build/tools/pier
[ -x "$pier" ] || skip_all "the tool is not built"

# says FILE TEXT... - the file has each text
says()
{
	file=$1
	shift
	for text; do
		grep -qF -- "$text" "$file" || {
			echo "not in $file: $text"
			cat "$file"
			return 1
		}
	done
}

# status WANTED COMMAND... - it exits like that; output in $tmp/out and err
status()
{
	wanted=$1
	shift
	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got -eq "$wanted" ] || {
		echo "exit $got, not $wanted: $*"
		cat "$tmp/out" "$tmp/err"
		return 1
	}
}

# is_json FILE
is_json()
{
	for python in python3 /usr/bin/python3; do
		"$python" -c pass 2>/dev/null || continue
		"$python" -m json.tool "$1" >"$tmp/json" && return
		cat "$1"
		return 1
	done
	skip "there is no python3 to read JSON with"
}

help_and_version_are_told()
{
	status 0 "$pier" --help && says "$tmp/out" desc info perf &&
		status 0 "$pier" --version &&
		says "$tmp/out" "pier $(cat_version)"
}

cat_version()
{
	sed -n 's/.*PIER_VERSION "\(.*\)"/\1/p' \
		"$top/lib/include/pier/version.h"
}

an_unknown_command_is_named_and_the_known_ones_are_listed()
{
	status 2 "$pier" no-such-thing &&
		says "$tmp/err" no-such-thing desc info perf &&
		status 2 "$pier" && says "$tmp/err" desc info perf
}

each_command_has_help()
{
	for command in desc exchange info perf ping; do
		status 0 "$pier" $command --help &&
			says "$tmp/out" "pier $command" || return 1
	done
}

output_that_cannot_be_written_is_an_error()
{
	[ -c /dev/full ] || skip "there is no /dev/full"
	timeout 30 "$pier" info >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && says "$tmp/err" "cannot write"
}

info_tells_all_about_soft_lo()
{
	status 0 "$pier" info &&
		says "$tmp/out" soft_lo "one thread a process" &&
		status 0 "$pier" info -d soft_lo &&
		says "$tmp/out" soft_lo kind port netdev state link mtu gids \
			127.0.0.1 roce_v2 limits message tasks fetch_add \
			exports imports connection
}

info_is_json_too()
{
	status 0 "$pier" info --json && is_json "$tmp/out" &&
		says "$tmp/json" '"devices": [' '"name": "soft_lo"' \
			'"default": true' '"helper": "one thread a process"' \
			'"gid": "127.0.0.1"' '"rd_atomic": ' \
			'"compare_swap": true'
}

info_restricts_itself_to_one_device()
{
	status 0 "$pier" info --device=soft_lo --json &&
		is_json "$tmp/out" &&
		[ "$(grep -c '"kind":' "$tmp/json")" -eq 1 ]
}

info_marks_the_device_that_the_environment_names()
{
	PIER_DEVICE=soft_lo
	export PIER_DEVICE
	status 0 "$pier" info -d soft_lo --json &&
		says "$tmp/out" '"default": true'
}

info_names_an_unknown_device()
{
	status 1 "$pier" info -d no_such0 &&
		says "$tmp/err" "pier info: " no_such0
}

# A pair that would run for ever; sets $side_a and $side_b.
info_counts_what_processes_do()
{
	begin "--respond --events" "-n 10000000 --events" || return 1
	wait_for 10 counted $side_a && counted $side_b &&
		status 0 "$pier" info --counters &&
		says "$tmp/out" "$side_a pier soft_lo" \
			"$side_b pier soft_lo" "  connection 0x" \
			" 127.0.0.1:" "    window" "rtt_ns" &&
		status 0 "$pier" info --counters -d soft_lo --json &&
		is_json "$tmp/out" &&
		says "$tmp/json" '"adapters": ' "\"pid\": $side_a" \
			'"naks_sent_access": 0' '"peer": "127.0.0.1:' &&
		status 1 "$pier" info --counters $$ &&
		says "$tmp/err" "process $$ has no soft device"
	held=$?
	kill -KILL $side_a $side_b
	wait $side_a $side_b
	[ $held -eq 0 ] || return 1
	status 1 "$pier" info --counters $side_a &&
		says "$tmp/err" "process $side_a has no soft device" &&
		status 0 "$pier" info --counters &&
		! grep "^$side_b " "$tmp/out" &&
		[ -z "$(find /dev/shm -name "pier.*.$side_b.*")" ] || {
		echo "left behind: $(ls /dev/shm)"
		return 1
	}
}

# counted PID - it tells what it has sent
counted()
{
	"$pier" info --counters "$1" >"$tmp/out" 2>&1 &&
		grep -q '^    tx_packets  *[1-9]' "$tmp/out"
}

info_takes_one_process_and_only_for_counters()
{
	for words in "12" "--counters 0" "--counters x" "--counters -- -3" \
	    "--counters 1 2" "--counters 99999999999"; do
		status 2 "$pier" info $words &&
			says "$tmp/err" "one process id" || return 1
	done
}

# A responder that waits for nobody leaves two descriptors to look at.
desc_prints_both_kinds_of_descriptor()
{
	timeout 30 "$pier" perf lat read --respond -d soft_lo \
		-ld "$tmp/a" -re "$tmp/b" -m "$tmp/m" --timeout 2 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	appears "$tmp/a" && appears "$tmp/m" || return 1
	status 0 "$pier" desc "$tmp/a" &&
		says "$tmp/out" connection 127.0.0.1 created &&
		status 0 "$pier" desc "$tmp/m" &&
		says "$tmp/out" memory length key || return 1
	head -c 30 "$tmp/a" >"$tmp/cut"
	wait $!
	[ $? -eq 1 ] && says "$tmp/a.err" "pier perf: " "$tmp/b" &&
		status 1 "$pier" desc "$tmp/cut" &&
		says "$tmp/err" "pier desc: $tmp/cut: "
}

desc_refuses_what_is_no_descriptor()
{
	status 1 "$pier" desc "$tmp/nowhere" &&
		says "$tmp/err" "pier desc: " "$tmp/nowhere" || return 1
	: >"$tmp/empty"
	head -c 5000 /dev/zero >"$tmp/big"
	head -c 200 /dev/urandom >"$tmp/noise"
	for file in empty big noise; do
		status 1 "$pier" desc "$tmp/$file" &&
			says "$tmp/err" "pier desc: " "$tmp/$file" || return 1
	done
}

desc_wants_one_file()
{
	status 2 "$pier" desc && [ -s "$tmp/err" ] &&
		status 2 "$pier" desc a b && [ -s "$tmp/err" ]
}

# appears FILE - within ten seconds
appears()
{
	tries=0
	until [ -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -le 500 ] || { echo "$1 never came"; return 1; }
		sleep 0.02
	done
}

# perf RESPONDER REQUESTER - their options as words; sets both statuses
perf()
{
	timeout 50 "$pier" perf $1 --respond -d soft_lo -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 10 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	timeout 50 "$pier" perf $2 -d soft_lo -ld "$tmp/b" \
		-re "$tmp/a" -m "$tmp/m" --timeout 10 \
		>"$tmp/b.out" 2>"$tmp/b.err"
	requester=$?
	wait $!
	responder=$?
}

# good RESPONDER REQUESTER - the same, and both succeed
good()
{
	perf "$@"
	[ $requester -eq 0 ] && [ $responder -eq 0 ] || {
		echo "responder: $responder, requester: $requester"
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

perf_measures_latency_of_each_operation()
{
	for operation in send write read; do
		good "lat $operation" "lat $operation -n 50 --warmup 5" &&
			says "$tmp/b.out" "$operation latency" "64 bytes" \
				"50 iterations" min median average "99 %" \
				"99.9 %" max || return 1
	done
}

perf_measures_bandwidth_of_each_operation()
{
	for operation in send write read; do
		good "bw $operation" "bw $operation -n 200" &&
			says "$tmp/b.out" "$operation bandwidth" \
				"65536 bytes" MB/s messages/s || return 1
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
			'"median"' '"average"' '"p99"' '"p999"' '"max"' \
			'"iterations": 20' '"size": 64' &&
		good "bw write --json" "bw write -n 20 --json" &&
		is_json "$tmp/a.out" && is_json "$tmp/b.out" &&
		says "$tmp/json" '"mb_per_s"' '"messages_per_s"' '"seconds"' \
			'"outstanding": 64'
}

perf_counts_every_message()
{
	good "bw send -s 3000" "bw send -s 3000 -n 300 --warmup 50" &&
		says "$tmp/a.out" "received 350 messages of 3000 bytes"
}

perf_takes_sizes_from_one_byte_to_megabytes()
{
	good "lat send -s 1" "lat send -s 1 -n 20" &&
		good "bw write -s 2M" "bw write -s 2M -n 8 --warmup 1" &&
		says "$tmp/b.out" "2097152 bytes" &&
		good "bw read" "bw read -s 1M -n 8 --outstanding 2"
}

perf_works_with_one_message_outstanding()
{
	for operation in send write read; do
		good "bw $operation --outstanding 1" \
			"bw $operation --outstanding 1 -n 50" || return 1
	done
}

# met ORDER ROLE MEASURE OPTION... - by address, without files: the ROLE,
# responder or requester, is the server; both succeed
met()
{
	order=$1 role=$2
	shift 2
	ports=$((${ports:-0} + 1))
	port=$((20000 + ($$ * 50 + ports) % 12000))
	if [ "$role" = responder ]; then
		server="--respond" client="-n 50 --warmup 5"
	else
		server="-n 50 --warmup 5" client="--respond"
	fi
	if [ "$order" = server_first ]; then
		by_address a $server -cm "$@" &
		by_address b $client -sa 127.0.0.1 "$@"
	else
		by_address b $client -sa 127.0.0.1 "$@" &
		by_address a $server -cm "$@"
	fi && wait $! || {
		echo "$order, the server is the $role: $*"
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

# by_address WHICH OPTION...
by_address()
{
	which=$1
	shift
	timeout 50 "$pier" perf -d soft_lo -lp "$port" --timeout 20 "$@" \
		>"$tmp/$which.out" 2>"$tmp/$which.err"
}

# all_met ORDER ROLE WHICH - each measure of each operation; WHICH measures
all_met()
{
	for operation in send write read; do
		met "$1" "$2" lat "$operation" &&
			says "$tmp/$3.out" "$operation latency" \
				"50 iterations" median &&
			met "$1" "$2" bw "$operation" &&
			says "$tmp/$3.out" "$operation bandwidth" MB/s ||
			return 1
	done
}

perf_by_address_measures_a_server()
{
	all_met server_first responder b && all_met client_first responder b
}

perf_by_address_measures_from_a_server()
{
	all_met server_first requester a && all_met client_first requester a
}

perf_by_address_compares_what_both_were_told()
{
	port=$((20000 + $$ % 12000))
	by_address a --respond -cm bw read &
	by_address b -sa 127.0.0.1 lat send
	[ $? -eq 1 ] && says "$tmp/b.err" "pier perf: " "bw read" "lat send"
}

perf_by_address_says_who_is_missing()
{
	port=$((20000 + $$ % 12000))
	by_address b -sa 127.0.0.1 --timeout 1 lat send
	[ $? -eq 1 ] && says "$tmp/b.err" "pier perf: " "127.0.0.1 port $port" \
		"nobody listens" || return 1
	by_address a -cm --timeout 1 --respond lat send
	[ $? -eq 1 ] && says "$tmp/a.err" "pier perf: " "nobody has connected"
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
	apart "lat send -s 100" "lat send -s 200" 100 200 &&
		[ $responder -eq 1 ] &&
		says "$tmp/a.err" "left without sending" &&
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

perf_wants_a_measure_and_an_operation()
{
	for words in "" lat "lat jump" "run read" "bw read send"; do
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

# begin RESPONDER-OPTION REQUESTER-OPTION - both in the background, connected
begin()
{
	"$pier" perf lat send $1 -d soft_lo -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 8 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	side_a=$!
	appears "$tmp/a" || return 1
	"$pier" perf lat send $2 -d soft_lo -ld "$tmp/b" \
		-re "$tmp/a" -m "$tmp/m" --timeout 8 \
		>"$tmp/b.out" 2>"$tmp/b.err" &
	side_b=$!
	tries=0	# each takes the other's file when it connects
	while [ -e "$tmp/a" ] || [ -e "$tmp/b" ] || [ -e "$tmp/m" ]; do
		tries=$((tries + 1))
		[ $tries -le 500 ] || { echo "they do not meet"; return 1; }
		sleep 0.02
	done
}

# killed PID OTHER ERR - the other ends with 1 and a sentence in ERR
killed()
{
	kill -KILL "$1"
	wait "$1"
	wait "$2"
	[ $? -eq 1 ] && says "$3" "pier perf: " || {
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

run help_and_version_are_told
run an_unknown_command_is_named_and_the_known_ones_are_listed
run each_command_has_help
run output_that_cannot_be_written_is_an_error
run info_tells_all_about_soft_lo
run info_is_json_too
run info_restricts_itself_to_one_device
run info_marks_the_device_that_the_environment_names
run info_names_an_unknown_device
run info_counts_what_processes_do
run info_takes_one_process_and_only_for_counters
run desc_prints_both_kinds_of_descriptor
run desc_refuses_what_is_no_descriptor
run desc_wants_one_file
run perf_measures_latency_of_each_operation
run perf_measures_bandwidth_of_each_operation
run perf_sleeps_if_asked_to
run perf_reports_in_json
run perf_counts_every_message
run perf_takes_sizes_from_one_byte_to_megabytes
run perf_works_with_one_message_outstanding
run perf_by_address_measures_a_server
run perf_by_address_measures_from_a_server
run perf_by_address_compares_what_both_were_told
run perf_by_address_says_who_is_missing
run perf_names_both_sizes_when_they_differ
run perf_names_both_operations_when_they_differ
run a_read_responder_serves_writes_and_either_measure
run perf_wants_a_measure_and_an_operation
run perf_refuses_numbers_out_of_range
run a_requester_ends_when_its_responder_is_killed
run a_responder_ends_when_its_requester_is_killed
tap_done
