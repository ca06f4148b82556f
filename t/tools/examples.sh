#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples in the pages of pier's commands, as they are there: each line
# behind a prompt is run, those of the hosts left and right in folders of their
# own, at 127.0.0.1.  What serves, or ends in "&", runs in the background.
# Other lines are what the command prints.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
device=soft_lo
. "$top/t/lib/toolbox.sh"

PIER_DEVICE=$device
PATH=$build/tools:$PATH
export PIER_DEVICE PATH

# lines PAGE - "HOST COMMAND" of its examples, a continued line joined
lines()
{
	awk '
	function flush() { if (line != "") print line; line = "" }
	function add(text)
	{
		line = line text
		goes_on = line ~ /([|]|\\e)$/
		sub(/\\e$/, "", line)
	}
	/^\.Sh / { on = /EXAMPLES/ }
	/^\.Bd -literal/ { text = on; next }
	/^\.Ed/ { flush(); text = 0 }
	text && goes_on { add(" " $0); next }
	text && /^[a-z]*\$ / {
		flush()
		add(/^[a-z]/ ? $0 : "one" $0)
		sub(/\$ /, " ", line)
		next
	}
	text { flush(); print "prints", $0 }' "$top/docs/man/$1" |
		sed 's/\\e/\\/g; s/\\&//g; s/\\-/-/g;
			s/\(left\|right\):/127.0.0.1:/g;
			s/ \(left\|right\)$/ 127.0.0.1/'
}

# The host right, without what it has received before, and with another file.
mkdir "$tmp/bin" && cat >"$tmp/bin/ssh" <<END
#!/bin/sh
shift
cd "$tmp/right" && rm -f a m && echo another >b && exec "\$@"
END
chmod +x "$tmp/bin/ssh"
PATH=$tmp/bin:$PATH

# prints TEXT - the last command has, in a line
prints()
{
	grep -qxF -- "$1" "$tmp/log2" && return
	echo "not printed: $1"
	cat "$tmp/log2"
	return 1
}

begun()
{
	grep -qs -e waiting -e listens "$tmp/log"
}

# line HOST COMMAND
line()
{
	cd "$tmp/$1" || return
	case $2 in
	*">"*"&")		# the next line waits for it
		sh -c "exec ${2%&}" </dev/null & ;;
	*--listen*|*"&")
		: >"$tmp/log"
		sh -c "exec ${2%&}" >>"$tmp/log" 2>&1 </dev/null &
		wait_for 20 begun ;;
	*)
		timeout 60 sh -c "$2" >"$tmp/log2" 2>&1 </dev/null
	esac && ran=$((ran + 1)) && return
	echo "$1: $2"
	cat "$tmp/log" "$tmp/log2"
	return 1
}

# page NAME N - its examples, of which N lines are run
page()
{
	rm -rf "$tmp/left" "$tmp/right" "$tmp/one"
	mkdir -p "$tmp/left/photos" "$tmp/right" "$tmp/one"
	for name in a b m photos/a.jpg photos/b.jpg; do
		echo "$name" >"$tmp/left/$name"
	done
	cp "$tmp/left/b" "$tmp/right/b"
	lines "$1" >"$tmp/lines"
	ran=0
	while read -r host command; do
		case $host in
		prints) prints "$command" ;;
		*) line "$host" "$command" ;;
		esac || return 1
	done <"$tmp/lines"
	[ $ran -ge "$2" ] || {
		echo "$ran lines of $1, not $2"
		return 1
	}
}

# Of the photos that were copied to the server, two come back.
copy_runs_as_its_page_has_it()
{
	page pier-copy.1 4 && cmp "$tmp/left/photos/a.jpg" "$tmp/left/a.jpg" &&
		cmp "$tmp/left/photos/b.jpg" "$tmp/right/in/photos/b.jpg"
}

exchange_runs_as_its_page_has_it()
{
	page pier-exchange.1 5 && cmp "$tmp/left/m" "$tmp/right/m" &&
		[ "$(cat "$tmp/left/b")" = another ]
}

info_runs_as_its_page_has_it()
{
	command -v jq >/dev/null || skip "there is no jq"
	page pier-info.1 1
}

perf_runs_as_its_page_has_it()
{
	page pier-perf.1 4 && says "$tmp/log2" "write latency"
}

ping_runs_as_its_page_has_it()
{
	page pier-ping.1 2 && says "$tmp/log2" "4 rounds, 4 answered"
}

counters_run_as_their_page_has_it() { page pier-counters.1 3; }
desc_runs_as_its_page_has_it() { page pier-desc.1 3; }
doctor_runs_as_its_page_has_it() { page pier-doctor.1 1; }

# Programs without a sanitizer load no library with one.
run_runs_as_its_page_has_it()
{
	command -v ibv_rc_pingpong >/dev/null || skip "no ibverbs-utils"
	[ -z "$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")" ] ||
		skip "this build has a sanitizer"
	page pier-run.1 9
}

the_tool_runs_as_its_page_has_it() { page pier.1 3; }

each_page_with_an_example_is_run()
{
	grep -l '^\.Sh EXAMPLES' "$top"/docs/man/*.1 | while read -r file; do
		name=${file##*/}
		grep -q "page $name " "$top/t/tools/examples.sh" ||
			echo "$name"
	done
}

run the_tool_runs_as_its_page_has_it
run copy_runs_as_its_page_has_it
run counters_run_as_their_page_has_it
run desc_runs_as_its_page_has_it
run doctor_runs_as_its_page_has_it
run exchange_runs_as_its_page_has_it
run info_runs_as_its_page_has_it
run perf_runs_as_its_page_has_it
run ping_runs_as_its_page_has_it
run run_runs_as_its_page_has_it
none each_page_with_an_example_is_run
tap_done
