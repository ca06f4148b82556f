#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Messages of several sizes on the soft device, beside UCX, libfabric, ZeroMQ,
# NNG and iperf3 over TCP on loopback, with a picture.  ZeroMQ, NNG and iperf3
# have threads of their own: each turn has them on a core each side, and on
# whichever cores, and the better figure counts.
# usage: peers.sh PIER DIRECTORY-OF-PROGRAMS PICTURE; BENCH_TURNS=N turns, 3
# without it; BENCH_SIZES="N..." bytes
targets=0 turns=3
. "${0%/*}/pairs.sh"
pier=$1 bin=$2 picture=$3
sizes=${BENCH_SIZES:-8 64 512 4096 32768 262144 1048576}
on_each_a=$on_a on_each_b=$on_b

# How many messages of a size there are, of a ping-pong and of a stream.
laps()
{
	echo "$1" | awk '{ n = int(5e8 / $1)
		print(n > 5000 ? 5000 : n < 300 ? 300 : n) }'
}

messages()
{
	echo "$1" | awk '{ n = int(1e9 / $1); print(n > 100000 ? 100000 : n) }'
}

# of_sizes KEY - "SIZE VALUE" of each, of the JSON in $tmp/out
of_sizes()
{
	sed -n 's/.*"\(size\|'"$1"'\)": \([0-9.]*\),*$/\1 \2/p' "$tmp/out" |
	    awk '$1 == "size" { size = $2; next } { print size, $2 }'
}

# take_sizes MEASURE OPERATION KEY NAME - of pier
take_sizes()
{
	perf_json "$1" "$2" --sizes "$(echo $sizes | tr ' ' ,)"
	of_sizes "$3" | awk -v turn="$turn" -v name="$1.$4" '
		{ print turn, name "." $1, $2 }' >>"$rows"
}

by_ucx()
{
	ucx "$@" env UCX_TLS=tcp UCX_LOG_LEVEL=error UCX_NET_DEVICES=lo
}

lat_ucx() { by_ucx tag_lat "$1" "$(laps "$1")" 2; }
bw_ucx()
{
	faster_of_ucx by_ucx tag_bw "$1" "$(messages "$1")" 6 | to_mb | to_gb
}


lat_libfabric()
{
	next_port
	words="fi_pingpong -p tcp -e msg -S $1 -I $(laps "$1")"
	pair "$words -B $port" "$words -P $port $ip_b"
	awk '$2 ~ /^[0-9]/ && $1 !~ /^bytes/ { print $(NF - 1) }' "$tmp/out"
}

# better "sort"|"sort -r" COMMAND... - of both placements
better()
{
	order=$1
	shift
	{
		"$@"
		on_a='' on_b='' BENCH_FREE=1
		export BENCH_FREE
		"$@"
		unset BENCH_FREE
		on_a=$on_each_a on_b=$on_each_b
	} | $order -g | head -n 1
}

load()
{
	timeout 60 "$bin/pair_$@" | cut -d ' ' -f 1
}

lat_zeromq() { better sort load zmq lat "$1" "$(laps "$1")"; }
bw_zeromq() { better "sort -r" load zmq bw "$1" "$(messages "$1")"; }
lat_nng() { better sort load nng lat "$1" "$(laps "$1")"; }
bw_nng() { better "sort -r" load nng bw "$1" "$(messages "$1")"; }

iperf()
{
	next_port
	pair "iperf3 -s -1 -p $port" \
	    "iperf3 -c $ip_b -p $port -t 1 -l $1 -J"
	awk '/"sum_received"/ { on = 1 }
		on && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2)
			print $2 / 8e9; exit }' "$tmp/out"
}

bw_iperf3() { better "sort -r" iperf "$1"; }

a_turn()
{
	take_sizes lat send median pier
	take_sizes bw write gb_per_s pier
	for size in $sizes; do
		for peer in $lat_peers; do
			take "lat.$peer.$size" "lat_$peer" "$size"
		done
		for peer in $bw_peers; do
			take "bw.$peer.$size" "bw_$peer" "$size"
		done
	done
}

# What pier must not be behind: a send one way, and a stream of writes.
judge_all()
{
	for peer in $lat_peers; do
		for size in 8 4096 1048576; do
			judge "a send one way, of $(name_of $peer); $size B" \
			    "at most" 1 us "lat.pier.$size" \
			    "lat.$peer.$size"
		done
	done
	for peer in $bw_peers; do
		for size in 4096 1048576; do
			what="a stream of writes, of $(name_of $peer)"
			judge "$what; $size B" "at least" 1 GB/s \
			    "bw.pier.$size" "bw.$peer.$size"
		done
	done
}

name_of()
{
	case $1 in
	ucx) echo UCX ;;
	zeromq) echo ZeroMQ ;;
	nng) echo NNG ;;
	*) echo "$1" ;;
	esac
}

# result MEASURE PEER KEY OPERATION DEVICE - medians, as pier perf prints them
result()
{
	file=$tmp/$1/$(name_of "$2")
	{
		printf '{ "measure": "%s", "operation": "%s", "device": "%s",' \
		    "$1" "$4" "$5"
		printf ' "results": [\n'
		for size in $sizes; do
			value=$(median "$1.$2.$size")
			[ -z "$value" ] ||
			    echo "{ \"size\": $size, \"$3\": $value },"
		done | sed '$s/,$//'
		echo "] }"
	} >"$file"
	! grep -q size "$file" || files="$files $file"
}

# The result files of pier perf plot; what was not measured has no line.
draw()
{
	mkdir "$tmp/lat" "$tmp/bw"
	files=''
	result lat pier median send soft_lo
	for peer in $lat_peers; do
		result lat "$peer" median message TCP
	done
	result bw pier gb_per_s write soft_lo
	for peer in $bw_peers; do
		result bw "$peer" gb_per_s message TCP
	done
	# shellcheck disable=SC2086 # paths without blanks
	"$pier" perf plot $files -o "$tmp/picture.svg" >&2 &&
	    sed 's/[[:blank:]]*$//' "$tmp/picture.svg" >"$picture"
}

lat_peers='' bw_peers=''
! have_ucx || lat_peers=ucx bw_peers=ucx
! have "$bin/pair_zmq" "libzmq3-dev (Fedora: zeromq-devel)" ||
    lat_peers="$lat_peers zeromq" bw_peers="$bw_peers zeromq"
! have "$bin/pair_nng" "libnng-dev (Fedora: nng-devel)" ||
    lat_peers="$lat_peers nng" bw_peers="$bw_peers nng"
! have fi_pingpong "libfabric-bin (Fedora: libfabric)" ||
    lat_peers="$lat_peers libfabric"
! have iperf3 iperf3 || bw_peers="$bw_peers iperf3"
in_turns "$turns" a_turn
judge_all
! have gnuplot "gnuplot-nox (Fedora: gnuplot)" || draw
