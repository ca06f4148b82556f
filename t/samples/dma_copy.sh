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
info=$tmp/info

# offer OPTION... - a host without a terminal
offer()
{
	rm -f "$desc" "$info"
	"$host" -p "$device" -d "$desc" -b "$info" "$@" </dev/null \
	    >"$tmp/host" 2>&1 &
	offering=$!
	until [ -s "$desc" ]; do
		kill -0 $offering || return
		sleep 0.05
	done
}

# copies TEXT [PRINTED] - what is offered is copied, and both end
copies()
{
	offer "--text=$1" || { cat "$tmp/host"; return 1; }
	printf 'copied "%s"\n' "${2:-$1}" >"$tmp/want"
	timeout 40 "$dpu" -p "$device" -d "$desc" -b "$info" >"$tmp/got" 2>&1
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

control_characters_are_printed_as_numbers()
{
	copies "$(printf '\033[2J')" '\x1b[2J'
}

a_copy_from_a_host_that_was_killed_is_an_error()
{
	offer || return
	kill -9 $offering
	wait $offering
	timeout 40 "$dpu" -p "$device" -d "$desc" -b "$info" >"$tmp/got" 2>&1
	status=$?
	cat "$tmp/got"
	[ $status -eq 1 ] &&
	    grep -q "dma_copy_dpu: dma: copy: no access to the export" \
		"$tmp/got"
}

# As DOCA's programs have them for the other one.
options_of_the_peer_are_accepted()
{
	offer --text=any || { cat "$tmp/host"; return 1; }
	timeout 40 "$dpu" -p "$device" -d "$desc" -b "$info" -t ignored \
	    >"$tmp/got" 2>&1 || kill $offering
	cat "$tmp/got"
	wait $offering && grep -qx 'copied "any"' "$tmp/got"
}

enter_ends_the_host()
{
	rm -f "$desc" "$info"
	echo | timeout 40 "$host" -p "$device" -d "$desc" -b "$info" \
	    >"$tmp/host" 2>&1 &&
	    grep -q "press Enter" "$tmp/host" && [ -s "$desc" ]
}

no_descriptor_or_a_damaged_one_is_an_error()
{
	echo garbage >"$desc"
	printf '1\n1' >"$info"
	timeout 40 "$dpu" -p "$device" -d "$tmp/none" -b "$info" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "dma_copy_dpu: .*none" "$tmp/err" || return
	timeout 40 "$dpu" -p "$device" -d "$desc" -b "$info" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "dma_copy_dpu: " "$tmp/err"
}

# refuses TEXT - the address and the length in a file, or no such file
refuses()
{
	timeout 40 "$dpu" -p "$device" -d "$desc" -b "$tmp/wrong" \
	    >"$tmp/got" 2>&1
	[ $? -eq 1 ] && grep -q "dma_copy_dpu: .*$1" "$tmp/got" && return
	cat "$tmp/wrong" "$tmp/got"
	return 1
}

# is_refused ADDRESS-AND-LENGTH TEXT
is_refused()
{
	printf "$1" >"$tmp/wrong"
	refuses "$2"
}

# What is outside of the export, and what is no number.
an_address_that_is_not_the_exports_is_an_error()
{
	offer || return
	outside="outside the mmap"
	none="no address and length"
	is_refused '1\n1' "$outside" &&
	    is_refused "$(sed 1q "$info")\n5000" "$outside" &&
	    is_refused 'x\n1' "$none" && is_refused 1 "$none" &&
	    is_refused '' "$none" && rm "$tmp/wrong" && refuses "$none"
	status=$?
	kill $offering
	wait $offering
	return $status
}

run random_texts_are_copied
run control_characters_are_printed_as_numbers
run a_copy_from_a_host_that_was_killed_is_an_error
run options_of_the_peer_are_accepted
run enter_ends_the_host
run an_address_that_is_not_the_exports_is_an_error
run no_descriptor_or_a_damaged_one_is_an_error
tap_done
