#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Soft devices beside those of another libibverbs.so.1, which is fake_verbs.c,
# and of another librdmacm.so.1, which is fake_rdmacm.c.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"

fake=$tmp/fake/libibverbs.so.1
mkdir "$tmp/fake"
"${CC:-cc}" -shared -fPIC -I "$top" -Wl,-soname,libibverbs.so.1 \
    "$top/t/dropin/fake_verbs.c" -o "$fake" &&
    "${CC:-cc}" -I "$top" "$top/t/dropin/beside.c" -L "${dropin%/*}" \
    -libverbs -o "$tmp/beside" || skip_all "cc does not link with libibverbs"
fake_cm=$tmp/fake/librdmacm.so.1
"${CC:-cc}" -shared -fPIC -I "$top" -Wl,-soname,librdmacm.so.1 \
    "$top/t/dropin/fake_rdmacm.c" -o "$fake_cm" &&
    "${CC:-cc}" -I "$top" "$top/t/dropin/beside_cma.c" -lrdmacm -libverbs \
    -o "$tmp/beside_cma" || skip_all "cc does not link with librdmacm"

# beside FILE COMMAND... - with the devices of FILE
beside()
{
	file=$1
	shift
	status 0 "$pier" run -- env PIER_REAL_VERBS="$file" "$@"
}

# by_cm TEST - of beside_cma.c
by_cm()
{
	beside "$fake" env PIER_REAL_CM="$fake_cm" "$tmp/beside_cma" "$1"
}

each_call_gets_to_the_library_of_its_device()
{
	beside "$fake" "$tmp/beside" || {
		cat "$tmp/out"
		return 1
	}
	says "$tmp/out" " calls"
}

real_devices_come_first()
{
	beside "$fake" "$tmp/beside" &&
	    [ "$(sed -n 1,2p "$tmp/out" | tr '\n' ' ')" = \
		"fake0 uverbs3 soft_lo uverbs7 " ]
}

# That of the soft device of this name is not there, and numbers differ.
a_real_device_keeps_its_name_and_number()
{
	beside "$fake" "$tmp/beside" &&
	    [ "$(grep -c '^soft_lo ' "$tmp/out")" = 1 ] || return
	sed -n 's/^soft_.* uverbs//p' "$tmp/out" | tail -n +2 >"$tmp/numbers"
	[ -s "$tmp/numbers" ] || skip "the host has no soft device but soft_lo"
	while read -r number; do
		[ "$number" -gt 7 ] || return
	done <"$tmp/numbers"
}

a_library_that_cannot_be_loaded_is_reported()
{
	need ibverbs-utils ibv_devices
	beside "$tmp/nosuch.so" ibv_devices &&
	    says "$tmp/out" soft_lo &&
	    says "$tmp/err" "no devices but soft ones" "$tmp/nosuch.so"
}

piers_own_library_is_refused()
{
	need ibverbs-utils ibv_devices
	beside "$dropin" ibv_devices &&
	    says "$tmp/out" soft_lo &&
	    says "$tmp/err" "no devices but soft ones: $dropin is pier's own"
}

# Preloaded, as by an outer one of another installation.
that_of_another_pier_has_no_real_devices()
{
	mkdir "$tmp/other" && cp "$dropin" "$tmp/other" || return
	status 0 env LD_PRELOAD="$tmp/other/libibverbs.so.1" "$pier" run env &&
	    ! grep PIER_REAL "$tmp/out"
}

only_soft_is_without()
{
	status 0 env PIER_REAL_VERBS="$fake" "$pier" run --only-soft env &&
	    ! grep PIER_REAL "$tmp/out"
}

# What the system's library has no devices for is not loaded.
a_host_without_devices_has_soft_ones_alone()
{
	[ ! -e /sys/class/infiniband ] || skip "the host has such devices"
	status 0 env PIER_REAL_VERBS="$fake" "$pier" run env &&
	    ! grep PIER_REAL "$tmp/out"
}

# The outer one knows, the inner one has pier's library in its place.
one_within_another_leaves_it()
{
	beside "$fake" "$pier" run -- env &&
	    says "$tmp/out" "PIER_REAL_VERBS=$fake"
}

a_channel_that_fails_is_an_error()
{
	by_cm failure
}

a_stream_whose_channel_fails_has_its_error()
{
	by_cm socket
}

a_queue_pair_that_was_destroyed_is_no_more_that_of_its_id()
{
	by_cm destroyed_qp
}

# real_ones ARRAY - the names in it, which begins with those that are real
real_ones()
{
	sed -n '/"'"$1"'": \[/,/\]/s/^ *"\(.*\)",*$/\1/p' "$tmp/out" |
	    sed -n 1,3p | tr '\n' ' '
}

one_within_another_lists_them()
{
	beside "$fake" "$pier" run --json -- true || return
	[ "$(real_ones real_devices)" = "fake0 soft_lo " ] || {
		cat "$tmp/out"
		return 1
	}
	case $(real_ones devices) in
	"fake0 soft_lo soft_lo "*)
		echo "soft_lo is there twice"
		return 1 ;;
	"fake0 soft_lo "*) ;;
	*)	return 1 ;;
	esac
}

one_within_another_has_a_summary_with_them()
{
	beside "$fake" "$pier" run --stats -- true &&
	    says "$tmp/err" "fake0 is a device of the host"
}

one_within_another_is_without_if_it_is_to_be()
{
	beside "$fake" "$pier" run --only-soft --json -- true &&
	    [ -z "$(real_ones real_devices)" ]
}

run each_call_gets_to_the_library_of_its_device
run real_devices_come_first
run a_real_device_keeps_its_name_and_number
run a_library_that_cannot_be_loaded_is_reported
run piers_own_library_is_refused
run that_of_another_pier_has_no_real_devices
run only_soft_is_without
run a_host_without_devices_has_soft_ones_alone
run one_within_another_leaves_it
run one_within_another_lists_them
run one_within_another_has_a_summary_with_them
run one_within_another_is_without_if_it_is_to_be
run a_channel_that_fails_is_an_error
run a_stream_whose_channel_fails_has_its_error
run a_queue_pair_that_was_destroyed_is_no_more_that_of_its_id
tap_done
