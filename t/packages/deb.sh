#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tarball and the packages of Debian are built, and complete.  `make
# check-packages` runs it, before those that use them; it needs debhelper.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/deb.sh"

command -v dh >/dev/null || skip_all "there is no debhelper"

two_tarballs_are_the_same()
{
	(umask 022 && dist "$dir/pier_$version.orig.tar.gz") &&
		(umask 077 && dist "$dir/again.tar.gz") &&
		cmp "$dir/pier_$version.orig.tar.gz" "$dir/again.tar.gz"
}

# What git has, but for what it alone needs.
the_tarball_is_complete()
{
	git -C "$top" ls-files >"$dir/tracked" 2>/dev/null ||
		skip "this is no clone"
	tar -tzf "$dir/pier_$version.orig.tar.gz" |
		sed -n "s#^pier-$version/##p" | sort >"$dir/packed"
	grep -v -x -e .gitignore "$dir/tracked" | sort |
		comm -23 - "$dir/packed" >"$dir/missing"
	[ ! -s "$dir/missing" ] || { cat "$dir/missing"; return 1; }
}

packages_are_built()
{
	build_debs "$dir/first" || return 1
	for package in $packages; do
		ls "$dir/first/${package}_$version"-*.deb || return 1
	done
}

# Programs look for modules and libraries where the packages have them.
no_file_names_the_directory_of_the_build()
{
	rm -rf "$dir/extracted" && mkdir "$dir/extracted" || return
	for package in $packages; do
		dpkg-deb -x "$dir/first/${package}_$version"-*.deb \
			"$dir/extracted" || echo "$package"
	done
	grep -rl "$dir/first" "$dir/extracted"
	find "$dir/extracted" -name '*.la'
}

# Those of documents to each other, to pages of the manual and to samples.
links_of_documents_lead_to_files()
{
	cd "$dir/extracted/usr/share/doc/pier" || return
	grep -oH ']([^)#:]*[)#]' README.md docs/*.md |
	    sed 's/](/ /; s/[)#]$//; s/:/ /' >"$dir/links"
	[ "$(wc -l <"$dir/links")" -ge 100 ] || echo "few links"
	while read -r file link; do
		[ -z "$link" ] || (cd "${file%"${file##*/}"}./" &&
			[ -e "$link" ]) || echo "$file: $link"
	done <"$dir/links"
}

run two_tarballs_are_the_same
run the_tarball_is_complete
run packages_are_built
none no_file_names_the_directory_of_the_build
none links_of_documents_lead_to_files
tap_done
