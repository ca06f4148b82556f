#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian's ibverbs-utils and perftest, as they are, on soft devices:
# two processes each.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need ibverbs-utils ibv_asyncwatch ibv_devices ibv_devinfo ibv_rc_pingpong \
    ibv_srq_pingpong ibv_ud_pingpong ibv_xsrq_pingpong
need perftest ib_send_lat ib_send_bw ib_write_bw ib_write_lat ib_read_bw \
    ib_atomic_lat

# pingpong PROGRAM OPTION...
pingpong()
{
	pair "$@" -d soft_lo -g 0 -n 200 &&
	    says "$tmp/client" "200 iters in" &&
	    says "$tmp/server" "200 iters in"
}

# measure SIZE ITERATIONS PROGRAM OPTION...
measure()
{
	row=$1 times=$2
	shift 2
	pair "$@" -d soft_lo -x 0 -s "$row" -n "$times" || return
	grep -q "^ *$row  *$times  *[0-9]" "$tmp/client" || {
		echo "no row of $row bytes:"
		cat "$tmp/client"
		return 1
	}
}

devices_are_listed()
{
	status 0 "$pier" run -- ibv_devices && says "$tmp/out" soft_lo
}

a_device_is_described()
{
	status 0 "$pier" run -- ibv_devinfo -v -d soft_lo &&
	    tr -s '\t' ' ' <"$tmp/out" >"$tmp/words" &&
	    says "$tmp/words" "hca_id: soft_lo" "PORT_ACTIVE (4)" \
		"link_layer: Ethernet" "atomic_cap: ATOMIC_GLOB" \
		"::ffff:127.0.0.1, RoCE v2" "max_ah: 1048576" "max_mw: 1048576"
}

# The program goes on until it is ended.
events_are_waited_for()
{
	timeout 60 "$pier" run -- ibv_asyncwatch -d soft_lo >"$tmp/out" 2>&1 &
	server=$!
	wait_for 30 grep -q "async event FD" "$tmp/out"
	kill -0 "$server" && kill "$server"
	wait "$server"
	says "$tmp/out" "soft_lo: async event FD"
}

# -c compares what was received.
a_pingpong_polls()
{
	pingpong ibv_rc_pingpong -c
}

a_pingpong_waits_for_events()
{
	pingpong ibv_rc_pingpong -c -e
}

receives_are_shared()
{
	pingpong ibv_srq_pingpong
}

sends_are_measured()
{
	measure 8 300 ib_send_lat && measure 65536 200 ib_send_bw
}

sends_are_measured_with_events()
{
	measure 8 300 ib_send_lat -e
}

writes_are_measured()
{
	measure 65536 200 ib_write_bw
}

# Both sides poll the memory that is written.
writes_into_polled_memory_are_seen()
{
	measure 8 300 ib_write_lat
}

reads_and_atomics_are_measured()
{
	measure 65536 100 ib_read_bw && measure 8 300 ib_atomic_lat
}

# One request of a hundred has a completion.
few_requests_are_signalled()
{
	measure 4096 1000 ib_write_bw -Q 100
}

# The data are compared.
datagrams_are_sent()
{
	pingpong ibv_ud_pingpong -c && pingpong ibv_ud_pingpong -e
}

datagrams_are_measured()
{
	measure 8 300 ib_send_lat -c UD && measure 1024 200 ib_send_bw -c UD
}

# XRC is not offered, and the program says that it got none.
what_is_missing_is_an_error()
{
	next_port
	! timeout 30 "$pier" run -- ibv_xsrq_pingpong -d soft_lo -g 0 \
	    -p "$port" >"$tmp/out" 2>&1 && says "$tmp/out" "XRC Domain"
}

run devices_are_listed
run a_device_is_described
run events_are_waited_for
run a_pingpong_polls
run a_pingpong_waits_for_events
run receives_are_shared
run sends_are_measured
run sends_are_measured_with_events
run writes_are_measured
run writes_into_polled_memory_are_seen
run reads_and_atomics_are_measured
run few_requests_are_signalled
run datagrams_are_sent
run datagrams_are_measured
run what_is_missing_is_an_error
tap_done
