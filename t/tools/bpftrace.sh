#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The two scripts for bpftrace, attached to servers of pier perf: that of
# latencies on the device that PIER_DEVICE names, that of events on a soft one.
# bpftrace does not report when its probes are attached, so clients measure
# until the script has seen one of them; what is judged follows.  t/vm/run runs
# it too, as many machines do not permit it.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/perf.sh"

command -v bpftrace >/dev/null || skip_all "there is no bpftrace"
readelf -n "$build/lib/.libs/libpier.so" 2>/dev/null |
	grep -q 'Provider: pier' ||
	skip_all "there are no probes in libpier"
bpftrace -e "uprobe:$build/lib/.libs/libpier.so:pier_pe_create { }
	BEGIN { exit(); }" >"$tmp/out" 2>&1 </dev/null ||
	skip_all "bpftrace may not attach: $(tail -n 1 "$tmp/out")"
device_known

signal=true	# what is to be done before a look at $tmp/seen

# watch SCRIPT PATTERN - attached to a new server, $server, of which it has
# printed the pattern; $tmp/seen has what it prints
watch()
{
	script=$top/tools/bpftrace/$1
	serve && attach && wait_for 20 seen "$2" && return
	cat "$tmp/seen"
	return 1
}

attach()
{
	: >"$tmp/seen"
	bpftrace -B line -p "$server" "$script" >>"$tmp/seen" 2>&1 \
		</dev/null &
	watcher=$!
}

# SIGUSR1 has maps printed, once no other signal has come for 0.1 s: every
# fourth time that this is called.
print_maps()
{
	asked=$(((asked + 1) % 4))
	[ $asked -ne 1 ] || kill -USR1 $watcher
}

# seen PATTERN - after sends of another client and $signal.  bpftrace 0.17
# sometimes finds a probe but not its arguments: once more.
seen()
{
	grep -q '^Attaching' "$tmp/seen" || {
		! grep -q "couldn't get argument" "$tmp/seen" || attach
		return 1
	}
	kill -0 $watcher 2>/dev/null &&
		measures lat send -n 5 --warmup 0 && $signal &&
		grep -q -- "$1" "$tmp/seen"
}

# Ends the script, which prints what is in its maps.
finish()
{
	kill -INT $watcher && wait $watcher
}

# sends_seen MOST - 40 of opcode 3, none of which took longer than MOST us; a
# map that is printed again replaces the one before
sends_seen()
{
	awk -v most="$1" '
	/^@/ { opcode = $1 == "@us[3]:" }
	/^@us\[3\]:/ { all = bad = 0 }
	opcode && match($0, /\|@* *\|$/) {
		lowest = substr($1, 2) + 0
		lowest *= $1 ~ /K/ ? 1024 : $1 ~ /M/ ? 1048576 : 1
		count = substr($0, 1, RSTART - 1)
		sub(/ *$/, "", count)
		sub(/.* /, "", count)
		all += count
		if (count && lowest > most)
			bad = 1
	}
	END {
		print all + 0 " of 40, bad: " bad + 0
		exit bad || all != 40
	}' "$tmp/seen"
}

# all_completed MOST - the last completion may be later than the reply
all_completed()
{
	print_maps && sends_seen "$1"
}

# Immediate data distinguishes these sends from those before.
latency_has_each_send_once()
{
	signal=print_maps asked=0
	watch pier-latency.bt '^@us\[2\]:' || return 1
	begun=$(date +%s)
	measures lat send-imm -n 40 --warmup 0 || return 1
	most=$((($(date +%s) - begun + 1) * 1000000))
	wait_for 5 all_completed $most >"$tmp/verdict" && : >"$tmp/seen" &&
		finish && sends_seen $most &&
		! grep '^@' "$tmp/seen" | grep -v '^@us\[[23]\]:' && return
	tail -n 1 "$tmp/verdict"
	cat "$tmp/seen"
	return 1
}

# distinct FILE - "QPN KIND NUMBER" of lines that begin with QPN, kind and
# detail: how many details it has of each of these QPNs
distinct()
{
	awk '
	NR == FNR { ours[$1] = 1; next }
	$1 in ours && !seen[$1, $2, $3]++ { n[$1 " " $2]++ }
	END {
		for (i in n)
			print i, n[i]
	}' "$tmp/qpns" "$1" | sort
}

# The recorder of the server has the same events of each connection that was
# seen from its begin, as the last one was, and all of these have ended.
recorded()
{
	"$pier" counters --events "$server" >"$tmp/recorded" || return 1
	sed -n 's/^  [0-9:.]* \(0x.*\)$/\1/p' "$tmp/recorded" |
	    grep -v ' resent, ' | tr -d , >"$tmp/named"
	sed -n 's/^[0-9:]\{8\} QP \(0x[0-9a-f]*\): \(.*\)$/\1 \2/p' \
	    "$tmp/seen" >"$tmp/printed"
	sed -n 's/ state 0x01$//p' "$tmp/printed" >"$tmp/qpns"
	sed -n 's/ state INIT$//p' "$tmp/named" | tail -n 1 |
	    grep -qxF -f - "$tmp/qpns" || return 1
	while read -r qpn; do
		grep -q "$qpn: from flushing to closed$" "$tmp/seen" || return 1
	done <"$tmp/qpns"
	distinct "$tmp/printed" >"$tmp/a"
	distinct "$tmp/named" >"$tmp/b"
	[ -s "$tmp/b" ] && cmp -s "$tmp/a" "$tmp/b"
}

# way QPN STATE... - its connection went through these
way()
{
	qpn=$1
	shift
	while [ $# -gt 1 ]; do
		says "$tmp/seen" \
			"connection $qpn: from $1 to $2" || return
		shift
	done
}

events_are_printed_as_they_happen()
{
	watch pier-events.bt ': from flushing to closed$' || return 1
	measures lat send -n 5 --warmup 0 || return 1
	wait_for 20 recorded && finish || {
		cat "$tmp/seen" "$tmp/recorded"
		return 1
	}
	says "$tmp/seen" ': cm_received 0x10' ': cm_sent 0x13' \
		'connection 0x000000: from created to req_rcvd' || return 1
	while read -r qpn; do
		way "$qpn" req_rcvd accepted hello up flushing closed || return
	done <"$tmp/qpns"
}

# What a client loses is sent again, and counted by the second.
retransmissions_are_counted()
{
	watch pier-events.bt ': from flushing to closed$' &&
		wait_for 10 lost_and_counted || {
		cat "$tmp/seen"
		return 1
	}
	"$pier" counters "$server" >"$tmp/counted" || return 1
	most=$(sed -n 's/^  resent  *//p' "$tmp/counted")
	awk -v most="$most" '
	/^@resent\[[0-9]+\]: [0-9]+$/ { all += $2 }
	END {
		print all, "of", most
		exit !(all > 0 && all <= most)
	}' "$tmp/seen" &&
		grep -q ': tail_probe 0x\|: timeout 0x' "$tmp/seen"
}

lost_and_counted()
{
	measures lat send --loss 20 -n 20 --warmup 0 &&
		grep -q '^@resent\[[1-9][0-9]*\]: [1-9]' "$tmp/seen"
}

run latency_has_each_send_once
device=soft_lo address=127.0.0.1
run events_are_printed_as_they_happen
run retransmissions_are_counted
tap_done
