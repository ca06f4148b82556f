#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `pier copy` beside an rsync daemon, nc with dd, and `pier perf bw write`, over
# loopback and over a veth pair, from memory to memory.  What is compared runs
# in alternation; a figure is the median of the turns' ratios.
# usage: copy.sh PIER; BENCH_TURNS=N turns, 5 without it; BENCH_MB=N, 1024
set -u
PATH=$PATH:/usr/sbin:/sbin
pier=$1
turns=${BENCH_TURNS:-5}
mb=${BENCH_MB:-1024}
files=10000		# of 4 KiB
met=0 missed=0 holder=

[ -n "${BENCH_UNSHARED:-}" ] || {
	as=-Urnm
	[ "$(id -u)" -ne 0 ] || as=-nm
	exec env BENCH_UNSHARED=1 unshare $as sh "$0" "$@"
}
for program in rsync nc ip; do
	command -v $program >/dev/null || {
		echo "copy.sh: install $program" >&2
		exit 1
	}
done
ip link set lo up
tmp=$(mktemp -d)

finish()
{
	jobs -p >"$tmp/jobs"
	while read -r pid; do
		kill "$pid" 2>/dev/null
	done <"$tmp/jobs"
	cd / && umount -l "$tmp/mem" 2>/dev/null
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
mkdir "$tmp/mem" && mount -t tmpfs none "$tmp/mem" || exit
cd "$tmp/mem" || exit
mkdir in small
head -c "${mb}M" /dev/urandom >large
for i in $(seq $files); do
	head -c 4096 large >"small/$i"
done

# wait_for COMMAND... - for at most 10 s
wait_for()
{
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || return
		sleep 0.02
	done
}

listens()
{
	$in_b ss -Htln "sport = :$1" | grep -q .
}

use_loopback()
{
	net=loopback in_b= address=127.0.0.1 device=soft_lo
}

use_veth()
{
	net=veth address=10.99.0.2 device=soft_bench0
	unshare -n sh -c 'ip link set lo up && echo >"$0" && exec sleep 3600' \
	    "$tmp/ready" &
	holder=$!
	wait_for test -s "$tmp/ready"
	in_b="nsenter --net=/proc/$holder/ns/net"
	ip link add bench0 mtu 9000 type veth peer name bench0 netns $holder
	ip addr add 10.99.0.1/24 dev bench0
	ip link set bench0 up
	$in_b ip addr add $address/24 dev bench0
	$in_b ip link set bench0 mtu 9000 up
	wait_for ping -c 1 -W 1 $address >/dev/null
}

start_servers()
{
	rm -f "$tmp/server"
	$in_b "$pier" copy -d $device --listen --root "$tmp/mem/in" \
	    2>"$tmp/server" &
	served=$!
	printf 'use chroot = no\n[in]\npath = %s\nread only = no\n' \
	    "$tmp/mem/in" >"$tmp/rsync"
	[ "$(id -u)" -ne 0 ] || printf 'uid = 0\ngid = 0\n' >>"$tmp/rsync"
	$in_b rsync --daemon --no-detach --config="$tmp/rsync" --port=8873 &
	synced=$!
	wait_for grep -q listens "$tmp/server" && wait_for listens 8873 ||
	    { cat "$tmp/server"; exit 1; }
}

stop_servers()
{
	kill $served $synced
	wait $served $synced
}

# seconds COMMAND... - how long it takes, with an empty target; nothing if it
# fails
seconds()
{
	rm -rf in/* && sync
	begin=$(date +%s.%N)
	"$@" >"$tmp/out" 2>&1 || {
		echo "failed: $*" >&2
		cat "$tmp/out" >&2
		return
	}
	echo "$begin $(date +%s.%N)" | awk '{ print $2 - $1 }'
}

copy_large()
{
	"$pier" copy -q -d $device large "$address:large" && cmp_large
}

# They are not compared while time is taken, but their length and number are.
cmp_large()
{
	[ "$(stat -c %s in/large)" = "$(stat -c %s large)" ]
}

sync_large()
{
	rsync --whole-file large "rsync://$address:8873/in/" && cmp_large
}

netcat_large()
{
	$in_b nc -l -N "$address" 8874 >in/large &
	peer=$!
	wait_for listens 8874
	dd if=large bs=1M status=none | nc -N "$address" 8874
	wait $peer
	cmp_large
}

cmp_small()
{
	[ "$(find in/small -type f -size 4096c | wc -l)" -eq $files ]
}

copy_small()
{
	"$pier" copy -q -r -d $device small "$address:" && cmp_small
}

sync_small()
{
	rsync -r --whole-file small "rsync://$address:8873/in/" && cmp_small
}

# The time in which `pier perf` writes as many bytes.
perf_seconds()
{
	$in_b "$pier" perf -d $device --listen -lp 8875 bw write \
	    >/dev/null 2>&1 &
	"$pier" perf -d $device -cm -lp 8875 -sa $address --json \
	    -n $((mb * 16)) bw write |
	    sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p'
	wait $!
}

# What no copy can do without, at the same time: the writes, and a copy of the
# file in which each byte is copied once, not read and written.
perf_and_cp()
{
	cp large in/large &
	copied=$!
	perf_seconds
	wait $copied
}

# figure FILE - the median of the ratios there, in $value, and their $range
figure()
{
	value=$(sort -n "$1" | awk '{ v[NR] = $1 }
		END { printf "%.2f", v[int((NR + 1) / 2)] }')
	range=$(sort -n "$1" | awk 'NR == 1 { low = $1 }
		END { printf "%.2f to %.2f", low, $1 }')
}

# target WHAT LIMIT FILE - of the ratios there
target()
{
	figure "$3"
	if awk "BEGIN { exit !(${value:-0} >= $2) }"; then
		met=$((met + 1)) verdict=met
	else
		missed=$((missed + 1)) verdict=MISSED
	fi
	echo "$1; $net: ${value:-not measured} ($range), at least $2: $verdict"
}

# ratio THEIRS OURS FILE - of seconds; 0 if one of them has failed
ratio()
{
	awk -v theirs="$1" -v ours="$2" 'BEGIN {
		printf("%.4f\n", (ours > 0 ? theirs / ours : 0))
	}' >>"$tmp/$3"
}

measure()
{
	rm -f "$tmp"/r_*
	start_servers
	turn=0
	while [ $turn -lt "$turns" ]; do
		ours=$(seconds copy_large)
		ratio "$(seconds sync_large)" "$ours" r_sync
		ours=$(seconds copy_large)
		ratio "$(seconds netcat_large)" "$ours" r_netcat
		ours=$(seconds copy_large)
		alone=$(seconds perf_seconds)	# its processes begin, too
		wire=$(cat "$tmp/out")
		ratio "$wire" "$ours" r_perf
		ratio "$wire" "$(seconds cp large in/large)" r_cp
		both=$(seconds perf_and_cp)
		ratio "$wire" "$(echo "$both $alone $wire" |
			awk '{ print $1 - $2 + $3 }')" r_both
		ours=$(seconds copy_small)
		ratio "$(seconds sync_small)" "$ours" r_small
		turn=$((turn + 1))
	done
	stop_servers
	target "$mb MiB, x the rsync daemon" 1.5 "$tmp/r_sync"
	target "$mb MiB, x nc and dd" 1.0 "$tmp/r_netcat"
	target "$mb MiB, x pier perf bw write" 0.8 "$tmp/r_perf"
	figure "$tmp/r_cp"
	echo "cp without a network, x pier perf bw write; $net:" \
	    "$value ($range): a limit"
	figure "$tmp/r_both"
	echo "both at a time, x pier perf bw write; $net: $value ($range):" \
	    "a limit"
	target "$files files of 4 KiB, x the rsync daemon" 1.0 "$tmp/r_small"
}

use_loopback
measure
use_veth
measure
echo "targets: $met met, $missed missed"
[ $missed -eq 0 ]
