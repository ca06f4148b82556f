# SPDX-License-Identifier: BSD-2-Clause
#
# How long are functions and files?  A function reaches from the line that
# begins with its type and name to the } in the first column.  Prints
# "LINES FILE FUNCTION" or "LINES FILE" for what is longer than @functions or
# @files lines; with @report, how lengths are spread.

function end_file()
{
	if (file == "")
		return
	file_len[++nfiles] = lines
	if (files && lines > files)
		print lines, file
}

function end_function()
{
	len = FNR - head + 1
	if (file !~ /^t\//)
		fn_len[++nfns] = len
	if (functions && len > functions)
		print len, file, name
	head = 0
}

# The @part-th hundredth of the @n sorted values in @v.
function hundredth(v, n, part)
{
	return v[n ? int((n - 1) * part / 100) + 1 : 1] + 0
}

function sort(v, n,	i, j, x)
{
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j > 0 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
}

function say(what, v, n)
{
	sort(v, n)
	printf "%-10s %5d: median %d, p90 %d, longest %d lines\n", what, n,
		hundredth(v, n, 50), hundredth(v, n, 90), hundredth(v, n, 100)
}

FNR == 1 {
	end_file()
	file = FILENAME
	head = open = 0
}

{ lines = FNR }

/^[A-Za-z_].*\(/ && !open && !/;$/ {
	head = FNR
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
}

/^\{/ && head { open = 1 }

/^\}/ {
	if (open)
		end_function()
	open = 0
}

END {
	end_file()
	if (report) {
		say("functions", fn_len, nfns)
		say("files", file_len, nfiles)
	}
}
