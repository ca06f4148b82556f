#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The projects of Meson that are installed with the samples name each of them,
# and no more; root.sh builds them.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

# named DIRECTORY EXTENSION - the sources there are those of meson.build
named()
{
	(cd "$1" && ls ./*."$2") | sed "s,^\./,,; s,\.$2\$,," >"$tmp/sources"
	[ "$(wc -l <"$tmp/sources")" -gt 3 ] || echo "few sources in $1"
	sed -n "s/^	'\([a-z_]*\)',\$/\1/p
		s/^	executable('\([a-z_]*\)', .*/\1/p" \
	    "$1/meson.build" | sort | diff - "$tmp/sources"
}

meson_builds_each_sample()
{
	named samples c
}

meson_builds_each_service()
{
	named samples/services c
}

meson_builds_each_example_in_cpp()
{
	named bindings/cpp/examples cpp
}

none meson_builds_each_sample
none meson_builds_each_service
none meson_builds_each_example_in_cpp
tap_done
