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

none an_array_is_shared_and_a_slice_of_it_read
tap_done
