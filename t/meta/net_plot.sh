#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The picture of t/bench/net's scenes, and the one in docs.
. "${0%/*}/../lib/tap.sh"

plot=$top/t/bench/net_plot.sh
table=$top/docs/benchmarks.md
svg=$top/docs/bench-net.svg

scenes()
{
	cat <<-'END'
	# few: 8 writers, 1 ms, seeds 1 to 5: goodput 97.5 % (worst 96.9 %)
	few: goodput: 96.9 %, at least 90: met
	# rtt1: one writer, 5 ms, seeds 1 to 1: goodput 75.1 % (worst 75.1 %)
	# far_away: a writer, seeds 1 to 2: goodput 80.2 % (worst 80.1 %)
	END
}

scenes_are_drawn_with_their_limits()
{
	command -v gnuplot >/dev/null || skip "there is no gnuplot"
	scenes | sh "$plot" "$tmp/a.svg" || return 1
	for text in few far_away "goodput of the worst seed" "at least"; do
		grep -qF ">$text" "$tmp/a.svg" || {
			echo "there is no \"$text\""
			return 1
		}
	done
	! grep -q rtt1 "$tmp/a.svg"
}

without_a_scene_there_is_no_picture()
{
	echo nothing | sh "$plot" "$tmp/b.svg" 2>"$tmp/err" && return 1
	grep -q "no scene" "$tmp/err" && ! [ -e "$tmp/b.svg" ]
}

# Each row of the table that begins with a scene's name.
the_picture_of_the_docs_has_each_scene_of_the_table()
{
	grep -q '(bench-net.svg)' "$table" || return 1
	sed -n '/^<!-- bench net -->/,/^<!-- end of net -->/p' "$table" |
		sed -n 's/^| \([a-z0-9_]*\) |.*/\1/p' |
		grep -vE '^(what|scene|rtt|first)' >"$tmp/rows"
	[ "$(wc -l <"$tmp/rows")" -gt 12 ] || return 1
	while read -r name; do
		grep -qF ">$name<" "$svg" || {
			echo "$svg has no $name"
			return 1
		}
	done <"$tmp/rows"
}

run scenes_are_drawn_with_their_limits
run without_a_scene_there_is_no_picture
run the_picture_of_the_docs_has_each_scene_of_the_table
tap_done
