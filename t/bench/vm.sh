#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier perf beside perftest on Soft-RoCE, in the guest of t/vm/run: the same
# operation and size in alternation, the median of the pairs' ratios.  Under
# emulation only ratios mean anything.
# usage: t/vm/run -t 3000 t/bench/vm.sh
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
pier=$build/tools/pier
PAIRS=${PAIRS:-9}
met=0 missed=0
port=18600

# The index of rxe0's GID that maps 10.x.
gid_index()
{
	grep -l ':ffff:0a' /sys/class/infiniband/rxe0/ports/1/gids/* \
	    2>/dev/null | sed 's|.*/||' | sort -n | head -n 1
}
gid=$(gid_index)
server_ip=$(ip -4 -o addr show dev "$(cat \
    /sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/"$gid")" |
    awk '{ sub("/.*", "", $4); print $4; exit }')

# both SERVER CLIENT - run two shell commands, print what the client prints
both()
{
	timeout 120 sh -c "$1" >"$tmp/server" 2>&1 &
	sleep_until_listening
	timeout 120 sh -c "$2" >"$tmp/client" 2>&1 || {
		cat "$tmp/client" "$tmp/server" >&2
		kill $! 2>/dev/null
	}
	wait $!
	cat "$tmp/client"
}

# perftest's server prints nothing when it listens: look at its socket.
sleep_until_listening()
{
	[ -n "$listen" ] || return 0
	tries=0
	until ss -ltn | grep -q ":$listen " || [ $tries -ge 300 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# perftest PROGRAM SIZE ARG... - its last line of figures
perftest()
{
	port=$((port + 1)) listen=$port program=$1 size=$2
	shift 2
	both "$program -d rxe0 -x $gid -F -s $size -p $port $*" \
	    "$program -d rxe0 -x $gid -F -s $size -p $port $* $server_ip" |
	    awk -v size="$size" '$1 == size && NF > 3 { line = $0 }
		END { print line }'
}

# perf KIND OPERATION SIZE ARG... - pier's JSON
perf()
{
	listen='' kind=$1 op=$2 size=$3
	shift 3
	rm -f "$tmp/a" "$tmp/b" "$tmp/m"
	both "$pier perf $kind $op --respond -d rxe0 -ld $tmp/a -re $tmp/b \
		-m $tmp/m -s $size $*" \
	    "$pier perf $kind $op -d rxe0 -ld $tmp/b -re $tmp/a -m $tmp/m \
		-s $size $* --json"
}

# json KEY - the number under KEY of the JSON on stdin
json()
{
	sed -n "s/.*\"$1\": *\\([0-9.e+-]*\\).*/\\1/p" | head -n 1
}

# ratios OURS THEIRS - two functions, each prints a figure
ratios()
{
	pair=0
	while [ $pair -lt "$PAIRS" ]; do
		pair=$((pair + 1))
		theirs=$($2)
		ours=$($1)
		awk -v a="$ours" -v b="$theirs" 'BEGIN {
			if (a > 0 && b > 0) print a/b }'
		echo "# $1 pair $pair: pier $ours, perftest $theirs" >&2
	done | sort -n >"$tmp/ratios"
	awk '{ r[NR] = $1 } END {
		if (NR) print r[int((NR + 1) / 2)], r[1], r[NR], NR
		else print 0, 0, 0, 0 }' "$tmp/ratios"
}

# target NAME "at most"|"at least" LIMIT OURS THEIRS - met if every pair was
# measured, and there were enough of them
target()
{
	read -r median low high pairs <<END
$(ratios "$4" "$5")
END
	case $2 in
	"at most") holds="$median <= $3" ;;
	*) holds="$median >= $3" ;;
	esac
	if awk "BEGIN { exit !($pairs == $PAIRS && $pairs >= 9 && $holds) }"
	then
		met=$((met + 1)) verdict=met
	else
		missed=$((missed + 1)) verdict=MISSED
		[ "$pairs" -ge 9 ] || pairs="$pairs of the 9 that it takes,"
	fi
	echo "# $1: $median x perftest ($low to $high, $pairs pairs), $2" \
	    "$3: $verdict"
}

# Half the round trip, the median of the laps, on either side.
send_lat_ours() { perf lat send 8 -n 1000 --warmup 0 | json median; }
send_lat_theirs() { perftest ib_send_lat 8 -n 1000 | awk '{ print $5 }'; }
# From the post to the completion, the median.
read_lat_ours() { perf lat read 8 -n 1000 --warmup 0 | json median; }
read_lat_theirs() { perftest ib_read_lat 8 -n 1000 | awk '{ print $5 }'; }
# The same from the rate with one write in flight, on either side: what
# ib_write_lat measures is two CPUs that look at their memory in turn, without
# a completion.  Inline, as ours is.
write_lat_ours()
{
	perf bw write 8 -n 1000 --warmup 0 --outstanding 1 |
	    json messages_per_s | awk '$1 > 0 { print 1e6 / $1 }'
}
write_lat_theirs()
{
	perftest ib_write_bw 8 -n 1000 -t 1 -Q 1 -I 64 |
	    awk '$5 > 0 { print 1 / $5 }'
}
# 64 in flight, every 16th signalled, as pier perf does with a quarter.
bw_ours()
{
	perf bw "$1" 64K -n 1280 --warmup 0 --outstanding 64 |
	    json gb_per_s | awk '{ print $1 * 1000 }'
}
bw_theirs()
{
	perftest "ib_$1_bw" 65536 -n 1280 -t 64 -Q 16 |
	    awk '{ print $4 * 1.048576 }'
}
send_bw_ours() { bw_ours send; }
send_bw_theirs() { bw_theirs send; }
read_bw_ours() { bw_ours read; }
read_bw_theirs() { bw_theirs read; }
write_bw_ours() { bw_ours write; }
write_bw_theirs() { bw_theirs write; }

target "8-byte send, half the round trip" "at most" 1.2 send_lat_ours \
    send_lat_theirs
for op in read write; do
	target "8-byte $op to completion" "at most" 1.2 ${op}_lat_ours \
	    ${op}_lat_theirs
done
for op in send read write; do
	target "64 KiB $op bandwidth" "at least" 0.9 ${op}_bw_ours \
	    ${op}_bw_theirs
done
echo "# targets: $met met, $missed missed"
is $((met + missed)) 6 "all targets were measured"
tap_done
