#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `pier copy`, by real processes.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"

"$pier" copy --help >/dev/null 2>&1 || skip_all "it has no copy"

# serve OPTION... - a server of $tmp/root, until the test ends; $server
serve()
{
	rm -rf "$tmp/root" "$tmp/here" "$tmp/server"
	mkdir "$tmp/root" "$tmp/here" && cd "$tmp/here" || return
	"$pier" copy -d "$device" --listen --root "$tmp/root" "$@" \
	    2>"$tmp/server" &
	server=$!
	wait_for 20 grep -q listens "$tmp/server" || cat "$tmp/server"
}

# copy WORD... - its status; what it prints is in $tmp/out and $tmp/err
copy()
{
	timeout 60 "$pier" copy -d "$device" "$@" >"$tmp/out" 2>"$tmp/err"
}

# copied WORD... - with no line but that for what it waits
copied()
{
	copy "$@" && [ ! -s "$tmp/out" ] &&
	    ! grep -v '^pier copy: waiting 30 s for .*; Ctrl-C ends it$' \
		"$tmp/err" ||
	    { cat "$tmp/out" "$tmp/err" "$tmp/server"; return 1; }
}

# fails TEXT WORD... - with the status 1, and the text
fails()
{
	text=$1
	shift
	copy "$@"
	[ $? -eq 1 ] && says "$tmp/err" "$text"
}

# clean - no temporary file is left
clean()
{
	[ -z "$(find "$tmp/root" "$tmp/here" -name '.pier-*')" ] ||
	    { find "$tmp/root" "$tmp/here"; return 1; }
}

files_arrive_in_both_directions()
{
	serve
	for len in 0 1 4095 65536 1048576 9876543; do
		head -c $len /dev/urandom >file
		copied file 127.0.0.1:there && cmp file ../root/there &&
		    copied 127.0.0.1:there back && cmp file back || return
	done
	clean
}

an_address_leads_to_the_server()
{
	serve
	echo 1 >file
	copied file "$address:" && cmp file ../root/file &&
	    copied "$address:file" back && cmp file back
}

several_files_go_into_a_directory()
{
	serve
	mkdir ../root/dir
	echo 1 >a
	echo 2 >b
	copied a b 127.0.0.1:dir && cmp a ../root/dir/a &&
	    cmp b ../root/dir/b || return
	rm a b
	copied 127.0.0.1:dir/a 127.0.0.1:dir/b . &&
	    cmp a ../root/dir/a && cmp b ../root/dir/b || return
	fails "is not a directory" a b 127.0.0.1:none &&
	    fails "is not a directory" a b 127.0.0.1:dir/a &&
	    fails "is not a directory" 127.0.0.1:dir/a 127.0.0.1:dir/b c &&
	    [ ! -e c ] && [ ! -e ../root/none ] && clean
}

directories_arrive_with_what_they_contain()
{
	serve
	mkdir -p 'd/e/f' 'd/empty'
	head -c 3000000 /dev/urandom >d/e/f/large
	for i in $(seq 300); do
		echo "$i" >"d/e/$i"
	done
	copied -r d 127.0.0.1: && diff -r d ../root/d &&
	    copied -r 127.0.0.1:d back && diff -r d back &&
	    mkdir ../root/dot && copied -r d/. 127.0.0.1:dot &&
	    diff -r d ../root/dot &&
	    fails "is not recursive" d 127.0.0.1:other &&
	    [ ! -e ../root/other ]
}

# Both ways, into a directory that there is, and as a new one.
an_empty_path_is_the_root()
{
	serve
	mkdir dir old
	echo 1 >dir/file
	copied dir/file 127.0.0.1: && copied -r dir 127.0.0.1: &&
	    copied -r 127.0.0.1: old && diff -r ../root old &&
	    copied -r 127.0.0.1: new && diff -r ../root new && cmp new/file \
	    dir/file || return
	fails "it is a directory" 127.0.0.1: old
}

modes_and_times_arrive_if_requested()
{
	serve
	mkdir d
	echo 1 >d/file
	touch -d '2001-02-03 04:05:06.789' d/file
	chmod 640 d/file
	touch -d '2002-03-04 05:06:07' d
	chmod 750 d
	copied -rp d 127.0.0.1: || return
	[ "$(stat -c '%a %y' d d/file)" = \
	    "$(cd ../root && stat -c '%a %y' d d/file)" ] || return
	umask 027
	chmod 666 d/file
	copied -r 127.0.0.1:d back &&
	    copied d/file 127.0.0.1:plain || return
	umask 022
	[ "$(stat -c %a back/file ../root/plain | tr '\n' ' ')" = \
	    "640 644 " ] && [ back/file -nt d/file ]
}

the_mode_and_time_of_dot_arrive_if_requested()
{
	serve
	mkdir d ../root/dot
	echo 1 >d/file
	chmod 750 d
	touch -d '2002-03-04 05:06:07' d
	copied -r -p d/. 127.0.0.1:dot && copied -r -p 127.0.0.1:dot/. new &&
	    [ "$(stat -c '%a %y' d)" = "$(stat -c '%a %y' ../root/dot)" ] &&
	    [ "$(stat -c '%a %y' d)" = "$(stat -c '%a %y' new)" ]
}

holes_stay_holes()
{
	serve
	truncate -s 5000000000 sparse
	printf x | dd of=sparse bs=1 seek=4500000000 conv=notrunc 2>/dev/null
	copied sparse 127.0.0.1: &&
	    [ "$(stat -c %s ../root/sparse)" = 5000000000 ] &&
	    [ "$(stat -c %b ../root/sparse)" -le 2048 ] &&
	    [ "$(dd if=../root/sparse bs=1 skip=4499999999 count=3 \
		2>/dev/null | od -An -c | tr -d ' ')" = '\0x\0' ]
}

names_may_have_any_bytes()
{
	serve
	name=$(printf 'a\nb\033[1m \377')
	echo 1 >"$name"
	copied "./$name" 127.0.0.1: && cmp "$name" "../root/$name" &&
	    fails 'a?b?[1m' "./$name" "127.0.0.1:none/$name" || return
	long=$(printf '%255s' '' | tr ' ' n)
	echo 2 >"$long"
	copied "$long" 127.0.0.1: && cmp "$long" "../root/$long" &&
	    copied "127.0.0.1:$long" back && cmp "$long" back
}

a_name_that_is_too_long_is_an_error()
{
	serve
	long=$(printf '%256s' '' | tr ' ' n)
	echo new >file
	echo old >../root/file
	fails "File name too long" file "127.0.0.1:$long" &&
	    fails "File name too long" 127.0.0.1:file "$long" &&
	    fails "File name too long" "127.0.0.1:$long" back &&
	    [ "$(cat ../root/file)" = old ] && [ ! -e back ] && clean
}

# The server is not waited for; a host that uses RDMA, as that of rxe, rejects
# the client of a server that does not listen yet.
a_client_may_begin_with_its_server()
{
	mkdir "$tmp/in"
	"$pier" copy -d "$device" --serve --root "$tmp/in" 2>"$tmp/server" &
	echo 1 >"$tmp/source"
	copied "$tmp/source" 127.0.0.1:here && cmp "$tmp/source" "$tmp/in/here"
}

# most_memory PID - in KiB, so far; nothing when it has ended
most_memory()
{
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" \
	    2>/dev/null
}

# uses_little WORD... - a copy during which either side has at most 64 MiB
uses_little()
{
	"$pier" copy -d "$device" "$@" &
	most=0
	while now=$(most_memory $!) && [ "$now" ]; do
		most=$now
	done
	wait $! || return
	echo "client: $most KiB, server: $(most_memory $server) KiB"
	[ "$most" -gt 0 ] && [ "$most" -le 65536 ] &&
	    [ "$(most_memory $server)" -le 65536 ]
}

memory_is_bounded()
{
	grep -q '^SANITIZE_FLAGS = *$' "$build/Makefile" ||
	    skip "sanitizers have memory of their own"
	serve
	head -c 300000000 /dev/zero >file
	uses_little file 127.0.0.1: && uses_little 127.0.0.1:file back &&
	    cmp file back
}

# fails_at SOURCE TARGET - the root's sibling is as it was
fails_at()
{
	copy "$1" "$2"
	[ $? -eq 1 ] && [ "$(cat ../outside/file)" = outside ] &&
	    [ "$(ls ../outside)" = file ] && [ ! -e stolen ] ||
	    { cat "$tmp/err"; ls -l ../outside; return 1; }
}

no_client_leaves_the_root()
{
	serve
	mkdir -p ../outside
	echo outside >../outside/file
	ln -s ../outside ../root/link
	ln -s ../outside/file ../root/leaf
	ln -s "$tmp/outside" ../root/absolute
	echo 1 >file
	for path in ../outside ../outside/file link link/file absolute \
	    absolute/file link/new leaf ../root/../outside/file; do
		fails_at file "127.0.0.1:$path" &&
		    fails_at "127.0.0.1:$path" stolen || return
	done
	fails_at 127.0.0.1:leaf stolen && fails_at 127.0.0.1:.. stolen ||
	    return
	mkdir d
	echo 1 >d/file
	mkdir ../root/into
	ln -s ../../outside ../root/into/d
	copy -r d 127.0.0.1:into
	[ $? -eq 1 ] && [ "$(cat ../outside/file)" = outside ]
}

a_file_that_fails_does_not_end_the_copy()
{
	serve
	mkdir ../root/b
	mkfifo fifo
	echo 1 >a
	echo 2 >b
	echo 3 >c
	copy --json none a fifo b c 127.0.0.1:
	[ $? -eq 1 ] && is_json "$tmp/out" &&
	    says "$tmp/out" '"files": 2' '"failed": 3' ENOENT EISDIR &&
	    says "$tmp/err" "none: No such file" "neither a file nor" &&
	    cmp a ../root/a && cmp c ../root/c && [ -d ../root/b ] && clean
}

the_old_target_stays_when_the_copy_fails()
{
	serve
	echo old >../root/file
	head -c 100000000 /dev/zero >file
	while :; do	# until the test ends
		printf x >>file
	done &
	copy file 127.0.0.1: && return 1
	says "$tmp/err" "changed while" &&
	    [ "$(cat ../root/file)" = old ] && clean
}

without_a_server_it_says_so()
{
	mkdir -p "$tmp/here"
	cd "$tmp/here" && echo 1 >file || return
	fails "no server" --timeout 2 file 127.0.0.1:
}

# tries - the client has sent more requests than one attempt has
tries()
{
	"$pier" counters -d "$device" "$client" 2>/dev/null |
		grep -q '^ *tx_packets  *[1-9][0-9]'
}

a_client_waits_for_a_server_of_its_own_host()
{
	echo 1 >"$tmp/late"
	"$pier" copy -d "$device" --timeout 40 "$tmp/late" 127.0.0.1:new \
	    2>"$tmp/err" &
	client=$!
	wait_for 20 tries || { cat "$tmp/err"; return 1; }
	serve
	wait $client || { cat "$tmp/err" "$tmp/server"; return 1; }
	cmp "$tmp/late" "$tmp/root/new"
}

a_message_has_no_control_characters()
{
	serve
	fails "pier copy: ??2J: No such file" "$(printf '\302\2332J')" \
	    127.0.0.1: &&
		fails "pier copy: a?b: No" "$(printf 'a\tb')" 127.0.0.1:
}

# on_terminal WORD... - a copy on one; what it shows is in $tmp/shown
on_terminal()
{
	script -qec "'$pier' copy -d $device $*" "$tmp/shown" </dev/null \
	    >/dev/null
}

# A line that is erased at the end.
progress_is_shown_on_a_terminal_alone()
{
	command -v script >/dev/null || skip "there is no script(1)"
	serve
	head -c 30000000 /dev/urandom >file
	on_terminal file 127.0.0.1: && cmp file ../root/file &&
	    says "$tmp/shown" ' MB/s  ' ' MB)' "$(printf '\r\033[K')" || return
	on_terminal -q file 127.0.0.1: && ! grep -q MB/s "$tmp/shown" ||
	    return
	on_terminal none 127.0.0.1: && return 1
	says "$tmp/shown" "pier copy: none: No such file" &&
	    copied file 127.0.0.1:
}

# The line is not wrapped, as only its last row would be erased.
a_long_name_is_shortened_on_a_terminal()
{
	command -v script >/dev/null || skip "there is no script(1)"
	cd "$tmp" && echo 1 >file || return
	on_terminal --timeout 1 file "$(printf '%060d' 0).invalid:" && return 1
	says "$tmp/shown" "waiting 1 s for $(printf '%029d' 0)...; Ctrl-C"
}

# It is erased when the copy begins.
a_terminal_shows_for_what_it_waits()
{
	command -v script >/dev/null || skip "there is no script(1)"
	serve
	echo 1 >file
	on_terminal file 127.0.0.1: && cmp file ../root/file &&
	    says "$tmp/shown" "waiting 30 s for 127.0.0.1; Ctrl-C ends it" \
		"$(printf 'it\r\033[K')" || return
	for option in -q --json; do
		on_terminal $option file 127.0.0.1: &&
		    ! grep waiting "$tmp/shown" || return
	done
}

it_prints_for_what_it_waits_without_a_terminal()
{
	serve
	echo 1 >file
	copy file 127.0.0.1: && echo "pier copy: waiting 30 s for 127.0.0.1;" \
	    "Ctrl-C ends it" | cmp - "$tmp/err" || return
	for option in -q --json; do
		copy $option file 127.0.0.1: && [ ! -s "$tmp/err" ] || return
	done
}

# Two at once, and neither is that of clients without a port.
ports_distinguish_servers()
{
	serve --port 7
	mkdir ../other
	"$pier" copy -d "$device" --listen --root "$tmp/other" --port 65535 \
	    2>"$tmp/server2" &
	wait_for 20 grep -q '"pier copy 65535" listens' "$tmp/server2" || return
	echo 1 >file
	echo 2 >file2
	copied --port 7 file 127.0.0.1: && cmp file ../root/file &&
	    copied --port 65535 file2 127.0.0.1: && cmp file2 ../other/file2 &&
	    copied --port 65535 127.0.0.1:file2 back && cmp file2 back &&
	    [ "$(ls -A ../root ../other | grep -c file)" -eq 2 ] &&
	    fails 'no server "pier copy 8"' --port 8 --timeout 1 file \
		127.0.0.1: &&
	    fails 'no server "pier copy"' --timeout 1 file 127.0.0.1:
}

# As to other commands; --port is the same.
a_port_follows_the_host()
{
	serve 65535
	echo 1 >file
	copied file 127.0.0.1:65535: && cmp file ../root/file &&
	    copied file "$address:65535:by_address" &&
	    cmp file ../root/by_address &&
	    copied 127.0.0.1:65535:file 127.0.0.1:65535:by_address ./ &&
	    copied --port 65535 127.0.0.1:65535:file back && cmp file back &&
	    fails 'no server "pier copy 8"' --timeout 1 file 127.0.0.1:8: &&
	    fails 'no server "pier copy"' --timeout 1 file 127.0.0.1:
}

# The default one, of a path too that has digits and a colon behind a folder.
without_a_port_it_is_13579()
{
	serve 13579
	mkdir ../root/sub
	echo 1 >file
	copied file 127.0.0.1: && cmp file ../root/file &&
	    copied file 127.0.0.1:13579:again && cmp file ../root/again &&
	    copied file 127.0.0.1:7 && cmp file ../root/7 &&
	    copied file 127.0.0.1:./8:9 && cmp file ../root/8:9 || return
	kill $server
	wait $server
	serve
	echo 1 >file
	copied --port 13579 file 127.0.0.1: && cmp file ../root/file
}

a_wrong_port_is_a_usage_error()
{
	for word in 0 65536 99999999999999999999; do
		status 2 "$pier" copy a x:$word: &&
		    says "$tmp/err" "\"x:$word:\": a port is 1 to 65535" &&
		    status 2 "$pier" copy --listen $word &&
		    says "$tmp/err" "\"$word\": a port is 1 to 65535" ||
		    return
	done
	status 2 "$pier" copy x:7:a x:8:b . &&
	    says "$tmp/err" "port 8 and port 7: the sources are of one port" &&
	    status 2 "$pier" copy x:a x:7:b . &&
	    says "$tmp/err" "port 7 and port 13579: the sources" &&
	    status 2 "$pier" copy x:7:a x:b . &&
	    says "$tmp/err" "port 13579 and port 7: the sources" &&
	    status 2 "$pier" copy --port 7 x:a x:8:b . &&
	    says "$tmp/err" "port 8 and port 7: give one of them" &&
	    status 2 "$pier" copy --port 7 a x:8: &&
	    status 2 "$pier" copy --listen --port 7 8 &&
	    status 2 "$pier" copy --ssh a x:8: &&
	    says "$tmp/err" "a port: with --ssh and --once" &&
	    status 2 "$pier" copy --listen 127.0.0.1 &&
	    says "$tmp/err" '--listen "127.0.0.1": PORT, 1 to 65535'
}

# serve_json - the same server, which prints its result to $tmp/served
serve_json()
{
	rm -rf "$tmp/root" "$tmp/here" "$tmp/server"
	mkdir "$tmp/root" "$tmp/here" && cd "$tmp/here" || return
	"$pier" copy -d "$device" --listen --json --root "$tmp/root" \
	    >"$tmp/served" 2>"$tmp/server" &
	server=$!
	wait_for 20 grep -q listens "$tmp/server"
}

a_server_prints_what_it_has_done_as_json()
{
	serve_json || return
	echo 1 >file
	copied file 127.0.0.1:one && copied file 127.0.0.1:two &&
	    ! copy 127.0.0.1:none . || return
	kill -INT $server
	wait $server || return
	is_json "$tmp/served" && ! grep waiting "$tmp/server" &&
	    says "$tmp/served" '"files": 2' '"failed": 1' '"bytes": 4' \
		'"broken": 0' '"error": null' '"unlisted": 0' \
		'"path": "none"' '"error": "ENOENT"' || return
	status 1 "$pier" copy -d "$device" --listen --json --root "$tmp/no" &&
	    is_json "$tmp/out" && says "$tmp/out" "\"error\": \"copy: the root"
	status 2 "$pier" copy --listen --once --json &&
	    says "$tmp/err" "--json and --once"
}

# Of 1003, by both ends.
what_fails_is_listed_up_to_a_limit()
{
	serve_json || return
	# shellcheck disable=SC2046	# numbers
	copy --json $(seq 1003) 127.0.0.1:
	[ $? -eq 1 ] && is_json "$tmp/out" || return
	kill -INT $server
	wait $server
	for file in "$tmp/out" "$tmp/served"; do
		says "$file" '"failed": 1003' '"unlisted": 3' &&
		    [ "$(grep -o '"path":' "$file" | wc -l)" -eq 1000 ] ||
		    return
	done
}

# With their bytes beside it, from which they are found again.
names_that_are_not_utf8_are_json_too()
{
	serve
	bad=$(printf '\377\376')
	copy --json "none-$bad-\303\244" 127.0.0.1: && return 1
	is_json "$tmp/out" || return
	copy --json "$(printf 'none-%s-\303\244' "$bad")" 127.0.0.1: && return 1
	is_json "$tmp/out" && says "$tmp/out" '"failed": 1' \
	    "\"path\": \"none-$(printf '\357\277\275\357\277\275')-" \
	    '"path_hex": "6e6f6e652dfffe2dc3a4"' || return
	copy --json none 127.0.0.1: && return 1
	says "$tmp/out" '"path": "none"' && ! grep path_hex "$tmp/out"
}

# As scp has them; the last one of a word may have a value.
short_options_share_a_word()
{
	serve
	mkdir d
	echo 1 >d/file
	timeout 60 "$pier" copy -prqd "$device" d 127.0.0.1: 2>"$tmp/err" &&
	    [ ! -s "$tmp/err" ] && cmp d/file ../root/d/file &&
	    timeout 60 "$pier" copy "-rqpd$device" 127.0.0.1:d back &&
	    cmp d/file back/file || return
	status 2 "$pier" copy -rx a b:c &&
	    says "$tmp/err" "unknown option -x in -rx" &&
	    status 2 "$pier" copy -recursive a b:c &&
	    says "$tmp/err" "unknown option -recursive" &&
	    status 0 "$pier" copy -rh && says "$tmp/out" "Usage: "
}

a_wrong_command_line_is_a_usage_error()
{
	status 2 "$pier" copy a && status 2 "$pier" copy a b &&
	    status 2 "$pier" copy x:a y:b && status 2 "$pier" copy a x:b c &&
	    status 2 "$pier" copy x:a y:b . &&
	    status 2 "$pier" copy --listen a &&
	    status 2 "$pier" copy --listen 7 8 &&
	    status 2 "$pier" copy --listen --port 65536 &&
	    status 2 "$pier" copy --port 7 --ssh a x: &&
	    status 2 "$pier" copy --listen --once --port 7 &&
	    says "$tmp/err" "a port: with --ssh and --once"
}

a_server_ends_by_a_signal()
{
	serve
	kill $server
	wait $server
	[ $? -eq 0 ] || { cat "$tmp/server"; return 1; }
}

device_known
run files_arrive_in_both_directions
run an_address_leads_to_the_server
run several_files_go_into_a_directory
run directories_arrive_with_what_they_contain
run an_empty_path_is_the_root
natively run modes_and_times_arrive_if_requested
natively run the_mode_and_time_of_dot_arrive_if_requested
run holes_stay_holes
natively run names_may_have_any_bytes
natively run a_name_that_is_too_long_is_an_error
natively run a_client_may_begin_with_its_server
natively run memory_is_bounded
natively run no_client_leaves_the_root
run a_file_that_fails_does_not_end_the_copy
run the_old_target_stays_when_the_copy_fails
run without_a_server_it_says_so
natively run a_client_waits_for_a_server_of_its_own_host
natively run a_message_has_no_control_characters
natively run progress_is_shown_on_a_terminal_alone
natively run a_long_name_is_shortened_on_a_terminal
natively run a_terminal_shows_for_what_it_waits
run it_prints_for_what_it_waits_without_a_terminal
run ports_distinguish_servers
run a_port_follows_the_host
natively run without_a_port_it_is_13579
natively run a_wrong_port_is_a_usage_error
run a_server_prints_what_it_has_done_as_json
natively run what_fails_is_listed_up_to_a_limit
natively run names_that_are_not_utf8_are_json_too
natively run a_wrong_command_line_is_a_usage_error
run short_options_share_a_word
run a_server_ends_by_a_signal
tap_done
