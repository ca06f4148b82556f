# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What the tests of packages share: source it after tap.sh.  With
# PIER_PACKAGES_DIR=DIR everything is built in DIR and remains there.

version=$(sed -n 's/.*PIER_VERSION "\(.*\)"/\1/p' \
    "$top/lib/include/pier/version.h")
dir=${PIER_PACKAGES_DIR:-$tmp/packages}
mkdir -p "$dir" && dir=$(cd "$dir" && pwd -P) || exit
packages="libpier0 libpier-uv0 libpier-dev libpier-doca0 libpier-doca-dev
	pier-tools python3-pier pier-doc"

# dist FILE - the tarball of the sources
dist()
{
	MAKEFLAGS='' make -s -C "$build" dist-gzip &&
		mv "$build/pier-$version.tar.gz" "$1"
}

# build_debs DIR - from the tarball in $dir, below DIR; the compiler's cache is
# used if there is one
build_debs()
{
	rm -rf "$1" && mkdir -p "$1" &&
		tar -C "$1" -xzf "$dir/pier_$version.orig.tar.gz" &&
		cd "$1/pier-$version" || return 1
	PATH=/usr/lib/ccache:$PATH MAKEFLAGS='' DPKG_DEB_COMPRESSOR_LEVEL=1 \
	DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
		dpkg-buildpackage -b -us -uc >"$1/log" 2>&1 || {
		tail -n 40 "$1/log"
		return 1
	}
}
