#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How many instructions pier spends on an operation: submit, progress and
# callback, of each type of task, on a device that does nothing.  Counted by
# callgrind; what the device, memcpy() and the measuring program itself spend
# is taken off.  A program for DOCA may cost a little more.
# usage: overhead.sh PROGRAM DOCA_PROGRAM
set -u
pier=$1 doca=$2
doca_types="send read copy"
count=3200
met=0
tmp=$(mktemp -d) || exit
types=$("$pier" types)
# One and batched; more for DOCA; memory.
targets=$((2 * $(echo "$types" | wc -w) + $(echo "$doca_types" | wc -w) + 1))

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
	/:(null_|bench_|must|task_done|doca_buf_|__mem(cpy|move)_)/ { next }
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

for type in $types; do
	single=200 batched=120
	case $type in	# see docs/benchmarks.md
	hash) single=800 batched=560 ;;
	graph) single=720 batched=340 ;;
	esac
	value=$(own "$pier" "$type" single)
	target "$type, one at a time" $single "$value"
	case " $doca_types " in
	*" $type "*) echo "$type $value" >>"$tmp/singles" ;;
	esac
	target "$type, batched by 32" $batched "$(own "$pier" "$type" batched)"
done
for type in $doca_types; do
	theirs=$(own "$doca" "$type" single) more=
	ours=$(sed -n "s/^$type //p" "$tmp/singles")
	[ -z "$ours" ] || [ -z "$theirs" ] ||
	    more=$(awk "BEGIN { print $theirs - $ours }")
	target "$type for DOCA, more than pier's own" 40 "$more"
done
target "memory allocation" 0 "$(awk '{ n += $1 } END { print n }' \
    "$tmp/mallocs")" "functions of malloc entered"
