#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# html.sh MANDOC DIRECTORY PAGE... - the man pages as HTML, and an index of them,
# in a new directory.  A reference to a call leads to the page that describes it;
# one to a page that is not among these is plain text.
set -eu
mandoc=$1 dir=$2
shift 2
rm -rf "$dir"
mkdir -p "$dir"

# "NAME.SECTION PAGE.SECTION" of each name that a page has.
awk '
FNR == 1 {
	page = FILENAME
	sub(/.*\//, "", page)
	section = page
	sub(/.*\./, "", section)
	print page, page
}
/^\.Sh/ { on = $2 == "NAME" }
on && $1 == ".Nm" && $2 "." section != page { print $2 "." section, page }
' "$@" >"$dir/names"

for page; do
	name=${page##*/}
	"$mandoc" -Thtml -Oman=%N.%S "$page" | awk -v names="$dir/names" '
	BEGIN {
		while ((getline line < names) > 0) {
			split(line, word, " ")
			page[word[1]] = word[2]
		}
	}
	# A reference can begin in one line and end in another, but its first
	# tag does not.
	{
		line = $0
		$0 = out = ""
		while (match(line, /<a class="Xr" href="[^"]*"/)) {
			tag = substr(line, RSTART, RLENGTH)
			out = out substr(line, 1, RSTART - 1)
			line = substr(line, RSTART + RLENGTH)
			split(tag, word, "\"")
			if (word[4] in page)
				out = out "<a class=\"Xr\" href=\"" \
					page[word[4]] ".html\""
			else
				out = out "<a class=\"Xr\""
		}
		print out line
	}' >"$dir/$name.html"
done

# one SECTION TITLE - its pages with what each is
one()
{
	section=$1 title=$2
	shift 2
	printf '<h2>%s</h2>\n<dl>\n' "$title"
	for page; do
		case $page in
		*."$section")
			name=${page##*/}
			printf '<dt><a href="%s.html">%s(%s)</a></dt>\n' \
			    "$name" "${name%.*}" "$section"
			sed -n 's/&/\&amp;/g; s/^\.Nd \(.*\)/<dd>\1<\/dd>/p' \
			    "$page" ;;
		esac
	done
	printf '</dl>\n'
}

{
	cat <<'END'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1.0"/>
<title>The manual of pier</title>
</head>
<body>
<h1>The manual of pier</h1>
<p>Begin with <a href="pier.7.html">pier(7)</a>.</p>
END
	one 7 "Overviews" "$@"
	one 1 "Commands" "$@"
	one 3 "Objects and their calls" "$@"
	printf '<h2>All calls</h2>\n<p>\n'
	sed 's/\.3 / /; t; d' "$dir/names" | grep '^pier_' | sort |
	while read -r call page; do
		printf '<a href="%s.html">%s</a>\n' "$page" "$call"
	done
	printf '</p>\n</body>\n</html>\n'
} >"$dir/index.html"
rm "$dir/names"
