#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How many instructions pier spends on an operation: submit, progress and
# callback, on a device that does nothing.  Counted by callgrind; what the
# device, memcpy() and the measuring program itself spend is taken off.
# usage: overhead.sh PROGRAM
set -eu
program=$1
count=3200
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
met=0 missed=0

command -v valgrind >/dev/null || {
	echo "overhead.sh: install valgrind" >&2
	exit 1
}

# own FUNCTION ARG...: instructions of pier an operation
own()
{
	fn=$1
	shift
	valgrind --tool=callgrind --callgrind-out-file="$tmp/out" \
	    --toggle-collect="$fn" "$program" "$@" $count >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		exit 1
	}
	callgrind_annotate --threshold=100 --auto=no "$tmp/out" >"$tmp/all"
	grep -cE ':_*(int_)?(m|c|re)alloc( |$)' "$tmp/all" >>"$tmp/mallocs" || :
	awk -v count=$count '
		/PROGRAM TOTALS/ { gsub(",", "", $1); total = $1 }
		/:(null_|bench_|must|task_done|__mem(cpy|move)_)/ {
			gsub(",", "", $1)
			off += $1
		}
		END { printf "%.1f\n", (total - off) / count }' "$tmp/all"
}

# target WHAT LIMIT VALUE [UNIT]
target()
{
	if awk "BEGIN { exit !($3 <= $2) }"; then
		met=$((met + 1)) verdict=met
	else
		missed=$((missed + 1)) verdict=MISSED
	fi
	echo "$1: $3 ${4:-instructions}, at most $2: $verdict"
}

for op in send read copy; do
	target "8-byte $op, single" 200 "$(own bench_single $op single)"
	target "8-byte $op, batched by 32" 120 \
	    "$(own bench_batched $op batched)"
done
target "memory allocation" 0 "$(awk '{ n += $1 } END { print n }' \
    "$tmp/mallocs")" "functions of malloc entered"
echo "targets: $met met, $missed missed"
