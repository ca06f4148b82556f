# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For tests of programs under `pier run`: source it after tap.sh.

. "$top/t/lib/toolbox.sh"
take_ports

dropin=$build/dropin/.libs/libibverbs.so.1
[ -f "$dropin" ] || skip_all "$dropin is not built"
[ -z "$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")" ] ||
	skip_all "programs without a sanitizer load no library with one"

# need PROGRAM... - of PACKAGE, as ./quickstart check installs
need()
{
	package=$1
	shift
	for program; do
		command -v "$program" >/dev/null ||
			skip_all "there is no $program: install $package"
	done
}

# A TCP port that is free, in $port.
next_port()
{
	port=$((${port:-$first_port} + 1))
	while listens; do
		port=$((port + 1))
	done
}

# listens [COMMAND...] - does a process listen on TCP $port?  COMMAND runs
# another where that is to be.
listens()
{
	"$@" cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
	    grep -q "$(printf ':%04X [0-9A-F]*:0000 0A ' "$port")"
}

listens_or_ended()
{
	listens "$@" || ! kill -0 "$server" 2>/dev/null
}

# That of servers.
address=127.0.0.1

# For programs that connect at no address of lo: $address is another.
not_lo()
{
	address=$(ip -o -4 address show up scope global |
	    awk '{ sub(/\/.*/, "", $4); print $4; exit }')
	[ "$address" ] || skip_all "the host has no address besides those of lo"
}

# Has a process UDP $port of $address, where requests to connect arrive?
accepts_or_ended()
{
	"$@" cat /proc/net/udp /proc/net/udp6 2>/dev/null |
	    grep -q "$(in_hex "$address"):$(printf '%04X ' "$port")" ||
	    ! kill -0 "$server" 2>/dev/null
}

# in_hex ADDRESS - as the kernel lists it
in_hex()
{
	echo "$1" | awk -F. '{ printf "%02X%02X%02X%02X", $4, $3, $2, $1 }'
}

# Those of pier run, in words.
options=

# serve PROGRAM OPTION... - in the background, its output in $tmp/server
serve()
{
	# shellcheck disable=SC2086 # words
	timeout -k 5 60 "$pier" run $options -- "$@" -p "$port" \
	    >"$tmp/server" 2>&1 &
	server=$!
}

# client PROGRAM OPTION... - its output in $tmp/client
client()
{
	# shellcheck disable=SC2086 # words
	timeout -k 5 60 "$pier" run $options -- "$@" -p "$port" \
	    >"$tmp/client" 2>&1
	client=$?
}

# Both have succeeded.
both_succeed()
{
	wait "$server"
	served=$?
	[ "$client $served" = "0 0" ] || {
		echo "client: exit $client; server: exit $served"
		cat "$tmp/client" "$tmp/server"
		return 1
	}
}

# pair PROGRAM OPTION... - the server and its client, which both succeed; they
# write $tmp/server and $tmp/client
pair()
{
	next_port
	serve "$@"
	wait_for 30 listens_or_ended
	client "$@" 127.0.0.1
	both_succeed
}
