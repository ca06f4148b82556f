#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How many instructions pier spends on an operation: submit, progress and
# callback, of each type of task, on a device that does nothing, while the clock
# stands still: an engine that polls by time would do more on a slow machine.
# Counted by callgrind; what the device, memcpy() and the measuring program
# itself spend is taken off, and what the other end of a Comm Channel spends is
# not counted.
# A program for DOCA may cost a little more than one for pier.
# A graph of several nodes is judged by what a node costs, its copy and its
# place in the order: see docs/benchmarks.md.
# A hash is judged by what each of its two threads spends: the program's, which
# submits and completes, and its worker.
# The C++ binding is judged by all that its program spends, beside one that
# makes the same calls of C.
# usage: overhead.sh PROGRAM DOCA_PROGRAM [CPP_PROGRAM]
set -u
pier=$1 doca=$2 cpp=${3:-}
count=3200
met=0
tmp=$(mktemp -d) || exit
types=$("$pier" types)
graphs=$("$pier" graphs)
doca_types=$("$doca" types)
cpp_types=$([ -z "$cpp" ] || "$cpp" types |
    grep -vxE 'await|sync_event_[a-z]*_result')
# One at a time and batched, for DOCA with one event a call and made anew too,
# the worker's, and memory.
targets=$((2 * $(echo "$types $graphs" | wc -w) +
    4 * $(echo "$doca_types" | wc -w) + $(echo "$cpp_types" | wc -w) + 3))

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

# count PROGRAM TYPE single|batched|events FUNCTION: count what FUNCTION calls,
# but for bench_peer()
count()
{
	valgrind --tool=callgrind --callgrind-out-file="$tmp/out" \
	    --toggle-collect="$4" --toggle-collect=bench_peer \
	    "$1" "$2" "$3" $count >"$tmp/log" 2>&1 || {
		tail -n 3 "$tmp/log" >&2
		return 1
	}
	callgrind_annotate --threshold=100 --auto=no "$tmp/out" >"$tmp/all"
}

# own PROGRAM TYPE single|batched|events|anew: the instructions of pier an
# operation, if they can be counted
own()
{
	count "$1" "$2" "$3" "bench_$3" || return
	grep -cE ':_*(int_)?(m|c|re)alloc( |$)' "$tmp/all" >>"$tmp/mallocs"
	awk -v count=$count '
	/PROGRAM TOTALS/ { totals = 1; next }
	!totals || !/^ *[0-9][0-9,]* .*:/ { next }
	/\/t\/bench\/[a-z_]*\.c:/ { next }
	/:(null_|bench_|must|overhead_|task_done|doca_buf_)/ { next }
	/:__mem(cpy|move)_/ { next }
	{
		gsub(",", "", $1)
		sum += $1
	}
	END { printf "%.1f\n", sum / count }' "$tmp/all"
}

# own_thread PROGRAM TYPE single|batched FUNCTION: those of the thread that
# FUNCTION runs on, in the sources of pier.  Locks, naps and libcrypto, which
# allocates by itself, are of others: who else calls malloc?
own_thread()
{
	count "$1" "$2" "$3" "$4" || return
	callgrind_annotate --threshold=100 --auto=no --tree=caller \
	    "$tmp/out" >"$tmp/tree"
	awk '
	/^ *[0-9,]+ .*  < / {
		if (!/libcrypto/ && !/\/malloc\.c:/)
			callers++
		next
	}
	/  \*  .*:_*(int_)?(m|c|re)alloc( |$)/ { n += callers }
	{ callers = 0 }
	END { print n + 0 }' "$tmp/tree" >>"$tmp/mallocs"
	awk -v count=$count '
	/PROGRAM TOTALS/ { totals = 1; next }
	totals && /\/(lib|cm)\/[a-z\/_]*\.[ch]:/ {
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
	echo "$1: ${3:-not measured}${4:+ $4}, at most $2: $verdict"
}

# both TYPE SINGLE BATCHED: measure, and judge by these two limits
both()
{
	single=$(own "$pier" "$1" single)
	batched=$(own "$pier" "$1" batched)
	echo "$1 $single $batched" >>"$tmp/ours"
	target "$1; one at a time" "$2" "$single"
	target "$1; batched by 32" "$3" "$batched"
}

# thread WHAT SINGLE BATCHED: the same of a hash, of the thread that these two
# functions run on
thread()
{
	target "hash, $1; one at a time" 200 \
	    "$(own_thread "$pier" hash single "$2")"
	target "hash, $1; batched by 32" 120 \
	    "$(own_thread "$pier" hash batched "$3")"
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
	hash)
		thread "program's thread" bench_single bench_batched
		thread "worker" worker_main worker_main
		;;
	graph) both graph 400 240 ;;	# an instance and its node's task
	comch_request) both "$type" 760 640 ;;	# its reply, too
	*) both "$type" 200 120 ;;
	esac
done
# nodes NAME COUNT EACH: an instance of COUNT nodes, each of which may cost EACH
nodes()
{
	both "$1" $((200 + $2 * $3)) $((120 + $2 * $3))
}

for graph in $graphs; do
	case $graph in	# a copy is at most 120 of them
	*_chain_*) nodes "$graph" "${graph##*_}" 360 ;;
	*) nodes "$graph" "${graph##*_}" 260 ;;
	esac
done
# What a call for one event costs is the engine's, for a program of pier's too:
# the layer is judged beside that, and the difference to a batch is printed.
events()
{
	pier_events=$(own "$pier" "$1" events)
	doca_events=$(own "$doca" "$1" events)
	target "$1 for DOCA, more than pier's own; one event a call" 40 \
	    "$(more "$pier_events" "$doca_events")"
	echo "$1 for DOCA, more than pier's own; one event, of a batch:" \
	    "$(more "$(ours "$1" 3)" "$doca_events"): no aim"
}

anew()
{
	pier_anew=$(own "$pier" "$1" anew)
	target "$1 for DOCA, more than pier's own; made anew" 40 \
	    "$(more "$pier_anew" "$(own "$doca" "$1" anew)")"
}

for type in $doca_types; do
	target "$type for DOCA, more than pier's own; one at a time" 40 \
	    "$(more "$(ours "$type" 2)" "$(own "$doca" "$type" single)")"
	target "$type for DOCA, more than pier's own; batched by 32" 40 \
	    "$(more "$(ours "$type" 3)" "$(own "$doca" "$type" batched)")"
	events "$type"
	anew "$type"
done
# total TYPE c|cpp: all instructions of an operation
total()
{
	count "$cpp" "$1" "$2" "bench_$2" || return
	grep -cE ':_*(int_)?(m|c|re)alloc( |$)' "$tmp/all" >>"$tmp/mallocs"
	awk -v count=$count '/PROGRAM TOTALS/ {
		gsub(",", "", $1)
		printf "%.1f\n", $1 / count
	}' "$tmp/all"
}

# beside_c TYPE: $percent of C's, and $text; nothing if it is not counted
beside_c()
{
	c_total=$(total "$1" c)
	cpp_total=$(total "$1" cpp)
	percent=$([ -z "$c_total" ] || [ -z "$cpp_total" ] ||
	    awk "BEGIN { printf \"%.1f\", 100 * $cpp_total / $c_total }")
	text="percent ($cpp_total beside $c_total instructions)"
}

for type in $cpp_types; do
	beside_c "$type"
	target "$type in C++, of C" 105 "$percent" "$text"
done
target "memory allocation" 0 "$(awk '{ n += $1 } END { print n }' \
    "$tmp/mallocs")" "functions of malloc entered"

# no_aim TYPE WHAT: print how one that the program has compares
no_aim()
{
	[ -n "$cpp" ] && "$cpp" types | grep -qx "$1" || return 0
	beside_c "$1"
	[ -z "$percent" ] || echo "$2, of C: $percent $text: no aim"
}

# A result has the value or an error with its text, which a status has not.
no_aim sync_event_add_result "sync_event_add with a result in C++"
no_aim sync_event_get_result "sync_event_get with a result in C++"
# A coroutine keeps where it is, which a callback does not, in memory that it
# allocates as it begins.
no_aim await "a send awaited in C++20"
