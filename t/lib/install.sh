# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What tests of the installation share: source it after tap.sh.

# install_pier - into $tmp/dest.  One test and one job at a time: libtool links
# again in the build tree, where it moves the libraries aside meanwhile.
install_pier()
{
	MAKEFLAGS= flock "$build/config.status" make -s -C "$build" install \
	    DESTDIR="$tmp/dest" >"$tmp/log" 2>&1 ||
	    { tail "$tmp/log"; return 1; }
}
