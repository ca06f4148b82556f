#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What is left when processes die while `pier copy` copies.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/copying.sh"

# interrupt FOLDER WORDS VICTIMS - a copy of `file` into it; '$client' or
# '$server' or both are killed when a part is there, once more if all was there
# by then.  $ended is the client's status; $signal is that of the kill.
interrupt()
{
	for try in $(seq 50); do
		echo old >"$1/file"
		# shellcheck disable=SC2086
		begin $2
		at_moment has 1000000 "$1"
		for victim in $(eval echo "$3"); do
			kill -"${signal:-9}" "$victim"
			wait "$victim"
		done
		wait $client
		ended=$?
		cmp -s file ../root/file || return 0
		kill $server
		wait $server
		serve
	done 2>/dev/null
	echo "$try copies were complete before they were interrupted"
	return 1
}

# The bytes that are moved are those that lack.
only_the_rest_is_moved()
{
	fresh
	head -c 40000000 /dev/urandom >file
	interrupt ../root '--resume file 127.0.0.1:' '$client $server' || return
	serve
	part=$(stat -c %s ../root/.pier-*) || return
	copy --resume --json file 127.0.0.1: && cmp file ../root/file &&
	    says "$tmp/out" "\"bytes\": $((40000000 - part))"
}

a_source_that_has_changed_is_copied_anew()
{
	fresh
	head -c 40000000 /dev/urandom >file
	interrupt ../root '--resume file 127.0.0.1:' '$client $server' || return
	serve
	head -c 40000000 /dev/urandom >file
	copy --resume --json file 127.0.0.1: && cmp file ../root/file &&
	    says "$tmp/out" '"bytes": 40000000'
}

# Of the source, without what the umask removes, whatever the part there has.
a_resumed_file_has_the_mode_of_a_new_one()
{
	umask 027
	fresh
	head -c 40000000 /dev/urandom >file
	chmod 600 file
	interrupt ../root '--resume file 127.0.0.1:' '$client $server' || return
	serve
	chmod 400 ../root/.pier-*
	chmod 664 file
	part=$(stat -c %s ../root/.pier-*) || return
	copy --resume --json file 127.0.0.1: && cmp file ../root/file &&
	    says "$tmp/out" "\"bytes\": $((40000000 - part))" &&
	    [ "$(stat -c %a ../root/file)" = 640 ] &&
	    [ "$(ls -A ../root)" = file ] || { ls -lA ../root; return 1; }
}

a_client_that_is_killed_leaves_nothing()
{
	fresh
	head -c 200000000 /dev/zero | tr '\0' x >file
	interrupt ../root 'file 127.0.0.1:' '$client' || return
	wait_for 20 grep -q "a client: " "$tmp/server" &&
	    [ "$(ls -A ../root)" = file ] && [ "$(cat ../root/file)" = old ]
}

# By Ctrl-C, in either direction.
a_client_that_is_interrupted_leaves_the_old_target()
{
	fresh
	head -c 200000000 /dev/zero | tr '\0' x >file
	signal=INT
	interrupt ../root 'file 127.0.0.1:' '$client' || return
	[ $ended -eq 1 ] && says "$tmp/err" "pier copy: " &&
	    wait_for 20 grep -q "a client: " "$tmp/server" &&
	    [ "$(ls -A ../root)" = file ] && [ "$(cat ../root/file)" = old ] ||
	    { echo "status $ended"; cat "$tmp/err" "$tmp/server"; return 1; }
	mv file ../root
	interrupt . '127.0.0.1:file .' '$client' || return
	signal=
	[ $ended -eq 1 ] && [ "$(cat file)" = old ] && [ "$(ls -A)" = file ] ||
	    { echo "status $ended"; cat "$tmp/err"; ls -lA; return 1; }
	copy 127.0.0.1:file . && cmp file ../root/file
}

a_server_that_is_killed_is_an_error_of_the_client()
{
	fresh
	head -c 200000000 /dev/zero | tr '\0' x >file
	interrupt ../root 'file 127.0.0.1:' '$server' || return
	[ $ended -eq 1 ] && says "$tmp/err" "pier copy: " &&
	    ! grep "copy: copy:" "$tmp/err" &&
	    [ "$(cat ../root/file)" = old ] || return
	mv file ../root
	serve
	interrupt . '127.0.0.1:file .' '$server' || return
	[ $ended -eq 1 ] && [ "$(cat file)" = old ] && [ "$(ls -A)" = file ]
}

device_known
run only_the_rest_is_moved
run a_source_that_has_changed_is_copied_anew
run a_resumed_file_has_the_mode_of_a_new_one
run a_client_that_is_killed_leaves_nothing
run a_client_that_is_interrupted_leaves_the_old_target
run a_server_that_is_killed_is_an_error_of_the_client
tap_done
