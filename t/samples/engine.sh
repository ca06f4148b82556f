#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of the engine, which copy a text within one process.
. "${0%/*}/../lib/tap.sh"

bin=$build/samples
[ -x "$bin/workq" ] || skip_all "the samples are not built"
device=${PIER_DEVICE:-soft_lo}

# A sample, and how it ends its line.
samples="pe_async_stop: 8 times, stopped
pe_event: 16 times
pe_multi_context: 16 times
pe_polling: 16 times
pe_reactive:
pe_task_error: 2 times, stopped
pe_task_resubmit: 16 times
pe_task_try_submit: 16 times
pe_threads: 4 times
workq: 16 times"

names=$(echo "$samples" | cut -d: -f1)

# copies SAMPLE TEXT OPTION... - and its last line says so
copies()
{
	sample=$1 text=$2
	shift 2
	timeout 20 "$bin/$sample" -d "$device" "$@" >"$tmp/out" \
	    2>"$tmp/err" || { echo "$sample: $?"; cat "$tmp/err"; return 1; }
	printf 'copied "%s"%s\n' "$text" \
	    "$(echo "$samples" | sed -n "s/^$sample://p")" >"$tmp/want"
	tail -n 1 "$tmp/out" | cmp "$tmp/want" -
}

# fails STATUS SAMPLE TEXT OPTION... - that exit status, and an error with TEXT
fails()
{
	want=$1 sample=$2 text=$3
	shift 3
	timeout 20 "$bin/$sample" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" -eq "$want" ] && grep -qF -- "$text" "$tmp/err" && return
	echo "$sample: exit $got, not $want, or without \"$text\":"
	cat "$tmp/err"
	return 1
}

each_sample_of_the_engine_is_run_here()
{
	for file in "$top"/samples/pe_*.c "$top"/samples/workq.c; do
		name=$(basename "$file" .c)
		echo "$names" | grep -qx "$name" || echo "$file"
	done
}

each_copies_a_text_of_its_own()
{
	for name in $names; do
		copies "$name" "Hi DOCA RDMA!" || return 1
	done
}

each_copies_random_texts()
{
	for name in $names; do
		for len in 1 64 255; do
			text=$(tr -dc '[:graph:]' </dev/urandom |
				head -c $len)
			copies "$name" "$text" "--text=$text" || return 1
		done
	done
}

an_empty_or_too_long_text_is_a_usage_error()
{
	for name in $names; do
		fails 2 "$name" "0 characters" -t "" &&
			fails 2 "$name" "256 characters" \
			-t "$(printf '%0256d' 7)" || return 1
	done
}

an_unknown_device_is_reported()
{
	for name in $names; do
		fails 1 "$name" "$name: " -d no_such0 || return 1
	done
}

# has LINE - in $tmp/out
has()
{
	grep -qxF "$1" "$tmp/out" || { cat "$tmp/out"; return 1; }
}

a_reactive_program_sees_every_state()
{
	copies pe_reactive x -t x && has "from idle to running" &&
		has "from running to stopping" && has "from stopping to idle"
}

a_full_queue_is_seen_by_who_tries_to_submit()
{
	copies pe_task_try_submit x -t x &&
		grep -qx "full [1-9][0-9]* times" "$tmp/out"
}

a_failed_task_is_reported_with_its_cause()
{
	copies pe_task_error x -t x &&
		grep -q "^failed: dma: copy: the source has no data: set it" \
		    "$tmp/out"
}

natively none each_sample_of_the_engine_is_run_here
run each_copies_a_text_of_its_own
run each_copies_random_texts
natively run an_empty_or_too_long_text_is_a_usage_error
natively run an_unknown_device_is_reported
natively run a_reactive_program_sees_every_state
run a_full_queue_is_seen_by_who_tries_to_submit
natively run a_failed_task_is_reported_with_its_cause
tap_done
