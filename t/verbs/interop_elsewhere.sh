#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A server on one device is reached by an address of another device of its host:
# the client shows where it listens, when one end is soft and the other one not.
# Needs what t/vm/run makes.
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
pier=$build/tools/pier
[ -x "$pier" ] || skip_all "the tool is not built"
. "$top/t/vm/net.sh"
port=18700

# serve COMMAND... - a server in the background
serve()
{
	port=$((port + 1))
	: >"$tmp/serve.out"
	"$@" ping --listen "$port" >"$tmp/serve.out" 2>"$tmp/serve.err" &
	server=$!
	vm_wait grep -q 'listens on port' "$tmp/serve.out" || {
		cat "$tmp/serve.err"
		return 1
	}
}

# ask WANTED ADDRESS COMMAND... - the error of its client has WANTED
ask()
{
	wanted=$1
	address=$2
	shift 2
	"$@" ping -c1 --timeout 4 "$address:$port" \
		>"$tmp/out" 2>"$tmp/err"
	got=$?
	# The server may be a child of what was started here.
	kill $(pgrep -P $server) $server
	wait $server
	grep -q -- "$wanted" "$tmp/err" && [ $got -eq 1 ] || {
		echo "exit $got, not: $wanted"
		cat "$tmp/err" "$tmp/serve.out" "$tmp/serve.err"
		return 1
	}
}

here()
{
	device=$1
	shift
	command=$1
	shift
	timeout 150 "$pier" "$command" -d "$device" "$@"
}

there()
{
	device=$1
	shift
	command=$1
	shift
	vm_in_peer timeout 150 "$pier" "$command" -d "$device" "$@"
}

soft_clients_show_where_a_verbs_server_listens()
{
	serve here rxe2 &&
		ask "requested address, but listens at 10.9.1.1 (" 10.9.2.1 \
			there soft_q1
}

verbs_clients_show_where_a_soft_server_listens()
{
	serve there soft_p1 &&
		ask "requested address, but listens at 10.9.1.2 (" 10.9.3.2 \
			here rxe2
}

verbs_clients_show_where_a_verbs_server_listens()
{
	serve here rxe2 &&
		ask "requested address, but listens at 10.9.1.1 (" 10.9.2.1 \
			here rxe3
}

# A second cable to the namespace, and an address there that is no device's.
second_cable()
{
	vm_pair q0 q1 &&
	ip link set q1 netns peer &&
	vm_up q0 10.9.2.1/24 &&
	vm_in_peer ip addr add 10.9.2.2/24 dev q1 &&
	vm_in_peer ip link set q1 up &&
	vm_in_peer ip addr add 10.9.3.2/32 dev lo &&
	ip route add 10.9.3.2/32 via 10.9.1.2 dev p0 &&
	vm_rxe rxe3 q0
}

vm_peer && second_cable || skip_all "the second namespace could not be made"
run soft_clients_show_where_a_verbs_server_listens
run verbs_clients_show_where_a_soft_server_listens
run verbs_clients_show_where_a_verbs_server_listens
rdma link delete rxe3
vm_peer_end
tap_done
