#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples in the pages of sections 3 and 7 are whole programs.  They build
# with what is installed, by the commands that the page has, and print what it
# has.
#
# A literal text there is a program, stored as x.c, or as NAME.c if it begins
# with a comment that names it so; or it is a terminal's: what is behind "$ " is
# run, with its lines behind "> ", and prints the other lines.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/install.sh"

installed_tools
PATH=$(dirname "$lib")/bin:$PATH
man=$top/docs/man
pages=$(cd "$man" && echo *.3 *.7)
doc=$(find "$root" -type d -path '*/doc/pier')

# Lines that are not run: `make tests` has done this, in a root of its own.
not_run="./configure && make
make install && ldconfig"

# texts PAGE - its examples, to programs and to 1.sh, 1.out and so on
texts()
{
	awk -v page="$1" '
	/^\.S[hs] / { on = $2 == "EXAMPLES" }
	!on { next }
	/^\.Bd -literal/ { within = 1; kind = ""; next }
	/^\.Ed/ { within = 0 }
	!within { next }
	kind == "" {
		kind = /^#include |^\/\* / ? "c" : /^\$ / ? "sh" : "none"
		name = /^\/\* [a-z_]+\.c/ ? $2 : "x.c"
		sub(/\.c.*/, ".c", name)
		n += kind == "sh"
		if (kind == "none")
			print page ": neither a program nor commands: " $0
	}
	kind == "c" { print > name }
	kind == "sh" {
		command = sub(/^[$#>] /, "")
		print > (n (command ? ".sh" : ".out"))
	}' "$man/$1" &&
		sed -i 's/\\e/\\/g; s/\\&//g; s/\\-/-/g
			s|/usr/local/share/doc/pier|'"$doc|" -- *.*
}

# try PAGE - run the commands of its examples, which have an output
try()
{
	mkdir "$tmp/$1" && cd "$tmp/$1" || return
	texts "$1" >none
	[ ! -s none ] && ls -- *.out >/dev/null || {
		echo "$1: without commands, or without what they print"
		cat none
		return 1
	}
	for commands in *.sh; do
		grep -vxF "$not_run" "$commands" >run
		timeout 60 sh ./run >got 2>&1 </dev/null
		status=$?
		touch "${commands%.sh}.out"
		diff "${commands%.sh}.out" got || return
		[ $status -eq 0 ] || {
			echo "$1: $commands exits with $status"
			return 1
		}
	done
}

lines_that_are_not_run_are_in_a_page()
{
	echo "$not_run" | while read -r line; do
		cat "$man"/* | grep -qxF -e "$ $line" -e "# $line" ||
		    echo "$line"
	done
}

each_page_has_examples()
{
	cd "$man" && grep -L '^\.Sh EXAMPLES' -- *.[1-7]
	return 0
}

# The server has two receives; each bad client takes one and loses it.
a_server_goes_on_after_messages_that_are_too_long()
{
	cd "$tmp/pier_cm.3" || return
	PIER_LOG=critical ./server 4 >log 2>&1 &
	for i in 1 2 3; do
		PIER_LOG=critical ./client "$(printf '%0200d' $i)" 2>err &&
		    return 1
	done
	./client last && wait_for 20 grep -qx "received last" log && return
	cat log err
	return 1
}

for page in $pages; do
	[ "$page" != pier-cpp.7 ] || command -v "${CXX:-g++}" >/dev/null ||
		continue	# without a compiler for C++
	ok "$page" try "$page"
done
none lines_that_are_not_run_are_in_a_page
none each_page_has_examples
run a_server_goes_on_after_messages_that_are_too_long
tap_done
