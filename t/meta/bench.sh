#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `make bench`: the tables that it makes of recorded results, the results that
# it does not take, and whether it has every benchmark.
. "${0%/*}/../lib/tap.sh"

rules=$top/t/bench/local.mk
page=$top/docs/benchmarks.md

# A page with the places of all tables.
new_page()
{
	for name in machine counts loses limits soft; do
		printf 'Before %s.\n<!-- bench %s -->\nold\n' $name $name
		printf '<!-- end of %s -->\n' $name
	done >"$tmp/page.md"
	cp "$tmp/page.md" "$tmp/before.md"
}

# What a benchmark of two networks has printed.
recorded()
{
	mkdir -p "$tmp/results"
	rm -f "$tmp/results"/*
	echo "| processor | one |" >"$tmp/results/machine.txt"
	cat >"$tmp/results/soft.txt" <<-'END'
	## command: make -C build bench-soft
	## measured: 1 May 2026, commit abc
	## seconds: 9
	# 3 turns
	# left out: fi_pingpong: install libfabric-bin
	a bare stream; lo: 5000 MB/s (4000 to 5100): a limit
	send, of UCX; lo: 0.86 (0.6 to 1.1), at most 0.75: MISSED
	send, of UCX; veth: 0.7 (0.6 to 0.8), at most 0.75: met
	send, of libfabric; lo: not measured, at most 1.1: MISSED
	writes, of iperf3; lo: 0.9 (0.8 to 1.1), at least 0.75: met
	few: goodput: 97.1 %, at least 90: met
	writes one by one; lo: 36000 a second (35000 to 37000): no aim
	a read; vm: 1.05 x perftest (0.9 to 1.2), at most 1.2: met
	writes, of TCP; lo: 0.57 (18 beside 32 Mbit/s), at least 1: no aim
	writes, of TCP; veth: 1.2 (18 beside 15 Mbit/s), at least 1: no aim
	targets: 4 met, 2 missed
	END
}

tables()
{
	sh "$top/t/bench/tables.sh" "$tmp/results" "$tmp/page.md" \
		>"$tmp/out" 2>&1
}

has()
{
	for line; do
		grep -qxF "$line" "$tmp/page.md" || {
			echo "there is no line $line"
			return 1
		}
	done
}

tables_are_made_of_recorded_results()
{
	new_page
	recorded
	tables || { cat "$tmp/out"; return 1; }
	has '`make -C build bench-soft`, 9 s: 4 targets met, 2 '\
'missed, 1 May 2026, commit abc.' \
	    'left out: fi_pingpong: install libfabric-bin.' \
	    '| what | aim | lo | veth |' \
	    '| send, of UCX | at most 0.75 | 0.86 (0.6 to 1.1), **missed** '\
'| 0.7 (0.6 to 0.8) |' \
	    '| send, of libfabric | at most 1.1 | not measured, **missed** |' \
	    '| writes one by one | | 36000 a second (35000 to 37000) |' \
	    '| few | at least 90 | 97.1 % |' '| processor | one |'
}

met_lost_and_limits_are_listed()
{
	new_page
	recorded
	tables || { cat "$tmp/out"; return 1; }
	has '| soft | 4 | 2 | 9 |' \
	    '| soft | a read; vm | 1.05 x perftest (0.9 to 1.2) '\
'| at most 1.2, met |' \
	    '| soft | writes, of TCP; lo | 0.57 (18 beside 32 Mbit/s) | |' \
	    '| soft | send, of UCX; lo | 0.86 (0.6 to 1.1) '\
'| at most 0.75, **missed** |' \
	    '| soft | writes, of iperf3; lo | 0.9 (0.8 to 1.1) '\
'| at least 0.75, met |' \
	    '| soft | a bare stream; lo | 5000 MB/s (4000 to 5100) |' ||
		return 1
	! grep '^| soft | send, of UCX; veth' "$tmp/page.md" &&
		! grep '^| soft | writes, of TCP; veth' "$tmp/page.md"
}

what_is_not_between_the_lines_stays()
{
	new_page
	recorded
	tables || { cat "$tmp/out"; return 1; }
	! grep -qx old "$tmp/page.md" || return 1
	[ "$(grep -c '^Before ' "$tmp/page.md")" -eq 5 ] &&
		cp "$tmp/page.md" "$tmp/once" && tables &&
		cmp "$tmp/once" "$tmp/page.md"
}

a_picture_that_was_drawn_is_shown()
{
	new_page
	recorded
	printf '<!-- bench peers -->\n<!-- end of peers -->\n' \
		>>"$tmp/page.md"
	mv "$tmp/results/soft.txt" "$tmp/results/peers.txt"
	tables && ! grep -q bench-sizes.svg "$tmp/page.md" || return 1
	: >"$tmp/bench-sizes.svg"
	tables && grep -q '^!.*(bench-sizes.svg)$' "$tmp/page.md"
}

# damaged SED-COMMAND TEXT... - what is made so is named, and nothing written
damaged()
{
	new_page
	recorded
	sed -i "$1" "$tmp/results/soft.txt"
	shift
	if tables; then
		echo "a damaged result is taken: $*"
		return 1
	fi
	for text in "soft.txt" "$@"; do
		grep -qF "$text" "$tmp/out" && continue
		echo "no \"$text\" in: $(cat "$tmp/out")"
		return 1
	done
	cmp "$tmp/before.md" "$tmp/page.md"
}

damaged_results_are_named_and_not_taken()
{
	damaged 's/: 0.86 /: nan /' '"nan (' 'send, of UCX; lo' &&
	damaged 's/: 0.86 /: 0.8.6 /' '"0.8.6" is no figure' &&
	damaged 's/0.6 to 1.1)/0.6 to inf)/' '"0.6 to inf" is no spread' &&
	damaged 's/0.6 to 0.8/0.5 to 0.6/' '0.7 is not within 0.5 to 0.6' &&
	damaged 's/: 0.7 (0.6/: 0.07 (0.6/' '0.07 is not within' &&
	damaged 's/0.75: MISSED/0.75: met/' '0.86 is at most 0.75 "met"' &&
	damaged 's/at least 90/at least x/' '"x" is no limit' &&
	damaged 's/of UCX; veth/of UCX; lo/' '"send, of UCX; lo" is' &&
	damaged 's/at most 1.1: MISSED/at most 1.1: met/' \
		'send, of libfabric; lo' &&
	damaged 's/^targets: 4/targets: 5/' 'targets: 5 met' \
		'4 lines are met' &&
	damaged '/^targets/d' 'no line "targets:"'
}

a_page_without_a_place_is_named()
{
	new_page
	recorded
	sed -i '/end of loses/d' "$tmp/page.md"
	! tables && grep -qF '<!-- end of loses -->' "$tmp/out"
}

# Rules of benchmarks, and of what is not one.
every_benchmark_is_in_make_bench()
{
	sed -n 's/^bench-\([a-z-]*\):.*/\1/p' "$rules" |
		grep -vx -e programs -e net-plot | sort >"$tmp/rules"
	[ "$(wc -l <"$tmp/rules")" -ge 15 ] || echo "few rules were found"
	sed -n '/^BENCHES = /,/[^\\]$/p' "$rules" | sed 's/^BENCHES = //' |
		tr -s ' \t\\' '\n' | grep . | sort >"$tmp/list"
	comm -3 "$tmp/rules" "$tmp/list" | sed 's/$/: not in both/'
	for file in "$top"/t/bench/*.sh; do
		name=$(basename "$file" .sh)
		case $name in
		all|net_plot|pairs|tables) continue ;;
		esac
		grep -qx "$name" "$tmp/list" || echo "$name.sh: in no list"
	done
}

every_benchmark_has_its_place_in_the_docs()
{
	for name in machine counts loses limits $(sed -n \
	    's/^bench-\([a-z-]*\):.*/\1/p' "$rules" |
	    grep -vx -e programs -e net-plot); do
		for line in "<!-- bench $name -->" "<!-- end of $name -->"; do
			[ "$(grep -cxF -e "$line" "$page")" -eq 1 ] ||
				echo "$page: not one line $line"
		done
	done
}

run tables_are_made_of_recorded_results
run met_lost_and_limits_are_listed
run what_is_not_between_the_lines_stays
run a_picture_that_was_drawn_is_shown
run damaged_results_are_named_and_not_taken
run a_page_without_a_place_is_named
none every_benchmark_is_in_make_bench
none every_benchmark_has_its_place_in_the_docs
tap_done
