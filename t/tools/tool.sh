#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tool `pier`, by real processes on the soft device; pier perf is in
# t/tools/perf.sh.
. "${0%/*}/../lib/tap.sh"
device=soft_lo
. "$top/t/lib/toolbox.sh"

help_and_version_are_printed()
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

# commands - the names that pier lists
commands()
{
	"$pier" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'
}

each_command_has_help()
{
	commands >"$tmp/commands"
	[ "$(wc -l <"$tmp/commands")" -ge 7 ] || return 1
	while read -r command; do
		status 0 "$pier" "$command" --help &&
			says "$tmp/out" "pier $command" &&
			mv "$tmp/out" "$tmp/long" &&
			status 0 "$pier" help "$command" &&
			cmp "$tmp/out" "$tmp/long" || return 1
	done <"$tmp/commands"
}

help_names_what_is_no_command()
{
	status 0 "$pier" help && mv "$tmp/out" "$tmp/long" &&
		status 0 "$pier" --help && cmp "$tmp/out" "$tmp/long" &&
		status 0 "$pier" help help && cmp "$tmp/out" "$tmp/long" &&
		status 0 "$pier" help --help && cmp "$tmp/out" "$tmp/long" &&
		status 2 "$pier" help nothing &&
		says "$tmp/err" '"nothing"' desc info perf &&
		status 2 "$pier" help info perf && says "$tmp/err" '"perf"'
}

# Their option file is -j FILE.
json_is_output_in_each_command()
{
	commands >"$tmp/commands"
	while read -r command; do
		"$pier" help "$command" >"$tmp/help"
		says "$tmp/help" "  -j FILE  " || return 1
		grep -q '^  --json  ' "$tmp/help" || {
			echo "$command: --json is not for output"
			return 1
		}
	done <"$tmp/commands"
	echo '{ "device": "soft_lo" }' >"$tmp/options" &&
		status 0 "$pier" info --json -j "$tmp/options" &&
		is_json "$tmp/out" &&
		[ "$(grep -c '"kind":' "$tmp/json")" -eq 1 ]
}

# Programs that listen have one word for it, and so has their help.
each_server_is_started_by_listen()
{
	for command in copy exchange perf ping; do
		"$pier" help $command >"$tmp/help"
		says "$tmp/help" "  --listen  " || return 1
	done
}

# As with a value: --listen=PLACE, but not two of them.
what_a_server_is_given_may_follow_listen()
{
	for words in "copy --root ." "exchange" "ping" "perf lat send"; do
		status 2 "$pier" $words --listen=7000 7001 &&
			says "$tmp/err" "--listen=7000 and \"7001\"" ||
			return 1
	done
	status 2 "$pier" copy --listen=65536 && says "$tmp/err" '"65536"' &&
		status 2 "$pier" ping -d "$device" --listen=65536 &&
		says "$tmp/err" '"65536"' &&
		status 2 "$pier" perf lat send --listen=65536 &&
		says "$tmp/err" '"65536"' &&
		status 1 "$pier" exchange --listen=127.0.0.1:65536 &&
		says "$tmp/err" '65536'
}

values_follow_their_letter()
{
	status 0 "$pier" info -dsoft_lo --json && is_json "$tmp/out" &&
		[ "$(grep -c '"kind":' "$tmp/json")" -eq 1 ] &&
		status 2 "$pier" ping -c0 host && says "$tmp/err" '-c "0"' &&
		status 2 "$pier" perf -sX && says "$tmp/err" '-s "X"' &&
		status 2 "$pier" info -device soft_lo &&
		says "$tmp/err" "unknown option -device"
}

# narrow COMMAND... - it succeeds and prints at most 80 columns
narrow()
{
	status 0 "$@" && awk 'length > 80 { print; wide = 1 }
		END { exit wide }' "$tmp/out"
}

output_has_at_most_80_columns()
{
	commands >"$tmp/commands"
	while read -r command; do
		narrow "$pier" help "$command" || return 1
	done <"$tmp/commands"
	narrow "$pier" help && narrow "$pier" perf plot --help &&
		narrow "$pier" info &&
		narrow "$pier" info --representors &&
		narrow "$pier" info --brief && narrow "$pier" counters
}

# on_terminal ENVIRONMENT... - how pier info --brief appears on one
on_terminal()
{
	env -u NO_COLOR TERM=xterm "$@" script -qec \
		"'$pier' info --brief" /dev/null </dev/null >"$tmp/terminal" &&
		says "$tmp/terminal" soft_lo
}

colours_are_for_terminals_alone()
{
	command -v script >/dev/null || skip "there is no script(1)"
	escape=$(printf '\033[')
	on_terminal && says "$tmp/terminal" "$escape" &&
		on_terminal NO_COLOR= && says "$tmp/terminal" "$escape" ||
		return 1
	for variable in NO_COLOR=1 TERM=dumb; do
		on_terminal $variable && ! grep -F "$escape" "$tmp/terminal" ||
			return 1
	done
	status 0 env -u NO_COLOR TERM=xterm "$pier" info &&
		! grep -F "$escape" "$tmp/out"
}

# shown COMMAND... - what a terminal gets, as $tmp/shown
shown()
{
	TERM=xterm script -qec "'$pier' $*" /dev/null </dev/null |
		tr -d '\r' >"$tmp/shown"
}

# Complete, and words are not divided.
messages_have_at_most_80_columns_on_a_terminal()
{
	command -v script >/dev/null || skip "there is no script(1)"
	long=$(printf '%100s' '' | tr ' ' x)
	for words in "ping -d soft_lo --listen 127.0.0.1:nothing" \
	    "copy -d soft_lo --listen 127.0.0.1:7" "perf jump" \
	    "info -d no_such_device" "exchange --listen --stdio"; do
		shown $words
		awk 'length > 80 { print; wide = 1 } END { exit wide }' \
			"$tmp/shown" || return 1
		"$pier" $words >"$tmp/out" 2>&1
		[ "$(sed 's/^  //' "$tmp/shown" | tr '\n' ' ')" = \
			"$(tr '\n' ' ' <"$tmp/out")" ] || {
			cat "$tmp/shown" "$tmp/out"
			return 1
		}
	done
	shown info "$long"
	grep -q "$long" "$tmp/shown"
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

# tells_shm TEXT NAME=VALUE...
tells_shm()
{
	text=$1
	shift
	env "$@" "$pier" info -d soft_lo >"$tmp/out" && says "$tmp/out" "$text"
}

info_tells_whether_shared_memory_is_used()
{
	tells_shm "shm       off: PIER_SHM is not set" PIER_SHM= &&
		tells_shm "shm       auto" PIER_SHM=auto PIER_PCAP= &&
		tells_shm "shm       off: PIER_PCAP is set" PIER_SHM=auto \
			PIER_PCAP="$tmp/pcap"
}

info_is_json_too()
{
	status 0 "$pier" info --json && is_json "$tmp/out" &&
		says "$tmp/json" '"devices": [' '"name": "soft_lo"' \
			'"default": true' '"helper": "one thread a process"' \
			'"gid": "127.0.0.1"' '"rd_atomic": ' \
			'"compare_swap": true'
}

sizes_are_in_words()
{
	status 0 "$pier" info -d soft_lo &&
		says "$tmp/out" "message           2147483648 bytes (2 GiB)" \
			"inline            256 bytes" \
			"copy_chain        no limit"
}

info_is_brief()
{
	status 0 "$pier" info --brief -d soft_lo &&
		[ "$(cat "$tmp/out" | sed 's/  default$//; s/  */ /g')" = \
			"soft_lo lo $(pci_of_lo) active" ] &&
		status 0 "$pier" info --brief && cp "$tmp/out" "$tmp/all" &&
		status 0 "$pier" info --json && is_json "$tmp/out" &&
		[ "$(wc -l <"$tmp/all")" -eq \
			"$(grep -c '"kind":' "$tmp/json")" ] &&
		[ "$(grep -c '  default$' "$tmp/all")" -eq 1 ] &&
		status 0 "$pier" info --brief --json -d soft_lo &&
		is_json "$tmp/out" && says "$tmp/json" '"netdev": "lo"' \
			'"state": "active"' && ! grep '"limits"' "$tmp/json" &&
		status 2 "$pier" info --brief --counters &&
		says "$tmp/err" "use one of them"
}

pci_of_lo()
{
	"$pier" info -d soft_lo | sed -n 's/^  pci  *//p'
}

info_restricts_itself_to_one_device()
{
	status 0 "$pier" info --device=soft_lo --json &&
		is_json "$tmp/out" &&
		[ "$(grep -c '"kind":' "$tmp/json")" -eq 1 ]
}

info_prints_representors()
{
	status 0 "$pier" info -d soft_lo --representors &&
		says "$tmp/out" "limits" "  representors" \
			"    pf0             lo  " " PIERsoft_lo" &&
		status 0 "$pier" info -d soft_lo --representors --json &&
		is_json "$tmp/out" &&
		says "$tmp/json" '"representors": [' '"port": "pf0"' \
			'"kind": "pf"' '"controller": 0' '"number": 0' \
			'"vuid": "PIERsoft_lo"' || return 1
	status 0 "$pier" info -d soft_lo &&
		! grep representors "$tmp/out" &&
		status 2 "$pier" info --representors --counters &&
		says "$tmp/err" "use one of them"
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
		says "$tmp/err" "pier info: " no_such0 || return 1
	status 2 "$pier" info soft_lo && says "$tmp/err" "by -d"
}

# A pair that would run for ever; sets $side_a and $side_b.
counters_are_of_what_processes_do()
{
	begin "--respond --events" "-n 10000000 --events" || return 1
	wait_for 10 counted $side_a && counted $side_b &&
		status 0 "$pier" counters &&
		says "$tmp/out" "$side_a pier soft_lo" \
			"$side_b pier soft_lo" "  connection 0x" \
			" 127.0.0.1:" "    window" "rtt_ns" &&
		status 0 "$pier" counters -d soft_lo --json &&
		is_json "$tmp/out" &&
		says "$tmp/json" '"adapters": ' "\"pid\": $side_a" \
			'"naks_sent_access": 0' '"peer": "127.0.0.1:' &&
		narrow "$pier" counters &&
		counts_alike && status 1 "$pier" counters $$ &&
		says "$tmp/err" "process $$ has no soft device"
	held=$?
	kill -KILL $side_a $side_b
	wait $side_a $side_b
	[ $held -eq 0 ] || return 1
	status 1 "$pier" info --counters $side_a &&
		says "$tmp/err" "process $side_a does not run" \
			PIER_COUNTERS_DIR &&
		status 0 "$pier" info --counters &&
		! grep "^$side_b " "$tmp/out" &&
		[ -z "$(find /dev/shm -name "pier.*.$side_b.*")" ] || {
		echo "left behind: $(ls /dev/shm)"
		return 1
	}
}

# names_of COMMAND... - the keys that it prints
names_of()
{
	"$pier" "$@" --json $side_a | grep -o '"[a-z_]*":'
}

counts_alike()
{
	names_of info --counters >"$tmp/info" &&
		names_of counters | cmp - "$tmp/info" &&
		grep -q tx_packets "$tmp/info"
}

# A host that waits for Enter.
info_shows_what_a_process_exports()
{
	mkfifo "$tmp/enter" || return
	"$build/samples/dma_copy_host" -p soft_lo -d "$tmp/export" \
	    -b "$tmp/address" <"$tmp/enter" >"$tmp/host" 2>&1 &
	host=$!
	exec 3>"$tmp/enter"
	appears "$tmp/export" &&
		status 0 "$pier" info -d soft_lo &&
		says "$tmp/out" "service of $host dma_copy_host on soft_lo" \
			"  addresses 127.0.0.1" "  exports   1" \
			"  peers     0" "  refused   0" &&
		status 0 "$pier" info --json && is_json "$tmp/out" &&
		says "$tmp/json" '"services": [' "\"pid\": $host" \
			'"exports": 1' '"port": '
	held=$?
	echo >&3
	exec 3>&-
	wait $host && [ $held -eq 0 ] || {
		cat "$tmp/host"
		return 1
	}
	status 0 "$pier" info -d soft_lo &&
		! grep "service of $host" "$tmp/out"
}

# counted PID - its counters show what it has sent
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

counters_are_of_one_process_or_all()
{
	for words in 0 x "-- -3" 99999999999; do
		status 2 "$pier" counters $words &&
			says "$tmp/err" "\"${words#-- }\": a process id is 1" ||
			return 1
	done
	status 2 "$pier" counters 1 2 &&
		says "$tmp/err" '"2": at most one process id' || return 1
	status 1 "$pier" counters -d no_such0 &&
		says "$tmp/err" "pier counters: " no_such0
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

run help_and_version_are_printed
run an_unknown_command_is_named_and_the_known_ones_are_listed
run each_command_has_help
run help_names_what_is_no_command
run json_is_output_in_each_command
run each_server_is_started_by_listen
run what_a_server_is_given_may_follow_listen
run values_follow_their_letter
run output_has_at_most_80_columns
run colours_are_for_terminals_alone
run messages_have_at_most_80_columns_on_a_terminal
run output_that_cannot_be_written_is_an_error
run info_tells_all_about_soft_lo
run info_tells_whether_shared_memory_is_used
run info_is_json_too
run sizes_are_in_words
run info_is_brief
run info_restricts_itself_to_one_device
run info_prints_representors
run info_marks_the_device_that_the_environment_names
run info_names_an_unknown_device
run counters_are_of_what_processes_do
run info_shows_what_a_process_exports
run info_takes_one_process_and_only_for_counters
run counters_are_of_one_process_or_all
run desc_refuses_what_is_no_descriptor
run desc_wants_one_file
tap_done
