#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The libraries have every symbol of their baselines in t/data/abi, with the
# same types.  Added symbols are allowed.  A change that is meant is made a
# baseline by `make abi-baseline`, and its reason is in NEWS.md: before the
# first release anything may change, later only what a new soname has.
. "${0%/*}/../lib/tap.sh"

library=$build/lib/.libs/libpier.so
[ -f "$library" ] || skip_all "libpier is not built"
command -v abidiff >/dev/null || skip_all "there is no abidiff (abigail-tools)"
command -v xz >/dev/null || skip_all "there is no xz"
[ "$(uname -m)" = x86_64 ] || skip_all "the baselines are of x86_64"
grep -q '^SANITIZE_FLAGS = *$' "$build/Makefile" ||
	skip_all "sanitizers are no part of the ABI"

for library in lib/libpier lib/uv/libpier-uv bindings/doca/libpier-doca \
    bindings/doca-2.0/libpier-doca-2.0; do
	name=${library##*/}
	xz -dc "$top/t/data/abi/$name-0.1.0.xml.xz" >"$tmp/$name.old" || exit
	sh "$top/t/packages/abi_of.sh" "$top" \
	    "$build/${library%/*}/.libs/$name.so" >"$tmp/$name.new" || exit
done
grep -q PIER_CONN_CONNECTED "$tmp/libpier.new" ||
	skip_all "libpier has no debug information"

# differs LIBRARY NEW - the words of abidiff, unless there is no difference
differs()
{
	abidiff --no-added-syms "$tmp/$1.old" "$2" >"$tmp/out" 2>&1 && return 1
	cat "$tmp/out"
}

libpier_has_all_of_its_baseline()
{
	! differs libpier "$tmp/libpier.new"
}

libpier_uv_has_all_of_its_baseline()
{
	! differs libpier-uv "$tmp/libpier-uv.new"
}

the_libraries_for_doca_have_all_of_theirs()
{
	! differs libpier-doca "$tmp/libpier-doca.new" &&
	    ! differs libpier-doca-2.0 "$tmp/libpier-doca-2.0.new"
}

# changed LIBRARY EXPRESSION NAME - what sed makes of it is seen, by its name
changed()
{
	sed "$2" "$tmp/$1.new" >"$tmp/other"
	differs "$1" "$tmp/other" >"$tmp/words" && grep -q "$3" "$tmp/words"
}

# A function that is missing, and an enumerator of another value.
changes_are_seen()
{
	for symbol in libpier:pier_pe_progress libpier-uv:pier_uv_create \
	    libpier-doca:doca_pe_progress \
	    libpier-doca-2.0:doca_workq_progress_retrieve; do
		name=${symbol#*:}
		changed "${symbol%:*}" "/elf-symbol name=.$name./d;
		    /<function-decl name=.$name. /,/<.function-decl>/d" \
		    "$name" || {
			echo "$symbol"
			return 1
		}
	done
	name=PIER_CONN_CONNECTED
	changed libpier "/name='$name'/s/value='[0-9]*'/value='77'/" $name
}

run libpier_has_all_of_its_baseline
run libpier_uv_has_all_of_its_baseline
run the_libraries_for_doca_have_all_of_theirs
run changes_are_seen
tap_done
