#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# libfabric as Debian has it, on soft devices.  Its verbs provider connects on
# no interface that is named lo.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
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

# exchange TYPE - messages of several sizes, whose data are compared
exchange()
{
	next_port
	timeout 60 "$pier" run -- fi_pingpong -p "$1" -e "$2" -I 20 -c \
	    -B "$port" >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 listens_or_ended
	timeout 60 "$pier" run -- fi_pingpong -p "$1" -e "$2" -I 20 -c \
	    -P "$port" "$address" >"$tmp/client" 2>&1
	client=$?
	both_succeed && says "$tmp/client" "1k" "64k"
}

connected_endpoints_exchange_messages()
{
	exchange verbs msg
}

endpoints_without_a_connection_of_their_own_do()
{
	exchange "verbs;ofi_rxm" rdm
}

run endpoints_are_listed
run connected_endpoints_exchange_messages
run endpoints_without_a_connection_of_their_own_do
tap_done
