#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the C++ binding, with samples in C as their peers.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/device.sh"

device=soft_lo
cpp=$build/bindings/cpp/examples
c=$build/samples
[ -x "$cpp/rdma_read_requester" ] ||
    skip_all "the examples of the C++ binding are not built"
text="Grüße, $$"

# begin PROGRAM OPTION... - the passive one of a pair
begin()
{
	timeout 60 "$@" >"$tmp/a.out" 2>&1 </dev/null &
	passive=$!
}

# finish PROGRAM OPTION... - the active one: both succeed
finish()
{
	timeout 60 "$@" >"$tmp/b.out" 2>&1
	active=$?
	wait $passive
	passive=$?
	[ $active -eq 0 ] && [ $passive -eq 0 ] && return
	echo "exit $active and $passive"
	cat "$tmp/a.out" "$tmp/b.out"
}

# prints END LINE... - the output of END, a or b, has the lines
prints()
{
	out=$tmp/$1.out
	shift
	for line; do
		grep -qxF "$line" "$out" || {
			echo "no $line in:"
			cat "$out"
		}
	done
}

# pair PASSIVE ACTIVE TEXT [OPTION...] - connect the two programs by files, the
# active one with the options: both succeed, and one prints TEXT
pair()
{
	first=$1 second=$2 part=$3
	shift 3
	dir=$(mktemp -d "$tmp/pair.XXXXXX")
	begin "$first" -d soft_lo -ld "$dir/a" -re "$dir/b" -m "$dir/m" \
		--timeout 20
	finish "$second" -d soft_lo -ld "$dir/b" -re "$dir/a" -m "$dir/m" \
		--timeout 20 "$@"
	cat "$tmp/a.out" "$tmp/b.out" | grep -qF "$part" || cat "$tmp"/?.out
}

# write_with_number PASSIVE ACTIVE - the folders
write_with_number()
{
	pair "$1/rdma_write_immediate_responder" \
		"$2/rdma_write_immediate_requester" \
		"the peer has written \"$text\" with immediate 305419896" \
		-w "$text" -i 305419896
	prints b "wrote \"$text\" with immediate 305419896"
}

a_text_is_written_with_a_number_either_way_round()
{
	write_with_number "$c" "$cpp"
	write_with_number "$cpp" "$c"
}

# change_number PASSIVE ACTIVE - the folders
change_number()
{
	pair "$1/rdma_atomic_responder" "$2/rdma_atomic_requester" \
		"the number was 5, is 77" -a 3 -s 77
	prints b "fetch and add: old 5, new 8" \
		"compare and swap: old 8, new 77"
}

a_number_is_changed_either_way_round()
{
	change_number "$c" "$cpp"
	change_number "$cpp" "$c"
}

# synchronise PASSIVE ACTIVE - the folders
synchronise()
{
	pair "$1/rdma_sync_event_responder" "$2/rdma_sync_event_requester" \
		"seen 5, set 6, seen 7" -n 5
	prints b "set 5, read 6, set 7"
}

a_sync_event_is_set_either_way_round()
{
	synchronise "$c" "$cpp"
	synchronise "$cpp" "$c"
}

# talk SERVER CLIENT - the folders
talk()
{
	begin "$1/comch_ctrl_path_server" -p soft_lo -t back
	wait_for 20 has_name || echo "no server"
	finish "$2/comch_ctrl_path_client" -p soft_lo -t "$text"
	prints a 'sent "back"' "received \"$text\""
	prints b "sent \"$text\", received \"back\""
}

messages_pass_either_way_round()
{
	talk "$c" "$cpp"
	talk "$cpp" "$c"
	talk "$cpp" "$cpp"
}

# produce SERVER CLIENT - the folders
produce()
{
	begin "$1/comch_data_path_server" -p soft_lo -t back
	wait_for 20 has_name || echo "no server"
	finish "$2/comch_data_path_client" -p soft_lo -t "$text"
	prints a 'sent "back"' "received \"$text\""
	prints b "sent \"$text\"" 'received "back"'
}

a_producer_sends_to_a_consumer_either_way_round()
{
	produce "$c" "$cpp"
	produce "$cpp" "$c"
	produce "$cpp" "$cpp"
}

# offer HOST DPU - the folders
offer()
{
	begin "$1/dma_copy_host" -p soft_lo -t "$text" -d "$tmp/desc" \
		-b "$tmp/info"
	wait_for 20 test -e "$tmp/desc" || echo "no descriptor"
	finish "$2/dma_copy_dpu" -p soft_lo -d "$tmp/desc" -b "$tmp/info"
	prints b "copied \"$text\""
	rm -f "$tmp/desc" "$tmp/info"
}

exported_memory_is_copied_either_way_round()
{
	offer "$c" "$cpp"
	offer "$cpp" "$c"
	offer "$cpp" "$cpp"
}

# signal HOST DPU [OPTION...] - the folders; the DPU, which is first, removes
# what is there before
signal()
{
	host=$1 dpu=$2
	shift 2
	echo old >"$tmp/event"
	begin "$dpu/sync_event_dpu" -d soft_lo -f "$tmp/event" -n 7 "$@"
	wait_for 20 test ! -e "$tmp/event" || echo "the DPU does not wait"
	finish "$host/sync_event_host" -d soft_lo -f "$tmp/event" -n 7 "$@"
	prints a "seen 7, signalled 8"
	prints b "signalled 7, seen 8"
}

a_sync_event_is_shared_either_way_round()
{
	for how in "" --atomic --async "--async --atomic"; do
		# shellcheck disable=SC2086 # words
		signal "$c" "$cpp" $how
		# shellcheck disable=SC2086 # words
		signal "$cpp" "$c" $how
	done
}

# meet SERVER CLIENT CLIENT - the folders: two clients get each other's text,
# sixteen requests of one in pairs; the list has nine lines, and is long
meet()
{
	long=$(head -c 4000 /dev/zero | tr '\0' x)
	"$1/request_reply_server" -d soft_lo >"$tmp/server" 2>&1 &
	server=$!
	wait_for 20 has_name || echo "no server"
	begin "$2/request_reply_client" -d soft_lo -t "$text" --timeout 40
	finish "$3/request_reply_client" -d soft_lo -t Bob --timeout 40
	prints a "met Bob"
	prints b "met $text"
	begin "$3/request_reply_client" -d soft_lo -t "$long" -c 8
	finish "$2/request_reply_client" -d soft_lo -t "$long" -c 6
	prints a "met $long"
	begin true
	finish "$2/request_reply_client" -d soft_lo --meetings
	[ "$(grep -cxF "$long met $long" "$tmp/b.out")" -eq 7 ] &&
		grep -qx "\($text met Bob\|Bob met $text\)" "$tmp/b.out" ||
		cat "$tmp/b.out"
	kill -INT $server && wait $server || echo "the server exits with $?"
	cat "$tmp/server"
}

requests_are_replied_to_either_way_round()
{
	meet "$c/services" "$cpp" "$c/services"
	meet "$cpp" "$c/services" "$cpp"
	meet "$cpp" "$cpp" "$cpp"
}

a_request_has_a_deadline()
{
	"$cpp/request_reply_server" -d soft_lo 2>"$tmp/server" &
	server=$!
	wait_for 20 has_name || echo "no server"
	fails "$cpp/request_reply_client" "not finished after 1000 ms" \
		-d soft_lo -t late --timeout 1
	wait_for 20 grep -q "^a request ended: " "$tmp/server" ||
		cat "$tmp/server"
	begin true
	finish "$cpp/request_reply_client" -d soft_lo -t pair -c 2
	prints b "met pair"
	kill -INT $server && wait $server || echo "the server exits with $?"
}

a_client_without_a_server_has_the_reason()
{
	for client in comch_ctrl_path comch_data_path; do
		fails "$cpp/${client}_client" 'no server "' -p soft_lo
	done
	fails "$cpp/request_reply_client" 'no server "' -d soft_lo
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
	for name in comch_ctrl_path_server comch_ctrl_path_client \
	    comch_data_path_server comch_data_path_client dma_copy_host; do
		fails "$cpp/$name" no_such0 -p no_such0
	done
	for name in request_reply_server request_reply_client \
	    sync_event_host sync_event_dpu; do
		fails "$cpp/$name" no_such0 -d no_such0
	done
	fails "$cpp/dma_copy_dpu" "no address and length" -b "$tmp/none"
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
		grep -q -e --device -e -pci-addr "$tmp/out" || cat "$tmp/out"
		"$program" --no-such-thing >"$tmp/out" 2>&1
		[ $? -eq 2 ] || cat "$tmp/out"
	done
}

none a_requester_in_cpp_reads_from_a_responder_in_c
none a_requester_in_c_reads_from_a_responder_in_cpp
none both_may_be_in_cpp
none a_text_is_sent_in_cpp_and_received_in_c
none a_text_is_sent_in_c_and_received_in_cpp
none a_text_is_written_with_a_number_either_way_round
none a_number_is_changed_either_way_round
none a_sync_event_is_set_either_way_round
none messages_pass_either_way_round
none a_producer_sends_to_a_consumer_either_way_round
none exported_memory_is_copied_either_way_round
none a_sync_event_is_shared_either_way_round
none requests_are_replied_to_either_way_round
none a_request_has_a_deadline
none a_client_without_a_server_has_the_reason
none each_reports_an_unknown_device_and_a_missing_peer
none each_has_help_and_refuses_unknown_options
tap_done
