#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Write what the benchmarks have printed into docs/benchmarks.md, between
# <!-- bench NAME --> and <!-- end of NAME -->.  DIRECTORY has a NAME.txt of
# each, and machine.txt.  What is damaged is named, and not written.
# usage: tables.sh DIRECTORY PAGE
set -u
here=${0%/*}
[ $# -eq 2 ] || {
	echo "usage: tables.sh DIRECTORY PAGE" >&2
	exit 2
}
results=$1 page=$2
tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT

table()
{
	mode=$1
	shift
	awk -v mode="$mode" -f "$here/tables.awk" "$@"
}

# The line that begins, or ends, what is written.
begins()
{
	echo "<!-- bench $1 -->"
}

ends()
{
	echo "<!-- end of $1 -->"
}

# put NAME - what $tmp/block has, in the place of what the page has
put()
{
	for marker in "$(begins "$1")" "$(ends "$1")"; do
		[ "$(grep -cxF "$marker" "$tmp/page")" -eq 1 ] || {
			echo "tables.sh: $page: not one line $marker" >&2
			exit 1
		}
	done
	awk -v block="$tmp/block" -v first="$(begins "$1")" \
	    -v last="$(ends "$1")" '
	$0 == last { within = 0 }
	!within { print }
	$0 == first {
		within = 1
		while ((getline line < block) > 0)
			print line
	}' "$tmp/page" >"$tmp/new" && mv "$tmp/new" "$tmp/page"
}

# Of all results: what is met, where pier loses, and what nothing can exceed.
put_sums()
{
	{
		echo "| benchmark | met | missed | seconds |"
		echo "|---|---|---|---|"
		table counts "$@"
	} >"$tmp/block"
	put counts
	{
		echo "| benchmark | what | measured | aim |"
		echo "|---|---|---|---|"
		table loses "$@"
	} >"$tmp/block"
	put loses
	{
		echo "| benchmark | what | measured |"
		echo "|---|---|---|"
		table limits "$@"
	} >"$tmp/block"
	put limits
}

# The picture of bench-peers, if it was drawn.
add_picture()
{
	[ ! -f "$(dirname "$page")/bench-sizes.svg" ] || {
		printf '\n![Latency and bandwidth against size, beside other '
		echo 'libraries](bench-sizes.svg)'
	}
}

cp "$page" "$tmp/page" || exit
damaged=''
set --
for file in "$results"/*.txt; do
	name=${file##*/} name=${name%.txt}
	[ -f "$file" ] || continue
	if [ "$name" = machine ]; then
		cp "$file" "$tmp/block" && put machine
	else
		table table "$file" >"$tmp/block" || {
			damaged=1
			continue
		}
		[ "$name" != peers ] || add_picture >>"$tmp/block"
		put "$name"
		set -- "$@" "$file"
	fi
done
[ $# -gt 0 ] || {
	echo "tables.sh: $results: no results" >&2
	exit 1
}
put_sums "$@"
cat "$tmp/page" >"$page"
[ -z "$damaged" ]
