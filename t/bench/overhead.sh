#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How many instructions pier spends on an operation: submit, progress and
# callback, on a device that does nothing.  Counted by callgrind; what the
# device, memcpy() and the measuring program itself spend is taken off.
# A program for DOCA may cost a little more.
# usage: overhead.sh PROGRAM DOCA_PROGRAM
set -eu
pier=$1 doca=$2
count=3200
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
met=0 missed=0

command -v valgrind >/dev/null || {
	echo "overhead.sh: install valgrind" >&2
	exit 1
}

# own PROGRAM FUNCTION ARG...: instructions of pier an operation
own()
{
	program=$1 fn=$2
	shift 2
	valgrind --tool=callgrind --callgrind-out-file="$tmp/out" \
	    --toggle-collect="$fn" "$program" "$@" $count >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		exit 1
	}
	callgrind_annotate --threshold=100 --auto=no "$tmp/out" >"$tmp/all"
	grep -cE ':_*(int_)?(m|c|re)alloc( |$)' "$tmp/all" >>"$tmp/mallocs" || :
	awk -v count=$count '
		/PROGRAM TOTALS/ { gsub(",", "", $1); total = $1 }
		/:(null_|bench_|must|task_done|doca_buf_|__mem(cpy|move)_)/ {
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
	single=$(own "$pier" bench_single $op single)
	target "8-byte $op, single" 200 "$single"
	target "8-byte $op, batched by 32" 120 \
	    "$(own "$pier" bench_batched $op batched)"
	more=$(own "$doca" bench_single $op single)
	target "8-byte $op for DOCA, more than pier's own" 40 \
	    "$(awk "BEGIN { print $more - $single }")"
done
# On sync events: as a task of their own, and of a peer's.
for op in add set get; do
	target "sync event $op, single" 200 \
	    "$(own "$pier" bench_single $op single)"
	target "sync event $op, batched by 32" 120 \
	    "$(own "$pier" bench_batched $op batched)"
done
target "memory allocation" 0 "$(awk '{ n += $1 } END { print n }' \
    "$tmp/mallocs")" "functions of malloc entered"
echo "targets: $met met, $missed missed"
