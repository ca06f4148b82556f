#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# t/lib/coverage.sh TEST...: run the tests in the build tree that is the current
# directory, configured with --enable-coverage, and print what they executed of
# the library and of the connections, a row a folder.  With COVERAGE_LIST=1
# each line before that was not executed, or has a branch that was not taken.
top=$(cd "$(dirname "$0")/../.." && pwd) || exit

find . -name '*.gcda' -exec rm -f {} +
failed=
for test; do
	"$top/t/run" "$test" >coverage.log 2>&1 || failed="$failed $test"
done
[ -z "$failed" ] || echo "failed:$failed" >&2
rm -f coverage.log

objects=$(find cm lib -name '*.gcda')
[ "$objects" ] || {
	echo "nothing was counted: configure with --enable-coverage" >&2
	exit 1
}
# shellcheck disable=SC2086 # names of sources
${GCOV:-gcov} -b -c -t $objects 2>/dev/null |
    awk -v top="$top" -v list="${COVERAGE_LIST:-0}" \
	-f "$top/t/lib/coverage.awk" || exit
[ -z "$failed" ]
