#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The libraries in place of rdma-core's have its names, each with its version:
# those of Debian 12, which has release 44, and for Fedora those of libraries
# built from releases 56, 57, 59, 62 and 64, between which none is new.  Private
# ones are included, which vendors' libraries are bound to.
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

# listed LIBRARY - of all systems
listed()
{
	cat "$top/t/data/dropin/$1."*
}

# Of a private name each system has one version, and that is the default.
sorted()
{
	sed '/_PRIVATE_/s/@@/@/' | sort -u
}

# names LIBRARY COUNT - differ, or are fewer than COUNT
names()
{
	exported "$1" | sorted >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -ge "$2" ] || echo "few names"
	listed "$1" | sorted | diff - "$tmp/names"
}

the_names_of_verbs_are_those_of_rdma_core()
{
	names libibverbs 423
}

the_names_of_rdma_cm_are_those_of_rdma_core()
{
	names librdmacm 71
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

none the_names_of_verbs_are_those_of_rdma_core
none the_names_of_rdma_cm_are_those_of_rdma_core
none verbs_need_no_library_that_they_take_the_place_of
run rdma_cm_needs_verbs
run the_sonames_are_those_of_rdma_core
tap_done
