#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# UCX as Debian has it, on soft devices.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need ucx-utils ucx_info ucx_perftest

transports_are_listed()
{
	status 0 "$pier" run -- ucx_info -d &&
	    says "$tmp/out" "Transport: rc_verbs" "Transport: ud_verbs" \
		"Device: soft_lo:1"
}

# measure TRANSPORTS TEST SIZE - by UCX on soft_lo alone
measure()
{
	export UCX_TLS="$1" UCX_NET_DEVICES=soft_lo:1
	pair ucx_perftest -t "$2" -s "$3" -n 200 -w 10 &&
	    says "$tmp/client" "Final:"
}

tags_are_sent_as_datagrams()
{
	measure ud_verbs tag_lat 8
}

tags_are_sent_by_connections()
{
	measure rc_v tag_lat 8
}

# By a rendezvous, which reads them.
long_messages_are_sent_by_connections()
{
	measure rc_v tag_bw 300000
}

memory_is_read_and_written()
{
	measure rc_v ucp_put_lat 8 && measure rc_v ucp_get 4096
}

run transports_are_listed
run tags_are_sent_as_datagrams
run tags_are_sent_by_connections
run long_messages_are_sent_by_connections
run memory_is_read_and_written
tap_done
