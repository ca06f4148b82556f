#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample whose digest and copy run in one graph.
. "${0%/*}/../lib/tap.sh"

sample=$build/samples/graph
[ -x "$sample" ] || skip_all "the samples are not built"

# digests TEXT ARGUMENT... - it prints the digest of TEXT, and TEXT
digests()
{
	text=$1
	shift
	sum=$(printf '%s' "$text" | sha256sum | cut -d ' ' -f 1)
	printf '%s %s\n' "$sum" "$text" >"$tmp/want"
	timeout 20 "$sample" "$@" >"$tmp/got" && cmp "$tmp/want" "$tmp/got"
}

a_text_of_its_own_is_digested_and_copied()
{
	digests "Hi DOCA RDMA!"
}

random_texts_are_digested_and_copied()
{
	for len in 1 55 56 63 64 65 255; do
		text=$(tr -dc '[:graph:]' </dev/urandom | head -c $len)
		digests "$text" -t "$text" || return
	done
	digests "$text" "--text=$text"
}

# usage_error TEXT OPTION... - exit status 2, and an error with the text
usage_error()
{
	want=$1
	shift
	"$sample" "$@" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -qF -- "$want" "$tmp/err" && return
	cat "$tmp/err"
	return 1
}

wrong_arguments_are_usage_errors()
{
	usage_error "0 characters" -t "" &&
		usage_error "256 characters" -t "$(printf '%0256d' 7)" &&
		usage_error --no-such-thing --no-such-thing &&
		usage_error operand operand
}

help_is_no_text()
{
	"$sample" -h >"$tmp/out" && grep -q -- --text "$tmp/out"
}

help_that_cannot_be_written_is_a_failure()
{
	"$sample" -h >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "standard output" "$tmp/err"
}

an_unknown_device_is_reported()
{
	"$sample" -d no_such0 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "^graph: .*no_such0" "$tmp/err" || return 1
	PIER_DEVICE=no_such0 "$sample" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "^graph: .*no_such0" "$tmp/err"
}

run a_text_of_its_own_is_digested_and_copied
run random_texts_are_digested_and_copied
run wrong_arguments_are_usage_errors
run help_is_no_text
run help_that_cannot_be_written_is_a_failure
run an_unknown_device_is_reported
tap_done
