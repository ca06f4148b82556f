# SPDX-License-Identifier: BSD-2-Clause
#
# What the benchmarks print, as tables of docs/benchmarks.md.  A line of a
# figure is one of
#
#	WHAT: FIGURES, at most|at least LIMIT: met|MISSED
#	WHAT: not measured, at most|at least LIMIT: MISSED
#	WHAT: FIGURES: no aim		nothing is asked of it; with ", at most|at
#					least LIMIT" before, it is behind beyond it
#	WHAT: FIGURES: a limit		the machine does no more
#
# where FIGURES begin with a number, which "(LEAST to MOST" may follow, and a
# "; COLUMN" or ": COLUMN" at the end of WHAT is its column of a table.  The
# last line is "targets: N met, M missed".  A line that contradicts itself is
# an error which names the value.
# usage: awk -v mode=table|loses|limits|counts -f tables.awk NAME.txt...

function damaged(text)
{
	print "tables.awk: " FILENAME ": line " FNR ": " text \
		> "/dev/stderr"
	broken = 1
	exit 1
}

function is_number(text)
{
	return text ~ /^-?[0-9]+(\.[0-9]+)?$/
}

# By how much a printed number may differ from what was judged: half of its
# last digit.
function rounding(text,	at)
{
	at = index(text, ".")
	return 0.5000001 * 10 ^ (at ? at - length(text) : 0)
}

# The first number of the figures, and the spread behind it.
function check_figures(figures,	part, pair)
{
	value = figures
	sub(/[ ,(].*/, "", value)
	if (!is_number(value))
		damaged("\"" value "\" is no figure: " what)
	if (!match(figures, /\(-?[^ ()]+ to [^ ,()]+[,)]/))
		return
	part = substr(figures, RSTART + 1, RLENGTH - 2)
	split(part, pair, " to ")
	if (!is_number(pair[1]) || !is_number(pair[2]))
		damaged("\"" part "\" is no spread: " what)
	if (value + 0 < pair[1] - rounding(pair[1]) ||
	    value + 0 > pair[2] + rounding(pair[2]))
		damaged(value " is not within " part ": " what)
}

# The aim of a line: $how and $limit.
function check_verdict(	good, margin)
{
	good = how == "at most" ? value + 0 <= limit + 0 : \
		value + 0 >= limit + 0
	margin = value - limit
	if (margin < 0)
		margin = -margin
	if ((verdict == "met") != good && margin > rounding(value))
		damaged(value " is " how " " limit " \"" verdict "\": " what)
}

function split_aim(text)
{
	how = limit = ""
	if (verdict == "a limit" || !match(text, /, at (most|least) [^,]*$/))
		return text
	how = substr(text, RSTART + 2, substr(text, RSTART + 5) ~ /^most/ ? \
		7 : 8)
	limit = substr(text, RSTART + 3 + length(how))
	if (!is_number(limit))
		damaged("\"" limit "\" is no limit: " text)
	return substr(text, 1, RSTART - 1)
}

# Where the figures of a line begin, and what is before them.
function split_what(text)
{
	if (!match(text, /: (-?[0-9]|not measured)/)) {
		what = text
		sub(/.*: /, "", text)
		damaged("\"" text "\" is no figure: " what)
	}
	what = substr(text, 1, RSTART - 1)
	return substr(text, RSTART + 2)
}

function split_column(	at)
{
	at = match(what, /; [^;]*$/)
	if (!at)
		at = match(what, /: [^:]*$/)
	row = at ? substr(what, 1, at - 1) : what
	column = at ? substr(what, at + 2) : "measured"
}

# A ratio to a program of others, or to TCP, which is better; nothing else is
# one that pier could win against.
function is_behind(figures)
{
	return what " " figures ~ \
		/ (UCX|libfabric|ZeroMQ|NNG|iperf3|rsync|nc|perftest|TCP)/ &&
		(how == "at most" ? value + 0 > 1 : value + 0 < 1)
}

function keep(figures,	cell)
{
	split_column()
	if ((row, column) in cells)
		damaged("\"" what "\" is there twice")
	if (!(row in columns))
		rows[++row_count] = row
	columns[row] = columns[row] " | " column
	cell = figures
	if (verdict == "MISSED")
		cell = cell ", **missed**"
	cells[row, column] = cell
	aims[row, column] = how == "" || verdict == "no aim" ? "" : \
		how " " limit
}

function print_losing(figures)
{
	if (verdict != "MISSED" && !is_behind(figures))
		return
	print "| " bench " | " what " | " figures " | " \
		(verdict == "no aim" ? "" : how " " limit \
		(verdict == "MISSED" ? ", **missed** " : ", met ")) "|"
}

# A line with a verdict at its end.
function one_figure(text,	figures)
{
	figures = split_what(split_aim(text))
	if (how == "" && (verdict == "met" || verdict == "MISSED") &&
	    figures !~ /^not measured/)
		damaged("no limit: " text)
	if (figures ~ /^not measured/) {
		figures = "not measured"
		if (verdict != "MISSED")
			damaged("not measured, \"" verdict "\": " what)
	} else {
		check_figures(figures)
		if (how != "" && verdict != "no aim")
			check_verdict()
	}
	count[verdict]++
	if (mode == "table")
		keep(figures)
	else if (mode == "loses" && how != "")
		print_losing(figures)
	else if (mode == "limits" && verdict == "a limit")
		print "| " bench " | " what " | " figures " |"
}

function begin_file()
{
	bench = FILENAME
	sub(/.*\//, "", bench)
	sub(/\.txt$/, "", bench)
	count["met"] = count["MISSED"] = closed = 0
	last = FILENAME
}

function end_file()
{
	if (last == "" || broken)
		return
	if (!closed) {
		print "tables.awk: " last ": no line \"targets:\"" \
			> "/dev/stderr"
		broken = 1
		exit 1
	}
	if (mode == "counts")
		print "| " bench " | " met " | " missed " | " seconds " |"
}

FNR == 1 { end_file(); begin_file() }
/^## / {
	head[$2] = substr($0, length($2) + 5)
	seconds = head["seconds:"]
	next
}
/^# left out: / && mode == "table" && !($0 in left) {
	left[$0]
	lefts[++left_count] = substr($0, 3)
	next
}
/^#/ { next }
/^targets: / {
	if (closed || $0 !~ /^targets: [0-9]+ met, [0-9]+ missed$/)
		damaged("\"" $0 "\"")
	met = $2
	missed = $4
	if (met != count["met"] || missed < count["MISSED"])
		damaged("\"" $0 "\", but " count["met"] " lines are met, " \
			count["MISSED"] " missed")
	closed = 1
	next
}
match($0, /: (met|MISSED|no aim|a limit)$/) {
	if (closed)
		damaged("a line behind \"targets:\": " $0)
	verdict = substr($0, RSTART + 2)
	one_figure(substr($0, 1, RSTART - 1))
}

# The aim that all cells of a row have, or nothing.
function common_aim(row,	i, n, names, aim)
{
	n = split(substr(columns[row], 4), names, / \| /)
	aim = aims[row, names[1]]
	for (i = 2; i <= n; i++)
		if (aims[row, names[i]] != aim)
			return ""
	return aim
}

# Where rows have no aim that is common, that of the first row is a column's.
function print_titles(set, n, has_aim,	i, j, names, line)
{
	split(substr(set, 4), names, / \| /)
	for (i = 1; columns[rows[i]] != set; i++)
		;
	line = "| what |" (has_aim ? " aim |" : "")
	for (j = 1; j <= n; j++) {
		usual[j] = has_aim ? "" : aims[rows[i], names[j]]
		line = line " " names[j] \
			(usual[j] == "" ? "" : ", " usual[j]) " |"
	}
	print line
}

# The rows of @set, those with the same columns, as one table.
function print_table(set,	i, j, n, names, aim, line, has_aim)
{
	n = split(substr(set, 4), names, / \| /)
	for (i = 1; i <= row_count; i++)
		if (columns[rows[i]] == set && common_aim(rows[i]) != "")
			has_aim = 1
	print ""
	print_titles(set, n, has_aim)
	printf "|---|" (has_aim ? "---|" : "")
	for (j = 1; j <= n; j++)
		printf "---|"
	print ""
	for (i = 1; i <= row_count; i++) {
		if (columns[rows[i]] != set)
			continue
		aim = common_aim(rows[i])
		line = "| " rows[i] " |"
		if (has_aim)
			line = line (aim == "" ? " |" : " " aim " |")
		for (j = 1; j <= n; j++) {
			line = line " " cells[rows[i], names[j]]
			if (aim == "" && aims[rows[i], names[j]] != usual[j])
				line = line "; " aims[rows[i], names[j]]
			line = line " |"
		}
		print line
	}
}

function print_head()
{
	print "`" head["command:"] "`, " head["seconds:"] " s: " met \
		" targets met, " missed " missed, " head["measured:"] "."
	if (missed > count["MISSED"])
		print missed - count["MISSED"] " of them have no line: what" \
			" they are of could not be measured."
	for (i = 1; i <= left_count; i++)
		print lefts[i] "."
}

END {
	if (!broken)
		end_file()
	if (broken)
		exit 1
	if (mode != "table")
		exit 0
	print_head()
	for (i = 1; i <= row_count; i++)
		if (!(columns[rows[i]] in done)) {
			done[columns[rows[i]]]
			print_table(columns[rows[i]])
		}
}
