#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The soft device and a RoCE device, the kernel's Soft-RoCE, with a cable
# between them: rxe2 on p0 here, soft_p1 in the namespace "peer".  Needs what
# t/vm/run makes.
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
bin=$build/samples
pier=$build/tools/pier
bulk=$build/t/ops/bulk.t
[ -x "$bin/rdma_send" ] || skip_all "the samples are not built"
[ -x "$pier" ] || skip_all "pier(1) is not built"
[ -x "$bulk" ] || skip_all "t/ops/bulk.t is not built"
. "$top/t/vm/net.sh"

serial=0
family=4

# gid_index GID - its index in rxe2's table
gid_index()
{
	file=$(grep -lsx "$1" /sys/class/infiniband/rxe2/ports/1/gids/* |
		head -n 1)
	echo "${file##*/}"
}

# Options that choose the device and its address of $family.
rxe_end()
{
	case $family in
	4)	gid=0000:0000:0000:0000:0000:ffff:0a09:0101 ;;
	*)	gid=fd00:0009:0001:0000:0000:0000:0000:0001 ;;
	esac
	echo "-d rxe2 -g $(gid_index $gid)"
}

# The soft device lists IPv4 first, and what is link-local last.
soft_end()
{
	case $family in
	4)	echo "-d soft_p1 -g 0" ;;
	*)	echo "-d soft_p1 -g 1" ;;
	esac
}

# on rxe|soft COMMAND... - as that end: in its namespace, with its options
on()
{
	end=$1
	shift
	# shellcheck disable=SC2046 # several words
	case $end in
	rxe)	timeout 100 "$@" $(rxe_end) ;;
	*)	vm_in_peer timeout 100 "$@" $(soft_end) ;;
	esac
}

# both A B "A_COMMAND" "B_COMMAND" - A and B are rxe or soft, in some order
both()
{
	rm -f "$tmp/a" "$tmp/b" "$tmp/m"
	# shellcheck disable=SC2086 # commands of several words
	on "$1" $3 -ld "$tmp/a" -re "$tmp/b" -m "$tmp/m" --timeout 40 \
		>"$tmp/a.out" 2>&1 &
	# shellcheck disable=SC2086
	on "$2" $4 -ld "$tmp/b" -re "$tmp/a" -m "$tmp/m" --timeout 40 \
		>"$tmp/b.out" 2>&1
	b_status=$?
	wait $!
	a_status=$?
	[ $a_status -eq 0 ] && [ $b_status -eq 0 ] && return
	echo "$1: $3: $a_status; $2: $4: $b_status"
	cat "$tmp/a.out" "$tmp/b.out"
	return 1
}

# pair A B A_SAMPLE B_SAMPLE TEXT_OPTION - A has a text, B prints it
pair()
{
	serial=$((serial + 1))
	both "$1" "$2" "$bin/rdma_$3 $5 text$serial" "$bin/rdma_$4" &&
		grep -qF "\"text$serial\"" "$tmp/b.out"
}

# Each pair of samples, with either device at either end.
pairs()
{
	for ends in "rxe soft" "soft rxe"; do
		# shellcheck disable=SC2086 # two words
		pair $ends send receive -s &&
		pair $ends read_responder read_requester -r &&
		pair $ends write_requester write_responder -w &&
		pair $ends "multi_conn_send -nc 3" \
			"multi_conn_receive -nc 3" -s || return 1
	done
}

# cable MTU PATH_MTU - give the cable that MTU; both devices must see it
cable()
{
	rdma link delete rxe2
	ip link set p0 mtu "$1" &&
		vm_in_peer ip link set p1 mtu "$1" &&
		vm_rxe rxe2 p0 &&
		"$pier" info -d rxe2 >"$tmp/rxe" &&
		vm_in_peer "$pier" info -d soft_p1 >"$tmp/soft" &&
		grep -q "mtu *$2\$" "$tmp/rxe" &&
		grep -q "mtu *$2\$" "$tmp/soft"
}

# moves OPERATION - a large transfer and its rate, both ways
moves()
{
	for ends in "rxe soft" "soft rxe"; do
		perf="$pier perf bw $1 -s 1M -n 20 --warmup 2 --outstanding 4"
		# shellcheck disable=SC2086
		both $ends "$perf --respond" "$perf" || return 1
		grep -q GB/s "$tmp/b.out" || return 1
		echo "$ends: $(tail -n 1 "$tmp/b.out")" >>"$tmp/rates"
	done
}

# Every byte of messages of many sizes, both ways.
arrives_whole()
{
	for ends in "rxe soft" "soft rxe"; do
		# shellcheck disable=SC2086
		both $ends "$bulk --respond" "$bulk" || return 1
	done
}

samples_work_at_a_path_mtu_of_4096_over_ipv4()
{
	cable 9000 4096 && pairs
}

samples_work_at_a_path_mtu_of_4096_over_ipv6()
{
	family=6
	pairs
}

# Their messages are shorter than either path MTU: some of the pairs will do.
some_pairs()
{
	pair rxe soft send receive -s &&
		pair soft rxe read_responder read_requester -r
}

samples_work_at_a_path_mtu_of_1024_over_ipv4()
{
	cable 1500 1024 && some_pairs
}

samples_work_at_a_path_mtu_of_1024_over_ipv6()
{
	family=6
	some_pairs
}

large_messages_arrive_whole_at_a_path_mtu_of_1024()
{
	arrives_whole && family=6 && arrives_whole
}

large_messages_arrive_whole_at_a_path_mtu_of_4096()
{
	cable 9000 4096 && arrives_whole && family=6 && arrives_whole
}

# The responder exits with 0 if it got a goodbye, and not by its keepalive.
a_goodbye_takes_the_place_of_sends_that_wait()
{
	for ends in "rxe soft" "soft rxe"; do
		# shellcheck disable=SC2086
		both $ends "$bulk --respond" "$bulk --vain" || return 1
	done
}

large_writes_go_both_ways()
{
	moves write
}

large_reads_go_both_ways()
{
	moves read
}

large_sends_go_both_ways()
{
	moves send
}

large_writes_go_both_ways_over_ipv6()
{
	family=6
	moves write
}

# lossy PERCENT - both directions of the cable lose as many packets
lossy()
{
	modprobe sch_netem || return 1
	tc qdisc add dev p0 root netem loss "$1%" &&
	vm_in_peer tc qdisc add dev p1 root netem loss "$1%" || return 1
	some_pairs && arrives_whole
	held=$?
	tc qdisc del dev p0 root
	vm_in_peer tc qdisc del dev p1 root
	return $held
}

a_cable_that_loses_one_percent_loses_no_data()
{
	lossy 1
}

a_cable_that_loses_five_percent_loses_no_data()
{
	lossy 5
}

# Beside rxe, in the namespace where that has the port.
the_port_that_rxe_holds_is_named()
{
	rm -f "$tmp/a" "$tmp/b"
	timeout 100 "$bin/rdma_send" -d rxe2 -ld "$tmp/a" -re "$tmp/b" \
		--timeout 10 >"$tmp/a.out" 2>&1 &
	timeout 100 "$bin/rdma_receive" -d soft_p0 -ld "$tmp/b" -re "$tmp/a" \
		--timeout 10 >"$tmp/b.out" 2>&1
	status=$?
	wait
	cat "$tmp/b.out"
	[ $status -eq 1 ] && grep -q "unload rdma_rxe" "$tmp/b.out"
}

vm_peer || skip_all "the second namespace could not be made"
run samples_work_at_a_path_mtu_of_4096_over_ipv4
run samples_work_at_a_path_mtu_of_4096_over_ipv6
run samples_work_at_a_path_mtu_of_1024_over_ipv4
run samples_work_at_a_path_mtu_of_1024_over_ipv6
run large_messages_arrive_whole_at_a_path_mtu_of_1024
run large_messages_arrive_whole_at_a_path_mtu_of_4096
run a_goodbye_takes_the_place_of_sends_that_wait
run large_writes_go_both_ways
run large_reads_go_both_ways
run large_sends_go_both_ways
run large_writes_go_both_ways_over_ipv6
run a_cable_that_loses_one_percent_loses_no_data
run a_cable_that_loses_five_percent_loses_no_data
run the_port_that_rxe_holds_is_named
sed 's/^/# /' "$tmp/rates"
vm_peer_end
tap_done
