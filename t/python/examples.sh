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

# fails END - read.py, one of whose ends fails before the pipe is used, ends
# with an error and not by the time limit
fails()
{
	cat >"$tmp/fails.py" <<-END
	import multiprocessing
	import sys
	sys.path.insert(0, "$examples")
	import read

	end = read.$1

	def fails(*pipes):
	    read.pier.Device = lambda: sys.exit("no device")
	    end(*pipes)

	multiprocessing.set_start_method("fork")
	read.$1 = fails
	read.main()
	END
	timeout 60 "$python" "$tmp/fails.py" >"$tmp/out" 2>&1
	status=$?
	[ $status -eq 1 ] && grep -q "no device" "$tmp/out" && return
	cat "$tmp/out"
	echo "its status is $status"
}

the_reader_of_an_array_ends_when_the_owner_fails()
{
	fails owner
	grep -q "read.py: the process that has the array has ended" \
		"$tmp/out" || cat "$tmp/out"
}

the_owner_of_an_array_ends_when_the_reader_fails()
{
	fails reader
}

# Without an installed package, as they are run from the source tree.  They make
# nothing of pier's that could leak.
every_example_finds_the_package_in_the_build_tree()
{
	mkdir -p "$tmp/tree/bindings/python"
	cp -r "$examples" "$tmp/tree/bindings/python/"
	ln -s "$build" "$tmp/tree/build"
	for example in "$tmp"/tree/bindings/python/examples/*.py; do
		case $example in
		*/in_tree.py|*/read.py|*/sample.py) continue ;;
		esac
		env -u PYTHONPATH ASAN_OPTIONS=detect_leaks=0 timeout 60 \
		    "$python" "$example" --help \
		    >"$tmp/out" 2>&1 || { echo "$example:"; cat "$tmp/out"; }
	done
}

none every_example_finds_the_package_in_the_build_tree
none an_array_is_shared_and_a_slice_of_it_read
none the_reader_of_an_array_ends_when_the_owner_fails
none the_owner_of_an_array_ends_when_the_reader_fails
tap_done
