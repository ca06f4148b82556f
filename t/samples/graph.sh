#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample whose digest and copy run in one graph.
. "${0%/*}/../lib/tap.sh"

sample=$build/samples/graph
[ -x "$sample" ] || skip_all "the samples are not built"

# digests TEXT ARGUMENT... - it prints the digest of TEXT and NUL, and TEXT
digests()
{
	text=$1
	shift
	sum=$(printf '%s\0' "$text" | sha256sum | cut -d ' ' -f 1)
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
		digests "$text" "$text" || return
	done
}

an_unknown_device_is_reported()
{
	PIER_DEVICE=no_such0 "$sample" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "^graph: .*no_such0" "$tmp/err"
}

run a_text_of_its_own_is_digested_and_copied
run random_texts_are_digested_and_copied
run an_unknown_device_is_reported
tap_done
