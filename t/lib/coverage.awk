# SPDX-License-Identifier: BSD-2-Clause
#
# What `gcov -b -c -t` prints, to a row for each folder of the sources; with
# list=1 also each line that has a branch that was never taken.
/^ *-: +0:Source:/ {
	source = $0
	sub(/.*Source:/, "", source)
	while (sub(/^\.\.?\//, "", source))
		;
	if (index(source, top "/") == 1)
		source = substr(source, length(top) + 2)
	folder = source
	sub(/\/[^\/]*$/, "", folder)
	counted = source ~ /^(cm|lib)\/.*\.c$/
	next
}
!counted { next }
/^branch/ {
	branches[folder]++
	if ($0 ~ /never executed|taken 0($| )/)
		missed[folder]++
	if (list && $0 ~ /taken 0($| )/ && line != printed) {
		print line
		printed = line
	}
	next
}
/^ *[0-9#=*-]+: +[0-9]+:/ {
	split($0, field, ":")
	count = field[1]
	gsub(/ /, "", count)
	number = field[2] + 0
	if (count == "-")
		next
	text = $0
	sub(/^[^:]*:[^:]*:/, "", text)
	line = source ":" number ":" text
	lines[folder]++
	if (count ~ /^[#=]/) {
		unexecuted[folder]++
		if (list)
			print source ":" number ": not executed:" text
	}
}
function percent(part, whole)
{
	return whole ? int(1000 * (whole - part) / whole) / 10 " %" : "-"
}
function row(name, l, u, b, m)
{
	return sprintf("| %s | %d | %s | %d | %s |", name, l, percent(u, l),
		       b, percent(m, b))
}
END {
	print "| folder | lines | executed | branches | taken |"
	print "|---|---|---|---|---|"
	for (folder in lines)
		print row(folder, lines[folder], unexecuted[folder],
			  branches[folder], missed[folder]) | "sort"
	close("sort")
	for (folder in lines) {
		l += lines[folder]
		u += unexecuted[folder]
		b += branches[folder]
		m += missed[folder]
	}
	if (!l) {
		print "nothing was counted" | "cat >&2"
		exit 1
	}
	print row("all", l, u, b, m)
}
