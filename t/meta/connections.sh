#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# docs/connections.md draws the table of cm/conn_state.c.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

page=docs/connections.md

# The table of the source: "state NAME PUBLIC STAGE", "edge FROM TO".
table()
{
	awk '
	/^\t\[PIER__CONN_[A-Z_]+\] = \{/ {
		state = tolower($0)
		gsub(/.*pier__conn_|\].*/, "", state)
	}
	!state { next }
	{ text = text $0 " " }
	/^\t},/ {
		name = public = stage = text
		gsub(/.*\.name = "|",.*/, "", name)
		sub(/.*\.name = "/, "", text)
		gsub(/.*\.public = PIER_CONN_|,.*/, "", public)
		if (!sub(/.*\.stage = "/, "", stage))
			stage = "in use"
		sub(/".*/, "", name)
		sub(/".*/, "", stage)
		if (name != state)
			print "name " state " " name
		print "state " state " " tolower(public) " " stage
		while (match(text, /TO\([A-Z_]+\)/)) {
			print "edge " state " " tolower(substr(text,
				RSTART + 3, RLENGTH - 4))
			text = substr(text, RSTART + RLENGTH)
		}
		state = text = ""
	}' "${1:-cm/conn_state.c}" | sort
}

# The rows of the page below the heading @1, as "WORD COLUMN COLUMN...".
rows()
{
	awk -v head="## $1" -v word="$2" -v columns="$3" -F ' *[|] *' '
	/^## / { within = $0 == head; n = 0 }
	within && /^\|/ && ++n > 2 {
		line = word
		for (i = 2; i < 2 + columns; i++)
			line = line " " $i
		print line
	}' "$page" | sort -u
}

# The arrows of the drawing: each state before one goes to the one behind it.
arrows()
{
	awk '
	/^```/ { within = !within; next }
	within && /-->/ {
		line = substr($0, 23)
		n = split(line, part, / *--> */)
		for (i = 1; i < n; i++) {
			m = split(part[i], from, /, */)
			for (j = 1; j <= m; j++)
				print "edge " from[j] " " part[i + 1]
		}
	}' "$page" | sort -u
}

# What is in one of the two files only.
differ()
{
	comm -23 "$1" "$2" | sed "s/^/only in $3: /"
	comm -13 "$1" "$2" | sed "s/^/only in $4: /"
}

the_table_was_found()
{
	[ "$(table | grep -c '^state')" -ge 10 ] &&
	    [ "$(table | grep -c '^edge')" -ge 20 ]
}

every_state_is_on_the_page_and_in_the_table()
{
	table | grep -v '^edge' >"$tmp/table"
	rows States state 3 >"$tmp/rows"
	differ "$tmp/table" "$tmp/rows" "the table" "the page"
}

every_transition_is_on_the_page_and_in_the_table()
{
	table | grep '^edge' >"$tmp/table"
	rows Transitions edge 2 >"$tmp/rows"
	differ "$tmp/table" "$tmp/rows" "the table" "the page"
}

every_transition_is_drawn()
{
	table | grep '^edge' >"$tmp/table"
	arrows >"$tmp/arrows"
	differ "$tmp/table" "$tmp/arrows" "the table" "the drawing"
}

# "FILE CALL" of each `FILE`: `CALL()`, `CALL()` in a row of the page, and of
# each `CALL()` or `CALL()` of `FILE` in its text.
places()
{
	awk '
	function row(line,	n, i, part, file) {
		n = split(line, part, "`")
		for (i = 2; i <= n; i += 2)
			if (part[i] ~ /\.[ch]$/)
				file = part[i]
			else if (file && sub(/\(\)$/, "", part[i]))
				print file, part[i]
	}
	function sentence(s,	n, i, part) {
		n = split(s, part, "`")
		for (i = 2; i < n - 1; i += 2)
			if (sub(/\(\)$/, "", part[i]))
				print part[n - 1], part[i]
	}
	/^```/ { within = !within; next }
	within { next }
	/^\|/ { row($0); next }
	{ sub(/^ */, ""); text = text $0 " " }
	END {
		call = "`[a-z0-9_]+[(][)]`"
		of = call "( or " call ")* of `[^`]*[.][ch]`"
		while (match(text, of)) {
			sentence(substr(text, RSTART, RLENGTH))
			text = substr(text, RSTART + RLENGTH)
		}
	}' "$page"
}

# A function's name stands at its definition in a line that is not indented.
calls_are_where_the_page_says()
{
	grep -o '`[^`]*`' "$page" | tr -d '`' | sort -u | while read -r word; do
		name=${word%??}
		case $word in
		*/*.[ch])
			[ -e "$word" ] || echo "$word: is not there" ;;
		*'()')
			grep -rqE --include='*.c' "^[a-z].*[ *]$name\(" \
				cm lib ||
			    grep -rqE "\(\*$name\)\(" cm lib ||
			    echo "$word: is not there" ;;
		esac
	done
	places | sort -u >"$tmp/places"
	[ "$(wc -l <"$tmp/places")" -ge 30 ] || echo "few places were found"
	while read -r file name; do
		grep -qE "^[a-z].*[ *]$name\(" "$file" ||
		    echo "$name(): not in $file"
	done <"$tmp/places"
}

# "FILE: FUNCTION: LINE" of each line of $@ that sets the state of a connection,
# or could.  A connection is allocated as zeros, in "created".
assignments()
{
	awk '
	function report() {
		print FILENAME ": " name ": " $0
	}
	BEGIN {
		set = "([-+*/%&|^]|<<|>>)?=([^=]|$)"
	}
	FNR == 1 { name = "" }
	/^[a-z].*\(/ {
		name = $0
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
	}
	$0 ~ "(->|[.])state *" set { report(); next }
	/(->|[.])state *(\+\+|--)|(\+\+|--)[a-z_.>-]*(->|[.])state/ {
		report()
	}
	/&[a-z_.>-]*(->|[.])state([^a-z_]|$)/ { report() }
	/enum pier__conn_state \*/ { report() }
	/offsetof\(struct pier_conn, state/ { report() }
	/mem(set|cpy|move)\((\(void \*\))?conn,/ { report() }
	/^[ \t]+(struct pier_conn )?[*]conn = \*?[({*]/ { report() }
	/(^|[ \t])struct pier_conn [a-z_]+( =|;|,|\[)/ { report() }' "$@"
}

one_place_assigns_the_state()
{
	assignments $(find cm lib/ops lib/app lib/uv -name '*.[ch]') \
	    >"$tmp/places"
	printf '%s: \tconn->state = next;\n' \
	    "cm/conn_state.c: pier__conn_transition" | diff - "$tmp/places"
}

# The judges themselves: a table that has lost a state and a transition.
a_table_that_differs_is_noticed()
{
	sed -e '/PIER__CONN_LOOKUP\] = /,/^	},/d' \
	    -e 's/TO(DRAINING) | //' cm/conn_state.c >"$tmp/other.c"
	table "$tmp/other.c" >"$tmp/table"
	{
		rows States state 3
		rows Transitions edge 2
	} | sort >"$tmp/rows"
	differ "$tmp/table" "$tmp/rows" "the table" "the page" >"$tmp/found"
	grep -q 'the page: state lookup' "$tmp/found" &&
	    grep -q 'the page: edge lookup req_sent' "$tmp/found" &&
	    grep -q 'the page: edge up draining' "$tmp/found"
}

# The same: each line of a file that does what it may not.
another_assignment_is_noticed()
{
	cat >"$tmp/bad.c" <<'END'
	conn->state = PIER__CONN_UP;
	cm->conn->state= next;
	conn.state |= 1;
	conn->state <<= 1;
	conn->state++;
	--conn->state;
	struct pier_conn conn = { .state = PIER__CONN_UP };
	enum pier__conn_state *state = where;
	set(&conn->state, PIER__CONN_UP);
	memset(conn, 0, sizeof(*conn));
	*conn = (struct pier_conn){ 0 };
	*conn = *other;
	struct pier_conn other;
END
	assignments "$tmp/bad.c" | sed 's/^[^:]*: [^:]*: //' >"$tmp/found"
	while read -r line; do
		grep -qF -e "$line" "$tmp/found" || echo "let pass: $line"
	done <"$tmp/bad.c"
	printf '\tif (conn->state == next)\n\tx = &states[conn->state];\n' \
	    >"$tmp/good.c"
	assignments "$tmp/good.c"
}

run the_table_was_found
none every_state_is_on_the_page_and_in_the_table
none every_transition_is_on_the_page_and_in_the_table
none every_transition_is_drawn
none calls_are_where_the_page_says
none one_place_assigns_the_state
run a_table_that_differs_is_noticed
none another_assignment_is_noticed
tap_done
