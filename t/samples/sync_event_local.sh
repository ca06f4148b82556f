#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample of a sync event between two threads.
. "${0%/*}/../lib/tap.sh"

sample=$build/samples/sync_event_local
[ -x "$sample" ] || skip_all "the sample is not built"

# A number from 1 to $1 that differs from run to run.
any()
{
	od -An -N4 -tu4 /dev/urandom | awk -v n="$1" '{ print $1 % n + 1 }'
}

# local_run OPTION... - threads signal each other
local_run()
{
	timeout 60 "$sample" "$@" >"$tmp/out" 2>&1 ||
	    { echo "with $*:"; cat "$tmp/out"; }
	grep -qx "signalled 1, seen 2" "$tmp/out" || echo "with $*: no signal"
}

threads_signal_each_other_in_every_mode()
{
	for update in "" --atomic; do
		local_run $update
		local_run --async $update
		local_run --async --qdepth "$(any 1000)" $update
	done
}

a_depth_out_of_range_is_a_usage_error()
{
	"$sample" --async --qdepth 0 >"$tmp/out" 2>&1
	[ $? = 2 ] || echo "exit status $?"
	grep -q -- "--qdepth" "$tmp/out" || cat "$tmp/out"
}

none threads_signal_each_other_in_every_mode
none a_depth_out_of_range_is_a_usage_error
tap_done
