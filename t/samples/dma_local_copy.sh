#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample that copies within one process.
. "${0%/*}/../lib/tap.sh"

sample=$build/samples/dma_local_copy
[ -x "$sample" ] || skip_all "the samples are not built"
device=${PIER_DEVICE:-soft_lo}

# copies TEXT OPTION... - it prints what it has copied
copies()
{
	text=$1
	shift
	printf 'copied "%s"\n' "$text" >"$tmp/want"
	timeout 20 "$sample" "$@" >"$tmp/got" && cmp "$tmp/want" "$tmp/got"
}

# fails STATUS TEXT OPTION... - that exit status, and an error with the text
fails()
{
	want=$1 text=$2
	shift 2
	timeout 20 "$sample" "$@" >"$tmp/got" 2>"$tmp/err"
	got=$?
	[ "$got" -eq "$want" ] && grep -qF -- "$text" "$tmp/err" && return
	echo "exit $got, not $want, or without \"$text\":"
	cat "$tmp/err"
	return 1
}

# random LEN - so many characters
random()
{
	tr -dc '[:graph:]' </dev/urandom | head -c "$1"
}

a_text_of_its_own_is_copied()
{
	copies "Hi DOCA RDMA!"
}

random_texts_are_copied()
{
	for len in 1 2 63 64 65 255 4095; do
		text=$(random $len)
		copies "$text" -p "$device" "--text=$text" || return
		copies "$text" -d "$device" "--text=$text" || return
	done
}

the_options_may_be_long_or_in_a_file()
{
	text=$(random 20 | tr -d '\\"')
	printf '{ "pci-addr": "%s", "text": "%s" }\n' "$device" "$text" \
	    >"$tmp/json"
	copies "$text" --pci-addr "$device" --text "$text" &&
	    copies "$text" --json "$tmp/json"
}

an_empty_or_too_long_text_is_a_usage_error()
{
	fails 2 "-t: 0 characters" -t "" &&
	    fails 2 "--text: 4096 characters" "--text=$(random 4096)"
}

an_unknown_device_is_reported()
{
	fails 1 "dma_local_copy: " -p ff:1f.7 && fails 1 no_such0 -p no_such0
}

help_describes_the_options()
{
	"$sample" --help >"$tmp/out" && grep -q -- --pci-addr "$tmp/out" &&
	    grep -q -- --text "$tmp/out"
}

run a_text_of_its_own_is_copied
run random_texts_are_copied
run the_options_may_be_long_or_in_a_file
run an_empty_or_too_long_text_is_a_usage_error
run an_unknown_device_is_reported
run help_describes_the_options
tap_done
