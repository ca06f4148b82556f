# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# Tests in a network namespace of their own, and in a second one as on another
# host: source it after tap.sh.

# own_net "$@" - run the test again in a namespace; there it only returns
own_net()
{
	[ "${1:-}" != inside ] || return 0
	for rights in -n -rn; do
		unshare $rights true 2>/dev/null || continue
		unshare $rights sh "$0" inside
		exit
	done
	skip_all "no network namespace can be made"
}

# far_host - the second one, of a process that does nothing: $far
far_host()
{
	unshare -n tail -f /dev/null &
	far=$!
	wait_for 10 is_unshared
}

is_unshared()
{
	[ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/$$/ns/net)" ]
}

# in_far COMMAND... - as on the second host
in_far()
{
	nsenter -t $far -n "$@"
}

# is_up COMMAND... - what ip(8) prints has a carrier
is_up()
{
	"$@" | grep -q "state UP"
}

# connect_both [NUMBER] - a cable between the two, the first or another
connect_both()
{
	n=${1:-0}
	ip link add near$n type veth peer name far$n netns $far &&
	    ip addr add 10.77.$n.1/24 dev near$n && ip link set near$n up &&
	    in_far ip addr add 10.77.$n.2/24 dev far$n &&
	    in_far ip link set far$n up &&
	    wait_for 10 is_up ip link show near$n &&
	    wait_for 10 is_up in_far ip link show far$n
}

# two_hosts "$@" - the test again, beside a second host, with a cable to it
two_hosts()
{
	own_net "$@"
	far_host && connect_both >"$tmp/ip" 2>&1 ||
	    skip_all "$(head -n 1 "$tmp/ip")"
}

# connect_by_switch - near0 here and host0 on the second host, whose packets
# pass a switch: far0, its port to near0, can be cut
connect_by_switch()
{
	ip link add near0 type veth peer name far0 netns $far &&
	    in_far ip link add switch0 type bridge &&
	    in_far ip link add host0 type veth peer name host0_port &&
	    in_far ip link set host0_port master switch0 &&
	    join_switch &&
	    ip addr add 10.77.0.1/24 dev near0 &&
	    in_far ip addr add 10.77.0.2/24 dev host0 &&
	    ip link set near0 up || return
	for interface in switch0 host0_port host0 far0; do
		in_far ip link set $interface up || return
	done
	wait_for 10 is_up ip link show near0 &&
	    wait_for 10 is_up in_far ip link show host0
}

# The ports of both hosts stay up, packets between them are lost.
cut_switch()
{
	in_far ip link set far0 nomaster
}

join_switch()
{
	in_far ip link set far0 master switch0
}
