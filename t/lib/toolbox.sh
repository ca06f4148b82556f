# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What tests of the tool `pier` share: source it after tap.sh.  $pier is the
# tool, $device what it runs on.

pier=$build/tools/pier
[ -x "$pier" ] || skip_all "the tool is not built"

# says FILE TEXT... - the file has each text
says()
{
	file=$1
	shift
	for text; do
		grep -qF -- "$text" "$file" || {
			echo "not in $file: $text"
			cat "$file"
			return 1
		}
	done
}

# status WANTED COMMAND... - it exits like that; output in $tmp/out and err
status()
{
	wanted=$1
	shift
	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got -eq "$wanted" ] || {
		echo "exit $got, not $wanted: $*"
		cat "$tmp/out" "$tmp/err"
		return 1
	}
}

# is_json FILE - it becomes $tmp/json; without python3 only its begin is seen
is_json()
{
	for python in python3 /usr/bin/python3; do
		"$python" -c pass 2>/dev/null || continue
		"$python" -m json.tool "$1" >"$tmp/json" && return
		cat "$1"
		return 1
	done
	cp "$1" "$tmp/json" && [ "$(head -c 1 "$1")" = "{" ]
}

# appears FILE - within ten seconds
appears()
{
	tries=0
	until [ -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -le 500 ] || { echo "$1 never came"; return 1; }
		sleep 0.02
	done
}

# begin RESPONDER-OPTION REQUESTER-OPTION - both in the background, connected
begin()
{
	"$pier" perf lat send $1 -d "$device" -ld "$tmp/a" \
		-re "$tmp/b" -m "$tmp/m" --timeout 8 \
		>"$tmp/a.out" 2>"$tmp/a.err" &
	side_a=$!
	appears "$tmp/a" || return 1
	"$pier" perf lat send $2 -d "$device" -ld "$tmp/b" \
		-re "$tmp/a" -m "$tmp/m" --timeout 8 \
		>"$tmp/b.out" 2>"$tmp/b.err" &
	side_b=$!
	tries=0	# each takes the other's file when it connects
	while [ -e "$tmp/a" ] || [ -e "$tmp/b" ] || [ -e "$tmp/m" ]; do
		tries=$((tries + 1))
		[ $tries -le 500 ] || { echo "they do not meet"; return 1; }
		sleep 0.02
	done
}
