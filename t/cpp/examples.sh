#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the C++ binding, with samples in C as their peers.
. "${0%/*}/../lib/tap.sh"

cpp=$build/bindings/cpp/examples
c=$build/samples
[ -x "$cpp/rdma_read_requester" ] ||
    skip_all "the examples of the C++ binding are not built"

# pair PASSIVE ACTIVE TEXT - connect the two programs by files, both succeed,
# and one prints TEXT
pair()
{
	dir=$(mktemp -d "$tmp/pair.XXXXXX")
	timeout 60 "$1" -d soft_lo -ld "$dir/a" -re "$dir/b" -m "$dir/m" \
		--timeout 20 >"$dir/a.out" 2>&1 &
	timeout 60 "$2" -d soft_lo -ld "$dir/b" -re "$dir/a" -m "$dir/m" \
		--timeout 20 >"$dir/b.out" 2>&1
	active=$?
	wait $!
	passive=$?
	if [ $active -ne 0 ] || [ $passive -ne 0 ]; then
		echo "exit $active and $passive"
	fi
	cat "$dir/a.out" "$dir/b.out" | grep -qF "$3" || cat "$dir"/*.out
}

a_requester_in_cpp_reads_from_a_responder_in_c()
{
	pair "$c/rdma_read_responder" "$cpp/rdma_read_requester" \
		'read "Hi DOCA RDMA!"'
}

a_requester_in_c_reads_from_a_responder_in_cpp()
{
	pair "$cpp/rdma_read_responder" "$c/rdma_read_requester" \
		'read "Hi DOCA RDMA!"'
}

both_may_be_in_cpp()
{
	pair "$cpp/rdma_read_responder" "$cpp/rdma_read_requester" \
		'read "Hi DOCA RDMA!"'
}

a_text_is_sent_in_cpp_and_received_in_c()
{
	pair "$c/rdma_receive" "$cpp/rdma_send" 'received "Hi DOCA RDMA!"'
}

a_text_is_sent_in_c_and_received_in_cpp()
{
	pair "$cpp/rdma_receive" "$c/rdma_send" 'received "Hi DOCA RDMA!"'
}

# fails PROGRAM TEXT OPTION... - exit 1, and an error message with TEXT
fails()
{
	program=$1 text=$2
	shift 2
	timeout 60 "$program" "$@" >"$tmp/out" 2>&1
	[ $? -eq 1 ] && grep -qF "$text" "$tmp/out" || cat "$tmp/out"
}

each_reports_an_unknown_device_and_a_missing_peer()
{
	for source in "$top"/bindings/cpp/examples/rdma_*.cpp; do
		program=$cpp/$(basename "$source" .cpp)
		fails "$program" no_such0 -d no_such0
		fails "$program" "$tmp/none" -d soft_lo -ld "$tmp/one" \
			-re "$tmp/none" -m "$tmp/none" --timeout 1
	done
}

each_has_help_and_refuses_unknown_options()
{
	for source in "$top"/bindings/cpp/examples/*.cpp; do
		program=$cpp/$(basename "$source" .cpp)
		"$program" --help >"$tmp/out" || echo "$program --help"
		grep -q -- --device "$tmp/out" || cat "$tmp/out"
		"$program" --no-such-thing >"$tmp/out" 2>&1
		[ $? -eq 2 ] || cat "$tmp/out"
	done
}

none a_requester_in_cpp_reads_from_a_responder_in_c
none a_requester_in_c_reads_from_a_responder_in_cpp
none both_may_be_in_cpp
none a_text_is_sent_in_cpp_and_received_in_c
none a_text_is_sent_in_c_and_received_in_cpp
none each_reports_an_unknown_device_and_a_missing_peer
none each_has_help_and_refuses_unknown_options
tap_done
