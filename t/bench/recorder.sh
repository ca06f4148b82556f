#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the flight recorder costs: a client of pier perf with it and without it
# in alternation, on the loopback interface; without loss, when nothing is
# recorded, and with, when each retransmission is.  A figure is the median of
# the turns' ratios, of the processor time that both ends take for a message.
# usage: recorder.sh PIER; BENCH_PAIRS=N turns, 11 without it
set -u
pier=$1
pairs=${BENCH_PAIRS:-11}
tmp=$(mktemp -d) || exit
met=0
port=19100
PIER_DEVICE=soft_lo
export PIER_DEVICE

finish()
{
	rm -rf "$tmp"
	echo "targets: $met met, $((4 - met)) missed"
	[ $met -eq 4 ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# cost COUNT WORD... - seconds of processor time of both ends, by times(2)
cost()
{
	n=$1
	shift
	(
		"$pier" perf "$1" "$2" --listen $port >"$tmp/a" 2>&1 &
		"$pier" perf "$@" -n "$n" "127.0.0.1:$port" >"$tmp/b" 2>&1 &&
			wait $! || { cat "$tmp/a" "$tmp/b" >&2; exit 1; }
		times >"$tmp/times"
	) || return 1
	awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, /[ms]/)
			sum += part[1] * 60 + part[2]
		}
		print sum
	}' "$tmp/times"
}

# compare NAME COUNT WORD... - with and without the recorder, in turns
compare()
{
	name=$1
	shift
	: >"$tmp/ratios"
	for turn in $(seq "$pairs"); do
		unset PIER_EVENTS
		with=$(cost "$@") || return
		export PIER_EVENTS=off
		without=$(cost "$@") || return
		echo "$with $without" | awk '{ print $1 / $2 }' >>"$tmp/ratios"
		port=$((port + 1))
	done
	sort -n "$tmp/ratios" >"$tmp/sorted"
	median=$(sed -n "$(((pairs + 1) / 2))p" "$tmp/sorted")
	verdict=missed
	if echo "$median" | awk '{ exit !($1 <= 1.03) }'; then
		met=$((met + 1)) verdict=met
	fi
	printf '%-28s %.3f (%.3f to %.3f), at most 1.03: %s\n' "$name" \
	    "$median" "$(head -n 1 "$tmp/sorted")" \
	    "$(tail -n 1 "$tmp/sorted")" $verdict
}

compare "lat send" 60000 lat send
compare "bw send, 64 bytes" 400000 bw send -s 64
compare "bw write, 64K" 12000 bw write
PIER_FAULTS=loss=1
export PIER_FAULTS
compare "bw write, 64K, 1 % lost" 6000 bw write
