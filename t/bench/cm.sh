#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connections by address on the soft device, over loopback: how many a second,
# and what each of many idle ones costs.  Medians of BENCH_RUNS runs, 5
# without it.  Loopback is that of a network namespace of its own where it may
# have one: ports, and what other programs of pier do, are others' there.
# usage: cm.sh PROGRAM
set -u
PATH=$PATH:/usr/sbin:/sbin
program=$1
runs=${BENCH_RUNS:-5}
conns=4096
BENCH_DEVICE=${BENCH_DEVICE:-soft_lo}
export BENCH_DEVICE
if [ -z "${BENCH_UNSHARED:-}" ] && [ "$BENCH_DEVICE" = soft_lo ]; then
	as=-Urn
	[ "$(id -u)" -ne 0 ] || as=-n
	if unshare $as ip link set lo up 2>/dev/null; then
		export BENCH_UNSHARED=1
		exec unshare $as sh -c 'ip link set lo up && exec sh "$@"' \
		    sh "$0" "$@"
	fi
	echo "no network namespace to be had: others may disturb this" >&2
fi
met=0 targets=2
tmp=$(mktemp -d)

finish()
{
	rm -rf "$tmp"
	echo "targets: $met met, $((targets - met)) missed"
	[ $met -eq $targets ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# A run that fails has no figures, and there must be those of all.
i=0
while [ $i -lt "$runs" ]; do
	"$program" $conns >>"$tmp/runs" || exit
	i=$((i + 1))
done

# median COLUMN, spread COLUMN
median()
{
	awk "{ print \$$1 }" "$tmp/runs" | sort -n |
	    awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

spread()
{
	awk "{ print \$$1 }" "$tmp/runs" | sort -n | sed -n '1p;$p' |
	    paste -sd' ' | sed 's/ / to /'
}

# target WHAT UNIT COLUMN "at least"|"at most" LIMIT
target()
{
	value=$(median "$3")
	test=-ge
	[ "$4" = "at least" ] || test=-le
	if [ "$value" $test "$5" ]; then
		met=$((met + 1)) verdict=met
	else
		verdict=MISSED
	fi
	echo "$1: $value $2 ($(spread "$3")), $4 $5: $verdict"
}

target "connects, $conns with 64 under way" "a second" 1 "at least" 5000
target "an idle connection, of $conns" "bytes" 2 "at most" 6144
