#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What one end of `pier copy` cannot do: permissions, full disks, sources that
# change, targets that are taken, more clients than a server has.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/copying.sh"

# give FOLDER - another user has it, whom permissions concern: $as_another
give()
{
	as_another=
	[ "$(id -u)" -eq 0 ] || return 0
	command -v setpriv >/dev/null || skip "there is no setpriv"
	chmod 755 "$tmp"
	chown -R 65534 "$1"
	as_another="setpriv --reuid 65534 --clear-groups"
}

a_target_without_permission_fails_alone()
{
	fresh
	mkdir ../root/closed ../root/open
	chmod 555 ../root/closed
	kill $server
	wait $server
	give "$tmp/root"
	rm "$tmp/server"
	$as_another "$pier" copy -d "$device" --listen --root "$tmp/root" \
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

a_target_here_without_permission_fails_alone()
{
	fresh
	mkdir closed open
	chmod 555 closed
	give "$tmp/here"
	echo 1 >../root/file
	$as_another timeout 60 "$pier" copy -d "$device" 127.0.0.1:file \
	    closed 2>"$tmp/err" && return 1
	says "$tmp/err" "closed/file: Permission denied" &&
	    [ -z "$(ls -A closed)" ] &&
	    $as_another timeout 60 "$pier" copy -d "$device" 127.0.0.1:file \
		open && cmp open/file ../root/file
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

# The same of the client's disk.
a_disk_that_is_full_here_leaves_the_old_target()
{
	fresh
	mkdir small
	mount -t tmpfs -o size=3m none small 2>/dev/null ||
	    skip "a file system cannot be mounted"
	echo old >small/file
	head -c 9000000 /dev/zero | tr '\0' x >../root/file
	echo 1 >../root/next
	copy 127.0.0.1:file 127.0.0.1:next small
	status=$?
	[ $status -eq 1 ] && says "$tmp/err" "No space left" &&
	    [ "$(cat small/file)" = old ] && cmp small/next ../root/next &&
	    [ "$(ls -A small | wc -l)" -eq 2 ]
	status=$?
	umount small
	return $status
}

# It grows until the test ends; at the server.
a_source_there_that_changes_leaves_the_old_target()
{
	fresh
	echo old >file
	head -c 100000000 /dev/zero >../root/file
	while :; do
		printf x >>../root/file
	done &
	copy 127.0.0.1:file . && return 1
	says "$tmp/err" "changed while" && [ "$(cat file)" = old ] &&
	    [ "$(ls -A)" = file ]
}

# At the client.
a_source_here_that_changes_leaves_the_old_target()
{
	fresh
	echo old >../root/file
	head -c 100000000 /dev/zero >file
	while :; do
		printf x >>file
	done &
	changer=$!
	copy file 127.0.0.1:
	status=$?
	kill $changer
	wait $changer 2>/dev/null
	[ $status -eq 1 ] && says "$tmp/err" "changed while" &&
	    [ "$(cat ../root/file)" = old ] && [ "$(ls -A ../root)" = file ]
}

a_directory_is_no_target_for_a_file()
{
	fresh
	echo 1 >file
	echo 2 >../root/other
	mkdir other ../root/file
	copy file 127.0.0.1:
	[ $? -eq 1 ] && says "$tmp/err" "file: Is a directory" || return
	copy 127.0.0.1:other .
	[ $? -eq 1 ] && says "$tmp/err" "other: Is a directory" &&
	    [ -z "$(find other ../root/file -mindepth 1)" ] &&
	    [ "$(find . -mindepth 1 | wc -l)" -eq 2 ]
}

# files_of PID - the descriptors that it has
files_of()
{
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l
}

# has_at_most COUNT - so many of the server's
has_at_most()
{
	[ "$(files_of $server)" -le "$1" ]
}

# By clients that are killed, and by copies that fail.
a_server_keeps_no_files_of_copies_that_fail()
{
	fresh
	mkdir ../root/dir ../root/dir/small
	head -c 50000000 /dev/zero | tr '\0' x >file
	echo 1 >small
	copy small 127.0.0.1:one || return
	most=$(files_of $server)
	for i in $(seq 10); do
		copy small 127.0.0.1:dir && return 1
		copy 127.0.0.1:none . && return 1
		begin file 127.0.0.1:$i
		at_moment has $((i * 1000000))
		kill -9 $client
		wait $client
	done 2>/dev/null
	[ "$most" -gt 0 ] && wait_for 20 has_at_most "$most" ||
	    { echo "$most"; ls -l /proc/$server/fd; return 1; }
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
run a_target_without_permission_fails_alone
run a_target_here_without_permission_fails_alone
run a_disk_that_is_full_leaves_the_old_target
run a_disk_that_is_full_here_leaves_the_old_target
run a_source_there_that_changes_leaves_the_old_target
run a_source_here_that_changes_leaves_the_old_target
run a_directory_is_no_target_for_a_file
run a_server_keeps_no_files_of_copies_that_fail
run two_copies_to_one_target_do_not_mix
run of_40_clients_some_are_served_and_the_others_refused
run a_second_server_of_a_name_is_told_to_choose_a_port
tap_done
