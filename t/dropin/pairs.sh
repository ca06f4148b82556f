#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian's ibverbs-utils and perftest, as they are, on soft devices:
# two processes each.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
need ibverbs-utils ibv_asyncwatch ibv_devices ibv_devinfo ibv_rc_pingpong \
    ibv_srq_pingpong ibv_ud_pingpong ibv_xsrq_pingpong
need perftest ib_send_lat ib_send_bw ib_write_lat ib_write_bw ib_read_lat \
    ib_read_bw ib_atomic_lat ib_atomic_bw

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

has_event()
{
	grep -q "event_type IBV_EVENT_$1 .*port 1" "$tmp/out"
}

# On another host, whose lo can be taken down.  The program goes on until it is
# ended.
events_are_reported()
{
	unshare -n true || skip "no network namespace can be made"
	far_host && in_far ip link set lo up || return
	in_far timeout $((90 * ${PIER_TEST_SLOWER:-1})) "$pier" run \
	    --only-soft -- ibv_asyncwatch -d soft_lo >"$tmp/out" 2>&1 &
	server=$!
	wait_for 30 grep -q "soft_lo: async event FD" "$tmp/out" &&
	    ! has_event PORT_ERR && in_far ip link set lo down &&
	    wait_for 20 has_event PORT_ERR && in_far ip link set lo up &&
	    wait_for 20 has_event PORT_ACTIVE && kill -0 "$server" || {
		cat "$tmp/out"
		return 1
	}
}

# One request of a hundred has a completion.
few_requests_are_signalled()
{
	rounds=1000
	measure 4096 ib_write_bw -Q 100
}

# -c compares what was received.
datagrams_are_verified()
{
	pingpong ibv_ud_pingpong -c && pingpong ibv_ud_pingpong -e
}

# XRC is not offered, and the program says that it got none.
what_is_missing_is_an_error()
{
	next_port
	! timeout 30 "$pier" run -- ibv_xsrq_pingpong -d soft_lo -g 0 \
	    -p "$port" >"$tmp/out" 2>&1 && says "$tmp/out" "XRC Domain"
}

alone
run devices_are_listed
run a_device_is_described
run events_are_reported
run_pingpongs
run_perftest
run few_requests_are_signalled
run datagrams_are_verified
run what_is_missing_is_an_error
tap_done
