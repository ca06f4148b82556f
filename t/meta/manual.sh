#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the public headers declare is in the page of the header: structs with
# their members, defaults and units, enums with their constants, types, macros;
# and so are the headers.  t/manual/ranges.sh looks at the ranges.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/api.sh"
cd "$top" || exit

headers=$(find lib/include/pier -name '*.h' ! -name pier.h | sort)

# The page of header $1.
page_of()
{
	name=${1##*/}
	echo "docs/man/pier_${name%.h}.3"
}

# items HEADER - "KIND NAME [DEFAULT]" of what it declares.  The default of a
# member is the number that its comment has behind "0 means" or "0:"; its unit,
# of kind unit, that of its name or of its comment.
items()
{
	awk '
	# The code of a line; comments go to the text of the last member.
	function code(line,	at, ret) {
		while (line != "") {
			at = index(line, within ? "*/" : "/*")
			if (within)
				text = text " " (at ? substr(line, 1, at - 1) \
						    : line)
			else
				ret = ret (at ? substr(line, 1, at - 1) : line)
			if (!at)
				break
			line = substr(line, at + 2)
			within = !within
		}
		return ret
	}
	function flush() {
		if (members != "") {
			bytes = text ~ /([^o] |^ *)bytes([^a-z]|$)/
			n = split(members, name, " ")
			for (i = 1; i <= n; i++) {
				if (name[i] ~ /_ms$/)
					print "unit", name[i], "milliseconds"
				if (bytes)
					print "unit", name[i], "bytes"
			}
			if (match(text, /(^|[^0-9])0( means|:) [0-9]+/)) {
				text = substr(text, RSTART, RLENGTH)
				sub(/.* /, "", text)
			} else {
				text = ""
			}
			for (i = 1; i <= n; i++)
				print "member", name[i], text
		}
		members = text = ""
	}
	# Names in "TYPE a, *b[4]" or "TYPE (*c)(ARGUMENTS)".
	function names(decl,	i, n, part, ret) {
		if (sub(/.*\(\*/, "", decl)) {
			sub(/\).*/, "", decl)
			return decl
		}
		n = split(decl, part, ",")
		for (i = 1; i <= n; i++) {
			gsub(/\[[^]]*\]|[ \t]+$/, "", part[i])
			sub(/.*[ \t*]/, "", part[i])
			ret = ret " " part[i]
		}
		return ret
	}
	{
		start = text
		line = code($0)
	}
	line ~ /^}/ {
		flush()
		in_struct = in_enum = 0
	}
	in_struct && line ~ /;/ {
		added = substr(text, length(start) + 1)
		text = start
		flush()
		sub(/;.*/, "", line)
		members = names(line)
		text = added
		next
	}
	line ~ /^struct pier_[a-z_]+ \{/ {
		in_struct = 1
		text = ""
	}
	line ~ /^(struct|enum) pier_[a-z_]+ \{/ {
		split(line, name, " ")
		print name[1], name[2]
		in_enum = name[1] == "enum"
	}
	in_enum && match(line, /^\tPIER_[A-Z0-9_]+/) {
		print "constant", substr(line, RSTART + 1, RLENGTH - 1)
	}
	match(line, /^#define PIER_[A-Z0-9_]*[A-Z0-9][ \t(]/) {
		print "constant", substr(line, 9, RLENGTH - 9)
	}
	# The list of errors.
	match(line, /^\tX\(PIER_[A-Z]+/) {
		print "constant", substr(line, 4, RLENGTH - 3)
	}
	line ~ /^typedef .*pier_[a-z_]+_fn\(/ {
		sub(/_fn\(.*/, "_fn", line)
		sub(/.*[ *]/, "", line)
		print "type", line
	}' "$1"
}

# marked PAGE - "KIND NAME" of what it has, and "default NAME NUMBER" of each
# number in the item of a member.
marked()
{
	awk '
	function mark(kind, line,	i, n, word) {
		n = split(line, word, /[^A-Za-z0-9_]+/)
		for (i = 1; i <= n; i++)
			print kind, word[i]
	}
	/^\.Sh/ { section = $2; item = "" }
	/^\.Bd -literal/ { literal = 1 }
	/^\.Ed/ { literal = 0 }
	literal && section != "EXAMPLES" {
		mark("member", $0)
		mark("constant", $0)
	}
	/^\.(It .*)?(Va|Fa) / || / (Va|Fa) / { mark("member", $0) }
	/^\.(It .*)?Dv / || / Dv / { mark("constant", $0) }
	{
		line = $0
		while (match(line, /(struct|enum) pier_[a-z_]+/)) {
			if (section != "SYNOPSIS")
				print substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
		}
	}
	/^\.(Vt|F[anot]) / || / Vt / || literal { mark("type", $0) }
	/^\.It/ { item = / Va / ? $0 : "" }
	/(^|[^A-Za-z])([Mm]illiseconds|ms|[Bb]ytes)([^a-z]|$)/ {
		n = split((literal ? $0 : item), word, /[^a-z0-9_]+/)
		unit = tolower($0) ~ /bytes/ ? "bytes" : "milliseconds"
		for (i = 1; i <= n; i++)
			print "unit", word[i], unit
	}
	item != "" && !/^\.It/ {
		line = $0
		while (match(line, /[0-9]+/)) {
			n = split(item, word, /[^a-z0-9_]+/)
			for (i = 1; i <= n; i++)
				print "default", word[i], \
					substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
		}
	}' "$1"
}

# each FUNCTION - what it prints for every header and its page.
each()
{
	for header in $headers; do
		page=$(page_of "$header")
		if [ ! -f "$page" ]; then
			echo "$header: there is no $page"
			continue
		fi
		items "$header" >"$tmp/items"
		marked "$page" | sort -u >"$tmp/marked"
		cat "$tmp/items" >>"$tmp/all"
		"$1"
	done
}

lacking_names()
{
	awk '$1 != "unit" { print $1, $2 }' "$tmp/items" | sort -u |
	    comm -23 - "$tmp/marked" | sed "s|^|$page: lacks the |"
}

lacking_defaults()
{
	awk '$1 == "member" && $3 != "" { print "default", $2, $3 }' \
	    "$tmp/items" | sort -u | comm -23 - "$tmp/marked" |
	    sed "s|^|$page: lacks the |"
}

lacking_units()
{
	grep '^unit' "$tmp/items" | sort -u | comm -23 - "$tmp/marked" |
	    sed "s|^|$page: lacks the |"
}

# The header of the page, and those that comments of it name: the type of a
# parameter is declared there.
lacking_includes()
{
	{
		echo "<${header#lib/include/}>"
		grep -o '/\* <[a-z/]*\.h>' "$header" | cut -d ' ' -f 2
	} | tr -d '<>' | while read -r name; do
		grep -qx "\.In $name" "$page" || echo "$page: lacks .In $name"
	done
}

lacking_values()
{
	sed -n 's/^#define \(PIER_[A-Z_]*\) \([0-9]*\)\([^0-9].*\)*$/\1 \2/p' \
	    "$header" | while read -r name value; do
		[ -z "$value" ] || grep -qw "$value" "$page" ||
		    echo "$page: lacks the value of $name, $value"
	done
	! grep -q '\.F.*int timeout_ms' "$page" ||
	    grep -q '[Mm]illiseconds' "$page" ||
	    echo "$page: lacks the unit of timeout_ms"
}

# described - the calls that the text of $page names: not its first sections,
# its programs and errors, nor what is set as a table of code.
described()
{
	awk '
	/^\.Sh/ { text = !/NAME|SYNOPSIS|EXAMPLES|ERRORS|SEE ALSO/ }
	/^\.Bd -literal/ { literal = 1 }
	/^\.Ed/ { literal = 0 }
	text && !literal {
		while (match($0, /(^\.| )F[no] pier_[a-z0-9_]+/)) {
			name = substr($0, RSTART, RLENGTH)
			sub(/.* /, "", name)
			print name
			$0 = substr($0, RSTART + RLENGTH)
		}
	}' "$page"
}

lacking_calls()
{
	api_functions pier "$header" | sort -u >"$tmp/calls"
	cat "$tmp/calls" >>"$tmp/all-calls"
	described | sort -u | comm -23 "$tmp/calls" - |
	    sed "s|^|$page: does not describe |"
}

pages_have_the_values_of_constants_and_the_unit_of_timeouts()
{
	each lacking_values
}

pages_have_the_units_of_members()
{
	each lacking_units
	[ "$(grep -c '^unit' "$tmp/all")" -gt 30 ] ||
	    echo "few units were found"
}

pages_include_what_their_calls_need()
{
	each lacking_includes
}

# Each call has a sentence, beside its name in the synopsis.
pages_describe_every_call()
{
	each lacking_calls
	[ "$(wc -l <"$tmp/all-calls")" -gt 350 ] || echo "few calls were found"
}

pages_have_what_headers_declare()
{
	each lacking_names
	[ "$(wc -l <"$tmp/all")" -gt 400 ] || echo "few names were found"
}

pages_have_the_defaults_of_members()
{
	each lacking_defaults
	[ "$(grep -c ' [0-9]*$' "$tmp/all")" -gt 30 ] ||
	    echo "few defaults were found"
}

none pages_have_what_headers_declare
none pages_describe_every_call
none pages_have_the_units_of_members
none pages_have_the_values_of_constants_and_the_unit_of_timeouts
none pages_include_what_their_calls_need
none pages_have_the_defaults_of_members
tap_done
