#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of Debian's rdmacm-utils, as they are, on soft devices: two processes
# each.  perftest with -R connects by rdma_cm, too.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
need rdmacm-utils rping ucmatose cmtime rdma_server rdma_client udaddy
need perftest ib_send_lat ib_send_bw ib_write_lat ib_write_bw ib_read_lat \
    ib_read_bw ib_atomic_lat ib_atomic_bw

a_port_without_a_listener_is_reported()
{
	next_port
	finish rping -c -a "$address" -C 1 -p "$port"
	[ "$client" -ne 0 ] && says "$tmp/client" "RDMA_CM_EVENT_REJECTED"
}

alone
run_perftest_by_cm
run_cm
run a_port_without_a_listener_is_reported
tap_done
