#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# libfabric as Debian has it, on soft devices.  Its verbs provider connects on
# no interface that is named lo.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
need libfabric-bin fi_info fi_pingpong
not_lo

# lists TYPE TEXT...
lists()
{
	type=$1
	shift
	status 0 "$pier" run -- fi_info -p verbs -t "$type" -n "$address" &&
	    says "$tmp/out" "type: $type" "$@"
}

endpoints_are_listed()
{
	status 0 "$pier" run -- fi_info -p verbs &&
	    says "$tmp/out" "type: FI_EP_MSG" "type: FI_EP_DGRAM" &&
	    lists FI_EP_MSG FI_PROTO_RDMA_CM_IB_RC &&
	    lists FI_EP_RDM "provider: verbs;ofi_rxm"
}

alone "$address"
run endpoints_are_listed
run libfabric_exchanges_messages
tap_done
