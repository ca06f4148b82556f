#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How the source looks, and whether the build knows all of it.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

folders="bindings cm dropin lib samples t tools"

# What people write, of the given kinds: sources "*.[ch]" ...
sources()
{
	for kind; do
		find $folders -name "$kind" -type f
	done | sort
}

c_files=$(sources '*.[ch]' '*.[ch]pp')
py_files=$(sources '*.py')
sh_files="quickstart .ci/run t/run $(find t -name '*.sh' | sort)"
mk_files="Makefile.am configure.ac $(find $folders docs -name local.mk | sort)"
text_files="$c_files $sh_files $mk_files lib/libpier.map
	$(find bindings dropin -name '*.map')
	$(find . -maxdepth 1 -name '*.md') $(find docs t/vm -type f | sort |
	    grep -v '^t/vm/splats$')"

# Everything that tests is in one of the two lists.
each_test_is_for_the_guest_or_for_the_host_alone()
{
	sed -n 's#^	%D%/\(.*\.\(t\|sh\)\) \\$#t/\1#p' t/local.mk |
	    grep -vx -e 't/lib/.*' -e 't/vm/.*' |
	    sort -u >"$tmp/tests"
	[ "$(wc -l <"$tmp/tests")" -ge 80 ] || echo "few tests were found"
	grep -hv '^#' t/vm/tests t/vm/native | grep . | sort >"$tmp/lists"
	uniq -d "$tmp/lists"
	while read -r file; do
		grep -qxF "$file" "$tmp/lists" ||
			echo "$file: neither in t/vm/tests nor t/vm/native"
	done <"$tmp/tests"
	while read -r file; do
		[ -e "$file" ] || [ -e "${file%.t}.c" ] ||
			[ -e "${file%.t}.cpp" ] ||
			echo "$file: in a list, but there is none"
	done <"$tmp/lists"
}

# Of t/vm/native each part, below a comment.
lists_of_the_guest_are_sorted()
{
	awk '
	/^(#.*)?$/ { last = "" }
	/^t\// {
		if ($0 <= last)
			print FILENAME ":" FNR ": " $0 " behind " last
		last = $0
	}' t/vm/tests t/vm/native
}

there_is_something_to_look_at()
{
	[ "$(echo "$c_files" | wc -l)" -gt 70 ]
}

lines_have_at_most_80_columns()
{
	awk '
	{
		parts = split($0, part, "\t")
		width = 0
		for (i = 1; i < parts; i++) {
			width += length(part[i])
			width += 8 - width % 8
		}
		width += length(part[parts])
		if (width > 80)
			print FILENAME ":" FNR ": " width
	}' $c_files $py_files $sh_files $mk_files |
	    grep -v '^t/vm/run:'	# an option that cannot be broken
	return 0
}

lines_end_without_blanks()
{
	grep -nE '[[:space:]]$' $text_files
	[ -n "$(tail -q -c 1 $text_files | tr -d '\n')" ] || return 0
	for file in $text_files; do
		[ -z "$(tail -c 1 "$file")" ] ||
		    echo "$file: no newline at the end"
	done
}

indentation_is_tabs()
{
	grep -nE '^	* {8}|^	* +	' $c_files
	return 0
}

# What continues a list in parentheses begins below the list, unless the list
# begins on a line of its own.
misaligned()
{
	awk '
	function expanded(s,	i) {
		while ((i = index(s, "\t")))
			s = substr(s, 1, i - 1) substr("        ",
				(i - 1) % 8 + 1) substr(s, i + 1)
		return s
	}
	function bracket(c, i) {
		if (c ~ /[({[]/) {
			opener[++depth] = c
			column[depth] = i
		} else if (c ~ /[])}]/ && depth) {
			depth--
		}
	}
	# A comment or string may have brackets that do not count.
	function scan(line,	quote, i, c) {
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (comment) {
				comment = substr(line, i - 1, 2) != "*/"
			} else if (quote) {
				i += c == "\\"
				if (c == quote)
					quote = ""
			} else if (substr(line, i, 2) == "/*") {
				comment = 1
				i += 2
			} else if (c != " ") {
				if (c ~ /["\047]/)
					quote = c
				bracket(c, i)
				last = c
			}
		}
		if (last == "(")
			column[depth] = 0
	}
	FNR == 1 || /^}/ { depth = comment = 0 }
	directive || /^#/ { directive = /\\$/; next }
	{
		line = expanded($0)
		match(line, /^ */)
		if (depth && opener[depth] == "(" && column[depth] &&
		    !comment && RLENGTH < length(line) &&
		    (RLENGTH < column[depth] ||
		     RLENGTH > column[depth] && last ~ /[,;]/))
			print FILENAME ":" FNR ": begins in column " \
				RLENGTH + 1 ", not " column[depth] + 1
		scan(line)
	}' "$@"
}

continued_lists_are_aligned()
{
	misaligned $c_files
	cat >"$tmp/bad.c" <<'END'
int f(int a,
	int b);
int g(int a, /* ( */
      const char *b, ...);
int h(int a,
	int b);
	f(g("(", '(',
	    "d" "e"), 1,
	     2);
	f(
		3,
		4);
END
	[ "$(misaligned "$tmp/bad.c" | cut -d : -f 2 | tr '\n' ' ')" = \
	    "2 6 9 " ] || echo "found: $(misaligned "$tmp/bad.c")"
}

# Print @files without comments and strings, as "FILE:LINE: TEXT".
code_of()
{
	awk '
	FNR == 1 { within = 0 }
	{
		text = ""
		line = $0
		gsub(/\\./, "", line)
		gsub(/'\''"'\''/, "", line)
		while (line != "") {
			if (within) {
				at = index(line, "*/")
				if (!at)
					break
				line = substr(line, at + 2)
				within = 0
			}
			if (!match(line, /"[^"]*"|\/\*|\/\//)) {
				text = text line
				break
			}
			text = text substr(line, 1, RSTART - 1)
			what = substr(line, RSTART, 2)
			if (what == "//") {
				text = text "//"
				break
			}
			line = substr(line, RSTART + RLENGTH)
			within = what == "/*"
		}
		print FILENAME ":" FNR ": " text
	}' "$@"
}

comments_are_in_slash_and_star()
{
	code_of $c_files | grep '//'
	return 0
}

# The names of types in bindings are those of another library.
structs_are_spelled_out()
{
	code_of $(echo "$c_files" | grep -v '^bindings/.*/include/') |
	    grep -E ': typedef (struct|union|enum)\>'
	return 0
}

nothing_is_switched_off()
{
	code_of $c_files | grep -E ': #[[:space:]]*if 0'
	return 0
}

# Samples are one straight line down; their files are bounded instead.
functions_have_at_most_60_lines()
{
	awk -v functions=60 -f t/meta/metrics.awk $(echo "$c_files" |
	    grep -v '^samples/')
}

files_have_at_most_600_lines()
{
	awk -v files=600 -f t/meta/metrics.awk $c_files
}

samples_have_at_most_80_lines()
{
	awk -v files=80 -f t/meta/metrics.awk samples/*.c \
		$(ls bindings/cpp/examples/*.cpp | grep -v /request_reply_)
}

services_have_at_most_120_lines()
{
	awk -v files=120 -f t/meta/metrics.awk samples/services/*.c \
		bindings/cpp/examples/request_reply_*.cpp
}

every_source_names_its_licence()
{
	awk '
	FNR == 1 { files++; named = 0 }
	FNR <= 2 && /SPDX-License-Identifier: BSD-2-Clause/ { named = 1 }
	FNR == 2 && !named { print FILENAME }
	END { if (files < 100) print "few files" }' \
	    $c_files $sh_files $mk_files
}

# The patterns must not be found in this file.
nothing_is_left_undone()
{
	grep -nwE '[T]ODO|[F]IXME|[X]XX' $text_files | grep -v ':/^not ok'
	grep -niE '[n]ot implemented|[n]ot yet implemented' $c_files
	return 0
}

no_path_of_one_machine_is_left()
{
	grep -nE '(^|[^A-Za-z0-9_".])/(work|root|home)/[a-z]' $text_files
	return 0
}

# A test waits for a condition, by t/lib/limit.h, t/lib/peer.h, t/lib/stage.h
# or a loop of a script that looks for one, and never for a time.
no_test_waits_for_a_time()
{
	code_of $(echo "$c_files" | grep '^t/' |
	    grep -vE '^t/(bench|foreign|fuzz)/|^t/lib/(limit|cable)\.') |
	    grep -E -e '\<(u|nano|clock_nano|)sleep\(|\<peer_drive\(' \
		-e '\<p?poll\(NULL|\<select\(0'
	code_of $(echo "$c_files" | grep '^t/') |
	    grep -E '\<[a-z_]*(drive|nap|pause|step)[a-z_]*\((int|long) ms\)' |
	    grep -v '\<peer_drive_quietly('
	awk '
	/^[[:space:]]*(until|while) / { within = 1 }
	/^[[:space:]]*done/ { within = 0 }
	/(^|[^_[:alnum:]])sleep [0-9.]+/ && !within {
		print FILENAME ":" FNR ": " $0
	}' $(echo "$sh_files" | tr ' ' '\n' | grep -E '^t/' |
	    grep -v '^t/bench/')
	return 0
}

# Print the lines of code_of within loops, by their indentation.
looped()
{
	awk '{
		text = $0
		sub(/^[^:]*:[0-9]*: /, "", text)
		if (text ~ /^[ \t]*$/)
			next
		match(text, /^\t*/)
		if (within && RLENGTH <= depth)
			within = 0
		if (!within && text ~ /^\t+(for|while|do)([ (]|$)/) {
			within = 1
			depth = RLENGTH
		}
		if (within)
			print
	}'
}

# To see that nothing happens is not to wait until something has.
nothing_is_watched_for_a_time_in_a_loop()
{
	code_of $(echo "$c_files" | grep '^t/') | looped |
	    grep '\<peer_drive_quietly('
	return 0
}

# One test is of a program that leaves the engine alone now and then.
only_the_test_of_the_driver_is_elsewhere()
{
	code_of $(echo "$c_files" | grep -vE \
	    '^t/(lib/limit\.[ch]|engine/driver\.c)$') |
	    grep '\<limit_be_elsewhere\>'
	return 0
}

# The words of the lists in local.mk, "FILE WORD".
listed()
{
	find $folders docs -name local.mk | while read -r mk; do
		sed -n 's|^	%D%/\([^ ]*\) \\$|\1|p' "$mk" |
		    sed "s|^|${mk%local.mk}|"
	done | sort
}

every_file_is_in_a_list()
{
	listed >"$tmp/listed"
	{
		find $folders -name '*.[ch]' -o -name '*.[ch]pp'
		find docs t -type f \( -name '*.[1-7]' -o -name '*.md' -o \
		    -name '*.sh' -o -path 't/data/*' \)
	} | sort -u | while read -r file; do
		case $file in
		samples/*.c|t/vm/*) base=$file ;;
		t/*.c)	base=${file%.c}.t ;;
		t/*.cpp) base=${file%.cpp}.t ;;
		*)	base=$file ;;
		esac
		grep -qx -e "$file" -e "$base" "$tmp/listed" ||
		    echo "$file: in no list of a local.mk"
	done
	grep '^samples/.*\.c$' "$tmp/listed" | sed 's/\.c$//' |
	    while read -r sample; do
		grep -qx "$sample" "$tmp/listed" ||
		    echo "$sample.c: is not built"
	done
}

every_listed_file_is_there()
{
	listed | while read -r file; do
		[ -e "$file" ] || [ -e "$file.c" ] || [ -e "${file%.t}.c" ] ||
		    [ -e "$file.cpp" ] || [ -e "${file%.t}.cpp" ] ||
		    [ -e "$file.in" ] || echo "$file"
	done
}

lists_are_sorted_and_end_alike()
{
	for mk in $(find $folders docs -name local.mk); do
		awk '
		/^\t# end, sorted$/ { open = 0 }
		/= \\$/ { open = 1; last = ""; next }
		open && /^\t%D%/ {
			if ($1 <= last)
				print FILENAME ":" FNR ": " $1
			last = $1
			next
		}
		open && !/\\$/ { open = 0 }
		END {
			if (open)
				print FILENAME ": a list has no end"
		}' "$mk"
	done
}

run there_is_something_to_look_at
none lines_have_at_most_80_columns
none lines_end_without_blanks
none indentation_is_tabs
none continued_lists_are_aligned
none comments_are_in_slash_and_star
none structs_are_spelled_out
none nothing_is_switched_off
none functions_have_at_most_60_lines
none files_have_at_most_600_lines
none samples_have_at_most_80_lines
none services_have_at_most_120_lines
none every_source_names_its_licence
none nothing_is_left_undone
none no_path_of_one_machine_is_left
none no_test_waits_for_a_time
none nothing_is_watched_for_a_time_in_a_loop
none only_the_test_of_the_driver_is_elsewhere
none every_file_is_in_a_list
none every_listed_file_is_there
none lists_are_sorted_and_end_alike
none each_test_is_for_the_guest_or_for_the_host_alone
none lists_of_the_guest_are_sorted
tap_done
