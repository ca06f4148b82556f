#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of a sync event that a host owns and a DPU imports.
. "${0%/*}/../lib/tap.sh"

host=$build/samples/sync_event_host
dpu=$build/samples/sync_event_dpu
[ -x "$host" ] && [ -x "$dpu" ] || skip_all "the samples are not built"
device=${PIER_DEVICE:-soft_lo}
desc=$tmp/desc

# A number that differs from run to run.
any()
{
	echo $(($(od -An -N6 -tu8 /dev/urandom) + 1))
}

# start_dpu OPTION... - it waits when this returns: what was there is removed
start_dpu()
{
	echo old >"$desc"
	timeout 60 "$dpu" -d "$device" -f "$desc" "$@" >"$tmp/dpu" 2>&1 &
	waiting=$!
	while [ -e "$desc" ]; do
		kill -0 $waiting 2>/dev/null || return
		sleep 0.02
	done
}

# signals HOST_OPTION... -- DPU_OPTION... - each side sees the other's value
signals()
{
	of_host=
	while [ "$1" != -- ]; do
		of_host="$of_host $1"
		shift
	done
	shift
	number=$(any)
	start_dpu -n "$number" "$@" || { cat "$tmp/dpu"; return 1; }
	timeout 60 "$host" -d "$device" -f "$desc" -n "$number" $of_host \
	    >"$tmp/host" 2>&1
	status=$?
	wait $waiting
	ended=$?
	cat "$tmp/host" "$tmp/dpu"
	[ $status -eq 0 ] && [ $ended -eq 0 ] && [ ! -e "$desc" ] &&
	    grep -qx "signalled $number, seen $((number + 1))" "$tmp/host" &&
	    grep -qx "seen $number, signalled $((number + 1))" "$tmp/dpu"
}

both_sides_signal_by_calls()
{
	signals -- && signals --atomic -- && signals -- --atomic
}

both_sides_signal_by_tasks()
{
	signals --async -- --async &&
	    signals --async --qdepth 2 --atomic -- --async --atomic &&
	    signals --async -- && signals -- --async --qdepth 1000
}

a_dpu_whose_host_was_killed_ends_with_an_error()
{
	start_dpu -n 5 || return
	"$host" -d "$device" -f "$tmp/owned" -n 4 >"$tmp/host" 2>&1 &
	owner=$!
	wait_for 20 [ -e "$tmp/owned" ] && mv "$tmp/owned" "$desc" &&
	    wait_for 20 [ ! -e "$desc" ] || return
	kill -9 $owner
	wait $waiting
	status=$?
	cat "$tmp/dpu"
	[ $status -eq 1 ] &&
	    grep -q "sync_event_dpu: .*no access to the export" "$tmp/dpu"
}

# The host accepts the DPU's, as DOCA's programs for both have one.
a_representor_is_that_of_the_device()
{
	signals -r ignored -- || return
	"$dpu" -d "$device" -r ffff:ff:1f.7 -f "$desc" >"$tmp/dpu" 2>&1
	[ $? -eq 1 ] && grep -q "ffff:ff:1f.7" "$tmp/dpu"
}

what_is_out_of_range_is_a_usage_error()
{
	for sample in "$host" "$dpu"; do
		for option in "--qdepth 1" "--number 0" "--no-such-thing"; do
			"$sample" -f "$desc" $option >"$tmp/out" 2>&1
			[ $? -eq 2 ] || { echo "$option"; return 1; }
		done
	done
}

run both_sides_signal_by_calls
run both_sides_signal_by_tasks
run a_dpu_whose_host_was_killed_ends_with_an_error
run a_representor_is_that_of_the_device
run what_is_out_of_range_is_a_usage_error
tap_done
