# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# Functions that make networks and devices inside the guest.  A test that
# needs more than rxe0 and rxe1 sources this: . "$srcdir/t/vm/net.sh"
#
#	name	netdev	addresses
#	rxe0	v0	10.9.0.1/24 fd00:9::1/64
#	rxe1	v1	10.9.0.2/24 fd00:9::2/64
#
# The frames are jumbo, so that a path MTU of 4096 can be had; a smaller one
# is the QP's choice.  Packets between rxe0 and rxe1 take the kernel's
# loopback, since both ends are in one namespace.

vm_modules()
{
	for vm_mod in veth rdma_rxe ib_uverbs rdma_ucm; do
		modprobe "$vm_mod" || return 1
	done
}

# vm_pair A B: a cable between two new netdevs.
vm_pair()
{
	ip link add "$1" mtu 9000 type veth peer name "$2" mtu 9000
}

# vm_up DEV ADDRESS...: an address is usable at once, without the wait for
# duplicates.
vm_up()
{
	vm_dev=$1
	shift
	for vm_addr; do
		case $vm_addr in
		*:*) ip addr add "$vm_addr" dev "$vm_dev" nodad ;;
		*) ip addr add "$vm_addr" dev "$vm_dev" ;;
		esac || return 1
	done
	ip link set "$vm_dev" up
}

# vm_wait COMMAND...: until it succeeds, at most 10 seconds.
vm_wait()
{
	vm_n=100
	while ! "$@" >/dev/null 2>&1; do
		vm_n=$((vm_n - 1))
		[ $vm_n -gt 0 ] || return 1
		sleep 0.1
	done
}

# vm_rxe NAME DEV: Soft-RoCE on DEV, with its port active.
vm_rxe()
{
	rdma link add "$1" type rxe netdev "$2" || return 1
	vm_wait grep -q ACTIVE "/sys/class/infiniband/$1/ports/1/state"
}

# vm_over_cable DEV ADDRESS TABLE: what DEV sends to ADDRESS leaves by it, even
# if we have the address.  IPv4 does so by itself; IPv6 would rather take lo.
vm_over_cable()
{
	ip -6 rule add pref 10 oif "$1" lookup "$3" &&
	ip -6 route add "$2/128" dev "$1" table "$3"
}

# vm_listens PORT: in the kernel's tables of connection management.
vm_listens()
{
	rdma resource show cm_id | grep LISTEN | grep -q ":$1 "
}

vm_devices()
{
	# A packet, or a question for the other end's hardware address, comes
	# from one of our own addresses: by default that is forged.
	echo 1 >/proc/sys/net/ipv4/conf/all/accept_local
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	ip link set lo up &&
	vm_pair v0 v1 &&
	vm_up v0 10.9.0.1/24 fd00:9::1/64 &&
	vm_up v1 10.9.0.2/24 fd00:9::2/64 &&
	ip -6 rule add pref 100 lookup local &&
	ip -6 rule del pref 0 &&
	vm_over_cable v0 fd00:9::2 1000 &&
	vm_over_cable v1 fd00:9::1 1001 &&
	vm_rxe rxe0 v0 &&
	vm_rxe rxe1 v1
}

# vm_peer: a second namespace "peer" that the soft device can have, since rxe
# holds UDP port 4791 in the first one.  rxe2 here, on p0 with 10.9.1.1 and
# fd00:9:1::1, has a cable to p1 there with 10.9.1.2 and fd00:9:1::2.
vm_peer()
{
	ip netns add peer &&
	vm_pair p0 p1 &&
	ip link set p1 netns peer &&
	vm_up p0 10.9.1.1/24 fd00:9:1::1/64 &&
	vm_in_peer ip link set lo up &&
	vm_in_peer ip addr add 10.9.1.2/24 dev p1 &&
	vm_in_peer ip addr add fd00:9:1::2/64 dev p1 nodad &&
	vm_in_peer ip link set p1 up &&
	vm_rxe rxe2 p0
}

vm_in_peer()
{
	ip netns exec peer "$@"
}

vm_peer_end()
{
	rdma link delete rxe2
	ip netns delete peer
}
