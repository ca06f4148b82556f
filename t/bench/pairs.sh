# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# Two processes on loopback, in a network namespace of their own, both polling,
# a core each.  What is compared runs in alternation; a figure is the median of
# the turns, of which there are BENCH_TURNS.  A target that is not measured is
# missed.  Source it with $targets set, their number; $1 is the tool, $pier.
set -u
PATH=$PATH:/usr/sbin:/sbin
pier=$1
turns=${BENCH_TURNS:-7}
if [ -z "${BENCH_UNSHARED:-}" ]; then
	as=-Urn
	[ "$(id -u)" -ne 0 ] || as=-n
	export BENCH_UNSHARED=1
	exec unshare $as sh -c 'ip link set lo up && exec sh "$@"' sh "$0" "$@"
fi
met=0 port=18500
tmp=$(mktemp -d)

finish()
{
	rm -rf "$tmp"
	echo "targets: $met met, $((targets - met)) missed"
	[ $met -eq $targets ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

cores=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= $NF; i++) print i }')
core_a=$(echo "$cores" | sed -n 1p)
core_b=$(echo "$cores" | sed -n 2p)
: "${core_b:=$core_a}"

listens()
{
	ss -Htln "sport = :$port" | grep -q .
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

# pair SERVER CLIENT - two commands in words; what the client prints is in
# $tmp/out
pair()
{
	# shellcheck disable=SC2086 # words
	timeout 60 taskset -c "$core_a" $1 >"$tmp/server" 2>&1 &
	server=$!
	wait_for listens
	# shellcheck disable=SC2086 # words
	timeout 60 taskset -c "$core_b" $2 >"$tmp/out" 2>"$tmp/err"
	status=$?
	wait $server || status=1
	[ $status -eq 0 ] || {
		echo "# failed: $2: $(tail -n 1 "$tmp/err")" >&2
		: >"$tmp/out"
	}
}

# perf MEASURE OPERATION SIZE ITERATIONS KEY - of its JSON.  The client tries
# until there is a server.
perf()
{
	port=$((port + 1))
	# shellcheck disable=SC2086 # words
	timeout 60 taskset -c "$core_a" "$pier" perf -d soft_lo --listen \
	    "$1" "$2" $port >"$tmp/server" 2>&1 &
	server=$!
	timeout 60 taskset -c "$core_b" "$pier" perf -d soft_lo --json \
	    -s "$3" -n "$4" "$1" "$2" 127.0.0.1:$port \
	    >"$tmp/out" 2>"$tmp/err" ||
	    echo "# failed: pier perf $1 $2: $(tail -n 1 "$tmp/err")" >&2
	wait $server
	sed -n 's/.*"'"$5"'": \([0-9.]*\),*$/\1/p' "$tmp/out" | head -n 1
}

# ucx TEST SIZE ITERATIONS COLUMN WORD... - of the row of ucx_perftest, which
# the words begin
ucx()
{
	port=$((port + 1)) test=$1 size=$2 count=$3 column=$4
	shift 4
	words="$* ucx_perftest -t $test -s $size -n $count"
	words="$words -w $((count / 10)) -f -p $port"
	pair "$words" "$words 127.0.0.1"
	awk -v column="$column" '
	    $1 ~ /^[0-9]+$/ { value = $column }
	    END { print value }' "$tmp/out"
}

have_ucx()
{
	command -v ucx_perftest >/dev/null && return
	echo "# ucx_perftest is missing: install ucx-utils (Fedora: ucx)" >&2
	: >"$tmp/rows"
	false
}

# Of rows "A B" in $tmp/rows: medians, that of A over B with the least and most
figures()
{
	awk 'NF == 2 && $2 > 0 { print $1 / $2, $1, $2 }' "$tmp/rows" \
	    >"$tmp/good"
	for column in 1 2 3; do
		sort -n -k "$column,$column" "$tmp/good" |
		    awk -v c=$column '{ v[NR] = $c } END {
			if (NR)
				print v[int((NR + 1) / 2)], v[1], v[NR]
		}'
	done | tr '\n' ' '
}

# judge WHAT UNIT "at least"|"at most" LIMIT - the ratio
judge()
{
	figures >"$tmp/figures"
	read -r ratio least most a _ _ b _ <"$tmp/figures" || :
	verdict=$(echo "${ratio:-none}" | awk -v how="$3" -v limit="$4" '{
		good = how == "at most" ? $1 <= limit : $1 >= limit
		print(good && $1 != "none" ? "met" : "MISSED") }')
	[ "$verdict" != met ] || met=$((met + 1))
	if [ -n "$ratio" ]; then
		echo "$1: $ratio, $least to $most ($a of $b $2), $3 $4:" \
		    "$verdict"
	else
		echo "$1: not measured: $verdict"
	fi
}

# repeat FIRST SECOND - functions, in turns; a constant is `echo N`
repeat()
{
	: >"$tmp/rows"
	for _ in $(seq "$turns"); do
		echo "$($1) $($2)" >>"$tmp/rows"
	done
}

