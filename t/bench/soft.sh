#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The soft device beside bare UDP sockets, UCX and libfabric, one core each
# side, over loopback and over a veth pair between two namespaces.  What is
# compared runs in alternation; a figure is the median of the turns' ratios.
# A target that is not measured is missed, that of a program that is not there
# too.
# usage: soft.sh DIRECTORY-OF-PROGRAMS; BENCH_PAIRS=N turns, 5 without it
set -u
PATH=$PATH:/usr/sbin:/sbin
unshared=
if [ "$(id -u)" -ne 0 ] && [ -z "${BENCH_UNSHARED:-}" ]; then
	unshare -Urn true || unshared=failed
	[ -n "$unshared" ] ||
	    exec env BENCH_UNSHARED=1 unshare -Urn sh "$0" "$@"
fi
bin=$1
nets=${BENCH_NETS:-loopback veth}
parts=${BENCH_PARTS:-latency bandwidth fan}
pairs=${BENCH_PAIRS:-5}
count=10000		# laps of a latency
ms=800			# of a stream
veth_mtu=9000
tmp=$(mktemp -d)
met=0 judged=0 port=19200 holders=

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

finish()
{
	targets=$(count_targets)
	[ $judged -le "$targets" ] || targets=$judged
	# shellcheck disable=SC2086 # a list of words
	[ -z "$holders" ] || kill $holders 2>/dev/null
	rm -rf "$tmp"
	echo "targets: $met met, $((targets - met)) missed"
	[ $met -eq "$targets" ] && [ "$met" -gt 0 ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

[ -z "$unshared" ] || {
	echo "# no network namespace to be had: run this as root" >&2
	exit 1
}

cores=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= $NF; i++) print i }')
core_a=$(echo "$cores" | sed -n 1p)
core_b=$(echo "$cores" | sed -n 2p)
: "${core_b:=$core_a}"

# A process to hold a namespace, which has no name to collide; with the
# interfaces in /sys, where UCX looks for them.
hold_namespace()
{
	mkfifo "$tmp/ready"
	unshare -nm sh -c 'mount -t sysfs none /sys && ip link set lo up &&
		echo >"$0" && exec sleep 3600' "$tmp/ready" &
	holder=$!
	holders="$holders $holder"
	read -r _ <"$tmp/ready"
	rm "$tmp/ready"
}

# wait_for COMMAND... - for at most 10 s
wait_for()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || return
		sleep 0.02
	done
}

has_carrier()
{
	nsenter --net="/proc/$1/ns/net" ip link show bench0 | grep -q 'state UP'
}

use_loopback()
{
	net=loopback dev_a=lo dev_b=lo
	ip link set lo up
	unset BENCH_NS_A BENCH_NS_B BENCH_IP_A BENCH_IP_B
	BENCH_DEVICE=soft_lo
	export BENCH_DEVICE
	in_a= in_b= ip_b=127.0.0.1
}

use_veth()
{
	net=veth dev_a=bench0 dev_b=bench0
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
	$in_a ip link add $dev_a mtu $veth_mtu type veth peer name $dev_b \
	    mtu $veth_mtu netns "$b" &&
	    $in_a ip addr add $BENCH_IP_A/24 dev $dev_a &&
	    $in_b ip addr add $BENCH_IP_B/24 dev $dev_b &&
	    $in_a ip link set $dev_a up && $in_b ip link set $dev_b up &&
	    wait_for has_carrier $a && wait_for has_carrier $b
}

# run NAME COMMAND... - print what it prints; nothing if it fails
run()
{
	what=$1
	shift
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" && cat "$tmp/out" ||
	    echo "# $what failed: $(tail -n 1 "$tmp/err")" >&2
}

# pair SERVER CLIENT - two shell commands, each on its core; the server ends
# with its client, which tries until there is one
pair()
{
	timeout 60 $in_b taskset -c "$core_b" sh -c "$1" >/dev/null 2>&1 &
	server=$!
	tries=0
	until timeout 60 $in_a taskset -c "$core_a" sh -c "$2" \
	    >"$tmp/out" 2>"$tmp/err" || [ $tries -ge 50 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	[ $tries -ge 50 ] && { kill $server; tail -n 1 "$tmp/err" >&2; }
	wait $server 2>/dev/null
	[ $tries -lt 50 ] && cat "$tmp/out"
}

# ucx TEST SIZE COUNT FIELD - a figure of ucx_perftest's last line
ucx()
{
	port=$((port + 1))
	env="UCX_TLS=tcp UCX_LOG_LEVEL=error UCX_NET_DEVICES"
	pair "env $env=$dev_b ucx_perftest -f -p $port" \
	    "env $env=$dev_a ucx_perftest -f -p $port -t $1 -s $2 -n $3 \
		-w $(($3 / 10)) $ip_b" |
	    awk -v f="$4" '$1 ~ /^[0-9]+$/ { v = $f } END { print v }'
}

libfabric()
{
	port=$((port + 1))
	pair "fi_pingpong -p tcp -e msg -B $port -S 8 -I $count" \
	    "fi_pingpong -p tcp -e msg -P $port -S 8 -I $count $ip_b" |
	    awk '$1 == 8 { print $(NF - 1) }'
}

# take NAME[,NAME] COMMAND... - note what it measures in this turn
take()
{
	names=$1
	shift
	"$@" | awk -v turn="$turn" -v names="$names" '
		{ n = split(names, name, ",")
		  for (i = 1; i <= n; i++) print turn, name[i], $i }' \
	    >>"$tmp/$net"
}

# Submit to completion, as ours is; perftest's ucp_put_lat is one way.
ucx_put()
{
	run "ucx_put" env UCX_TLS=tcp UCX_LOG_LEVEL=error \
	    UCX_NET_DEVICES="$dev_a" "$bin/ucx_put" $count
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
	[ -z "$have_ucx" ] || take ucx_tag ucx tag_lat 8 $count 2
	[ -z "$have_fi" ] || take fi libfabric
	take alone load alone $count
	take write load lat write $count
	[ -z "$have_ucx" ] || take ucx_put ucx_put
	[ -z "$have_ucx" ] || take ucx_one_way ucx ucp_put_lat 8 $count 2
	take bare2 bare pingpong poll $count
	take read load lat read $count
	take add load lat add $count
	take passive load passive $((count / 5))
	take block bare pingpong block $((count / 5))
}

# Packets of a stream: header and ICRC are 16 bytes.
bandwidth_turn()
{
	take write4096 load bw write 4096 $ms
	take bare4096 bare stream 4112 $ms
	take write1024 load bw write 1024 $ms
	take bare1024 bare stream 1040 $ms
	take read4096 load bw read 4096 $ms
	[ -z "$have_ucx" ] || take ucx_bw ucx tag_bw 1048576 2000 5
	take packed load rate packed $ms
	take single load rate single $ms
}

# Ten seconds each: once if all is to be quick.
fan_turn()
{
	[ "$turn" -le $(((pairs + 3) / 4)) ] || return
	take one load fan 1 3000
	take two,share load fan 2 10000
	take one2 load fan 1 3000
}

# Latencies are short, and scatter most: nearly twice as many turns.
turns()
{
	turn=0 last=$pairs
	[ "$1" != latency_turn ] || last=$((2 * pairs - 1))
	while [ $turn -lt "$last" ]; do
		turn=$((turn + 1))
		"$1"
	done
}

# spread OURS [THEIRS] - "MEDIAN LEAST MOST TURNS" of the figure or ratio
spread()
{
	awk -v ours="$1" -v theirs="${2:-}" '
		$2 == ours { a[$1] = $3 }
		$2 == theirs { b[$1] = $3 }
		END { for (t in a) {
			if (theirs == "") print a[t]
			else if (b[t] > 0) print a[t] / b[t]
		} }' "$tmp/$net" | sort -g |
	    awk '{ v[NR] = $1 }
		END { if (NR) printf "%.6g %.6g %.6g %d\n",
			v[int((NR + 1) / 2)], v[1], v[NR], NR
		else print "none" }'
}

median()
{
	spread "$1" | cut -d ' ' -f 1
}

# target TEXT "at most"|"at least" LIMIT UNIT OURS [THEIRS]
target()
{
	# shellcheck disable=SC2046 # a list of words
	set -- "$1" "$2" "$3" "$4" "$5" "${6:-}" $(spread "$5" ${6:-})
	judged=$((judged + 1))
	if [ "$7" = none ]; then
		echo "$net: $1: MISSED, not measured"
		return
	fi
	sign='>='
	[ "$2" = "at least" ] || sign='<='
	if awk "BEGIN { exit !($7 $sign $3) }"; then
		met=$((met + 1)) verdict=met
	else
		verdict=MISSED
	fi
	figures=$(median "$5")
	[ -z "$6" ] || figures="$figures beside $(median "$6")"
	echo "$net: $1: $7 ($8 to $9, $figures $4), $2 $3: $verdict"
}

# note TEXT OURS UNIT [THEIRS]
note()
{
	echo "# $net: $1: $(spread "$2" ${4:-} | awk -v unit="$3" \
	    '{ print $1, unit " (" $2 " to " $3 ")" }')"
}

judge_latency()
{
	target "8-byte send one way, of bare" "at most" 1.5 us send bare
	target "8-byte send one way, of UCX tag" "at most" 1.1 us send ucx_tag
	target "8-byte send one way, of libfabric" "at most" 1.1 us send_avg fi
	note "8-byte send one way, alone on the line" alone us
	target "8-byte write, of UCX put" "at most" 0.5 us write ucx_put
	note "8-byte write until complete, of UCX put one way" \
	    write us ucx_one_way
	target "8-byte write, of bare one way" "at most" 3.0 us write bare2
	target "8-byte read, of bare one way" "at most" 3.0 us read bare2
	target "8-byte fetch-add, of bare one way" "at most" 3.0 us add bare2
	target "8-byte read of a sleeper, of a blocking round trip" \
	    "at most" 1.5 us passive block
}

judge_bandwidth()
{
	target "1 MiB writes, MTU 4096, of a bare stream" \
	    "at least" 0.6 MB/s write4096 bare4096
	target "1 MiB writes, MTU 1024, of a bare stream" \
	    "at least" 0.45 MB/s write1024 bare1024
	[ "$net" != loopback ] ||
	    target "1 MiB writes, of UCX tag" "at least" 0.75 MB/s write4096 \
		ucx_bw
	target "1 MiB reads, of writes" "at least" 0.85 MB/s read4096 write4096
	target "64-byte writes packed" "at least" 1000000 /s packed
	note "64-byte writes, one datagram each" single /s
}

judge_fan()
{
	target "two senders together, of one" "at least" 0.8 MB/s two one
	target "two senders together, of one" "at most" 1.2 MB/s two one
	target "the slowest of 16 connections, of a fair share" \
	    "at least" 0.5 "" share
}

have_ucx= have_fi=
if command -v ucx_perftest >/dev/null && [ -x "$bin/ucx_put" ]; then
	have_ucx=1
else
	echo "# UCX is missing: install ucx-utils and libucx-dev (Fedora: ucx" \
	    "and ucx-devel)"
fi
if command -v fi_pingpong >/dev/null; then have_fi=1; else
	echo "# libfabric is missing: install libfabric-bin (Fedora: libfabric)"
fi
echo "# $(uname -r), $(nproc) cores, processes on $core_a and $core_b;" \
    "$pairs turns; veth MTU $veth_mtu"
for where in $nets; do
	"use_$where" || { echo "# no $where"; continue; }
	for what in $parts; do
		turns "${what}_turn"
		"judge_$what"
	done
done
