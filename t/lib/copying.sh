# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What tests of failing copies share: source it after toolbox.sh and device.sh.

"$pier" copy --help >/dev/null 2>&1 || skip_all "it has no copy"

# serve OPTION... - a server of $tmp/root, in the background; $server
serve()
{
	rm -f "$tmp/server"
	"$pier" copy -d "$device" --listen --timeout 5 --root "$tmp/root" \
	    "$@" 2>"$tmp/server" &
	server=$!
	wait_for 20 grep -q listens "$tmp/server" || cat "$tmp/server"
}

# fresh - the two directories, empty, and a server
fresh()
{
	rm -rf "$tmp/root" "$tmp/here"
	mkdir "$tmp/root" "$tmp/here" && cd "$tmp/here" && serve "$@"
}

# copy WORD... - its status; what it prints is in $tmp/out and $tmp/err
copy()
{
	timeout 60 "$pier" copy -d "$device" --timeout 5 "$@" \
	    >"$tmp/out" 2>"$tmp/err"
}

# begin WORD... - a copy in the background; $client
begin()
{
	"$pier" copy -d "$device" --timeout 5 "$@" >"$tmp/out" 2>"$tmp/err" &
	client=$!
}

# has BYTES [FOLDER] - a file there, the root, has so many, or the client ended
has()
{
	[ "$(largest "${2:-$tmp/root}")" -ge "$1" ] ||
	    ! kill -0 "$client" 2>/dev/null
}

# largest FOLDER - the size of its largest file
largest()
{
	find "$1" -type f -printf '%s\n' | sort -n | tail -n 1 | grep . ||
	    echo 0
}

# part FOLDER - how much there is of a copy into it that is not complete
part()
{
	stat -c %s "$1"/.pier-* 2>/dev/null || echo 0
}

# at_moment COMMAND... - at once: wait_for() looks too seldom
at_moment()
{
	until "$@"; do
		:
	done
}

# random MAX - a number below it
random()
{
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# kill_one NUMBER - the client or the server, which is started again
kill_one()
{
	if [ $(($1 % 2)) -eq 0 ]; then
		kill -9 $client
		wait $client
	else
		kill -9 $server
		wait $server $client
		serve
	fi 2>/dev/null
}
