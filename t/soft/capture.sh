#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# PIER_PCAP, by real processes: what they leave is what tshark reads.
. "${0%/*}/../lib/tap.sh"

samples=$build/samples
[ -x "$samples/rdma_read_responder" ] || skip_all "the samples are not built"
cd "$tmp" || exit

# pair PCAP-OF-RESPONDER PCAP-OF-REQUESTER - one reads the other's memory
pair()
{
	PIER_PCAP=$1 timeout 30 "$samples/rdma_read_responder" -d soft_lo \
		-ld a -re b -m m -r "any text" >a.out 2>a.err &
	responder=$!
	PIER_PCAP=$2 PIER_LOG=warning timeout 30 \
		"$samples/rdma_read_requester" -d soft_lo -ld b -re a -m m \
		>b.out 2>b.err
	requester=$?
	wait $responder && [ $requester -eq 0 ] &&
		grep -q 'read "any text"' b.out || {
		cat a.err b.err
		return 1
	}
}

# ops FILE - the operations in it, without those of pier itself
ops()
{
	tshark -r "$1" --disable-heuristic rpcrdma_infiniband -T fields \
		-e _ws.col.Info 2>tshark.err | sed 's/ QP=.*//' | sort -u
}

need_tshark()
{
	command -v tshark >/dev/null || skip "there is no tshark"
}

each_end_captures_both_directions()
{
	need_tshark
	pair a.pcap b.pcap || return 1
	for file in a.pcap b.pcap; do
		ops $file >ops
		for op in "RC Acknowledge" "RC RDMA Write Only" \
		    "RC RDMA Read Request" "RC RDMA Read Response Only"; do
			grep -qx "$op *" ops || {
				echo "no $op in $file"
				cat ops tshark.err
				return 1
			}
		done
	done
}

nothing_in_it_is_malformed()
{
	need_tshark
	for file in a.pcap b.pcap; do
		tshark -r $file --disable-heuristic rpcrdma_infiniband \
			-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE \
			-Y '_ws.malformed or _ws.expert or
			    udp.dstport != 4791 or not infiniband.bth' \
			2>tshark.err
	done
}

a_second_process_writes_beside_the_first()
{
	mkdir same
	pair "$tmp/same/x.pcap" "$tmp/same/x.pcap" || return 1
	[ "$(find same -name x.pcap -size +0)" ] &&
		[ "$(find same -name 'x.pcap.[1-9]*' -size +0 | wc -l)" = 1 ]
}

captures_are_for_their_owner_only()
{
	find . -name '*.pcap*' ! -perm 600
}

what_cannot_be_captured_is_a_warning_and_no_more()
{
	echo precious >notes
	pair a.pcap "$tmp/notes" || return 1
	[ "$(cat notes)" = precious ] && grep "WARNING soft: no capture" b.err
}

run each_end_captures_both_directions
none nothing_in_it_is_malformed
run a_second_process_writes_beside_the_first
none captures_are_for_their_owner_only
run what_cannot_be_captured_is_a_warning_and_no_more
tap_done
