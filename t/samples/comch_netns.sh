#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of a Comm Channel between two network namespaces of the test's
# own, as between two hosts.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"

bin=$build/samples
[ -x "$bin/comch_ctrl_path_server" ] || skip_all "the samples are not built"

two_hosts "$@"

# begin_server HOW TEXT - on the second host, if HOW is in_far
begin_server()
{
	dev=near0
	[ "$1" ] && dev=far0
	$1 timeout 40 "$bin/comch_ctrl_path_server" -p soft_$dev -t "$2" \
	    >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 10 $1 grep -q "@pier-comch\..*\.soft_$dev:" /proc/net/unix ||
	    { echo "no server"; return 1; }
}

# ask DEVICE ADDRESS TEXT
ask()
{
	timeout 40 "$bin/comch_ctrl_path_client" -p "soft_$1" -sa "$2" \
	    -t "$3" >"$tmp/client" 2>&1
}

a_client_reaches_a_server_on_another_host()
{
	begin_server in_far "from far" || return
	ask near0 10.77.0.2 "from near"
	wait $serving || echo "the server failed"
	cat "$tmp/server" "$tmp/client" >"$tmp/both"
	grep -qx 'received "from near"' "$tmp/both" &&
	    grep -qx 'sent "from near", received "from far"' "$tmp/both" ||
	    cat "$tmp/both"
}

both_hosts_have_a_server_of_the_name()
{
	begin_server "" "from near" || return
	near=$serving
	begin_server in_far "from far" || return
	ask near0 10.77.0.2 "to far" || cat "$tmp/client"
	grep -q 'received "from far"' "$tmp/client" || cat "$tmp/client"
	ask near0 10.77.0.1 "to near" || cat "$tmp/client"
	grep -q 'received "from near"' "$tmp/client" || cat "$tmp/client"
	wait $serving && wait $near || echo "a server failed"
}

# moves SERVER CLIENT DEVICE ADDRESS - a long text from a producer to a consumer
# of the other host; they are in_far, or empty
moves()
{
	dev=near0
	[ "$1" ] && dev=far0
	$1 timeout 40 "$bin/comch_data_path_server" -p soft_$dev \
	    >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 10 $1 grep -q "@pier-comch\..*\.soft_$dev:" /proc/net/unix ||
	    { echo "no server"; return 1; }
	text=$(tr -dc '[:graph:]' </dev/urandom | head -c 100000)
	$2 timeout 40 "$bin/comch_data_path_client" -p "soft_$3" -sa "$4" \
	    "--text=$text" >"$tmp/client" 2>&1 || cat "$tmp/client"
	wait $serving || echo "the server failed"
	printf 'sent "Hi DOCA RDMA!"\nreceived "%s"\n' "$text" |
	    cmp - "$tmp/server"
}

a_producer_reaches_a_consumer_on_another_host()
{
	moves in_far "" near0 10.77.0.2
	moves "" in_far far0 10.77.0.1
}

run a_client_reaches_a_server_on_another_host
run both_hosts_have_a_server_of_the_name
none a_producer_reaches_a_consumer_on_another_host
tap_done
