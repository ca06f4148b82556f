#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How many instructions pier spends on an operation: submit, progress and
# callback, of each type of task, on a device that does nothing.  Counted by
# callgrind; what the device, memcpy() and the measuring program itself spend
# is taken off.  A program for DOCA may cost a little more than one for pier.
# usage: overhead.sh PROGRAM DOCA_PROGRAM
set -u
pier=$1 doca=$2
count=3200
met=0
tmp=$(mktemp -d) || exit
types=$("$pier" types)
doca_types=$("$doca" types)
# Both one at a time and batched, and memory.
targets=$((2 * $(echo "$types $doca_types" | wc -w) + 1))

finish()
{
	rm -rf "$tmp"
	echo "targets: $met met, $((targets - met)) missed"
	[ $met -eq $targets ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

command -v valgrind >/dev/null || {
	echo "overhead.sh: install valgrind" >&2
	exit 1
}

# own PROGRAM TYPE single|batched: the instructions of pier an operation, if
# they can be counted.  Of a hash, which another thread computes, those of pier
# on both threads, without locks and libcrypto, which allocates.
own()
{
	valgrind --tool=callgrind --callgrind-out-file="$tmp/out" \
	    --toggle-collect="bench_$3" --toggle-collect=worker_main \
	    "$@" $count >"$tmp/log" 2>&1 || {
		tail -n 3 "$tmp/log" >&2
		return
	}
	callgrind_annotate --threshold=100 --auto=no "$tmp/out" >"$tmp/all"
	[ "$2" = hash ] ||
	    grep -cE ':_*(int_)?(m|c|re)alloc( |$)' "$tmp/all" >>"$tmp/mallocs"
	awk -v count=$count -v hash="$([ "$2" != hash ] || echo 1)" '
	/PROGRAM TOTALS/ { totals = 1; next }
	!totals || !/^ *[0-9][0-9,]* .*:/ { next }
	/:(null_|bench_|must|(overhead_doca_|task_)done|doca_buf_)/ { next }
	/:__mem(cpy|move)_/ { next }
	hash && /\[[^]]*\.so[^]]*\]$/ { next }
	{
		gsub(",", "", $1)
		sum += $1
	}
	END { printf "%.1f\n", sum / count }' "$tmp/all"
}

# target WHAT LIMIT VALUE [UNIT]; no value: it could not be measured
target()
{
	verdict=MISSED
	if [ -n "$3" ] && awk "BEGIN { exit !($3 <= $2) }"; then
		met=$((met + 1)) verdict=met
	fi
	echo "$1: ${3:-none} ${4:-instructions}, at most $2: $verdict"
}

# both TYPE SINGLE BATCHED: measure, and judge by these two limits
both()
{
	single=$(own "$pier" "$1" single)
	batched=$(own "$pier" "$1" batched)
	echo "$1 $single $batched" >>"$tmp/ours"
	target "$1, one at a time" "$2" "$single"
	target "$1, batched by 32" "$3" "$batched"
}

# ours TYPE COLUMN: the figure of pier's own
ours()
{
	awk -v type="$1" -v column="$2" '$1 == type { print $column }' \
	    "$tmp/ours"
}

# more OURS THEIRS: by how many theirs is more; nothing if one is missing
more()
{
	[ -z "$1" ] || [ -z "$2" ] || awk "BEGIN { print $2 - $1 }"
}

for type in $types; do
	case $type in	# see docs/benchmarks.md
	hash) both hash 800 560 ;;
	graph) both graph 400 240 ;;	# an instance and its node's task
	*) both "$type" 200 120 ;;
	esac
done
for type in $doca_types; do
	target "$type for DOCA, more than pier's own" 40 \
	    "$(more "$(ours "$type" 2)" "$(own "$doca" "$type" single)")"
	target "$type for DOCA, batched by 32, more than pier's own" 40 \
	    "$(more "$(ours "$type" 3)" "$(own "$doca" "$type" batched)")"
done
target "memory allocation" 0 "$(awk '{ n += $1 } END { print n }' \
    "$tmp/mallocs")" "functions of malloc entered"
