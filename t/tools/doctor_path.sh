#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier doctor finds what is wrong with the way to a host, which is another
# network namespace, with a cable between the two.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/netns.sh"
own_net "$@"
. "$top/t/lib/doctor.sh"

# serve PORT [INTERFACE] - pier ping on the second host
serve()
{
	in_far "$pier" ping -d "soft_${2:-far0}" --listen="$1" \
		>"$tmp/serve.out" 2>"$tmp/serve.err" &
	wait_for 20 grep -q 'listens on port' "$tmp/serve.out"
}

a_host_that_answers_is_reported()
{
	two_hosts && serve 13579 && doctor -d soft_near0 10.77.0.2 &&
		found "route ok" "10.77.0.2 is reached from 10.77.0.1" near0 &&
		found "choice ok" "soft_near0, GID index" "10.77.0.1" \
			"MTU 1024" &&
		found "path_mtu ok" "packets of 1120 bytes" "reach 10.77.0.2" &&
		found "answer ok" "10.77.0.2 answers from 10.77.0.1" \
			"send" "atomic" &&
		lacks ".* error" &&
		jq -e '.findings[] | select(.check == "answer") |
			.times.read > 0' "$tmp/out"
}

this_host_answers_too()
{
	listen 13579 && doctor 127.0.0.1 && found "answer ok" "127.0.0.1"
}

# On stderr; JSON is for programs, which get no such line.
what_is_waited_for_is_printed()
{
	"$pier" doctor --timeout 2 127.0.0.1 >"$tmp/out" 2>"$tmp/err"
	says "$tmp/err" "waiting 2 s for each answer of 127.0.0.1; Ctrl-C" &&
		doctor 127.0.0.1 && [ ! -s "$tmp/err" ]
}

a_name_that_is_not_known_is_reported()
{
	doctor nowhere.invalid && [ $status -eq 3 ] &&
		found "name error" nowhere.invalid "getent hosts"
}

an_address_that_is_of_no_single_host_is_reported()
{
	for address in 0.0.0.0 :: 224.0.0.1 ff02::1 255.255.255.255; do
		doctor $address && [ $status -eq 3 ] &&
			found "address error" "$address is" \
				"| a unicast address" &&
			lacks route && lacks choice && lacks answer || return 1
	done
}

a_link_local_address_has_its_interface()
{
	doctor fe80::1 && found "address error" "fe80::1 is link-local" \
			"fe80::1%INTERFACE" &&
		lacks route && doctor --timeout 1 fe80::1%lo && lacks address
}

# link_local NUMBER - the same addresses on each cable
link_local()
{
	ip addr add fe80::77:1/64 dev "near$1" nodad &&
		in_far ip addr add fe80::77:2/64 dev "far$1" nodad
}

a_link_local_host_is_reached_by_its_interface()
{
	two_hosts && connect_both 1 && link_local 0 && link_local 1 &&
		serve 13579 far1 &&
		doctor --timeout 5 -d soft_near1 fe80::77:2%near1 &&
		found "route ok" "fe80::77:1%near1, an address of near1" &&
		found "choice ok" "soft_near1, GID index" \
			"which is fe80::77:1%near1" "the route leads" &&
		found "answer ok" "fe80::77:2%near1 answers" &&
		doctor --timeout 1 -d soft_near0 fe80::77:2%near1 &&
		found "choice error" "does not have fe80::77:1%near1" \
			"-d soft_near1, or"
}

a_host_without_a_route_is_reported()
{
	doctor 203.0.113.1 && found "route error" "no route to 203.0.113.1" \
		"ip route get 203.0.113.1"
}

a_device_that_does_not_lead_there_is_reported()
{
	two_hosts && doctor --timeout 1 -d soft_lo 10.77.0.2 &&
		found "choice error" "soft_lo does not have 10.77.0.1" \
			"-d soft_near0, or PIER_DEVICE=soft_near0" &&
		lacks path_mtu && lacks answer
}

# A port without a carrier is not active, but has its address.
an_address_of_no_active_device_is_reported()
{
	two_hosts && connect_both 1 && in_far ip link set far1 down &&
		wait_for 10 has_no_carrier near1 &&
		ip route add 10.79.0.0/24 dev near0 src 10.77.1.1 &&
		doctor --timeout 1 -d soft_near0 10.79.0.2 &&
		found "choice error" "soft_near0 does not have 10.77.1.1" \
			"ip route get 10.79.0.2; no active device has that"
}

# has_no_carrier INTERFACE
has_no_carrier()
{
	[ "$(cat "/sys/class/net/$1/carrier")" = 0 ] ||
		ip link show "$1" | grep -q NO-CARRIER
}

an_address_of_this_host_is_reached_from_any_device()
{
	two_hosts && doctor --timeout 1 -d soft_near0 127.0.0.1 &&
		found "choice ok" "soft_near0, with an address of its own" \
			"127.0.0.1: it is this host" &&
		chosen 'has("gid") or has("index") | not'
}

an_address_of_no_interface_is_reported()
{
	ip route add local 10.88.0.0/16 dev lo &&
		doctor --timeout 1 -d soft_lo 10.88.1.2 &&
		found "route ok" "from 10.88.1.2, an address of no interface"
	held=$?
	ip route del local 10.88.0.0/16 dev lo
	return $held
}

# chosen EXPRESSION - of jq, for what was chosen
chosen()
{
	jq -e ".findings[] | select(.check == \"choice\") | $1" "$tmp/out"
}

# index_of DEVICE GID
index_of()
{
	"$pier" info -d "$1" --json | jq ".devices[].gids[] |
		select(.gid == \"$2\") | .index"
}

a_gid_that_is_named_is_the_choice()
{
	ip addr add 10.66.0.1/32 dev lo || return 1
	index=$(index_of soft_lo 10.66.0.1)
	doctor --timeout 1 -d soft_lo -g "$index" 127.0.0.1 &&
		found "choice ok" "soft_lo, GID index $index" \
			"which is 10.66.0.1," "for 127.0.0.1: -g names it" &&
		chosen ".index == $index and .gid == \"10.66.0.1\" and
			.device == \"soft_lo\" and .mtu == 4096"
	held=$?
	ip addr del 10.66.0.1/32 dev lo
	return $held
}

# Connections take the address that is of the family of -g.
a_name_with_both_families_is_reached_by_either()
{
	printf '::1 both.test\n127.0.0.1 both.test\n' >"$tmp/hosts"
	four=$(index_of soft_lo 127.0.0.1) six=$(index_of soft_lo ::1)
	place <<-END
	mount --bind $tmp/hosts /etc/hosts
	END
	doctor --timeout 1 -d soft_lo -g "$four" both.test &&
		found "choice ok" "which is 127.0.0.1," "both.test: -g names" &&
		doctor --timeout 1 -d soft_lo -g "$six" both.test &&
		found "choice ok" "which is ::1," "both.test: -g names" &&
		doctor --timeout 1 -d soft_lo -g "$four" ::ffff:127.0.0.1 &&
		found "choice ok" "which is 127.0.0.1,"
}

a_gid_of_another_family_is_an_error()
{
	four=$(index_of soft_lo 127.0.0.1) six=$(index_of soft_lo ::1) &&
		doctor --timeout 1 -d soft_lo -g "$six" 127.0.0.1 &&
		found "choice error" "which -g names, is ::1:" \
			"127.0.0.1 is reached from an IPv4 address" \
			"| -g $four, which is 127.0.0.1, or no -g" &&
		chosen ".index == $six and .gid == \"::1\"" &&
		lacks answer && lacks path_mtu && [ $status -eq 3 ] &&
		doctor --timeout 1 -d soft_lo -g "$four" ::1 &&
		found "choice error" "is 127.0.0.1:" "from an IPv6 address" \
			"| -g $six, which is ::1, or no -g" &&
		two_hosts && four=$(index_of soft_near0 10.77.0.1) &&
		doctor --timeout 1 -d soft_near0 -g "$four" ::1 &&
		found "choice error" "is 10.77.0.1:" "| no -g"
}

a_strict_filter_of_another_way_is_reported()
{
	two_hosts && connect_both 1 &&
		echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter &&
		echo 0 >/proc/sys/net/ipv4/conf/near1/rp_filter &&
		doctor --timeout 1 -d soft_near1 10.77.1.2 &&
		found "rp_filter ok" "not strict" &&
		echo 1 >/proc/sys/net/ipv4/conf/near1/rp_filter &&
		doctor --timeout 1 -d soft_near1 10.77.1.2 &&
		found "rp_filter ok" "is strict" "as they do" &&
		doctor --timeout 1 -d soft_near1 10.77.0.2 &&
		found "rp_filter error" "may arrive on near0 only" \
			"sysctl -w net.ipv4.conf.near1.rp_filter=2"
}

# frames - of the cable between both hosts
frames()
{
	ip link set near0 mtu 9000 && in_far ip link set far0 mtu 9000
}

# A port of a switch drops what is too long for it.
packets_that_are_lost_for_their_length_are_reported()
{
	two_hosts && frames && in_far ip link set far0 mtu 1500 &&
		doctor --timeout 1 -d soft_near0 10.77.0.2 &&
		found "path_mtu warning" "packets of 4192 bytes" \
			"lost without a message" \
			"ip link set near0 mtu 1500"
}

a_short_mtu_of_the_interface_is_not_proposed_again()
{
	two_hosts && in_far ip link set far0 mtu 1000 &&
		doctor --timeout 1 -d soft_near0 10.77.0.2 &&
		found "path_mtu warning" "packets of 1120 bytes" \
			"lost without a message" \
			"raise the MTU on the way to 1120 or more" &&
		! grep "^path_mtu.*ip link set" "$tmp/lines"
}

an_end_with_a_smaller_mtu_is_no_fault()
{
	two_hosts && frames && in_far ip link set far0 mtu 1500 &&
		serve 13579 && doctor -d soft_near0 10.77.0.2 &&
		found "answer ok" && found "path_mtu ok" "both use that"
}

a_connection_that_does_not_move_data_is_reported()
{
	ip link del near0 2>/dev/null
	far_host && connect_by_switch && ip link set near0 mtu 9000 &&
		in_far ip link set host0 mtu 9000 &&
		in_far ip link set host0_port mtu 9000 &&
		serve 13579 host0 &&
		doctor --timeout 2 -d soft_near0 10.77.0.2 &&
		found "answer error" "accepts the connection, then:" \
			"pier counters" &&
		found "path_mtu warning" "lost without a message"
}

# A third host, to which the second one is the router.
third_host()
{
	unshare -n tail -f /dev/null &
	third=$!
	wait_for 10 third_is_unshared &&
		in_far ip link add out type veth peer name in netns $third &&
		in_far ip addr add 10.78.0.1/24 dev out &&
		in_far ip link set out up mtu 1280 &&
		in_far sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' &&
		nsenter -t $third -n ip addr add 10.78.0.2/24 dev in &&
		nsenter -t $third -n ip link set in up mtu 1280 &&
		nsenter -t $third -n ip route add default via 10.78.0.1 &&
		ip route add 10.78.0.0/24 via 10.77.0.2
}

third_is_unshared()
{
	[ "$(readlink /proc/$third/ns/net)" != "$(readlink /proc/$$/ns/net)" ]
}

the_mtu_of_a_router_is_reported()
{
	two_hosts && frames && third_host &&
		doctor --timeout 1 -d soft_near0 10.78.0.2 &&
		found "path_mtu warning" "the MTU of the path is 1280" \
			"ip link set near0 mtu 1280"
}

a_host_that_is_silent_is_reported()
{
	command -v nft >/dev/null || skip "there is no nft"
	two_hosts && serve 13579 &&
		in_far nft 'add table inet f; add chain inet f i {
			type filter hook input priority 0; policy drop; }' &&
		doctor --timeout 1 -d soft_near0 10.77.0.2 &&
		found "path_mtu ok" "is not known" &&
		found "answer error" "a probe of the port got no answer" \
			"pier ping --listen=13579 on 10.77.0.2"
}

a_port_without_a_server_is_reported()
{
	two_hosts && doctor --timeout 2 -d soft_near0 10.77.0.2:7000 &&
		found "answer error" "by ICMP, no socket there has the port" \
			"pier ping --listen=7000"
}

that_this_end_cannot_be_set_up_is_reported()
{
	two_hosts && ip link set near0 down &&
		doctor --timeout 2 -d soft_near0 127.0.0.1 &&
		found "answer error" "soft_near0" "down" \
			"| pier info -d soft_near0 shows whether" &&
		! grep "^answer.*--listen" "$tmp/lines"
}

# The host was sent nothing, so that a server there would not help.
a_device_without_an_address_of_the_family_is_reported()
{
	two_hosts && ip -6 addr flush dev near0 &&
		doctor --timeout 2 -d soft_near0 ::1 &&
		found "answer error" "-g has to name one" &&
		! grep "^answer.*--listen" "$tmp/lines"
}

a_firewall_that_rejects_is_reported()
{
	command -v nft >/dev/null || skip "there is no nft"
	two_hosts && in_far nft 'add table inet f' &&
		in_far nft 'add chain inet f i {
			type filter hook input priority 0; }' &&
		in_far nft 'add rule inet f i meta l4proto udp reject \
			with icmpx type admin-prohibited' &&
		doctor --timeout 1 -d soft_near0 10.77.0.2 &&
		found "answer error" "or a firewall rejects the packets"
}

a_firewall_of_this_host_is_reported()
{
	command -v nft >/dev/null || skip "there is no nft"
	two_hosts && nft 'add table inet f; add chain inet f o {
			type filter hook output priority 0; }
		add rule inet f o udp dport 7000 drop' &&
		doctor --timeout 1 -d soft_near0 10.77.0.2:7000
	held=$?
	nft flush ruleset
	[ $held -eq 0 ] && found "answer error" \
		"a firewall of this host does not let the packets leave"
}

another_server_accepts_or_rejects_the_connection()
{
	two_hosts || return 1
	in_far "$pier" perf -d soft_far0 --listen 7000 >"$tmp/serve.out" \
		2>"$tmp/serve.err" &
	wait_for 20 grep -qs 'waiting for clients on port' \
		"$tmp/serve.err" &&
		doctor --timeout 2 -d soft_near0 10.77.0.2:7000 &&
		found "answer ok" "10.77.0.2:7000 rejects" || return 1
	in_far "$build/samples/rdma_send" -d soft_far0 -cm -lp 7001 &
	wait_for 20 receives 7001 &&
		doctor --timeout 2 -d soft_near0 10.77.0.2:7001 &&
		found "answer ok" "10.77.0.2:7001 accepts"
}

# receives PORT - a socket of the second host has it
receives()
{
	in_far ss -uln | grep -q ":$1 "
}

run a_host_that_answers_is_reported
run this_host_answers_too
run what_is_waited_for_is_printed
run a_name_that_is_not_known_is_reported
run an_address_that_is_of_no_single_host_is_reported
run a_link_local_address_has_its_interface
run a_link_local_host_is_reached_by_its_interface
run a_host_without_a_route_is_reported
run a_device_that_does_not_lead_there_is_reported
run an_address_of_no_active_device_is_reported
run an_address_of_this_host_is_reached_from_any_device
run an_address_of_no_interface_is_reported
run a_gid_that_is_named_is_the_choice
run a_name_with_both_families_is_reached_by_either
run a_gid_of_another_family_is_an_error
run a_strict_filter_of_another_way_is_reported
run packets_that_are_lost_for_their_length_are_reported
run a_short_mtu_of_the_interface_is_not_proposed_again
run an_end_with_a_smaller_mtu_is_no_fault
run a_connection_that_does_not_move_data_is_reported
run the_mtu_of_a_router_is_reported
run a_host_that_is_silent_is_reported
run a_port_without_a_server_is_reported
run that_this_end_cannot_be_set_up_is_reported
run a_device_without_an_address_of_the_family_is_reported
run a_firewall_that_rejects_is_reported
run a_firewall_of_this_host_is_reported
run another_server_accepts_or_rejects_the_connection
tap_done
