#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# qperf as Debian has it, on soft devices: by rdma_cm, for without it knows no
# GIDs.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need qperf qperf

next_port
"$pier" run -- qperf -lp "$port" >"$tmp/server" 2>&1 &
server=$!
wait_for 30 listens_or_ended

# measure UNIT TEST... - the client tells what the server is to do
measure()
{
	unit=$1
	shift
	for test; do
		timeout -k 5 60 "$pier" run -- qperf -lp "$port" -t 1 -cm 1 \
		    127.0.0.1 "$test" >"$tmp/client" 2>&1 &&
		    says "$tmp/client" "$test:" "$unit" || {
			cat "$tmp/client" "$tmp/server"
			return 1
		}
	done
}

bandwidth_is_measured()
{
	measure "B/sec" rc_bw rc_bi_bw rc_rdma_write_bw rc_rdma_read_bw
}

latency_is_measured()
{
	measure "latency" rc_lat rc_rdma_write_lat rc_rdma_read_lat \
	    rc_rdma_write_poll_lat
}

atomics_are_measured()
{
	measure "/sec" rc_compare_swap_mr rc_fetch_add_mr
}

# The results of the atomics are compared.
atomics_are_verified()
{
	measure "/sec" ver_rc_compare_swap ver_rc_fetch_add
}

# With kernel Soft-RoCE, too: t/dropin/rxe_apps.sh.
# Whichever end is first: the client reports the server's error as one of that.
without_rdma_cm_it_fails()
{
	timeout -k 5 60 "$pier" run -- qperf -lp "$port" -t 1 127.0.0.1 ud_lat \
	    >"$tmp/client" 2>&1 && return 1
	grep -e "failed to create address handle" -e "^server:" "$tmp/client"
}

run bandwidth_is_measured
run latency_is_measured
run atomics_are_measured
run atomics_are_verified
run without_rdma_cm_it_fails
tap_done
