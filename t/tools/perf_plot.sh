#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier perf plot.  The results are of copies, which need no peer.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/toolbox.sh"

# result NAME WORD...
result()
{
	name=$1
	shift
	timeout 30 "$pier" perf "$@" copy -d soft_lo --sizes 64,1K,64K -n 10 \
		--json >"$tmp/$name" 2>"$tmp/err" && return
	cat "$tmp/err"
	return 1
}

has_gnuplot()
{
	command -v gnuplot >/dev/null || skip "there is no gnuplot"
}

latency_and_bandwidth_are_drawn_with_axes()
{
	has_gnuplot
	result "it's one" lat && result two lat && result three bw &&
		status 0 "$pier" perf plot "$tmp/it's one" "$tmp/two" \
			"$tmp/three" -o "$tmp/all.svg" &&
		says "$tmp/all.svg" "<svg" "latency (us)" "size of a message" \
			"bandwidth (GB/s)" "two: copy soft_lo, median" \
			"two: copy soft_lo, 99 %" "three: copy soft_lo" \
			"s one: copy soft_lo, median" ||
		return 1
}

one_measure_has_one_panel()
{
	has_gnuplot
	result one bw && status 0 "$pier" perf plot "$tmp/one" \
		-o "$tmp/one.svg" && says "$tmp/one.svg" "bandwidth (GB/s)" &&
		! grep -q "latency (us)" "$tmp/one.svg"
}

# As of another program, which has printed no more.
medians_alone_have_one_line()
{
	has_gnuplot
	printf '{ "measure": "lat", "operation": "tag", "device": "tcp",\n' \
		>"$tmp/other" &&
		echo '"results": [ { "size": 8, "median": 2.5 } ] }' \
			>>"$tmp/other" || return 1
	status 0 "$pier" perf plot "$tmp/other" -o "$tmp/other.svg" &&
		[ ! -s "$tmp/err" ] &&
		says "$tmp/other.svg" "other: tag tcp, median" &&
		! grep -q "99 %" "$tmp/other.svg"
}

# Their frames have two edges, left and right, and the last point has a mark.
both_panels_have_the_same_sizes_at_the_same_places()
{
	has_gnuplot
	result a_name_that_is_long lat && result b bw &&
		status 0 "$pier" perf plot "$tmp/a_name_that_is_long" \
			"$tmp/b" -o "$tmp/both.SVG" &&
		says "$tmp/both.SVG" "64 KiB" || return 1
	edges=$(tr -d '\n' <"$tmp/both.SVG" | grep -o "d='M[^']*Z *'" |
		grep -o '[ML][0-9.]*,' | tr -d 'ML,' | sort -u | wc -l)
	[ "$edges" -eq 2 ] && return
	echo "edges: $edges"
	return 1
}

a_picture_can_be_a_png()
{
	has_gnuplot
	result one lat && status 0 "$pier" perf plot -o "$tmp/one.png" \
		"$tmp/one" &&
		[ "$(head -c 4 "$tmp/one.png" | tail -c 3)" = PNG ]
}

a_host_without_gnuplot_says_what_to_install()
{
	result one lat || return 1
	(
		PATH=$tmp/none
		"$pier" perf plot "$tmp/one" -o "$tmp/a.svg" 2>"$tmp/err"
	) && return 1
	says "$tmp/err" "cannot run gnuplot: " "gnuplot-nox"
}

a_picture_that_cannot_be_written_is_an_error()
{
	has_gnuplot
	result one lat && status 1 "$pier" perf plot "$tmp/one" \
		-o "$tmp/none/a.svg" &&
		says "$tmp/err" "-o \"$tmp/none/a.svg\": was not written: " \
			"No such" &&
		[ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		mkdir "$tmp/dir.svg" && status 1 "$pier" perf plot \
			"$tmp/one" -o "$tmp/dir.svg" &&
		says "$tmp/err" "dir.svg\": was not written: Is a directory" &&
		alone dir.svg
}

# alone NAME - no other file of $tmp begins with it
alone()
{
	[ "$(echo "$tmp/$1"*)" = "$tmp/$1" ]
}

# Another program's, as the picture's own file has a name of no other.
a_file_of_a_similar_name_is_not_touched()
{
	has_gnuplot
	result one lat && echo mine >"$tmp/a.svg.tmp" &&
		status 0 "$pier" perf plot "$tmp/one" -o "$tmp/a.svg" &&
		says "$tmp/a.svg" "<svg" && says "$tmp/a.svg.tmp" mine &&
		rm "$tmp/a.svg.tmp" && alone a.svg
}

a_picture_has_the_usual_mode()
{
	has_gnuplot
	result one lat && umask 027 &&
		status 0 "$pier" perf plot "$tmp/one" -o "$tmp/mode.svg" &&
		[ "$(stat -c %a "$tmp/mode.svg")" = 640 ]
}

# As on a disk that is full: the picture of before remains.
a_picture_that_is_not_whole_is_removed()
{
	has_gnuplot
	result one lat && echo before >"$tmp/a.png" || return 1
	(
		ulimit -f 1
		exec "$pier" perf plot "$tmp/one" -o "$tmp/a.png"
	) 2>"$tmp/err"
	[ $? -eq 1 ] && says "$tmp/err" "a.png\" was not written" &&
		says "$tmp/a.png" before && alone a.png
}

what_is_no_result_is_named()
{
	echo '{ "measure": "lat", "results": [ { "size": 0 } ] }' >"$tmp/bad"
	echo 'text' >"$tmp/text"
	echo '[ 1 ]' >"$tmp/array"
	for file in bad text array none; do
		status 1 "$pier" perf plot "$tmp/$file" -o "$tmp/a.svg" &&
			says "$tmp/err" "pier perf plot: $tmp/$file: " ||
			return 1
	done
	: >"$tmp/nothing"
	status 1 "$pier" perf plot "$tmp/nothing" -o "$tmp/a.svg" &&
		says "$tmp/err" "$tmp/nothing: is empty" &&
		status 1 "$pier" perf plot "$tmp" -o "$tmp/a.svg" &&
		says "$tmp/err" "$tmp: Is a directory"
}

words_that_make_no_sense_are_refused()
{
	: >"$tmp/one"
	status 2 "$pier" perf plot "$tmp/one" &&
		says "$tmp/err" "give -o FILE" || return 1
	for words in "-o a.svg" "$tmp/one -o a.gif" \
	    "$tmp/one -o svg"; do
		status 2 "$pier" perf plot $words && [ -s "$tmp/err" ] ||
			return 1
	done
}

# What --csv has printed is drawn as --json is.
csv_is_drawn_too()
{
	has_gnuplot
	result one lat && for what in lat bw; do
		timeout 30 "$pier" perf $what copy -d soft_lo \
			--sizes 64,1K,64K -n 10 --csv >"$tmp/$what" || return 1
	done
	status 0 "$pier" perf plot "$tmp/one" "$tmp/lat" "$tmp/bw" \
		-o "$tmp/all.svg" &&
		says "$tmp/all.svg" "one: copy soft_lo, median" \
			"lat: copy soft_lo, median" "lat: copy soft_lo, 99 %" \
			"bw: copy soft_lo"
}

csv_of_something_else_is_named()
{
	timeout 30 "$pier" perf lat copy -d soft_lo -s 64 -n 10 --csv \
		>"$tmp/lat" || return 1
	{ cat "$tmp/lat"; sed -n 's/,copy,/,read,/p' "$tmp/lat"; } >"$tmp/two"
	sed 's/,64,/,many,/' "$tmp/lat" >"$tmp/words"
	sed '1s/median_us/middle/' "$tmp/lat" >"$tmp/names"
	sed 1q "$tmp/lat" >"$tmp/empty"
	tr , ';' <"$tmp/lat" >"$tmp/other"
	for file in two:3 words:2 names:1 other:1; do
		status 1 "$pier" perf plot "$tmp/${file%:*}" -o "$tmp/a.svg" &&
			says "$tmp/err" "${file%:*}: line ${file#*:}: " \
				"not a line of one measurement" || return 1
	done
	status 1 "$pier" perf plot "$tmp/empty" -o "$tmp/a.svg" &&
		says "$tmp/err" "empty: no results of pier perf"
}

run latency_and_bandwidth_are_drawn_with_axes
run one_measure_has_one_panel
run medians_alone_have_one_line
run both_panels_have_the_same_sizes_at_the_same_places
run a_picture_can_be_a_png
run a_host_without_gnuplot_says_what_to_install
run a_picture_that_cannot_be_written_is_an_error
run a_picture_that_is_not_whole_is_removed
run a_file_of_a_similar_name_is_not_touched
run a_picture_has_the_usual_mode
run csv_is_drawn_too
run csv_of_something_else_is_named
run what_is_no_result_is_named
run words_that_make_no_sense_are_refused
tap_done
