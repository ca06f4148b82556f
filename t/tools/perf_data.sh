#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The data of pier perf: compared, in pieces, over a network with faults.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"
device_known
. "$top/t/lib/perf.sh"

operations=$(some write send send-imm write-imm read fetch-add compare-swap)

all_data_of_each_operation_is_verified()
{
	serve || return 1
	for what in $operations; do
		measures lat $what --verify -n 30 &&
			says "$tmp/b.out" "$what latency" ", verified" &&
			measures bw $what --verify -n 200 -q 2 &&
			says "$tmp/b.out" ", verified, 2 connections" ||
			return 1
	done
	status 0 "$pier" perf bw copy --verify -d "$device" -n 100 --sge 3 &&
		says "$tmp/out" "copy bandwidth" ", verified"
}

sizes_and_both_directions_are_verified()
{
	serve || return 1
	for what in send write read; do
		measures bw $what --verify --bidirectional -n 100 \
			--sizes 1,100,5000 --json &&
			says "$tmp/b.out" '"verified": true' || return 1
	done
	measures lat send --verify --sizes 7,8,9,3000 -n 20 --events
}

messages_are_sent_from_and_read_into_pieces()
{
	serve || return 1
	for what in $(some read send send-imm write write-imm); do
		measures bw $what --verify --sge 3 -n 100 \
			--sizes 3,100,64K --json &&
			says "$tmp/b.out" '"sge": 3' &&
			measures lat $what --sge 2 -s 2 -n 20 --verify ||
			return 1
	done
}

pieces_that_cannot_be_are_named()
{
	status 2 "$pier" perf bw send --sge 4 --sizes 64,3 host &&
		says "$tmp/err" "--sge 4: a size of 3 has fewer bytes" &&
		status 2 "$pier" perf lat fetch-add --sge 2 host &&
		says "$tmp/err" "--sge 2: fetch-add has one piece" &&
		status 2 "$pier" perf lat send --sge 31 host &&
		status 1 "$pier" perf lat send --sge 30 -d soft_lo host &&
		says "$tmp/err" "--sge 30: this device takes up to 8"
}

verification_has_a_server_and_bounded_memory()
{
	status 2 "$pier" perf bw send --verify -d "$device" &&
		says "$tmp/err" "--verify: an option of the client" &&
		serve && status 1 "$pier" perf -d "$device" bw write --verify \
			-s 16M --outstanding 64 "$address:$port" &&
		says "$tmp/err" "--verify: these messages need " \
			"fewer of --outstanding, -q or -s"
}

# Both ends have lost some of what they were sent, and all data is right.
faults_of_the_network_are_repaired()
{
	[ "${device#soft}" != "$device" ] || skip "$device is no soft device"
	serve --loss 2 || return 1
	for what in "bw write" "bw send" "lat read"; do
		measures $what --verify --loss 2 --corrupt 1 --seed 7 \
			-s 20000 -n 60 --json &&
			says "$tmp/b.out" '"loss": "2"' '"corrupt": "1"' ||
			return 1
	done
	"$pier" counters --json "$server" >"$tmp/counted" &&
		grep -q '"faults_lost": [1-9]' "$tmp/counted"
}

a_delay_is_in_every_latency()
{
	[ "${device#soft}" != "$device" ] || skip "$device is no soft device"
	python3 -c pass || skip "there is no python3"
	serve && measures lat write --delay 20 -n 5 --warmup 0 --json &&
		says "$tmp/b.out" '"delay_ms": "20"' &&
		holds 'r[0]["min"] >= 20000'
}

faults_that_cannot_be_are_named()
{
	for words in "--loss 101" "--delay 1001" "--corrupt x" "--loss -1"; do
		status 2 "$pier" perf lat send $words host &&
			says "$tmp/err" "pier perf: " ", 0 to " || return 1
	done
	status 2 "$pier" perf lat copy --loss 1 -d soft_lo &&
		says "$tmp/err" "copy has no network" || return 1
	[ "${device#soft}" != "$device" ] || {
		status 1 "$pier" perf lat send --loss 1 -d "$device" host &&
			says "$tmp/err" "are of soft devices, and $device"
	}
}

run all_data_of_each_operation_is_verified
run messages_are_sent_from_and_read_into_pieces
natively run sizes_and_both_directions_are_verified
run faults_that_cannot_be_are_named
natively run faults_of_the_network_are_repaired
natively run a_delay_is_in_every_latency
natively run pieces_that_cannot_be_are_named
natively run verification_has_a_server_and_bounded_memory
tap_done
