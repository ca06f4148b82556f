#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The version is the same wherever it is written.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

version=$(sed -n 's/.*PIER_VERSION "\(.*\)"/\1/p' lib/include/pier/version.h)

# FILE SED - what prints the version that the file has
places()
{
	cat <<'END'
NEWS.md	s/^## \([0-9.]*\).*/\1/p
bindings/cpp/examples/meson.build	s/^	version : '\(.*\)',/\1/p
bindings/python/pyproject.toml	s/^version = "\(.*\)"/\1/p
debian/changelog	s/^pier (\(.*\)-[0-9]*) .*/\1/p
rpm/pier.spec	s/^Version: *//p
samples/meson.build	s/^	version : '\(.*\)',/\1/p
END
}

every_place_has_the_version()
{
	places | while IFS='	' read -r file rest; do
		got=$(sed -n "$rest" "$file" | head -n 1)
		[ "$got" = "$version" ] || echo "$file: $got, not $version"
	done
}

# Both changelogs of packages begin with it, and have the same day.
changelogs_agree()
{
	of_deb=$(sed -n 's/^ -- .*  \(.*\)/\1/p' debian/changelog |
	    head -n 1)
	of_rpm=$(sed -n '/^%changelog/,$s/^\* \(.*\) The pier authors.*/\1/p' \
	    rpm/pier.spec | head -n 1)
	[ "$(date -d "$of_deb" +%F)" = "$(date -d "$of_rpm" +%F)" ] ||
		echo "debian: $of_deb, rpm: $of_rpm"
	sed -n '/^%changelog/,$p' rpm/pier.spec | sed -n 2p |
		grep -q -- " - $version-1\$" || echo "rpm/pier.spec: $of_rpm"
}

# Of each library, and there is none of another version.
the_baselines_of_the_abi_are_of_the_version()
{
	for library in $(sed -n '/^abi_libraries = /,/[^\\]$/p' \
	    t/packages/local.mk | grep -o '[^/ ]*/lib[^ ]*'); do
		echo "${library##*/}-$version.xml.xz"
	done | sort >"$tmp/want"
	ls t/data/abi | sort | diff "$tmp/want" -
	[ "$(wc -l <"$tmp/want")" -ge 4 ] || echo "few libraries were found"
}

none every_place_has_the_version
none changelogs_agree
none the_baselines_of_the_abi_are_of_the_version
tap_done
