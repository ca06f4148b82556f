#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Two Soft-RoCE devices with a cable between them: what one device talking to
# itself does not show.  Needs rxe0 and rxe1 as t/vm/run makes them.
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
bin=$build/samples
[ -x "$bin/rdma_send" ] || skip_all "the samples are not built"
. "$top/t/vm/net.sh"

serial=0

# gid_index DEVICE GID - its index in the device's table
gid_index()
{
	file=$(grep -lsx "$2" /sys/class/infiniband/"$1"/ports/1/gids/* |
		head -n 1)
	echo "${file##*/}"
}

# end A_OR_B SAMPLE OPTION... - run a sample as one end, in $tmp
end()
{
	end=$1 sample=$2
	shift 2
	case $end in
	a)	device=rxe0 other=b ;;
	*)	device=rxe1 other=a ;;
	esac
	timeout 60 "$bin/rdma_$sample" -d $device -ld "$tmp/$end" \
		-re "$tmp/$other" -m "$tmp/m" --timeout "${limit:-30}" "$@"
}

# pair A_SAMPLE B_SAMPLE TEXT_OPTION [A_GID B_GID] - A has a text, B prints it
pair()
{
	serial=$((serial + 1))
	text="text $serial"
	rm -f "$tmp/a" "$tmp/b" "$tmp/m"
	end a "$1" "$3" "$text" ${4:+-g "$4"} >"$tmp/a.out" 2>&1 &
	end b "$2" ${5:+-g "$5"} >"$tmp/b.out" 2>&1
	b_status=$?
	wait $!
	a_status=$?
	cat "$tmp/a.out" "$tmp/b.out"
	[ $a_status -eq 0 ] && [ $b_status -eq 0 ] &&
		grep -qF "\"$text\"" "$tmp/b.out"
}

# Packets that DEV has sent; rxe counts its own.
sent()
{
	cat "/sys/class/net/$1/statistics/tx_packets"
}

over_the_cable()
{
	before=$(sent v0)
	"$@" && [ "$(sent v0)" -gt "$before" ]
}

a_send_crosses_the_cable()
{
	over_the_cable pair send receive -s
}

a_read_crosses_the_cable()
{
	over_the_cable pair read_responder read_requester -r
}

a_write_crosses_the_cable()
{
	over_the_cable pair write_requester write_responder -w
}

it_crosses_in_ipv6_if_its_gid_is_asked_for()
{
	a=$(gid_index rxe0 fd00:0009:0000:0000:0000:0000:0000:0001)
	b=$(gid_index rxe1 fd00:0009:0000:0000:0000:0000:0000:0002)
	[ -n "$a" ] && [ -n "$b" ] || return 1
	over_the_cable pair send receive -s "$a" "$b"
}

mixed_families_are_refused()
{
	a=$(gid_index rxe0 fd00:0009:0000:0000:0000:0000:0000:0001)
	b=$(gid_index rxe1 0000:0000:0000:0000:0000:ffff:0a09:0002)
	[ -n "$a" ] && [ -n "$b" ] || return 1
	limit=3
	if pair send receive -s "$a" "$b"; then
		return 1
	fi
	grep -q "common family" "$tmp/a.out" "$tmp/b.out"
}

pairs_work_five_times()
{
	for i in 1 2 3 4 5; do
		pair read_responder read_requester -r || return 1
		pair send receive -s || return 1
		pair write_requester write_responder -w || return 1
	done
}

a_lossy_cable_loses_no_data()
{
	modprobe sch_netem || return 1
	tc qdisc add dev v0 root netem loss 10% &&
	tc qdisc add dev v1 root netem loss 10% || return 1
	pairs_work_five_times
	held=$?
	tc qdisc del dev v0 root
	tc qdisc del dev v1 root
	return $held
}

a_port_that_is_down_is_named()
{
	vm_peer && ip link set p0 down || return 1
	timeout 60 "$bin/rdma_send" -d rxe2 -ld "$tmp/a" -re "$tmp/b" \
		--timeout 3 >"$tmp/a.out" 2>&1
	status=$?
	vm_peer_end
	cat "$tmp/a.out"
	[ $status -eq 1 ] && grep -q "bring p0 up" "$tmp/a.out"
}

run a_send_crosses_the_cable
run a_read_crosses_the_cable
run a_write_crosses_the_cable
run it_crosses_in_ipv6_if_its_gid_is_asked_for
run mixed_families_are_refused
run a_lossy_cable_loses_no_data
run a_port_that_is_down_is_named
tap_done
