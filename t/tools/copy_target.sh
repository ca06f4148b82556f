#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the target of `pier copy` may be, and its name while it is received.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/copying.sh"

# Of `big`, as the server and the client name it while it is received.
temp=.pier-24495710ff63776c7c660a1adea13c66

# refused PATH - a source of a temporary name
refused()
{
	says "$tmp/err" "$1: such a name is that of a file which is being"
}

a_file_with_a_temporary_name_is_refused()
{
	fresh
	echo 1 >$temp
	echo 2 >$temp.m
	copy $temp $temp.m 127.0.0.1:
	[ $? -eq 1 ] && refused $temp && refused $temp.m &&
	    [ -z "$(ls -A ../root)" ] || return
	mv $temp $temp.m ../root
	copy 127.0.0.1:$temp 127.0.0.1:$temp.m .
	[ $? -eq 1 ] && refused $temp && refused $temp.m &&
	    [ -z "$(ls -A)" ]
}

# As what a process that was killed has left in the directory.
of_a_directory_all_but_temporary_files_arrive()
{
	fresh
	mkdir dir dir/$temp.m
	echo 1 >dir/big
	echo 2 >dir/$temp
	echo 3 >dir/$temp.m/file
	copy --json -r dir 127.0.0.1:
	[ $? -eq 1 ] && says "$tmp/out" '"files": 1' \
	    "such a name is that of" &&
	    [ "$(ls -A ../root/dir)" = big ] && cmp dir/big ../root/dir/big
}

# While `big` is received.
a_second_client_does_not_replace_what_is_received()
{
	fresh
	head -c 150000000 /dev/zero | tr '\0' x >big
	echo other >$temp
	echo old >../root/big
	begin big 127.0.0.1:
	at_moment has 1000000
	copy $temp 127.0.0.1:
	[ $? -eq 1 ] && refused $temp || return
	wait $client && cmp big ../root/big && [ "$(ls -A ../root)" = big ]
}

# By a process of the server's host.
a_temporary_file_that_is_replaced_is_no_target()
{
	fresh
	head -c 150000000 /dev/zero | tr '\0' x >big
	echo old >../root/big
	begin big 127.0.0.1:
	at_moment has 1000000
	echo other >../other
	mv ../other ../root/$temp
	wait $client
	[ $? -eq 1 ] &&
	    says "$tmp/err" "big: its temporary file was replaced or removed" &&
	    [ "$(cat ../root/big)" = old ] &&
	    [ "$(cat ../root/$temp)" = other ]
}

# As the copy of a pipe, /dev/null or a socket would.
a_special_file_is_not_replaced()
{
	fresh
	echo 1 >file
	mkfifo ../root/fifo here
	copy file 127.0.0.1:fifo
	[ $? -eq 1 ] && [ -p ../root/fifo ] && says "$tmp/err" \
	    "fifo: it is neither a file nor a directory" || return
	echo 2 >../root/file
	ln -s here link
	for name in here link; do
		copy 127.0.0.1:file $name
		[ $? -eq 1 ] && [ -p here ] && says "$tmp/err" \
		    "here: it is neither a file nor a directory" || return
	done
	[ "$(ls -A ../root | wc -l)" -eq 2 ]
}

# Through a directory that is one, to a file that is not there, by several.
a_symbolic_link_is_followed()
{
	fresh
	echo 1 >file
	mkdir ../root/dir
	echo old >../root/dir/old
	ln -s dir/old ../root/link
	ln -s ../dir/new ../root/dir/dangling
	ln -s dir ../root/way
	ln -s way/dangling ../root/second
	copy --json file 127.0.0.1:link && cmp file ../root/dir/old &&
	    copy file 127.0.0.1:second && cmp file ../root/dir/new &&
	    [ -h ../root/link ] && [ -h ../root/second ] &&
	    [ -h ../root/dir/dangling ] || return
	ln -s "$tmp/here/there" absolute
	echo 2 >../root/file
	copy 127.0.0.1:file absolute && [ -h absolute ] &&
	    cmp there ../root/file &&
	    [ -z "$(find .. -name '.pier-*')" ]
}

# Nor is one followed for ever.
no_link_leads_out_of_the_root()
{
	fresh
	echo 1 >file
	echo old >outside
	ln -s ../here/outside ../root/up
	ln -s "$tmp/here/outside" ../root/absolute
	ln -s "$tmp/root/new" ../root/inside
	ln -s up ../root/second
	ln -s loop ../root/loop
	for name in up absolute inside second; do
		copy file 127.0.0.1:$name
		[ $? -eq 1 ] && says "$tmp/err" "$name: the path leads out" ||
		    return
	done
	copy file 127.0.0.1:loop
	[ $? -eq 1 ] && says "$tmp/err" "Too many levels of symbolic links" &&
	    [ "$(cat outside)" = old ] && [ ! -e ../root/new ] &&
	    [ "$(find ../root -type l | wc -l)" -eq 5 ]
}

device_known
run a_file_with_a_temporary_name_is_refused
run of_a_directory_all_but_temporary_files_arrive
run a_second_client_does_not_replace_what_is_received
run a_temporary_file_that_is_replaced_is_no_target
run a_special_file_is_not_replaced
run a_symbolic_link_is_followed
run no_link_leads_out_of_the_root
tap_done
