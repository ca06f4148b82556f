#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the package for Python.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"

examples=$top/bindings/python/examples

an_array_is_shared_and_a_slice_of_it_read()
{
	timeout 60 "$python" "$examples/read.py" >"$tmp/out" || return 1
	grep -qF "squares[500000:500005] is [250000000000.0, 250001000001.0," \
		"$tmp/out" || cat "$tmp/out"
}

# Without an installed package, as they are run from the source tree.
every_example_finds_the_package_in_the_build_tree()
{
	mkdir -p "$tmp/tree/bindings/python"
	cp -r "$examples" "$tmp/tree/bindings/python/"
	ln -s "$build" "$tmp/tree/build"
	for example in "$tmp"/tree/bindings/python/examples/*.py; do
		case $example in
		*/in_tree.py|*/read.py|*/sample.py) continue ;;
		esac
		env -u PYTHONPATH timeout 60 "$python" "$example" --help \
		    >"$tmp/out" 2>&1 || { echo "$example:"; cat "$tmp/out"; }
	done
}

none every_example_finds_the_package_in_the_build_tree
none an_array_is_shared_and_a_slice_of_it_read
tap_done
