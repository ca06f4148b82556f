#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Names: headers, map, man pages and the built library agree.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/api.sh"

pages=$(find "$top/docs/man" -name '*.3')
maps="$top/lib/libpier.map $top/lib/uv/libpier-uv.map"
so=$build/lib/.libs/libpier.so

# "NODE NAME" of every name in the maps $@.
map_names()
{
	awk '
	/^[A-Z].*\{/ { node = $1 }
	/^\tpier_/ { sub(/;.*/, "", $1); print node, $1 }' "$@"
}

# Lines of file $1 that $2 lacks, as "$3 NAME".
lacking()
{
	comm -23 "$1" "$2" | sed "s|^|$3: |"
}

need_library()
{
	[ -f "$so" ] || skip "$so is not built"
}

# The objects that libpier is made of, those below $1/.
objects()
{
	find "$build/$1" -path '*/.libs/*.o'
}

there_are_calls()
{
	[ "$(wc -l <"$tmp/api")" -gt 100 ]
}

the_maps_are_sorted()
{
	map_names $maps >"$tmp/map"
	awk '$1 == node && $2 <= last { print $2 " is listed after " last }
	     { node = $1; last = $2 }' "$tmp/map"
}

the_maps_have_the_calls_of_the_headers()
{
	map_names $maps | awk '$1 != "PIER_PRIVATE" { print $2 }' |
	    sort >"$tmp/map"
	lacking "$tmp/api" "$tmp/map" "in no map"
	lacking "$tmp/map" "$tmp/api" "in no header"
}

internal_names_are_exported_privately_only()
{
	map_names $maps |
	    grep -E '^PIER_(UV_)?[0-9.]+ pier__|^PIER_PRIVATE pier_[^_]'
	return 0
}

the_man_pages_have_the_calls_of_the_headers()
{
	[ -n "$pages" ] || skip "there are no man pages"
	api_page_calls $pages | sort >"$tmp/pages"
	uniq -d "$tmp/pages" | sed 's/^/on more than one page: /'
	sort -u "$tmp/pages" >"$tmp/once"
	lacking "$tmp/api" "$tmp/once" "on no page"
	lacking "$tmp/once" "$tmp/api" "in no header"
}

# exports LIBRARY MAP: the one has just what the other lists.
exports()
{
	nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
	    sed 's/@@*/ /' | awk '{ print $2, $1 }' | sort >"$tmp/so"
	map_names "$2" | sort >"$tmp/map"
	lacking "$tmp/map" "$tmp/so" "not in ${1##*/}"
	lacking "$tmp/so" "$tmp/map" "not in ${2##*/}"
}

libraries_export_what_their_maps_have()
{
	need_library
	exports "$so" "$top/lib/libpier.map"
	exports "$build/lib/uv/.libs/libpier-uv.so" "$top/lib/uv/libpier-uv.map"
}

# The headers that programs for DOCA 2.0 see: those of its own, and others.
doca20=bindings/doca-2.0
doca20_headers=$(sed -n "s|^	\(.*/include/.*\.h\) \\\\\$|\1|p" \
    "$top/$doca20/local.mk" | sed "s|^%D%|$doca20|;s|^|$top/|")

# agree FOLDER LIBRARY HEADER...: the headers, the map and the library.  Code in
# a header, doca_version(), is not exported.
agree()
{
	doca_map=$top/$1/$2.map doca_so=$build/$1/.libs/$2.so
	shift 2
	for file; do
		api_functions doca "$file"
	done | grep -vx doca_version | sort -u >"$tmp/headers"
	sed -n 's/^	\(doca_[a-z0-9_]*\);$/\1/p' "$doca_map" >"$tmp/map"
	[ "$(wc -l <"$tmp/map")" -gt 150 ] || echo "few functions"
	sort -c "$tmp/map" 2>&1
	lacking "$tmp/headers" "$tmp/map" "not in the map"
	lacking "$tmp/map" "$tmp/headers" "in no header"
	[ -f "$doca_so" ] || skip "$doca_so is not built"
	nm -D --defined-only "$doca_so" | awk '$2 != "A" {
		sub(/@.*/, "", $3); print $3 }' | sort >"$tmp/so"
	lacking "$tmp/map" "$tmp/so" "not in the library"
	lacking "$tmp/so" "$tmp/map" "in the library only"
}

doca_headers_map_and_library_agree()
{
	agree bindings/doca libpier-doca "$top"/bindings/doca/include/*.h
}

those_for_doca_2_0_agree_too()
{
	agree $doca20 libpier-doca-2.0 $doca20_headers
}

# Words of the programs for DOCA, without comments and texts.  link.c has the
# address of functions, and calls none.
words_of_programs()
{
	for file; do
		[ "${file##*/}" = link.c ] ||
		    "${CC:-gcc}" -fpreprocessed -dD -E -P "$file"
	done | sed 's/"[^"]*"//g' | grep -o 'doca_[a-z0-9_]*' | sort -u
}

# called_by FOLDER HEADER...: its programs call every function.
called_by()
{
	folder=$1
	shift
	words_of_programs "$top/$folder"/*.c >"$tmp/words"
	for file; do
		api_functions doca "$file"
	done | sort -u >"$tmp/called"
	[ "$(wc -l <"$tmp/called")" -gt 80 ] || echo "few functions"
	lacking "$tmp/called" "$tmp/words" "no program of $folder calls it"
}

doca_functions_are_called_by_a_program()
{
	called_by t/doca "$top"/bindings/doca/include/*.h
}

# Those that are as today are called by the other programs.
those_for_doca_2_0_are_called_too()
{
	called_by t/doca-2.0 "$top/$doca20"/include/*.h
}

# A symbol that no header declares must differ from a program's.
shared_names_begin_with_pier()
{
	need_library
	objects lib >"$tmp/objects"
	objects cm >>"$tmp/objects"
	[ "$(wc -l <"$tmp/objects")" -gt 20 ] || echo "where are the objects?"
	xargs nm -A --defined-only --extern-only <"$tmp/objects" | awk '
		$3 ~ /^(__asan|__odr_asan|__tsan|__ubsan|_\.stapsdt)/ { next }
		$3 !~ /^pier_/ { sub(/:.*/, "", $1); print $1 ": " $3 }'
}

only_the_verbs_fabric_calls_rdma_core()
{
	need_library
	{ objects lib; objects cm; } | grep -v /fabric/verbs/ |
	    xargs nm -A --undefined-only | awk '
		$NF ~ /^(ibv|rdma|umad)_/ { sub(/:.*/, "", $1)
		    print $1 ": " $NF }'
}

# create and destroy, start and stop, open and close (devices), get and put
# or free (what comes from a pool): no other word for the same thing.  To
# abort a connection is to disconnect it, which its object outlives; what
# pier_mmap_alloc() allocates is the memory.
life_has_no_synonyms()
{
	grep -E '_(new|alloc|delete|del|release|init|fini|deinit|begin|end|'\
'finish|terminate|kill|dispose|shutdown|setup|teardown|cleanup|make|unref|'\
'acquire|construct|finalize|abort|quit|launch)$' "$tmp/api" |
	    grep -vx -e pier_conn_abort -e pier_mmap_alloc
	grep -E '_(open|close)$' "$tmp/api" | grep -Ev '^pier_(dev|rep)_'
	grep -E '_free$' "$tmp/api" | grep -v '^pier_task_'
	return 0
}

# pair X Y: who has X has Y.
pair()
{
	sed -n "s/_$1\$//p" "$tmp/api" | while read -r object; do
		grep -qx "${object}_$2" "$tmp/api" ||
		    echo "${object}_$1 lacks ${object}_$2"
	done
}

what_is_begun_can_be_ended()
{
	pair create destroy
	pair create_from_export destroy
	pair start stop
	pair open close
}

# A task in flight does not end: the call that frees it is refused.
the_end_of_an_object_returns_nothing()
{
	grep -nE '^[a-z].*[^a-z_]pier_[a-z_]+_(destroy|close|put|free)\(' \
	    "$top"/lib/include/pier/*.h | grep -v ':void pier_' |
	    grep -v -e ':int pier_task_free(' -e ':bool pier_task_may_free('
	return 0
}

api_functions pier "$top"/lib/include/pier/*.h | sort -u >"$tmp/api"
run there_are_calls
none the_maps_are_sorted
none the_maps_have_the_calls_of_the_headers
none internal_names_are_exported_privately_only
none the_man_pages_have_the_calls_of_the_headers
none libraries_export_what_their_maps_have
none doca_headers_map_and_library_agree
none those_for_doca_2_0_agree_too
none doca_functions_are_called_by_a_program
none those_for_doca_2_0_are_called_too
none shared_names_begin_with_pier
none only_the_verbs_fabric_calls_rdma_core
none life_has_no_synonyms
none what_is_begun_can_be_ended
none the_end_of_an_object_returns_nothing
tap_done
