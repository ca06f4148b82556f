#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample for DOCA 2.0: what it copies and hashes is right.
. "${0%/*}/../lib/tap.sh"

sample=$build/samples/doca_workq
[ -x "$sample" ] || skip_all "the samples are not built"

# hashes TEXT - it prints what it has copied, and the digest of that
hashes()
{
	sum=$(printf %s "$1" | sha256sum)
	printf 'Success: "%s" %s\n' "$1" "${sum%% *}" >"$tmp/want"
	timeout 20 "$sample" "$1" >"$tmp/got" && cmp "$tmp/want" "$tmp/got"
}

# random LEN - so many characters
random()
{
	tr -dc '[:graph:]' </dev/urandom | head -c "$1"
}

a_text_is_copied_and_hashed()
{
	hashes abc
}

random_texts_are_copied_and_hashed()
{
	for len in 1 55 56 63 64 65 255 4095; do
		hashes "$(random $len)" || return
	done
}

# There is nothing to copy, which is an event of a job that failed.
a_job_that_fails_is_an_exit_status()
{
	timeout 20 "$sample" "" >"$tmp/got"
	[ $? -eq 1 ] && grep -q "Input or output failed" "$tmp/got"
}

run a_text_is_copied_and_hashed
run random_texts_are_copied_and_hashed
run a_job_that_fails_is_an_exit_status
tap_done
