#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of memory, sync events and files of another process, between two
# network namespaces of the test's own, as between two hosts.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"

bin=$build/samples
[ -x "$bin/dma_copy_host" ] || skip_all "the samples are not built"

two_hosts "$@"

# A number that differs from run to run.
any()
{
	echo $(($(od -An -N6 -tu8 /dev/urandom) + 1))
}

memory_of_another_host_is_copied()
{
	text=$(tr -dc '[:graph:]' </dev/urandom | head -c 4095)
	in_far timeout 60 "$bin/dma_copy_host" -p soft_far0 -d "$tmp/desc" \
	    -b "$tmp/info" "--text=$text" </dev/null >"$tmp/host" 2>&1 &
	offering=$!
	wait_for 20 [ -s "$tmp/desc" ] || cat "$tmp/host"
	printf 'copied "%s"\n' "$text" >"$tmp/want"
	timeout 40 "$bin/dma_copy_dpu" -p soft_near0 -d "$tmp/desc" \
	    -b "$tmp/info" >"$tmp/got" 2>&1 || cat "$tmp/got"
	wait $offering || cat "$tmp/host"
	cmp "$tmp/want" "$tmp/got"
}

# signals OPTION... - of both
signals()
{
	number=$(any)
	echo old >"$tmp/event"
	timeout 60 "$bin/sync_event_dpu" -d soft_near0 -f "$tmp/event" \
	    -n "$number" "$@" >"$tmp/dpu" 2>&1 &
	waiting=$!
	wait_for 20 [ ! -e "$tmp/event" ] || { cat "$tmp/dpu"; return 1; }
	in_far timeout 60 "$bin/sync_event_host" -d soft_far0 \
	    -f "$tmp/event" -n "$number" "$@" >"$tmp/host" 2>&1 &&
	    wait $waiting &&
	    grep -qx "signalled $number, seen $((number + 1))" "$tmp/host" &&
	    grep -qx "seen $number, signalled $((number + 1))" "$tmp/dpu" ||
	    { cat "$tmp/host" "$tmp/dpu"; return 1; }
}

a_sync_event_of_another_host_is_signalled()
{
	signals && signals --async --atomic
}

# pair - a server on the other host, which has $tmp/there, and a client
pair()
{
	in_far timeout 60 "$bin/dma_copy" -p soft_far0 -r far0 \
	    -f "$tmp/there" >"$tmp/server" 2>&1 &
	serving=$!
	wait_for 20 in_far grep -q "@pier-comch\..*\.soft_far0:" \
	    /proc/net/unix || { cat "$tmp/server"; return 1; }
	timeout 60 "$bin/dma_copy" -p soft_near0 -sa 10.77.0.2 \
	    -f "$tmp/here" >"$tmp/client" 2>&1 && wait $serving &&
	    cmp "$tmp/here" "$tmp/there" ||
	    { cat "$tmp/server" "$tmp/client"; return 1; }
}

a_file_is_copied_to_another_host_and_back()
{
	head -c 3000000 /dev/urandom >"$tmp/here"
	pair || return
	mv "$tmp/here" "$tmp/sent"
	pair && cmp "$tmp/sent" "$tmp/here"
}

run memory_of_another_host_is_copied
run a_sync_event_of_another_host_is_signalled
run a_file_is_copied_to_another_host_and_back
tap_done
