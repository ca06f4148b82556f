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

# Each `FILE`: `CALL()`, `CALL()` of the page.
calls_are_where_the_page_says()
{
	grep -o '`[^`]*`' "$page" | tr -d '`' | while read -r word; do
		case $word in
		*/*.[ch])
			file=$word
			[ -e "$file" ] || echo "$file: is not there" ;;
		*'()')
			grep -rqE "(^|[ *])${word%??}\(" cm lib ||
			    echo "$word: is not there" ;;
		esac
	done
	grep '^|.*`cm/' "$page" | grep -o '`[^`]*`' | tr -d '`' |
	    while read -r word; do
		case $word in
		cm/*)	file=$word ;;
		pier__*'()'|step_*'()')
			grep -qE "(^|[ *])${word%??}\(" "$file" ||
			    echo "$word: not in $file" ;;
		esac
	done
}

one_place_assigns_the_state()
{
	grep -rnE --include='*.[ch]' 'conn->state = ' cm lib/ops lib/app \
	    >"$tmp/places"
	[ "$(wc -l <"$tmp/places")" -eq 1 ] || cat "$tmp/places"
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

run the_table_was_found
none every_state_is_on_the_page_and_in_the_table
none every_transition_is_on_the_page_and_in_the_table
none every_transition_is_drawn
none calls_are_where_the_page_says
none one_place_assigns_the_state
run a_table_that_differs_is_noticed
tap_done
