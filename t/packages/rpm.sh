#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The packages of RPM are built from the tarball, and rpmlint reports no error.
# They are built beside the libraries of this system, so that what they depend
# on is not compared with a Fedora's.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/deb.sh"

command -v rpmbuild >/dev/null || skip_all "there is no rpmbuild"
names="libpier0 libpier-uv0 pier-devel pier-doca pier-doca-devel pier-tools
	python3-pier pier-doc"

packages_are_built()
{
	rm -rf "$dir/rpm" && mkdir "$dir/rpm" || return 1
	if [ -f "$dir/pier_$version.orig.tar.gz" ]; then	# by deb.sh
		ln "$dir/pier_$version.orig.tar.gz" \
			"$dir/rpm/pier-$version.tar.gz" || return 1
	else
		dist "$dir/rpm/pier-$version.tar.gz" || return 1
	fi
	PATH=/usr/lib/ccache:$PATH MAKEFLAGS='' rpmbuild --nodeps -bb \
	    -D "_topdir $dir/rpm" -D "_sourcedir $dir/rpm" \
	    -D "_smp_mflags -j$(nproc)" "$top/rpm/pier.spec" \
	    >"$dir/rpm/log" 2>&1 || {
		tail -n 40 "$dir/rpm/log"
		return 1
	}
	for name in $names; do
		ls "$dir/rpm/RPMS"/*/"$name-$version"-*.rpm || return 1
	done
}

rpmlint_reports_no_error()
{
	command -v rpmlint >/dev/null || skip "there is no rpmlint"
	rpmlint -r "$top/rpm/pier.rpmlintrc" "$top/rpm/pier.spec" \
	    "$dir/rpm/RPMS"/*/*.rpm >"$dir/rpm/lint" 2>&1
	grep -q ' 0 errors' "$dir/rpm/lint" || {
		grep -e ': E: ' -e errors "$dir/rpm/lint"
		return 1
	}
}

run packages_are_built
run rpmlint_reports_no_error
tap_done
