#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A stream of writes between two soft devices, a stream of TCP (cubic, sockets
# of the kernel), and both at a time, over links of bench/link between two
# network namespaces.  Medians of BENCH_TURNS turns, 3 without it, each of 300
# round trips, as one that finds the other at work takes that long to have its
# share, and of BENCH_SECONDS at least, 5 without it.  The queue of a link
# holds what it carries in a round trip, at least 50 packets.
# usage: tcp.sh, in the build tree
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"

own_net "$@"
link=$build/t/bench/link
pier=$build/tools/pier
turns=${BENCH_TURNS:-3}
met=0 missed=0

# joined MBIT RTT_MS LOSS - a link between them
joined()
{
	queue=$(($1 * $2 * 1000 / 8 / 1500))
	[ $queue -ge 50 ] || queue=50
	: >"$tmp/link"		# not the last one's
	"$link" $far "$1" $(($2 * 500)) $queue "$3" >>"$tmp/link" &
	carrier=$!
	wait_for 10 grep -q ready "$tmp/link" &&
		ip addr add 10.9.5.1/24 dev near0 &&
		ip link set near0 mtu 1500 up &&
		in_far ip addr add 10.9.5.2/24 dev far0 &&
		in_far ip link set far0 mtu 1500 up
}

parted()
{
	kill $carrier
	wait $carrier
} 2>/dev/null

# bytes - that have arrived by TCP
bytes()
{
	in_far ss -tinH state established sport = :5001 |
		sed -n 's/.*bytes_received:\([0-9]*\).*/\1/p' | grep .
}

# arrived FILE - "BYTES SECONDS", when it was
arrived()
{
	wait_for 10 has_bytes "$1"
}

has_bytes()
{
	now=$(cut -d' ' -f1 /proc/uptime) && count=$(bytes) &&
		echo "$count $now" >"$1"
}

tcp_begin()
{
	nsenter -t $far -n python3 -c '
import socket
s = socket.create_server(("10.9.5.2", 5001))
c = s.accept()[0]
while c.recv(1 << 16):
	pass' &
	sink=$!
	wait_for 20 tcp_listens || return 1
	python3 -c '
import socket
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
s.connect(("10.9.5.2", 5001))
while True:
	s.sendall(bytes(1 << 16))' 2>"$tmp/source" &
	source=$!
	wait_for 20 tcp_moves || {
		cat "$tmp/source" >&2
		return 1
	}
}

tcp_listens()
{
	in_far ss -ltnH sport = :5001 | grep -q 5001
}

tcp_moves()
{
	has_bytes "$tmp/moved" && [ "$count" -gt 1000000 ]
}

tcp_end()
{
	kill -9 $source $sink
	wait $source $sink
} 2>/dev/null

# writes - Mbit/s
writes()
{
	rm -f "$tmp/a" "$tmp/b" "$tmp/m"
	set -- bw write -s 64K --events -m "$tmp/m" --timeout 20
	in_far timeout 120 "$pier" perf "$@" -d soft_far0 --respond \
		-ld "$tmp/a" -re "$tmp/b" >"$tmp/far" 2>&1 &
	timeout 120 "$pier" perf "$@" -d soft_near0 -t "$seconds" --json \
		-ld "$tmp/b" -re "$tmp/a" >"$tmp/near" 2>"$tmp/near.err" ||
		cat "$tmp/near.err" "$tmp/far" >&2
	wait $!
	sed -n 's/.*"gbit_per_s": *\([0-9.e+-]*\).*/\1/p' "$tmp/near" |
		awk '{ print $1 * 1000; exit }'
}

# tcp COMMAND... - Mbit/s of TCP while the command runs
tcp()
{
	tcp_begin || return 1
	arrived "$tmp/before" && "$@" && arrived "$tmp/after"
	went=$?
	tcp_end
	[ $went -eq 0 ] || return 1
	cat "$tmp/before" "$tmp/after" | paste -s | awk '{
		print ($3 - $1) * 8 / ($4 - $2) / 1e6 }'
}

# turn MBIT RTT_MS LOSS - "WRITES TCP", each alone, then both at a time.  Each
# has a new link: the kernel remembers of an address how the last one went.
turn()
{
	: >"$tmp/turn"
	seconds=${BENCH_SECONDS:-5}
	[ $(($2 * 300)) -le $((seconds * 1000)) ] ||
		seconds=$(($2 * 300 / 1000))
	for what in writes "tcp sleep $seconds" "tcp writes"; do
		joined "$@" && $what >>"$tmp/turn"
		went=$?
		parted
		[ $went -eq 0 ] || return 1
	done
	paste -s "$tmp/turn" >>"$tmp/turns"
}

# median COLUMN, of the turns
median()
{
	sort -n -k "$1,$1" "$tmp/turns" | awk -v c="$1" '{ v[NR] = $c }
		END { print v[int((NR + 1) / 2)] }'
}

# measured MBIT RTT_MS LOSS - $alone and $both are what it was, for people
measured()
{
	: >"$tmp/turns"
	i=0
	while [ $i -lt "$turns" ]; do
		i=$((i + 1))
		turn "$@" || return 1
	done
	alone="alone: writes $(median 1), TCP $(median 2)"
	both="at a time: writes $(median 3), TCP $(median 4)"
}

# shares MBIT RTT_MS - each of the two at a time has at least a third
shares()
{
	title="the lesser of writes and TCP, $1 Mbit/s, $2 ms"
	measured "$1" "$2" 0 || failed || return 0
	judged "$(printf '%s\n' "$(median 3)" "$(median 4)" | sort -g |
		head -n 1)" "$both, $alone" \
		"$(awk "BEGIN { printf \"%.2f\", $1 / 3 }")"
	beside_tcp "at a time, $1 Mbit/s, $2 ms" 3
	beside_tcp "each alone, $1 Mbit/s, $2 ms" 1
}

# beside_tcp WHEN COLUMN - writes in the turns' column, TCP in the next
beside_tcp()
{
	awk "BEGIN { printf \"writes, of TCP, $1: %.3g (%s beside %s Mbit/s)\",
		$(median "$2") / $(median $(($2 + 1))), \"$(median "$2")\",
		\"$(median $(($2 + 1)))\" }"
	echo ", at least 1: no aim"
}

# loses MBIT RTT_MS LOSS - writes alone are no slower than TCP
loses()
{
	title="writes, of which TCP is the limit, $1 Mbit/s, $2 ms, $3 of"
	title="$title 10,000 packets lost"
	measured "$@" || failed || return 0
	judged "$(median 1)" "$both" "$(median 2)"
}

# It could not be measured.
failed()
{
	missed=$((missed + 1))
	echo "$title: not measured: MISSED"
	return 1
}

# judged VALUE DETAILS LIMIT - of $title
judged()
{
	if awk "BEGIN { exit !($1 >= $3) }"; then
		met=$((met + 1)) verdict=met
	else
		missed=$((missed + 1)) verdict=MISSED
	fi
	echo "$title: $1 Mbit/s ($2), at least $3: $verdict"
}

far_host
shares 50 2
shares 50 20
shares 50 100
loses 200 20 10
loses 200 20 100
echo "targets: $met met, $missed missed"
[ $missed -eq 0 ]
