# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# Two processes, a core each, in a network namespace of their own where one is
# to be had.  What is compared runs in alternation; a figure is the median of
# the turns, of which there are BENCH_TURNS, or $turns.  A target that is not
# measured is missed, that of a program that is not there too.
# Source it with $targets set, their number.  What a line means is in
# t/bench/tables.awk, which reads them.
set -u
PATH=$PATH:/usr/sbin:/sbin
turns=${BENCH_TURNS:-${turns:-7}}
if [ -z "${BENCH_UNSHARED:-}" ]; then
	as=-Urn
	[ "$(id -u)" -ne 0 ] || as=-n
	export BENCH_UNSHARED=1
	if unshare $as ip link set lo up 2>/dev/null; then
		exec unshare $as sh -c 'ip link set lo up && exec sh "$@"' \
		    sh "$0" "$@"
	fi
	echo "# no network namespace to be had: others may disturb this"
fi
met=0 judged=0 in_a='' in_b='' ip_b=127.0.0.1 holders='' ucx_more=''
tmp=$(mktemp -d) || exit
rows=$tmp/rows
echo 18500 >"$tmp/port"

finish()
{
	[ $judged -le "$targets" ] || targets=$judged
	# shellcheck disable=SC2086 # a list of words
	[ -z "$holders" ] || kill $holders 2>/dev/null
	rm -rf "$tmp"
	echo "targets: $met met, $((targets - met)) missed"
	[ $met -eq "$targets" ] && [ "$met" -gt 0 ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

cores=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= $NF; i++) print i }')
core_a=$(echo "$cores" | sed -n 1p)
core_b=$(echo "$cores" | sed -n 2p)
on_a="taskset -c $core_a" on_b="taskset -c ${core_b:-$core_a}"

# have PROGRAM PACKAGES - is it there?  What is not is left out, and named.
have()
{
	command -v "$1" >/dev/null && return
	echo "# left out: $1: install $2"
	false
}

have_ucx()
{
	have ucx_perftest "ucx-utils (Fedora: ucx)"
}

# wait_for COMMAND... - for at most 10 s
wait_for()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || return
		sleep 0.02
	done
}

# A process to hold a namespace, $holder, which has no name to collide; with
# the interfaces in /sys, where UCX looks for them.
hold_namespace()
{
	mkfifo "$tmp/ready"
	unshare -nm sh -c 'mount -t sysfs none /sys && ip link set lo up &&
		echo >"$0" && exec sleep 3600' "$tmp/ready" &
	holder=$!
	holders="$holders $holder"
	read -r _ <"$tmp/ready"
	rm "$tmp/ready"
}

# In a file: most that take one run in a subshell.
next_port()
{
	port=$(($(cat "$tmp/port") + 1))
	echo $port >"$tmp/port"
}

listens()
{
	$in_b ss -Htln "sport = :$port" | grep -q .
}

# pair SERVER CLIENT - two commands in words; what the client prints is in
# $tmp/out
pair()
{
	# shellcheck disable=SC2086 # words
	timeout 60 $in_b $on_b $1 >"$tmp/server" 2>&1 &
	server=$!
	wait_for listens
	# shellcheck disable=SC2086 # words
	timeout 60 $in_a $on_a $2 >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -eq 0 ] || kill $server 2>/dev/null
	wait $server || status=1
	[ $status -eq 0 ] || {
		echo "# failed: $2: $(tail -n 1 "$tmp/err")" >&2
		: >"$tmp/out"
	}
}

# perf_json WORD... - the client tries until there is a server
perf_json()
{
	next_port
	# shellcheck disable=SC2086 # words
	timeout 60 $on_b "$pier" perf -d soft_lo --listen \
	    "$1" "$2" $port >"$tmp/server" 2>&1 &
	server=$!
	# shellcheck disable=SC2086 # words
	timeout 60 $on_a "$pier" perf -d soft_lo --json \
	    "$@" 127.0.0.1:$port >"$tmp/out" 2>"$tmp/err" ||
	    echo "# failed: pier perf $1 $2: $(tail -n 1 "$tmp/err")" >&2
	wait $server
}

# perf MEASURE OPERATION SIZE ITERATIONS KEY [OPTION...] - of its JSON
perf()
{
	words="$1 $2 -s $3 -n $4" key=$5
	shift 5
	# shellcheck disable=SC2086 # words
	perf_json $words "$@"
	sed -n 's/.*"'"$key"'": \([0-9.]*\),*$/\1/p' "$tmp/out" | head -n 1
}

# ucx TEST SIZE ITERATIONS COLUMN WORD... - of the row of ucx_perftest, which
# the words begin
ucx()
{
	next_port
	test=$1 size=$2 count=$3 column=$4
	shift 4
	words="$* ucx_perftest -t $test -s $size -n $count"
	words="$words -w $((count / 10)) -f -p $port$ucx_more"
	pair "$words" "$words $ip_b"
	awk -v column="$column" '
	    $1 ~ /^[0-9]+$/ { value = $column }
	    END { print value }' "$tmp/out"
}

# faster_of_ucx COMMAND... - the rate with as many sends under way as the test
# has by itself, or with 8, which at some sizes is more
faster_of_ucx()
{
	{
		"$@"
		ucx_more=' -O 8'
		"$@"
		ucx_more=''
	} | sort -rg | head -n 1
}

# Of UCX's MB, which have 2^20 bytes, those of 10^6.
to_mb()
{
	awk '$1 > 0 { print $1 * 1.048576 }'
}

to_gb()
{
	awk '$1 > 0 { print $1 / 1000 }'
}

# take NAME[,NAME] COMMAND... - note what it measures in this turn
take()
{
	names=$1
	shift
	"$@" | awk -v turn="$turn" -v names="$names" '
		{ n = split(names, name, ",")
		  for (i = 1; i <= n; i++) print turn, name[i], $i }' \
	    >>"$rows"
}

# in_turns COUNT FUNCTION
in_turns()
{
	turn=0
	while [ $turn -lt "$1" ]; do
		turn=$((turn + 1))
		"$2"
	done
}

take_each()
{
	for name in $each; do
		take "$name" "$name"
	done
}

# repeat FUNCTION... - in turns; each is the name of its figure
repeat()
{
	each=$*
	in_turns "$turns" take_each
}

# spread OURS [THEIRS] - "MEDIAN LEAST MOST" of the figure or ratio, or nothing
spread()
{
	[ -s "$rows" ] || return
	awk -v ours="$1" -v theirs="${2:-}" '
		$2 == ours { a[$1] = $3 }
		$2 == theirs { b[$1] = $3 }
		END { for (t in a) {
			if (theirs == "") print a[t]
			else if (b[t] > 0) print a[t] / b[t]
		} }' "$rows" | sort -g |
	    awk '{ v[NR] = $1 }
		END { if (NR)
			printf "%.4g %.4g %.4g\n", v[int((NR + 1) / 2)],
				v[1], v[NR] }' | plain
}

# As digits alone: 31910, not 3.191e+04.
plain()
{
	awk '{ for (i = 1; i <= NF; i++) if ($i >= 1000) $i = sprintf("%d", $i)
		print }'
}

median()
{
	spread "$1" | cut -d ' ' -f 1
}

# figures UNIT OURS [THEIRS] - as they are printed, in $text; the median is in
# $value.  False: there are none.
figures()
{
	# shellcheck disable=SC2046 # a list of words
	set -- "$1" "$2" "${3:-}" $(spread "$2" ${3:-})
	[ $# -eq 6 ] || return
	value=$4 unit=${1:+ $1}
	if [ -n "$3" ]; then
		text="$4 ($5 to $6, $(median "$2") beside $(median "$3")$unit)"
	else
		text="$4$unit ($5 to $6)"
	fi
}

# judge WHAT "at most"|"at least" LIMIT UNIT OURS [THEIRS]
judge()
{
	judged=$((judged + 1))
	what=$1 how=$2 limit=$3
	shift 3
	figures "$@" || {
		echo "$what: not measured, $how $limit: MISSED"
		return
	}
	sign='>=' verdict=MISSED
	[ "$how" = "at least" ] || sign='<='
	if awk "BEGIN { exit !($value $sign $limit) }"; then
		met=$((met + 1)) verdict=met
	fi
	echo "$what: $text, $how $limit: $verdict"
}

# note WHAT UNIT OURS [THEIRS] - what has no aim
note()
{
	what=$1
	shift
	! figures "$@" || echo "$what: $text: no aim"
}

# bound WHAT UNIT NAME - what the machine does at most
bound()
{
	! figures "$2" "$3" || echo "$1: $text: a limit"
}
