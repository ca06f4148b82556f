#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# libpier has every symbol of the baseline in t/data/abi, with the same types.
# Added symbols are allowed.  A change that is meant is made a baseline by
# `make abi-baseline`, and its reason is in NEWS.md: before the first release
# anything may change, later only what a new soname has.
. "${0%/*}/../lib/tap.sh"

library=$build/lib/.libs/libpier.so
baseline=$top/t/data/abi/libpier-0.1.0.xml.xz
[ -f "$library" ] || skip_all "libpier is not built"
command -v abidiff >/dev/null || skip_all "there is no abidiff (abigail-tools)"
command -v xz >/dev/null || skip_all "there is no xz"
[ "$(uname -m)" = x86_64 ] || skip_all "the baseline is of x86_64"
grep -q '^SANITIZE_FLAGS = *$' "$build/Makefile" ||
	skip_all "sanitizers are no part of the ABI"

xz -dc "$baseline" >"$tmp/old.xml" || exit
abidw --headers-dir "$top/lib/include" --drop-private-types --no-corpus-path \
    --no-comp-dir-path --no-show-locs "$library" >"$tmp/new.xml" || exit

grep -q PIER_CONN_CONNECTED "$tmp/new.xml" ||
	skip_all "libpier has no debug information"

# differs NEW - the words of abidiff, unless there is no difference
differs()
{
	abidiff --no-added-syms "$tmp/old.xml" "$1" >"$tmp/out" 2>&1 &&
		return 1
	cat "$tmp/out"
}

the_library_has_all_of_the_baseline()
{
	! differs "$tmp/new.xml"
}

# A function that is missing, and a member of another type.
changes_are_seen()
{
	sed '/elf-symbol name=.pier_pe_progress./d;
		/<function-decl name=.pier_pe_progress. /,/<.function-decl>/d' \
	    "$tmp/new.xml" >"$tmp/less.xml"
	differs "$tmp/less.xml" >"$tmp/words" &&
		grep -q pier_pe_progress "$tmp/words" || return 1
	sed "/name='PIER_CONN_CONNECTED'/s/value='[0-9]*'/value='77'/" \
	    "$tmp/new.xml" >"$tmp/other.xml"
	differs "$tmp/other.xml" >"$tmp/words" &&
		grep -q PIER_CONN_CONNECTED "$tmp/words"
}

run the_library_has_all_of_the_baseline
run changes_are_seen
tap_done
