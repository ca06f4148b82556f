#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier doctor finds what is wrong with devices of verbs, as adapters are: under
# pier run those are of its library, one for each interface.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
own_net "$@"
. "$top/t/lib/doctor.sh"

run_doctor="$pier run --only-soft --"
as=$run_doctor

"${CC:-cc}" -D_GNU_SOURCE -shared -fPIC "$top/t/tools/doctor_gids.c" \
	-o "$tmp/gids.so" || skip_all "cc makes no library for libibverbs"

a_port_of_an_adapter_that_is_down_is_a_warning()
{
	two_hosts && doctor && lacks "device warning" &&
		ip link set near0 down && doctor &&
		found "device warning" "soft_near0: near0, down" \
			"| ip link set near0 up, and the cable" &&
		[ $status -eq 1 ]
}

# gids WHAT - of each adapter, for the next doctor
gids()
{
	as="env GIDS=$1 LD_PRELOAD=$tmp/gids.so $run_doctor"
}

gids_of_the_first_version_are_not_chosen()
{
	gids v1
	doctor -d soft_lo && found "rejected_gid ok" "soft_lo: GID index 0" \
			"it is of RoCE v1, 127.0.0.1" "-g 0 uses it" &&
		found "no_gid error" "soft_lo has no GID that"
}

a_gid_of_a_port_without_any_is_reported()
{
	gids none
	doctor -d soft_lo -g 0 && found "chosen_gid error" \
			"soft_lo has no GID index 0" \
			"| no -g; it has no GID at all" &&
		found "no_gid error" "soft_lo"
}

# Its node is there, and the library does not open it.
a_device_that_is_broken_is_a_warning()
{
	as="$run_doctor env PIER_FAULTS=loss=200"
	doctor && found "missing_device warning" "soft_lo: cannot be used: " \
		"| dmesg has the messages of its driver"
}

run a_port_of_an_adapter_that_is_down_is_a_warning
run gids_of_the_first_version_are_not_chosen
run a_gid_of_a_port_without_any_is_reported
run a_device_that_is_broken_is_a_warning
tap_done
