# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # $foreign, $tmp are the test's
#
# What t/interop_cm*.sh share: a server in the background and a client, each
# at the soft end, on p1 in the namespace "peer", or at the kernel's, on p0.

port=18600
rxe_addr=10.9.1.1
soft_addr=10.9.1.2

over_ipv6()
{
	rxe_addr=fd00:9:1::1
	soft_addr=fd00:9:1::2
}

# soft PROGRAM WHAT... - t/foreign/foreign, or the like, at the soft end
soft()
{
	vm_in_peer timeout 150 "$foreign" "$@"
}

# serve COMMAND... - in the background; it prints when it listens
serve()
{
	port=$((port + 1))
	rm -f "$tmp/server"
	"$@" >"$tmp/server" 2>&1 &
	server=$!
}

listening()
{
	vm_wait grep -q "^listening" "$tmp/server" || ended 1
}

# In the kernel's tables, for those that do not print it.
kernel_listens()
{
	vm_listens "$port"
}

# ended STATUS - of the client; the server ends well, too
ended()
{
	# One at the soft end is a child of what was started here.
	[ "$1" -eq 0 ] || kill $(pgrep -P $server) $server
	wait $server
	server_status=$?
	echo "client: $1"
	cat "$tmp/client"
	echo "server: $server_status"
	cat "$tmp/server"
	[ "$1" -eq 0 ] && [ $server_status -eq 0 ]
}

# End the server by a signal; its exit status is server_status.
leave()
{
	children=$(pgrep -P $server)
	# shellcheck disable=SC2086 # several numbers
	kill ${children:-$server}
	wait $server
	server_status=$?
}

# client COMMAND...
client()
{
	"$@" >"$tmp/client" 2>&1
}

# both_have PATTERN - in what either printed
both_have()
{
	grep -q "$1" "$tmp/client" && grep -q "$1" "$tmp/server"
}

# on rxe|soft COMMAND... - at that end, with its device
on()
{
	case $1 in
	rxe) shift; timeout 150 "$@" -d rxe2 ;;
	*) shift; vm_in_peer timeout 150 "$@" -d soft_p1 ;;
	esac
}
