# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# The public calls, for tests: . "$top/t/lib/api.sh" in a test that sourced
# tap.sh.

# api_functions PREFIX HEADER... - the names of the functions they declare.
api_functions()
{
	prefix=$1
	shift
	awk -v name="${prefix}_[a-z0-9_]+[(]" '
	# Comments and preprocessor lines are not declarations.
	function code(line,	at) {
		while (line != "") {
			if (in_comment) {
				at = index(line, "*/")
				if (!at)
					return
				line = substr(line, at + 2)
				in_comment = 0
			}
			at = index(line, "/*")
			text = text " " (at ? substr(line, 1, at - 1) : line)
			if (!at)
				return
			line = substr(line, at + 2)
			in_comment = 1
		}
	}
	directive || /^[ \t]*#/ { directive = /\\$/; next }
	{ code($0) }
	END {
		n = split(text, stmt, ";")
		for (i = 1; i <= n; i++) {
			if (stmt[i] ~ /^[ \t]*typedef/)
				continue
			if (match(stmt[i], name))
				print substr(stmt[i], RSTART, RLENGTH - 1)
		}
	}' "$@"
}

# api_page_calls PAGE... - the names in their NAME sections.
api_page_calls()
{
	awk '
	/^\.Sh/ { names = $2 == "NAME" }
	names && $1 == ".Nm" { print $2 }' "$@"
}
