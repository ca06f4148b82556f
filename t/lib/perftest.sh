# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # $tmp, $port and those of peers.sh
#
# Debian's perftest as it is, at two ends: peers.sh sources it.  What several of
# its programs have in common is measured by one of them if $brief.

qps=1

# reported COMMAND... - again, if perftest gives up: it measures the clock of
# the processor for each line that it prints, and cannot beside other programs.
reported()
{
	for report in 1 2 3 4 5; do
		! "$@" || return 0
		grep -q "Can't produce a report" "$tmp/client" "$tmp/server" ||
		    return 1
		echo "report $report: none"
	done
	return 1
}

# measure SIZE PROGRAM ARG...
measure()
{
	row=$1
	shift
	reported pair_at -x "$@" -s "$row" -n "$rounds" && has_row
}

# The client has measured, by each of $qps queue pairs.
has_row()
{
	grep -q "^ *$row  *$((rounds * qps))  *[0-9]" "$tmp/client" || {
		cat "$tmp/client"
		return 1
	}
}

# measure_by_cm SIZE PROGRAM ARG...
measure_by_cm()
{
	row=$1
	shift
	reported pair_by_cm "$@" -R -s "$row" -n "$rounds" && has_row
}

# pair_by_cm PROGRAM ARG... - perftest connects twice, and its server may listen
# again too late: its client ends then (docs/verbs-library.md).
pair_by_cm()
{
	for try in 1 2 3; do
		connected "$@" -d "$device"
		finish "$@" -d "$client_device" -p "$port" "$address"
		grep -q RDMA_CM_EVENT_REJECTED "$tmp/client" || break
		echo "$try: rejected"
		end_server
	done
	both_succeed
}

sends_are_measured()
{
	measure 8 ib_send_lat && measure 65536 ib_send_bw
}

# The server of ib_send_bw sends nothing, and has no address handle.
datagrams_are_measured()
{
	measure 8 ib_send_lat -c UD && measure 1024 ib_send_bw -c UD
}

datagrams_are_measured_in_other_ways()
{
	measure 1024 ib_send_bw -c UD -e && measure 1024 ib_send_bw -c UD -b &&
	    measure_by_cm 8 ib_send_lat -c UD
}

writes_are_measured()
{
	measure 8 ib_write_lat && measure 65536 ib_write_bw
}

# Each side takes the limit of the other's device unless both are given one.
reads_are_measured()
{
	measure 8 ib_read_lat -o 8 && measure 65536 ib_read_bw -o 8
}

atomics_are_measured()
{
	measure 8 ib_atomic_lat -o 8 && measure 8 ib_atomic_bw -o 8
}

# perftest has none for writes.
measurements_wait_for_events()
{
	measure 8 ib_send_lat -e || return
	! $brief || return 0
	measure 65536 ib_send_bw -e && measure 8 ib_read_lat -o 8 -e &&
	    measure 65536 ib_read_bw -o 8 -e &&
	    measure 8 ib_atomic_lat -o 8 -e && measure 8 ib_atomic_bw -o 8 -e
}

many_queue_pairs_are_measured()
{
	qps=8
	measure 4096 ib_send_bw -q $qps && measure 4096 ib_write_bw -q $qps ||
	    return
	! $brief || return 0
	measure 4096 ib_read_bw -o 8 -q $qps &&
	    measure 8 ib_atomic_bw -o 8 -q $qps
}

both_directions_are_measured()
{
	measure 65536 ib_send_bw -b && measure 65536 ib_write_bw -b || return
	! $brief || return 0
	measure 65536 ib_read_bw -o 8 -b && measure 8 ib_atomic_bw -o 8 -b
}

long_messages_are_measured()
{
	rounds=5
	measure 8388608 ib_send_bw && measure 8388608 ib_write_bw &&
	    measure 8388608 ib_read_bw -o 8
}

# all_sizes PROGRAM ARG... - 2 bytes to 8 MiB
all_sizes()
{
	reported pair_at -x "$@" -a -n "$rounds" || return
	for row in 2 4096 8388608; do
		has_row || return
	done
}

messages_of_all_sizes_are_measured()
{
	rounds=5
	all_sizes ib_send_bw && all_sizes ib_write_bw &&
	    all_sizes ib_read_bw -o 8
}

# by_cm SIZE WHAT OPTION... - the latency, and the bandwidth
by_cm()
{
	size=$1
	what=$2
	shift 2
	measure_by_cm 8 "ib_${what}_lat" "$@" &&
	    { $brief || measure_by_cm "$size" "ib_${what}_bw" "$@"; }
}

sends_are_measured_by_rdma_cm()
{
	by_cm 65536 send
}

writes_are_measured_by_rdma_cm()
{
	by_cm 65536 write
}

reads_are_measured_by_rdma_cm()
{
	by_cm 65536 read
}

atomics_are_measured_by_rdma_cm()
{
	by_cm 8 atomic
}

# Each has a connection of its own.
many_queue_pairs_are_measured_by_rdma_cm()
{
	qps=8
	measure_by_cm 4096 ib_send_bw -q $qps &&
	    { $brief || measure_by_cm 4096 ib_write_bw -q $qps; }
}

both_directions_are_measured_by_rdma_cm()
{
	measure_by_cm 65536 ib_write_bw -b &&
	    { $brief || measure_by_cm 65536 ib_send_bw -b; }
}

# run_perftest [WHERE]
run_perftest()
{
	run_all "${1:-}" sends_are_measured datagrams_are_measured \
	    writes_are_measured reads_are_measured atomics_are_measured \
	    measurements_wait_for_events \
	    many_queue_pairs_are_measured both_directions_are_measured \
	    long_messages_are_measured
	$brief || run_all "${1:-}" datagrams_are_measured_in_other_ways \
	    messages_of_all_sizes_are_measured
}

run_perftest_by_cm()
{
	run_all "${1:-}" sends_are_measured_by_rdma_cm \
	    writes_are_measured_by_rdma_cm reads_are_measured_by_rdma_cm \
	    atomics_are_measured_by_rdma_cm \
	    many_queue_pairs_are_measured_by_rdma_cm \
	    both_directions_are_measured_by_rdma_cm
}
