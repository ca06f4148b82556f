#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The man pages are whole and in order; what the guides name is there.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/api.sh"
cd "$top" || exit

pages=$(find docs/man -name '*.[1-7]' 2>/dev/null | sort)
[ -n "$pages" ] || skip_all "there are no man pages"
calls=$(echo "$pages" | grep '\.3$')
guides=$(find . -maxdepth 1 -name '*.md'; find docs -name '*.md' | sort)

mandoc_finds_no_fault()
{
	command -v mandoc >/dev/null || skip "there is no mandoc"
	mandoc -Tlint -Wwarning $pages
	return 0
}

# The order that mdoc(7) has, and no section of another name.
sections_stand_in_order()
{
	for page in $pages; do
		sed -n 's/^\.Sh //p' "$page" | awk -v page="$page" '
		BEGIN {
			n = split("NAME:SYNOPSIS:DESCRIPTION:RETURN VALUES:" \
				  "ENVIRONMENT:FILES:EXIT STATUS:EXAMPLES:" \
				  "ERRORS:SEE ALSO:STANDARDS:CAVEATS:" \
				  "SECURITY CONSIDERATIONS", order, ":")
			for (i = 1; i <= n; i++)
				place[order[i]] = i
		}
		!($0 in place) { print page ": no section is called " $0 }
		place[$0] <= last { print page ": " $0 " is out of order" }
		{ last = place[$0] }'
	done
}

pages_of_calls_have_what_a_reader_needs()
{
	for page in $calls; do
		for section in NAME SYNOPSIS DESCRIPTION "RETURN VALUES" \
		    "SEE ALSO"; do
			grep -qx "\.Sh $section" "$page" ||
			    echo "$page: lacks $section"
		done
	done
}

# doca_names - functions, macros and types of callbacks of the headers for DOCA.
doca_names()
{
	dir=bindings/doca/include
	api_functions doca $dir/*.h
	sed -n 's/^#define \(DOCA_[A-Z_]*\)(.*/\1/p' $dir/*.h
	sed -n 's/^typedef .*(\*\{0,1\}\([a-z_]*\))(.*/\1/p' $dir/*.h
}

# table_names COLUMN REGEX - what is named in a column of the tables of calls.
table_names()
{
	awk -F '|' -v column="$1" '/^\|/ { print $(column + 1) }' \
	    docs/doca-calls.md | grep -oE '`'"$2" | tr -d '`('
}

calls_for_doca_are_in_one_row_each()
{
	doca_names | sort -u >"$tmp/calls"
	[ "$(wc -l <"$tmp/calls")" -gt 600 ] || echo "few calls were found"
	table_names 1 '[A-Za-z0-9_]+' | grep -vx DOCA | sort >"$tmp/rows"
	uniq -d "$tmp/rows" | sed 's/$/ is in two rows/'
	sort -u "$tmp/rows" | comm -13 - "$tmp/calls" | sed 's/$/ is in no row/'
	sort -u "$tmp/rows" | comm -23 - "$tmp/calls" |
	    sed 's/$/ is in no header/'
}

# The second column names a call, or is a reason why there is none.
rows_of_calls_for_doca_name_calls_of_pier()
{
	table_names 2 'pier_[a-z0-9_]+\(' >"$tmp/rows"
	table_names 3 'pier_[a-z0-9_]+\(' >>"$tmp/rows"
	[ "$(wc -l <"$tmp/rows")" -gt 200 ] || echo "few calls were found"
	sort -u "$tmp/rows" | while read -r name; do
		grep -q "^	$name;" lib/libpier.map ||
		    echo "$name is not in lib/libpier.map"
	done
	awk -F '|' '/^\|/ && ($3 ~ /^ *$/ || NF != 5) {
		print "docs/doca-calls.md:" FNR ": a cell too few" }' \
	    docs/doca-calls.md
}

# In the text; a star stands for all calls that begin, or end, so.
the_guide_for_doca_names_what_exists()
{
	guide=docs/from-doca.md
	doca_names | sort -u >"$tmp/calls"
	grep -oE '`(doca|DOCA)_[A-Za-z0-9_*]*\(' $guide | tr -d '`(' | sort -u |
	while read -r name; do
		grep -qx "$(echo "$name" | sed 's/\*/[a-z0-9_]*/g')" \
		    "$tmp/calls" || echo "$guide: there is no $name()"
	done
	cat bindings/doca/include/*.h lib/include/pier/*.h >"$tmp/headers"
	grep -ohE '`(struct|enum|union) (doca|pier)_[a-z_]+' $guide \
	    docs/doca-calls.md | tr -d '`' | sort -u | while read -r name; do
		grep -qE "^(typedef )?$name( \{|;)" "$tmp/headers" ||
		    echo "there is no $name"
	done
	grep -ohE '`(DOCA|PIER)_[A-Z0-9_]*[A-Z0-9]`' $guide docs/doca-calls.md |
	    tr -d '`' | sort -u | while read -r name; do
		grep -qw "$name" "$tmp/headers" || echo "there is no $name"
	done
}

# The names that DOCA 2.0 has and today's headers have not, and no others but
# those.
the_guide_for_doca_2_0_has_every_call_of_its_own()
{
	guide=docs/doca-2.0.md
	api_functions doca bindings/doca-2.0/include/*.h | sort -u >"$tmp/all"
	doca_names | sort -u | comm -23 "$tmp/all" - >"$tmp/calls"
	[ "$(wc -l <"$tmp/calls")" -ge 50 ] || echo "few calls were found"
	grep -oE '`doca_[a-z0-9_*]*\(' $guide | tr -d '`(' | sort -u |
	    sed 's/\*/[a-z0-9_]*/g' >"$tmp/patterns"
	grep -vxf "$tmp/patterns" "$tmp/calls" | sed "s|^|$guide lacks |"
	while read -r name; do
		grep -qx "$name" "$tmp/all" ||
		    echo "$guide: there is no $name()"
	done <"$tmp/patterns"
}

# "TYPE NAME(PARAMETERS" of each call, words and stars alone, as the headers
# and as the pages declare it.
header_prototypes()
{
	cat lib/include/pier/*.h | awk '
	directive || /^[ \t]*#/ { directive = /\\$/; next }
	{ text = text " " $0 }
	END {
		while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\//))
			text = substr(text, 1, RSTART - 1) " " \
				substr(text, RSTART + RLENGTH)
		n = split(text, stmt, ";")
		for (i = 1; i <= n; i++) {
			sub(/.*[{}]/, "", stmt[i])
			if (stmt[i] !~ /typedef/ &&
			    stmt[i] ~ /pier_[a-z0-9_]+\(.*\)[ ]*$/)
				print stmt[i]
		}
	}' | squeeze
}

page_prototypes()
{
	awk '
	function words(i,	s) {
		for (s = ""; i <= NF; i++)
			s = s (s == "" ? "" : " ") $i
		return s
	}
	# Quoted arguments become a list with commas.
	function args(s) {
		if (s ~ /"/) {
			gsub(/" *"/, ", ", s)
			gsub(/"/, "", s)
		}
		return s
	}
	/^\.Sh/ { on = $2 == "SYNOPSIS" }
	!on { next }
	$1 == ".Ft" { type = args(words(2)) }
	$1 == ".Fn" { print type " " $2 "(" args(words(3)) ")" }
	$1 == ".Fo" { head = type " " $2 "("; sep = "" }
	$1 == ".Fa" {
		head = head sep args(words(2))
		sep = ", "
	}
	$1 == ".Fc" { print head ")" }' $calls | squeeze
}

squeeze()
{
	sed 's/[[:space:]][[:space:]]*/ /g; s/ *\([*(),]\) */\1/g;
		s/^ //; s/ $//' | sort
}

pages_declare_calls_as_headers_do()
{
	header_prototypes >"$tmp/headers"
	page_prototypes >"$tmp/pages"
	[ "$(wc -l <"$tmp/headers")" -eq \
	    "$(api_functions pier lib/include/pier/*.h | wc -l)" ] ||
		echo "the headers were not read well"
	diff "$tmp/headers" "$tmp/pages" | grep '^[<>]'
	return 0
}

references_lead_somewhere()
{
	api_page_calls $pages | sort -u >"$tmp/names"
	for page in $pages; do
		awk '$1 == ".Xr" && $2 ~ /^pier/ { print FILENAME, $2, $3 }' \
		    "$page"
	done | while read -r page name section; do
		[ -f "docs/man/$name.$section" ] || grep -qx "$name" \
		    "$tmp/names" || echo "$page: $name($section)"
	done
}

every_command_has_a_line_in_the_page_of_the_tool()
{
	sed -n 's/^	{ "\([a-z]*\)", "pier [a-z]*", tool_.*/\1/p' \
	    tools/pier.c >"$tmp/commands"
	[ "$(wc -l <"$tmp/commands")" -ge 5 ] || echo "few commands were found"
	while read -r name; do
		grep -qx "\.It Ic $name" docs/man/pier.1 &&
		    grep -qx "\.Xr pier-$name 1 \." docs/man/pier.1 ||
		    echo "pier $name: no line in docs/man/pier.1"
	done <"$tmp/commands"
}

# Each row of the rules ends with tests that exist, or with the reason.
rules_for_doca_name_tests_that_exist()
{
	grep '^| ' docs/doca-rules.md | grep -v '^| rule ' >"$tmp/rules"
	[ "$(wc -l <"$tmp/rules")" -ge 100 ] || echo "few rules were found"
	grep -vE '\| (`|none: )[^|]* \|$' "$tmp/rules"
	grep -oE '`[a-z_]+:[a-z0-9_]+`' "$tmp/rules" | tr -d '`' | sort -u |
	    while IFS=: read -r file name; do
		grep -q "TEST($name)" "t/doca/$file.c" ||
		    echo "docs/doca-rules.md: $file:$name"
	done
}

# Calls of pier, its types and constants, and the pages of its manual, in all
# documents: internal names, pier__NAME(), are not those.
guides_name_calls_and_pages_that_exist()
{
	{
		api_functions pier lib/include/pier/*.h
		api_page_calls $pages
	} | sort -u >"$tmp/calls"
	find docs/man -type f | sed 's|.*/||' >"$tmp/files"
	cat lib/include/pier/*.h bindings/cpp/include/pier/cpp/*.hpp \
		>"$tmp/headers"
	for guide in $guides; do
		grep -oE '\<pier_[a-z0-9][a-z0-9_]*[*]?\([^1-7]' "$guide" |
		    sed 's/(.$//; s/\*/[a-z0-9_]*/' | sort -u |
		    while read -r name; do
			grep -qx "$name" "$tmp/calls" ||
			    echo "$guide: there is no $name()"
		done
		grep -oE '\<pier[-_a-z0-9]*\([1-7]\)' "$guide" | sort -u |
		    tr '()' '. ' | while read -r page; do
			grep -qx "$page" "$tmp/files" ||
			    grep -qx "${page%.3}" "$tmp/calls" ||
			    echo "$guide: there is no page $page"
		done
		grep -oE '\<(struct|enum) pier_[a-z][a-z_]*' "$guide" |
		    sort -u | while read -r name; do
			grep -qE "^$name( \{|;)" "$tmp/headers" ||
			    echo "$guide: there is no $name"
		done
		grep -oE '`PIER_[A-Z0-9_]*[A-Z0-9]`' "$guide" | tr -d '`' |
		    grep -v -e '^PIER_NAME$' -e '^PIER_TEST_' | sort -u |
		    while read -r name; do
			grep -qw "$name" "$tmp/headers" ||
			    grep -qxE "\.It Ev $name( .*)?" $pages ||
			    echo "$guide: there is no $name"
		done
	done
}

# Names of the other library in the guide for those who know it.
the_guide_for_verbs_names_calls_that_verbs_has()
{
	lacking docs/from-verbs.md '(ibv|rdma)_[a-z_]+' \
	    infiniband/verbs.h rdma/rdma_cma.h rdma/rdma_verbs.h
}

the_guide_for_ucx_names_calls_that_ucp_has()
{
	lacking docs/from-ucx.md 'ucp_[a-z_]+' ucp/api/ucp.h
}

# lacking GUIDE REGEX HEADER...: calls that no header declares; without all of
# the headers the test is skipped
lacking()
{
	guide=$1 regex=$2
	shift 2
	for header; do
		[ -f "/usr/include/$header" ] || skip "there is no $header"
		cat "/usr/include/$header" || return
	done >"$tmp/library"
	grep -oE "\`$regex\(\)" "$guide" | tr -d '`()' | sort -u >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -ge 10 ] || echo "few calls were found"
	while read -r name; do
		grep -q "\<$name(" "$tmp/library" ||
		    echo "$guide: there is no $name()"
	done <"$tmp/names"
}

guides_name_only_files_that_exist()
{
	for guide in $guides; do
		grep -oE '\<(docs|lib|cm|samples|t|tools)/[A-Za-z0-9_./-]+'\
'\.(c|h|md|sh|map|mk|[1357])\>' "$guide" | grep -v NAME | sort -u |
		    while read -r name; do
			[ -e "$name" ] || echo "$guide: $name"
		done
	done
}

# The rows of README's map: each file is there, and each function is defined in
# the file that is named before it.
the_map_leads_to_files_and_functions()
{
	grep '^| .*`.*[a-z]\.[ch]`' README.md >"$tmp/map"
	[ "$(grep -c '()`' "$tmp/map")" -ge 12 ] || echo "few rows were found"
	grep -oE '`[A-Za-z0-9_./]+(\(\))?`' "$tmp/map" | tr -d '`' |
	    while read -r name; do
		case $name in
		*/*.[ch]|[A-Z]*.md)
			file=$name
			[ -f "$file" ] || echo "README.md: $file"
			;;
		pier_pe_wait*)	# part of a question
			;;
		*"()")
			grep -qE "^([a-z].*[ *])?${name%??}\(" "$file" ||
				echo "README.md: $file has no $name"
			;;
		esac
	done
}

# With their digits.
figures_of_readme_are_those_of_the_benchmarks()
{
	awk '/^## / { on = $0 == "## Three figures" }
		on && /^- /, /^$/' README.md >"$tmp/figures"
	[ "$(grep -c '^- ' "$tmp/figures")" -eq 3 ] || echo "not three figures"
	grep -oE '[0-9]+\.[0-9]+( [A-Za-z/]*s\>)?|[0-9]{3,}' "$tmp/figures" |
	    while read -r figure; do
		grep -qF "$figure" docs/benchmarks.md || echo "$figure"
	done
}

none mandoc_finds_no_fault
none sections_stand_in_order
none pages_of_calls_have_what_a_reader_needs
none pages_declare_calls_as_headers_do
none references_lead_somewhere
none every_command_has_a_line_in_the_page_of_the_tool
none calls_for_doca_are_in_one_row_each
none rows_of_calls_for_doca_name_calls_of_pier
none the_guide_for_doca_names_what_exists
none the_guide_for_doca_2_0_has_every_call_of_its_own
none rules_for_doca_name_tests_that_exist
none guides_name_only_files_that_exist
none guides_name_calls_and_pages_that_exist
none the_guide_for_verbs_names_calls_that_verbs_has
none the_guide_for_ucx_names_calls_that_ucp_has
none the_map_leads_to_files_and_functions
none figures_of_readme_are_those_of_the_benchmarks
tap_done
