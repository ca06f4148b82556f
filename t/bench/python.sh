#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The package for Python beside pier perf: an 8-byte send and its answer, and a
# stream of 1 MiB writes, between two processes on soft_lo.
# usage: python.sh PIER FOLDER-OF-THE-PACKAGE; BENCH_TURNS=N turns, 7 without it
targets=2
here=$(cd "${0%/*}" && pwd) || exit
. "${0%/*}/pairs.sh"
pier=$1 package=$2
depth=16 writes=4000

# python WORD... - what python.py prints; its ends are on the cores of a pair
python()
{
	PYTHONPATH=$package timeout 100 python3 -B "$here/python.py" \
	    "$@" "$core_a" "${core_b:-$core_a}" 2>"$tmp/err" ||
	    echo "# failed: python.py $1: $(tail -n 1 "$tmp/err")" >&2
}

# The figure of pier perf is half of a round trip.
round_c() { perf lat send 8 20000 median | awk '$1 > 0 { print 2 * $1 }'; }
asleep_c() { perf lat send 8 20000 median --events |
    awk '$1 > 0 { print 2 * $1 }'; }
stream_c() { perf bw write 1048576 $writes gb_per_s --outstanding $depth; }

a_turn()
{
	take round_c round_c
	take asleep_c asleep_c
	take round_py python asyncio
	take blocking_py python blocking
	take stream_c stream_c
	take stream_py python stream $depth $writes
}

# difference NAME OURS THEIRS - of each turn
difference()
{
	awk -v name="$1" -v ours="$2" -v theirs="$3" '
		$2 == ours { a[$1] = $3 }
		$2 == theirs { b[$1] = $3 }
		END { for (t in a) if (t in b) print t, name, a[t] - b[t] }' \
	    "$rows" >"$tmp/more" && cat "$tmp/more" >>"$rows"
}

if [ -f "$package/pier/_pier.abi3.so" ]; then
	in_turns "$turns" a_turn
	difference over round_py round_c
else
	echo "# left out: the package for Python: install python3-cffi and" \
	    "python3-dev (Fedora: python3-devel), and configure again"
fi
judge "an 8-byte send and its answer, from asyncio, more than from C" \
    "at most" 40 us over
judge "a stream of 1 MiB writes, of C" "at least" 0.95 GB/s stream_py stream_c
note "an 8-byte send and its answer; C, polling" us round_c
note "an 8-byte send and its answer; C, asleep" us asleep_c
note "an 8-byte send and its answer; asyncio" us round_py
note "an 8-byte send and its answer; blocking calls" us blocking_py
