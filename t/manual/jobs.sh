#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A service that was written from the man pages alone: it builds with what is
# installed, and does what it should, also where something fails.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/install.sh"
installed_tools
cd "$tmp" || exit

they_build_with_the_line_of_the_manual()
{
	for i in server client; do
		cc -o jobs_$i "$top/t/manual/jobs_$i.c" \
		    $(pkg-config --cflags --libs pier)
	done
}

# serve CLIENTS - start a server, whose port is $port
serve()
{
	: >server		# which grep looks for at once
	PIER_LOG=critical ./jobs_server "$1" >server 2>&1 &
	server=$!
	wait_for 20 grep -q '^port [0-9]' server || return
	port=$(sed -n 's/^port //p' server)
}

# same FILE - its lines are those on stdin, in any order
same()
{
	sort >"$1.want"
	sort "$1" | diff "$1.want" - && return
	cat "$1".err
	return 1
}

clients_read_their_results()
{
	serve 3
	./jobs_client "$port" first 20000 stop level >first 2>first.err &
	./jobs_client "$port" second 20000 live reward x >second 2>second.err &
	./jobs_client "$port" third 20000 "two words" >third 2>third.err
	wait
	printf '%s\n' "stop -> pots" "level -> level" | same first
	printf '%s\n' "live -> evil" "reward -> drawer" "x -> x" | same second
	echo "two words -> sdrow owt" | same third
	printf '%s\n' "port $port" "first: stop" "first: level" \
	    "second: live" "second: reward" "second: x" "third: two words" \
	    "6 jobs" | same server
}

# The connection remains: the count goes there.
a_job_without_a_result_ends_at_its_deadline()
{
	serve 1
	./jobs_client "$port" late 300 never never >late 2>late.err
	wait
	printf '%s\n' "never: no result in 300 ms" \
	    "never: no result in 300 ms" | same late
	printf '%s\n' "port $port" "late: never" "late: never" "0 jobs" |
	    same server
}

a_client_that_is_rejected_has_the_reason()
{
	serve 1
	! ./jobs_client "$port" a-name-that-is-too-long 20000 x >long 2>long.err
	printf '%s\n' "rejected: the name is too long" \
	    "a-name-that-is-too-long: ECONNREFUSED" | same long
	./jobs_client "$port" short 20000 x >short 2>short.err
	wait
	echo "x -> x" | same short
	printf '%s\n' "port $port" "short: x" "1 jobs" | same server
}

# Long before its deadline.
a_client_ends_when_its_server_is_killed()
{
	serve 1
	./jobs_client "$port" lost 600000 never >lost 2>lost.err &
	wait_for 20 grep -q '^lost: never' server
	kill -9 $server
	wait
	echo "lost: PIER_ERETRY" | same lost
}

none they_build_with_the_line_of_the_manual
if [ -x "$tmp/jobs_client" ]; then
	none clients_read_their_results
	none a_job_without_a_result_ends_at_its_deadline
	none a_client_that_is_rejected_has_the_reason
	none a_client_ends_when_its_server_is_killed
fi
tap_done
