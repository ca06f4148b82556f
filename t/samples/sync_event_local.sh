#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample of a sync event between two threads.
. "${0%/*}/../lib/tap.sh"

sample=$build/samples/sync_event_local
[ -x "$sample" ] || skip_all "the sample is not built"
device=${PIER_DEVICE:-soft_lo}

# A number from 1 to $1 that differs from run to run.
any()
{
	od -An -N4 -tu4 /dev/urandom | awk -v n="$1" '{ print $1 % n + 1 }'
}

# local_run OPTION... - threads signal each other
local_run()
{
	number=$(any 2000000000)
	timeout 60 "$sample" -n "$number" "$@" >"$tmp/out" 2>&1 ||
	    { echo "with $*:"; cat "$tmp/out"; }
	grep -qx "signalled $number, seen $((number + 1))" "$tmp/out" ||
	    { echo "with $*: not $number and one more"; cat "$tmp/out"; }
}

# a_usage_error OPTION VALUE - exit status 2, and the option is named
a_usage_error()
{
	"$sample" --async "$@" >"$tmp/out" 2>&1
	[ $? = 2 ] || echo "$*: exit status"
	grep -q -- "$1" "$tmp/out" || cat "$tmp/out"
}

# in_every_mode OPTION...
in_every_mode()
{
	for update in "" --atomic; do
		local_run "$@" $update
		local_run "$@" --async $update
		local_run "$@" --async --qdepth "$(($(any 1000) + 1))" $update
	done
}

threads_signal_each_other_in_every_mode()
{
	in_every_mode
}

an_event_on_a_device_does_the_same()
{
	in_every_mode -d "$device"
	in_every_mode --dev-pci-addr "$device"
}

an_unknown_device_is_reported()
{
	"$sample" -d no_such0 >"$tmp/out" 2>&1
	[ $? = 1 ] || echo "exit status"
	grep -q no_such0 "$tmp/out" || cat "$tmp/out"
}

values_of_its_own_are_one_and_two()
{
	"$sample" >"$tmp/out" 2>&1 || echo "exit status $?"
	grep -qx "signalled 1, seen 2" "$tmp/out" || cat "$tmp/out"
}

its_help_has_the_defaults()
{
	"$sample" --help >"$tmp/out" 2>&1 || echo "exit status $?"
	for option in "qdepth .*default 32" "number .*default 1"; do
		tr '\n' ' ' <"$tmp/out" | grep -q -- "--$option" ||
			{ echo "not in the help: $option"; cat "$tmp/out"; }
	done
}

what_is_out_of_range_is_a_usage_error()
{
	a_usage_error --qdepth 1
	a_usage_error --qdepth 1048577
	a_usage_error --number 0
	a_usage_error -n 9223372036854775808
	a_usage_error --no-such-thing
}

none threads_signal_each_other_in_every_mode
none an_event_on_a_device_does_the_same
none an_unknown_device_is_reported
none values_of_its_own_are_one_and_two
none its_help_has_the_defaults
none what_is_out_of_range_is_a_usage_error
tap_done
