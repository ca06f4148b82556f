#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# UCX as Debian has it, on soft devices.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
need ucx-utils ucx_info ucx_perftest

transports_are_listed()
{
	status 0 "$pier" run -- ucx_info -d &&
	    says "$tmp/out" "Transport: rc_verbs" "Transport: ud_verbs" \
		"Device: soft_lo:1"
}

alone
run transports_are_listed
run_ucx
tap_done
