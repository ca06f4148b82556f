#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What goes wrong while `pier copy` copies: processes die, disks are full,
# packets are lost.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"

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

# random MAX - a number below it
random()
{
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# at_moment COMMAND... - at once: wait_for() looks too seldom
at_moment()
{
	until "$@"; do
		:
	done
}

# interrupt FOLDER WORDS VICTIMS - a copy of `file` into it; '$client' or
# '$server' or both are killed when a part is there, once more if all was there
# by then.  $ended is the client's status.
interrupt()
{
	for try in $(seq 50); do
		echo old >"$1/file"
		# shellcheck disable=SC2086
		begin $2
		at_moment has 1000000 "$1"
		for victim in $(eval echo "$3"); do
			kill -9 "$victim"
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

# part FOLDER - how much there is of a copy into it that is not complete
part()
{
	stat -c %s "$1"/.pier-* 2>/dev/null || echo 0
}

# grown FOLDER BYTES - its part is longer than that, or the client has ended
grown()
{
	[ "$(part "$1")" -gt "$2" ] || ! kill -0 "$client" 2>/dev/null
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

# kill_and_resume FOLDER WORDS... - 10 times, or as many as PIER_TEST_KILLS has,
# when more has come than there was before; from its begin again when it was
# complete.  A kill takes a second until the other one has found out.
kill_and_resume()
{
	folder=$1
	shift
	midst=0
	tries=0
	while [ $midst -lt "${PIER_TEST_KILLS:-10}" ]; do
		tries=$((tries + 1))
		had=$(part "$folder")
		[ $tries -le $((8 * ${PIER_TEST_KILLS:-10})) ] || {
			echo "killed $midst times in the middle, of $tries"
			return 1
		}
		begin --resume "$@"
		at_moment grown "$folder" $((had + $(random 10000000)))
		kill_one $midst
		if [ "$(head -c 4 "$folder/file")" != old ]; then
			cmp file ../root/file || return
			echo old >"$folder/file"	# it was complete before
		elif [ "$(part "$folder")" -gt "$had" ]; then
			midst=$((midst + 1))
		fi
	done
	copy --resume "$@" && cmp file ../root/file &&
	    [ "$(ls -A "$folder")" = file ] ||
	    { cat "$tmp/err" "$tmp/server"; ls -lA "$folder"; return 1; }
}

# A client or a server dies when a random part of the file is there.
a_copy_that_is_killed_many_times_is_resumed()
{
	fresh
	echo old >../root/file
	head -c 200000000 /dev/urandom >file
	kill_and_resume ../root file 127.0.0.1:
}

a_copy_from_the_server_that_is_killed_many_times_is_resumed()
{
	fresh
	echo old >file
	head -c 200000000 /dev/urandom >../root/file
	kill_and_resume . 127.0.0.1:file .
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

a_server_that_is_killed_is_an_error_of_the_client()
{
	fresh
	head -c 200000000 /dev/zero | tr '\0' x >file
	interrupt ../root 'file 127.0.0.1:' '$server' || return
	[ $ended -eq 1 ] && says "$tmp/err" "pier copy: copy: " &&
	    [ "$(cat ../root/file)" = old ] || return
	mv file ../root
	serve
	interrupt . '127.0.0.1:file .' '$server' || return
	[ $ended -eq 1 ] && [ "$(cat file)" = old ] && [ "$(ls -A)" = file ]
}

# As another user, whom permissions concern.
a_target_without_permission_fails_alone()
{
	as_nobody=
	if [ "$(id -u)" -eq 0 ]; then
		command -v setpriv >/dev/null || skip "there is no setpriv"
		as_nobody="setpriv --reuid 65534 --clear-groups"
	fi
	fresh
	mkdir ../root/closed ../root/open
	chmod 555 ../root/closed
	kill $server
	wait $server
	if [ -n "$as_nobody" ]; then
		chmod 755 "$tmp"
		chown -R 65534 "$tmp/root"
	fi
	rm "$tmp/server"
	$as_nobody "$pier" copy -d "$device" --listen --root "$tmp/root" \
	    2>"$tmp/server" &
	wait_for 20 grep -q listens "$tmp/server"
	echo 1 >file
	copy file 127.0.0.1:closed && return 1
	says "$tmp/err" "closed/file: Permission denied" &&
	    copy file 127.0.0.1:open && cmp file ../root/open/file || return
	echo secret >../root/open/secret
	chmod 0 ../root/open/secret
	copy 127.0.0.1:open/secret . && return 1
	says "$tmp/err" "open/secret: Permission denied" && [ ! -e secret ]
}

a_disk_that_is_full_leaves_the_old_target()
{
	fresh
	mkdir ../root/small
	mount -t tmpfs -o size=3m none ../root/small 2>/dev/null ||
	    skip "a file system cannot be mounted"
	echo old >../root/small/file
	head -c 9000000 /dev/zero | tr '\0' x >file
	echo 1 >next
	copy file next 127.0.0.1:small
	status=$?
	[ $status -eq 1 ] && says "$tmp/err" "No space left" &&
	    [ "$(cat ../root/small/file)" = old ] &&
	    cmp next ../root/small/next &&
	    [ "$(ls -A ../root/small | wc -l)" -eq 2 ]
	status=$?
	umount ../root/small
	return $status
}

# A second copy to the same target while the first is in progress, if it still
# is: then it fails, or ends first.
two_copies_to_one_target_do_not_mix()
{
	fresh
	head -c 150000000 /dev/zero | tr '\0' x >one
	head -c 1000000 /dev/zero | tr '\0' y >two
	begin one 127.0.0.1:target
	at_moment has 1000000
	copy two 127.0.0.1:target
	second=$?
	wait $client
	[ $? -eq 0 ] || return
	if [ $second -eq 0 ]; then
		cmp one ../root/target || cmp two ../root/target
	else
		cmp one ../root/target && says "$tmp/err" "another copy to it"
	fi
}

# What the others do meanwhile is up to them: t/copy/full.c holds all places.
of_40_clients_some_are_served_and_the_others_refused()
{
	fresh
	mkdir clients
	for i in $(seq 40); do
		head -c 3000000 /dev/urandom >"file$i"
		(copy_to $i; echo $? >"clients/$i") &
	done
	wait_for 60 all_ended
	served=0
	for i in $(seq 40); do
		if grep -qx 0 "clients/$i"; then
			served=$((served + 1))
			cmp "file$i" "../root/file$i" || return
		else
			[ ! -e "../root/file$i" ] && is_refused $i || return
		fi
	done
	[ $served -ge 8 ] && [ "$(ls -A ../root | wc -l)" -eq $served ] ||
	    { ls -A ../root; return 1; }
	copy file1 127.0.0.1:again && cmp file1 ../root/again
}

# By the Comm Channel; or after that, while the thread of another client ends.
is_refused()
{
	grep -q -e "has max_clients clients" -e "has 8 clients, its limit" \
	    "clients/err$1" || { cat "clients/err$1"; return 1; }
}

copy_to()
{
	timeout 60 "$pier" copy -d "$device" "file$1" 127.0.0.1: \
	    2>"clients/err$1"
}

all_ended()
{
	[ "$(find clients -name '[0-9]*' -size +0 | wc -l)" -eq 40 ]
}

# is_second NAME OPTION... - another server has it
is_second()
{
	name=$1
	shift
	status 1 "$pier" copy -d "$device" --listen --root "$tmp/here" "$@" &&
	    says "$tmp/err" "has the name \"$name\" on $device" \
		": give this one another port"
}

a_second_server_of_a_name_is_told_to_choose_a_port()
{
	fresh
	echo 1 >file
	is_second "pier copy" || return
	serve --port 4000
	is_second "pier copy 4000" --port 4000 &&
	    copy file 127.0.0.1:one && cmp file ../root/one &&
	    copy --port 4000 file 127.0.0.1:two && cmp file ../root/two
}

device_known
run a_copy_that_is_killed_many_times_is_resumed
run a_copy_from_the_server_that_is_killed_many_times_is_resumed
run only_the_rest_is_moved
run a_source_that_has_changed_is_copied_anew
run a_resumed_file_has_the_mode_of_a_new_one
run a_client_that_is_killed_leaves_nothing
run a_server_that_is_killed_is_an_error_of_the_client
run a_target_without_permission_fails_alone
run a_disk_that_is_full_leaves_the_old_target
run two_copies_to_one_target_do_not_mix
run of_40_clients_some_are_served_and_the_others_refused
run a_second_server_of_a_name_is_told_to_choose_a_port
tap_done
