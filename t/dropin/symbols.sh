#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The libraries in place of rdma-core's have its names, each with its version:
# of Debian 12, private ones included, which vendors' libraries are bound to.
. "${0%/*}/../lib/tap.sh"

dropin=$build/dropin/.libs
[ -f "$dropin/librdmacm.so.1" ] || skip_all "$dropin is not built"

# exported LIBRARY - without the versions themselves, which are absolute
# symbols, and what only the other library is bound to; with the kind of what is
# no function: D, a variable
exported()
{
	nm -D --defined-only "$dropin/$1.so.1" | awk '
		$2 != "A" && $3 !~ /@PIER_DROPIN$/ {
			sub(/B/, "D", $2)
			print $3 ($2 == "T" ? "" : " " $2)
		}' | sort
}

# names LIBRARY COUNT - differ, or are fewer than COUNT
names()
{
	exported "$1" >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -ge "$2" ] || echo "few names"
	diff "$top/t/data/dropin/$1.debian12" "$tmp/names"
}

the_names_of_verbs_are_those_of_debian()
{
	names libibverbs 180
}

the_names_of_rdma_cm_are_those_of_debian()
{
	names librdmacm 68
}

# needed LIBRARY
needed()
{
	readelf -d "$dropin/$1.so.1" | grep NEEDED | grep -e verbs -e rdma
	return 0
}

verbs_need_no_library_that_they_take_the_place_of()
{
	needed libibverbs
}

# So that a process has one engine.
rdma_cm_needs_verbs()
{
	needed librdmacm | grep -q '\[libibverbs\.so\.1\]'
}

# is_named LIBRARY
is_named()
{
	readelf -d "$dropin/$1.so.1" | grep -q "SONAME.*\[$1\.so\.1\]"
}

the_sonames_are_those_of_rdma_core()
{
	is_named libibverbs && is_named librdmacm
}

none the_names_of_verbs_are_those_of_debian
none the_names_of_rdma_cm_are_those_of_debian
none verbs_need_no_library_that_they_take_the_place_of
run rdma_cm_needs_verbs
run the_sonames_are_those_of_rdma_core
tap_done
