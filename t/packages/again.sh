#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The packages of Debian are the same, byte by byte, if they are built again
# elsewhere: with another umask, time zone, language and home.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/deb.sh"

command -v dh >/dev/null || skip_all "there is no debhelper"
[ -n "$(find "$dir/first" -name '*.deb' 2>/dev/null)" ] ||
	skip_all "run deb.sh with the same PIER_PACKAGES_DIR first"

packages_are_the_same()
{
	(umask 027 && TZ=Asia/Kathmandu LANG=C.UTF-8 LC_ALL=C.UTF-8 \
	    HOME=/nonexistent CCACHE_DISABLE=1 \
	    build_debs "$dir/again") || return
	for package in $packages; do
		cmp "$dir/first/${package}_$version"-*.deb \
			"$dir/again/${package}_$version"-*.deb || return 1
	done
}

run packages_are_the_same
tap_done
