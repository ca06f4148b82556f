#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Run fuzz targets in the build tree that is the current directory:
#
#	run.sh fuzz SECONDS TARGET...	make up inputs
#	run.sh corpus SECONDS TARGET...	and keep what t/data/fuzz lacks
#
# New inputs gather in fuzz.d/TARGET; one that fails is fuzz.d/TARGET-crash-*.
set -u

srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit
export srcdir
how=$1 seconds=$2
shift 2

# Those of the tree and those found before.
gather()
{
	mkdir -p "fuzz.d/$1" "fuzz.d/$1.tree" &&
	    [ ! -s "$srcdir/t/data/fuzz/$1" ] ||
	    "t/fuzz/$1.t" -u "fuzz.d/$1.tree"
}

fuzz()
{
	echo "=== $1: $seconds s"
	gather "$1" &&
	    "t/fuzz/$1.fuzz" -max_total_time="$seconds" -max_len=4096 \
		-timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="fuzz.d/$1-" "fuzz.d/$1" "fuzz.d/$1.tree"
}

# The fewest and smallest inputs that cover as much.
corpus()
{
	rm -rf "fuzz.d/$1.small" && mkdir "fuzz.d/$1.small" &&
	    "t/fuzz/$1.fuzz" -merge=1 -max_len=4096 -verbosity=0 \
		"fuzz.d/$1.small" "fuzz.d/$1.tree" "fuzz.d/$1" &&
	    "t/fuzz/$1.t" -p "fuzz.d/$1.small" "$srcdir/t/data/fuzz/$1" &&
	    ls -l "$srcdir/t/data/fuzz/$1"
}

for target; do
	fuzz "$target" || exit
	[ "$how" = fuzz ] || corpus "$target" || exit
done
