# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What `make tests` has installed: source it after tap.sh.
#
# $root is the root of the installation.  Tests read there, and do not install:
# libtool links again in the build tree, where it moves libraries aside that
# other tests use.

root=$build/installed
[ -f "$root/stamp" ] ||
    skip_all "nothing is installed in $root: run make tests"
