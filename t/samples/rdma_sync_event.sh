#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of a sync event between two processes.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
take_ports

bin=$build/samples
[ -x "$bin/rdma_sync_event_requester" ] || skip_all "the samples are not built"
device_known

# end WHICH OPTION... - one of the two processes
end()
{
	name=$1
	shift
	timeout 60 "$bin/rdma_sync_event_$name" -m "$tmp/m" --timeout 20 \
	    -d "$device" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err"
}

# Both have seen what the other has set, which begins with $number.
judge()
{
	next=$((number + 1)) last=$((number + 2))
	grep -qx "seen $number, set $next, seen $last" \
	    "$tmp/responder.out" ||
	    cat "$tmp/responder.out" "$tmp/responder.err"
	grep -qx "set $number, read $next, set $last" \
	    "$tmp/requester.out" ||
	    cat "$tmp/requester.out" "$tmp/requester.err"
}

# A number that differs from run to run.
any()
{
	echo $(($(od -An -N7 -tu8 /dev/urandom) + 1))
}

processes_signal_each_other_by_files()
{
	for turn in 1 2 3; do
		number=$(any)
		end responder -ld "$tmp/a" -re "$tmp/b" &
		end requester -ld "$tmp/b" -re "$tmp/a" -n "$number" ||
		    echo "turn $turn: the requester failed"
		wait $! || echo "turn $turn: the responder failed"
		judge
		[ ! -e "$tmp/m" ] || echo "the event's descriptor was left"
	done
}

processes_signal_each_other_by_address()
{
	port=$first_port number=$(any)
	end responder -cm -lp $port &
	end requester -cm -lp $port -sa "$address" --number "$number" ||
	    echo "the requester failed"
	wait $! || echo "the responder failed"
	judge
	[ ! -e "$tmp/m" ] || echo "a descriptor was written"
}

a_requester_refuses_a_descriptor_of_memory()
{
	timeout 60 "$bin/rdma_read_responder" -d "$device" -ld "$tmp/a" \
	    -re "$tmp/b" -m "$tmp/m" --timeout 2 >"$tmp/out" 2>&1 &
	end requester -ld "$tmp/b" -re "$tmp/a" --timeout 2 &&
	    echo "the requester took it"
	grep -q "a memory descriptor where a sync event" \
	    "$tmp/requester.err" || cat "$tmp/requester.err"
	wait
}

a_number_out_of_range_is_a_usage_error()
{
	for number in 0 -1 9223372036854775808 x; do
		end requester -n "$number"
		[ $? -eq 2 ] || echo "exit status of $number"
		grep -q -- "-n \"$number\"" "$tmp/requester.err" ||
		    cat "$tmp/requester.err"
	done
}

none processes_signal_each_other_by_files
none processes_signal_each_other_by_address
none a_requester_refuses_a_descriptor_of_memory
natively none a_number_out_of_range_is_a_usage_error
tap_done
