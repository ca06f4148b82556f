#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every name that the reference of DOCA 3.3 has, and the guides for DOCA 2.0
# have, is in the headers; the functions are in the libraries too.
#
# t/doca/names-3.3 has them by the header that alone provides them,
# t/doca/names-2.0 those of any header.  A function ends in ().
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

# The headers of DOCA 2.0 that are installed.
dir20=bindings/doca-2.0
headers20=$(sed -n "s#^	\(.*/include/.*\.h\) \\\\\$#\1#p" $dir20/local.mk |
    sed "s#^%D%#$dir20#")

# words OPTION... FILE - the names of DOCA in it and in what it includes
words()
{
	"${CC:-gcc}" -E -dD -P "$@" |
	    grep -ow '\(doca\|DOCA\)_[A-Za-z0-9_]*' | sort -u
}

# listed FILE HEADER - what is listed of the header, sorted
listed()
{
	awk -v header="$2" '
	/^#/ { next }
	/^[a-z]/ { mine = $0 == header; next }
	mine { for (i = 1; i <= NF; i++) print $i }' "$1" | sort -u
}

# functions FILE - of all headers
functions()
{
	grep -o 'doca_[a-z0-9_]*()' "$1" | tr -d '()' | sort -u
}

# exported LIBRARY - its functions
exported()
{
	nm -D --defined-only "$1" | awk '$2 != "A" {
		sub(/@.*/, "", $3); print $3 }' | sort -u
}

each_header_has_its_names()
{
	dir=bindings/doca/include
	grep '^[a-z]' t/doca/names-3.3 >"$tmp/headers"
	[ "$(wc -l <"$tmp/headers")" -ge 25 ] || echo "few headers"
	while read -r header; do
		listed t/doca/names-3.3 "$header" | tr -d '()' | sort -u \
		    >"$tmp/want"
		[ -s "$tmp/want" ] || echo "$header: no names"
		words -I$dir "$dir/$header" >"$tmp/have"
		comm -23 "$tmp/want" "$tmp/have" | sed "s/^/$header lacks /"
	done <"$tmp/headers"
}

the_headers_of_2_0_have_those_of_the_guides()
{
	listed t/doca/names-2.0 "any header" | tr -d '()' | sort -u \
	    >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -ge 100 ] || echo "few names"
	for header in $headers20; do
		words -I$dir20/include -Ibindings/doca/include \
		    "$header"
	done | sort -u >"$tmp/have"
	comm -23 "$tmp/want" "$tmp/have"
}

# in_library LIST LIBRARY
in_library()
{
	[ -f "$build/$2" ] || skip "$2 is not built"
	functions "$1" >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -ge "$3" ] || echo "few functions"
	exported "$build/$2" | comm -23 "$tmp/want" -
}

the_library_has_the_functions()
{
	in_library t/doca/names-3.3 bindings/doca/.libs/libpier-doca.so 500
}

that_of_2_0_has_those_of_the_guides()
{
	in_library t/doca/names-2.0 \
	    $dir20/.libs/libpier-doca-2.0.so 50
}

none each_header_has_its_names
none the_headers_of_2_0_have_those_of_the_guides
none the_library_has_the_functions
none that_of_2_0_has_those_of_the_guides
tap_done
