#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The goodput of the scenes of t/bench/net, of which each has a limit or shares
# a link: a bar for the worst seed, and a mark for what it is to have at least.
# usage: net | net_plot.sh FILE.svg
[ $# -eq 1 ] || {
	echo "usage: net | net_plot.sh FILE.svg" >&2
	exit 2
}
svg=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# "NAME GOODPUT LIMIT", in percent; a limit of 0 is none.
awk '
/^# [a-z0-9_]+: .*goodput .*worst/ {
	name = $2
	sub(/:$/, "", name)
	if (name ~ /^(rtt|first)/)
		next
	worst = $0
	sub(/.*worst /, "", worst)
	order[++count] = name
	goodput[name] = worst + 0
}
/^[a-z0-9_]+: goodput: / {
	name = $1
	sub(/:$/, "", name)
	limit = $0
	sub(/.*at least /, "", limit)
	least[name] = limit + 0
}
END {
	for (i = 1; i <= count; i++)
		print order[i], goodput[order[i]], least[order[i]] + 0
}' >"$tmp/data"
[ -s "$tmp/data" ] || {
	echo "net_plot.sh: no scene in what was read" >&2
	exit 1
}
scenes=$(wc -l <"$tmp/data")

gnuplot <<END || exit 1
set terminal svg size 760,$((80 + 24 * scenes)) font "sans-serif,13" \\
	background "white"
set output "$tmp/svg"
set xrange [0:100]
set yrange [$scenes - 0.4:-0.6]
set xlabel "goodput of the worst seed, % of the link"
set grid xtics lc rgb "#d0d0d0"
set border 3 lc rgb "#606060"
set xtics nomirror
set ytics nomirror noenhanced
set key above Left reverse samplen 2
set style fill solid noborder
plot "$tmp/data" using (\$2 / 2):0:(\$2 / 2):(0.32):ytic(1) \\
	with boxxyerror lc rgb "#4878a8" title "measured", \\
	"" using (\$3 > 0 ? \$3 : NaN):0:(\$3):(\$3): \\
	(\$0 - 0.42):(\$0 + 0.42) with xyerrorbars \\
	pt 0 lw 2 lc rgb "#c03020" title "at least"
END
sed 's/[[:blank:]]*$//' "$tmp/svg" >"$svg"
