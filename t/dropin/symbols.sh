#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The library in place of rdma-core's has its names, each with its version: of
# Debian 12, private ones included, which vendors' libraries are bound to.
. "${0%/*}/../lib/tap.sh"

dropin=$build/dropin/.libs/libibverbs.so.1
[ -f "$dropin" ] || skip_all "$dropin is not built"

# The versions themselves are absolute symbols.
exported()
{
	nm -D --defined-only "$dropin" | awk '$2 != "A" { print $3 }' | sort
}

the_names_are_those_of_debian()
{
	exported >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -gt 170 ] || echo "few names"
	diff "$top/t/data/dropin/libibverbs.debian12" "$tmp/names"
}

it_needs_no_library_that_it_takes_the_place_of()
{
	readelf -d "$dropin" | grep NEEDED | grep -e verbs -e rdma
	return 0
}

the_soname_is_that_of_rdma_core()
{
	readelf -d "$dropin" | grep -q 'SONAME.*\[libibverbs\.so\.1\]'
}

none the_names_are_those_of_debian
none it_needs_no_library_that_it_takes_the_place_of
run the_soname_is_that_of_rdma_core
tap_done
