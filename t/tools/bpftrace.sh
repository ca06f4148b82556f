#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The two scripts for bpftrace, each attached to a server of pier perf on a soft
# device.  Its clients measure until the script has printed what they did, as
# bpftrace does not report when its probes are attached.
. "${0%/*}/../lib/tap.sh"
device=soft_lo address=127.0.0.1
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/perf.sh"

command -v bpftrace >/dev/null || skip_all "there is no bpftrace"
[ -d /sys/bus/event_source/devices/uprobe ] ||
	skip_all "this kernel has no uprobes"
bpftrace -e 'BEGIN { exit(); }' >"$tmp/out" 2>&1 ||
	skip_all "bpftrace does not run: $(tail -n 1 "$tmp/out")"
readelf -n "$build/lib/.libs/libpier.so" 2>/dev/null |
	grep -q 'Provider: pier' ||
	skip_all "there are no probes in libpier"

# watch SCRIPT - a new server, in the background; $tmp/seen has what it prints
watch()
{
	script=$top/tools/bpftrace/$1
	serve && attach && wait_for 20 is_attached && return
	cat "$tmp/seen"
	return 1
}

attach()
{
	bpftrace -p "$server" "$script" >"$tmp/seen" 2>&1 </dev/null &
	watcher=$!
}

# bpftrace 0.17 sometimes does not find an argument of a probe: once more.
is_attached()
{
	grep -q '^Attaching' "$tmp/seen" && return
	! grep -q "couldn't get argument" "$tmp/seen" || attach
	false
}

# sees PATTERN WORD... - while clients measure that
sees()
{
	pattern=$1
	shift
	wait_for 2 measured_and_seen "$@" && return
	cat "$tmp/seen"
	return 1
}

measured_and_seen()
{
	kill -0 $watcher || return
	measures "$@" && $signal && grep -q -- "$pattern" "$tmp/seen"
}

# Has bpftrace print what it counts.
printed()
{
	kill -USR1 $watcher
}

# Echoes are sends, whose opcode is 2.
latency_has_a_histogram_of_sends()
{
	signal=printed
	watch pier-latency.bt && sees '^@us\[2\]:' lat send -n 20 &&
		wait_for 5 grep -q '^\[.*|@.*|$' "$tmp/seen" &&
		! grep '@failed' "$tmp/seen"
}

# An echo that the client loses is sent again.
events_are_printed_as_they_happen()
{
	signal=true
	watch pier-events.bt &&
		sees 'connection 0x[0-9a-f]*: from state 5 to 6' \
			lat send -n 20 || return 1
	PIER_FAULTS=loss=20
	export PIER_FAULTS
	sees '^@resent\[[0-9]*\]: [1-9]' lat send -n 20 || return 1
	unset PIER_FAULTS
	says "$tmp/seen" ': cm_received 0x10' ': cm_sent 0x13' &&
		grep -q ': tail_probe 0x\|: timeout 0x' "$tmp/seen"
}

run latency_has_a_histogram_of_sends
run events_are_printed_as_they_happen
tap_done
