#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples that copy memory of another process by a DMA context.
. "${0%/*}/../lib/tap.sh"

host=$build/samples/dma_copy_host
dpu=$build/samples/dma_copy_dpu
[ -x "$host" ] && [ -x "$dpu" ] || skip_all "the samples are not built"
device=${PIER_DEVICE:-soft_lo}
desc=$tmp/desc

# offer OPTION... - a host without a terminal
offer()
{
	rm -f "$desc"
	"$host" -p "$device" -d "$desc" "$@" </dev/null \
	    >"$tmp/host" 2>&1 &
	offering=$!
	until [ -s "$desc" ]; do
		kill -0 $offering || return
		sleep 0.05
	done
}

# copies TEXT - what is offered is copied, and both end
copies()
{
	offer "--text=$1" || { cat "$tmp/host"; return 1; }
	printf 'copied "%s"\n' "$1" >"$tmp/want"
	timeout 40 "$dpu" -p "$device" -d "$desc" >"$tmp/got" 2>&1
	status=$?
	wait $offering
	ended=$?
	cat "$tmp/got" "$tmp/host"
	[ $status -eq 0 ] && [ $ended -eq 0 ] && cmp "$tmp/want" "$tmp/got"
}

# random LEN - so many characters
random()
{
	tr -dc '[:graph:]' </dev/urandom | head -c "$1"
}

random_texts_are_copied()
{
	for len in 1 63 64 4095; do
		copies "$(random $len)" || return
	done
}

a_copy_from_a_host_that_was_killed_is_an_error()
{
	offer || return
	kill -9 $offering
	wait $offering
	timeout 40 "$dpu" -p "$device" -d "$desc" >"$tmp/got" 2>&1
	status=$?
	cat "$tmp/got"
	[ $status -eq 1 ] &&
	    grep -q "dma_copy_dpu: copy: no access to the export" "$tmp/got"
}

enter_ends_the_host()
{
	rm -f "$desc"
	echo | timeout 40 "$host" -p "$device" -d "$desc" >"$tmp/host" 2>&1 &&
	    grep -q "press Enter" "$tmp/host" && [ -s "$desc" ]
}

no_descriptor_or_a_damaged_one_is_an_error()
{
	echo garbage >"$desc"
	timeout 40 "$dpu" -p "$device" -d "$tmp/none" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "dma_copy_dpu: .*none" "$tmp/err" || return
	timeout 40 "$dpu" -p "$device" -d "$desc" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "dma_copy_dpu: " "$tmp/err"
}

run random_texts_are_copied
run a_copy_from_a_host_that_was_killed_is_an_error
run enter_ends_the_host
run no_descriptor_or_a_damaged_one_is_an_error
tap_done
