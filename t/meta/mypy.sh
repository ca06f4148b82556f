#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The types of the package for Python, by mypy: what it declares is consistent,
# and the examples use it as a strict program does.
. "${0%/*}/../lib/tap.sh"

command -v mypy >/dev/null || skip_all "mypy is not installed"
cd "$top/bindings/python" || exit
export MYPY_CACHE_DIR="$tmp/cache" MYPYPATH=.:examples

the_package_is_consistent()
{
	mypy pier >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}

examples_and_the_stub_are_strict()
{
	mypy --strict --follow-imports=silent pier/_pier.pyi examples \
		>"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}

# Without the annotations of the package all of them would be of any type.
a_wrong_use_is_found()
{
	cat >"$tmp/wrong.py" <<-'END'
	import pier

	count: str = pier.Engine().progress()
	pier.Device(1.5)
	END
	! mypy --strict --follow-imports=silent "$tmp/wrong.py" \
		>"$tmp/out" 2>&1 && grep -q 'wrong.py:3: error' "$tmp/out" &&
		grep -q 'wrong.py:4: error' "$tmp/out" || {
		cat "$tmp/out"
		return 1
	}
}

run the_package_is_consistent
run examples_and_the_stub_are_strict
run a_wrong_use_is_found
tap_done
