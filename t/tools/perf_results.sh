#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What pier perf prints: sizes, durations, formats, Ctrl-C.  The figures are
# compared with each other, never with a limit.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
device_known
. "$top/t/lib/perf.sh"

# between RESPONDER REQUESTER - their words; both succeed, output in b.out
between()
{
	timeout 50 "$pier" perf $1 --respond -d "$device" -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 20 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	timeout 50 "$pier" perf $2 -d "$device" -ld "$tmp/b" \
		-re "$tmp/a" -m "$tmp/m" --timeout 20 \
		>"$tmp/b.out" 2>"$tmp/b.err" && wait $! && return
	cat "$tmp"/[ab].out "$tmp"/[ab].err
	return 1
}

# sizes_are BYTES... - of the rows of the table
sizes_are()
{
	got=$(awk '$1 ~ /^[0-9]+$/ { printf "%s ", $1 }' "$tmp/b.out")
	[ "$got" = "$* " ] && return
	echo "sizes: $got"
	return 1
}

several_sizes_are_measured_in_one_run()
{
	for what in "lat send" "bw send" "lat read" "bw write"; do
		between "$what" "$what -n 20 --sizes 64,1,4K" &&
			sizes_are 64 1 4096 || return 1
	done
}

# So many of the times do not exceed it: 99.9 % of less than 1000 are all.
percentiles_are_no_less_than_their_times()
{
	python3 -c pass || skip "there is no python3"
	between "lat read" "lat read -n 5 --json \
		--sizes $(seq -s , 1 40)" && holds 'len(r) == 40' &&
		holds 'all(x["p999"] == x["p99"] == x["max"] for x in r)' &&
		holds 'all(x["median"] <= x["max"] for x in r)'
}

a_sweep_has_all_powers_of_two()
{
	between "bw read -a" "bw read -a -n 4 --warmup 1" &&
		sizes_are 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 \
		    16384 32768 65536 131072 262144 524288 1048576 2097152 \
		    4194304 8388608
}

a_responder_counts_the_messages_of_all_sizes()
{
	between "bw send" "bw send --sizes 8,100 -n 30 --warmup 5" &&
		says "$tmp/a.out" "received 70 messages of up to 100 bytes"
}

seconds_end_a_run()
{
	between "lat write" "lat write -t 1 --json" && is_json "$tmp/b.out" &&
		between "bw send" "bw send -t 1 --csv" &&
		awk -F , 'NR == 2 { exit !($6 >= 1 && $5 > 0) }' "$tmp/b.out"
}

latencies_are_in_their_order()
{
	python3 -c pass || skip "there is no python3"
	between "lat send" "lat send --sizes 1,2,3 -n 200 --json" &&
		holds 'len(r) == 3' &&
		holds '[x["size"] for x in r] == [1, 2, 3]' &&
		holds 'all(x["iterations"] == 200 for x in r)' &&
		holds 'all(0 < x["min"] <= x["median"] <= x["p99"] <=
			x["p999"] <= x["max"] for x in r)' &&
		holds 'all(x["min"] <= x["mean"] <= x["max"] for x in r)' &&
		holds 'd["unit"] == "us" and not d["interrupted"]'
}

rates_agree_with_each_other()
{
	python3 -c pass || skip "there is no python3"
	between "bw write" "bw write -s 1000 -n 400 --json" &&
		x='r[0]["gb_per_s"]' &&
		holds "abs($x * 8 / r[0]['gbit_per_s'] - 1) < 1e-6" &&
		holds "abs(r[0]['messages_per_s'] * 1e-6 / $x - 1) < 1e-6" &&
		holds 'abs(r[0]["messages_per_s"] * r[0]["seconds"] - 400) < 1'
}

# Each line has as many fields as the first one has names.
csv_has_a_line_for_each_size()
{
	between "bw read" "bw read --sizes 64,128 -n 20 --csv" &&
		awk -F , 'NR == 1 { n = NF } NF != n || n != 31 { exit 1 }
			NR > 1 && ($1 != "bw" || $2 != "read") { exit 1 }
			NR > 1 && ($13 == "" || $7 != "") { exit 1 }
			END { exit NR != 3 }' "$tmp/b.out" &&
		between "lat send" "lat send --sizes 8,16 -n 20 --csv" &&
		awk -F , 'NR > 1 && ($7 > $8 || $8 > $12 || $13 != "") {
			exit 1 } END { exit NR != 3 }' "$tmp/b.out" || {
		cat "$tmp/b.out"
		return 1
	}
}

# with FIELD... - the last of the row are these; "" is an empty one
with()
{
	got=$(sed -n 2p "$tmp/b.out" | cut -d , -f 19-)
	want=$(printf '%s,' "$@")
	[ "$got," = "$want" ] && return
	echo "fields: $got, not $want"
	return 1
}

# The fields are those of the names, from "sge" on.
csv_has_what_was_chosen()
{
	cpu=$(allowed_cpu)
	between "bw write" "bw write -n 20 --csv --outstanding 8 --batch 2 \
		--inline 32 --cpu $cpu --warmup 7" &&
		sed -n 1p "$tmp/b.out" | grep ",sge,verified,outstanding,$(:
		)batch,passive,events,loss,corrupt,delay_ms,seed,$(:
		)inline,cpu,warmup$" &&
		with 1 0 8 2 0 0 "" "" "" "" 32 "$cpu" 7 &&
		between "lat read" "lat read -n 5 --csv --events" &&
		with 1 0 "" "" 0 1 "" "" "" "" "" "" 100 &&
		between "bw send" "bw send -n 20 --csv" &&
		with 1 0 64 16 0 0 "" "" "" "" "" "" 100
}

json_has_what_was_chosen()
{
	python3 -c pass || skip "there is no python3"
	cpu=$(allowed_cpu)
	between "bw write" "bw write -n 20 --json --outstanding 8 --batch 2 \
		--inline 32 --cpu $cpu --warmup 7" &&
		holds 'd["outstanding"] == 8 and d["batch"] == 2' &&
		holds 'd["inline"] == 32 and d["warmup"] == 7' &&
		holds "d['cpu'] == $cpu" && holds '"seed" not in d' &&
		between "lat read" "lat read -n 5 --json" &&
		holds 'd["warmup"] == 100' &&
		holds 'not {"batch", "inline", "cpu", "seed"} & set(d)'
}

# A row of a run with faults differs from one without.
faults_are_in_the_results()
{
	python3 -c pass || skip "there is no python3"
	faults="--loss 0.5 --corrupt 0 --delay 1 --seed 9"
	between "lat read" "lat read -n 5 --csv $faults" &&
		with 1 0 "" "" 0 0 0.5 0 1 9 "" "" 100 &&
		between "lat read" "lat read -n 5 --json $faults" &&
		holds 'd["loss"] == "0.5" and d["seed"] == 9'
}

two_ends_on_one_processor_are_warned_of()
{
	cpu=$(allowed_cpu)
	between "lat read --cpu $cpu" "lat read -n 5 --cpu $cpu" &&
		says "$tmp/b.err" "WARNING: both sides run on one processor" ||
		return 1
	[ "$(nproc)" -gt 1 ] || return 0
	between "lat read --cpu $cpu" "lat read -n 5" &&
		! grep WARNING "$tmp/b.err"
}

gbits_are_eight_times_as_many()
{
	between "bw write" "bw write -n 20 --gbits" &&
		says "$tmp/b.out" Gbit/s && ! grep -q GB/s "$tmp/b.out"
}

# has_sent - the requester, so many packets
has_sent()
{
	"$pier" counters "$requester" >"$tmp/counted" 2>&1 &&
		awk '$1 == "completions" && $2 > 1000 { found = 1 }
			END { exit !found }' "$tmp/counted"
}

# interrupted WORD... - Ctrl-C, in the middle; what it prints is in b.out.
# Without a warm-up and with messages of one packet, some are measured by then.
interrupted()
{
	rm -f "$tmp/a" "$tmp/b" "$tmp/m"
	"$pier" perf "$@" --respond -d "$device" -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 20 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	responder=$!
	$interruptible "$pier" perf "$@" -s 8 --warmup 0 -n 1000000000 \
		--json -d "$device" -ld "$tmp/b" -re "$tmp/a" \
		-m "$tmp/m" --timeout 20 \
		>"$tmp/b.out" 2>"$tmp/b.err" &
	requester=$!
	wait_for 20 has_sent && kill -INT $requester &&
		wait $requester && wait $responder && is_json "$tmp/b.out" &&
		says "$tmp/json" '"interrupted": true' '"iterations"' || {
		cat "$tmp"/[ab].out "$tmp"/[ab].err
		return 1
	}
}

ctrl_c_prints_what_there_is()
{
	interrupted lat send && interrupted bw write && interrupted bw send &&
		interrupted lat read --events
}

ctrl_c_before_what_is_measured_is_explained()
{
	serve || return 1
	$interruptible "$pier" perf -d "$device" lat send -t 9 --json \
		--warmup 10000000 "$address:$port" >"$tmp/b.out" \
		2>"$tmp/b.err" &
	client=$!
	wait_for 20 sends && kill -INT $client || return 1
	wait $client
	[ $? -eq 1 ] && is_json "$tmp/b.out" &&
		says "$tmp/json" '"interrupted": true' '"error": "' &&
		says "$tmp/b.err" "interrupted before a message was measured" \
			", after " " of the 10000000 of --warmup"
}

# As what a script runs in the background does.
an_ignored_ctrl_c_remains_so()
{
	python3 -c pass || skip "there is no python3"
	serve || return 1
	env --ignore-signal=INT "$pier" perf -d "$device" lat send -t 2 --json \
		"$address:$port" >"$tmp/b.out" 2>"$tmp/b.err" &
	client=$!
	wait_for 20 sends && kill -INT $client && wait $client &&
		holds 'not d["interrupted"]'
}

a_terminal_has_a_line_that_is_erased()
{
	command -v script >/dev/null || skip "there is no script(1)"
	"$pier" perf lat send --respond -d "$device" -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 20 >"$tmp/a.out" 2>&1 &
	script -qec "'$pier' perf lat send -t 3 -d $device -ld '$tmp/b' \
	    -re '$tmp/a' -m '$tmp/m' --timeout 20" "$tmp/shown" </dev/null \
	    >/dev/null && wait $! &&
	    says "$tmp/shown" " s: " " messages, " " a second, " " GB/s" \
		"$(printf 'GB/s\r\033[K')"
}

options_that_exclude_each_other_are_named()
{
	for words in "-s 8 -a" "-a --sizes 1,2" "-n 5 -t 5" "--json --csv"; do
		status 2 "$pier" perf lat send $words -d "$device" &&
			says "$tmp/err" "give one of them" || return 1
	done
}

lists_that_make_no_sense_are_refused()
{
	for list in "" 0 x 1,,2 "1,2," 3G 64,99999999999999999999 -5 1K5 \
	    4294967296G "$(seq -s , 1 65)"; do
		status 2 "$pier" perf lat send --sizes "$list" -d "$device" &&
			says "$tmp/err" "--sizes" || return 1
	done
}

run several_sizes_are_measured_in_one_run
run a_sweep_has_all_powers_of_two
natively run a_responder_counts_the_messages_of_all_sizes
run seconds_end_a_run
natively run latencies_are_in_their_order
natively run percentiles_are_no_less_than_their_times
natively run rates_agree_with_each_other
natively run csv_has_a_line_for_each_size
natively run csv_has_what_was_chosen
natively run json_has_what_was_chosen
natively run faults_are_in_the_results
natively run two_ends_on_one_processor_are_warned_of
natively run gbits_are_eight_times_as_many
natively run ctrl_c_prints_what_there_is
natively run ctrl_c_before_what_is_measured_is_explained
natively run an_ignored_ctrl_c_remains_so
natively run a_terminal_has_a_line_that_is_erased
natively run options_that_exclude_each_other_are_named
natively run lists_that_make_no_sense_are_refused
tap_done
