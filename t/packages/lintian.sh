#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# lintian reports no error in the packages that deb.sh has built.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/deb.sh"

command -v lintian >/dev/null || skip_all "there is no lintian"
[ -n "$(find "$dir/first" -name '*.deb' 2>/dev/null)" ] ||
	skip_all "run deb.sh with the same PIER_PACKAGES_DIR first"

lintian_reports_no_error()
{
	lintian --allow-root --fail-on error \
	    "$dir/first/pier_$version"-*.changes >"$dir/lintian" 2>&1 || {
		cat "$dir/lintian"
		return 1
	}
}

run lintian_reports_no_error
tap_done
