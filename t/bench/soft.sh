#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The soft device beside bare UDP sockets, UCX and libfabric, one core each
# side, over loopback and over a veth pair between two namespaces.
# usage: soft.sh DIRECTORY-OF-PROGRAMS; BENCH_TURNS=N turns, 5 without it
nets=${BENCH_NETS:-loopback veth}
parts=${BENCH_PARTS:-latency bandwidth fan}

# How many targets there are.
count_targets()
{
	for net in $nets; do
		for part in $parts; do
			case $net-$part in
			*-latency) echo 8 ;;
			loopback-bandwidth) echo 5 ;;
			*-bandwidth) echo 4 ;;
			*) echo 3 ;;
			esac
		done
	done | awk '{ n += $1 } END { print n + 0 }'
}

targets=$(count_targets) turns=5
. "${0%/*}/pairs.sh"
bin=$1
count=10000		# laps of a latency
ms=800			# of a stream
veth_mtu=9000

has_carrier()
{
	nsenter --net="/proc/$1/ns/net" ip link show bench0 | grep -q 'state UP'
}

use_loopback()
{
	net=loopback interface=lo
	unset BENCH_NS_A BENCH_NS_B BENCH_IP_A BENCH_IP_B
	BENCH_DEVICE=soft_lo
	export BENCH_DEVICE
	in_a='' in_b='' ip_b=127.0.0.1
}

use_veth()
{
	net=veth interface=bench0
	hold_namespace
	a=$holder
	hold_namespace
	b=$holder
	BENCH_NS_A=/proc/$a/ns/net,/proc/$a/ns/mnt
	BENCH_NS_B=/proc/$b/ns/net,/proc/$b/ns/mnt
	BENCH_IP_A=10.77.0.1 BENCH_IP_B=10.77.0.2
	BENCH_DEVICE=soft_bench0
	export BENCH_NS_A BENCH_NS_B BENCH_IP_A BENCH_IP_B BENCH_DEVICE
	in_a="nsenter -t $a -n -m" in_b="nsenter -t $b -n -m"
	ip_b=$BENCH_IP_B
	$in_a ip link add bench0 mtu $veth_mtu type veth peer name bench0 \
	    mtu $veth_mtu netns "$b" &&
	    $in_a ip addr add $BENCH_IP_A/24 dev bench0 &&
	    $in_b ip addr add $BENCH_IP_B/24 dev bench0 &&
	    $in_a ip link set bench0 up && $in_b ip link set bench0 up &&
	    wait_for has_carrier "$a" && wait_for has_carrier "$b"
}

# run NAME COMMAND... - print what it prints; nothing if it fails
run()
{
	what=$1
	shift
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" && cat "$tmp/out" ||
	    echo "# failed: $what: $(tail -n 1 "$tmp/err")" >&2
}

by_ucx()
{
	ucx "$@" env UCX_TLS=tcp UCX_LOG_LEVEL=error \
	    UCX_NET_DEVICES=$interface
}

ucx_stream()
{
	faster_of_ucx by_ucx tag_bw 1048576 2000 6 | to_mb
}

libfabric()
{
	next_port
	words="fi_pingpong -p tcp -e msg -S 8 -I $count"
	pair "$words -B $port" "$words -P $port $ip_b"
	awk '$1 == 8 { print $(NF - 1) }' "$tmp/out"
}

# Submit to completion, as ours is; perftest's ucp_put_lat is one way.
ucx_put()
{
	run "ucx_put" env UCX_TLS=tcp UCX_LOG_LEVEL=error \
	    UCX_NET_DEVICES="$interface" "$bin/ucx_put" $count
}

load()
{
	run "soft $*" "$bin/soft_load" "$@"
}

bare()
{
	run "bare $*" "$bin/bare_$@"
}

latency_turn()
{
	take send,send_avg load lat send $count
	take bare bare pingpong poll $count
	take calls bare pingpong calls $count
	take bare_long bare pingpong poll 300 1048576
	[ -z "$has_ucx" ] || take ucx_tag by_ucx tag_lat 8 $count 2
	[ -z "$has_fi" ] || take fi libfabric
	take alone load alone $count
	take write load lat write $count
	[ -z "$has_put" ] || take ucx_put ucx_put
	[ -z "$has_ucx" ] || take ucx_one_way by_ucx ucp_put_lat 8 $count 2
	take bare2 bare pingpong poll $count
	take read load lat read $count
	take add load lat add $count
	take passive load passive $((count / 5))
	take block bare pingpong block $((count / 5))
}

# Packets of a stream: header and ICRC are 16 bytes.  The least that RoCEv2
# takes is what bare_stream does with "wire".
bandwidth_turn()
{
	take write4096 load bw write 4096 $ms
	take bare4096 bare stream 4112 $ms
	take wire4096 bare stream 4112 $ms wire
	take write1024 load bw write 1024 $ms
	take bare1024 bare stream 1040 $ms
	take wire1024 bare stream 1040 $ms wire
	take read4096 load bw read 4096 $ms
	[ -z "$has_ucx" ] || take ucx_bw ucx_stream
	take packed load rate packed $ms
	take single load rate single $ms
}

# Ten seconds each: once if all is to be quick, else an odd number, as of an
# even one the median is the lesser of two.
fan_turn()
{
	[ "$turn" -le $(((turns + 1) / 4 * 2 + 1)) ] || return
	take one load fan 1 3000
	take two,share load fan 2 10000
}

# of_net FUNCTION WHAT ARGUMENT...
of_net()
{
	function=$1 what=$2
	shift 2
	"$function" "$what; $net" "$@"
}

target()
{
	of_net judge "$@"
}

judge_latency()
{
	of_net bound "a bare ping-pong of UDP, one way, both polling" us bare
	of_net bound "the same with the calls of a device" us calls
	of_net note "a bare ping-pong of UDP, of UCX tag" us bare ucx_tag
	of_net note "the same with the calls of a device, of UCX tag" us \
	    calls ucx_tag
	of_net bound "1 MiB of bare UDP there and back, one way, both polling" \
	    us bare_long
	of_net bound "a bare round trip of UDP, both asleep" us block
	target "8-byte send one way, of bare" "at most" 1.5 us send bare
	target "8-byte send one way, of UCX tag" "at most" 0.75 us send ucx_tag
	target "8-byte send one way, of libfabric" "at most" 1.1 us send_avg fi
	of_net note "8-byte send one way, alone on the line" us alone
	target "8-byte write, of UCX put" "at most" 0.5 us write ucx_put
	of_net note "8-byte write until complete, of UCX put one way" us \
	    write ucx_one_way
	target "8-byte write, of bare one way" "at most" 3.0 us write bare2
	target "8-byte read, of bare one way" "at most" 3.0 us read bare2
	target "8-byte fetch-add, of bare one way" "at most" 3.0 us add bare2
	target "8-byte read of a sleeper, of a blocking round trip" \
	    "at most" 1.5 us passive block
}

judge_bandwidth()
{
	of_net bound "a bare stream of UDP, packets as long as of MTU 4096" \
	    MB/s bare4096
	of_net bound "a bare stream of UDP, packets as long as of MTU 1024" \
	    MB/s bare1024
	for mtu in 4096 1024; do
		least="the least that RoCEv2 takes, MTU $mtu"
		of_net bound "$least" MB/s wire$mtu
		of_net note "$least, of a bare stream" MB/s wire$mtu bare$mtu
		of_net note "1 MiB writes, MTU $mtu, of $least" MB/s \
		    write$mtu wire$mtu
	done
	target "1 MiB writes, MTU 4096, of a bare stream" \
	    "at least" 0.75 MB/s write4096 bare4096
	target "1 MiB writes, MTU 1024, of a bare stream" \
	    "at least" 0.55 MB/s write1024 bare1024
	[ "$net" != loopback ] || {
		of_net note "a bare stream of UDP, of UCX tag" MB/s bare4096 \
		    ucx_bw
		of_net note "the least that RoCEv2 takes, of UCX tag" MB/s \
		    wire4096 ucx_bw
		target "1 MiB writes, of UCX tag" "at least" 1.2 MB/s \
		    write4096 ucx_bw
	}
	target "1 MiB reads, of writes" "at least" 0.85 MB/s read4096 write4096
	target "64-byte writes packed" "at least" 1000000 "a second" packed
	of_net note "64-byte writes, one datagram each" "a second" single
}

judge_fan()
{
	target "two senders together, of one" "at least" 0.8 MB/s two one
	target "two senders together, of one, not more" "at most" 1.2 MB/s \
	    two one
	target "the slowest of 16 connections, of a fair share" \
	    "at least" 0.5 "" share
}

has_ucx='' has_fi='' has_put=''
! have_ucx || has_ucx=1
! have "$bin/ucx_put" "libucx-dev (Fedora: ucx-devel)" || has_put=1
! have fi_pingpong "libfabric-bin (Fedora: libfabric)" || has_fi=1
echo "# $turns turns, $((2 * turns - 1)) of latencies; veth MTU $veth_mtu"
for where in $nets; do
	"use_$where" || { echo "# no $where"; continue; }
	rows=$tmp/$where
	for what in $parts; do
		# Latencies are short, and scatter most.
		times=$turns
		[ "$what" != latency ] || times=$((2 * turns - 1))
		in_turns "$times" "${what}_turn"
		"judge_$what"
	done
done
