#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The samples of requests and replies, by real processes.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/device.sh"

bin=$build/samples/services
[ -x "$bin/request_reply_client" ] || skip_all "the samples are not built"

serve()
{
	"$bin/request_reply_server" -d "$device" 2>"$tmp/server.err" &
	server=$!
	wait_for 20 has_name
}

# send NAME OPTION... - its output is in $tmp/NAME, behind which are its errors
send()
{
	file=$tmp/$1
	shift
	timeout 60 "$bin/request_reply_client" -d "$device" "$@" >"$file" \
	    2>"$file.err"
	status=$?
	grep -v "^waiting for" "$file.err" >>"$file"
	return $status
}

# waited NAME - the client printed for what, and how to end it
waited()
{
	grep -qx "waiting for the server; Ctrl-C ends it" "$tmp/$1.err"
}

# meetings COUNT - so many have met
meetings()
{
	send meetings --meetings &&
		[ "$(grep -c met "$tmp/meetings")" -eq "$1" ]
}

# ends_well [COUNT] - and so many requests have ended without a reply
ends_well()
{
	kill -INT $server && wait $server &&
		[ "$(grep -c "" "$tmp/server.err")" -eq "${1:-0}" ] || {
		cat "$tmp/server.err"
		return 1
	}
}

one_has_ended()
{
	grep -q "^a request ended: " "$tmp/server.err"
}

# has NAME LINE COUNT - the output has the line so often, and no other
has()
{
	[ "$(grep -cxF -- "$2" "$tmp/$1")" -eq "$3" ] &&
		[ "$(wc -l <"$tmp/$1")" -eq "$3" ] || {
		cat "$tmp/$1"
		return 1
	}
}

each_of_two_gets_the_text_of_the_other()
{
	serve
	send alice -t Alice &
	alice=$!
	send bob -t Bob && wait $alice && has alice "met Bob" 1 &&
		has bob "met Alice" 1 && waited alice && waited bob &&
		meetings 1 && ends_well
}

many_requests_wait_at_a_time()
{
	serve
	send many -t many -c 16 && has many "met many" 16 && meetings 8 &&
		ends_well
}

# Seven lines of 8,000 characters are more than a message has.
a_long_reply_arrives_whole()
{
	text=$(head -c 4000 /dev/zero | tr '\0' x)
	serve
	send many -t "$text" -c 14 && send long --meetings &&
		has long "$text met $text" 7 && ends_well
}

# The last nine of seventeen lines, which a client has memory for.
the_last_lines_are_listed()
{
	text=$(head -c 4000 /dev/zero | tr '\0' x)
	serve
	send first -t "$text" -c 16 && send last -t "$text" -c 16 &&
		send more -t more -c 2 && send long --meetings &&
		[ "$(wc -c <"$tmp/long")" -eq $((8 * 8006 + 14)) ] &&
		[ "$(tail -n 1 "$tmp/long")" = "more met more" ] && ends_well
}

# Of 1 MiB of lines; none of those that are refused waits for another.
a_full_server_refuses_what_it_has_no_memory_for()
{
	text=$(head -c 4000 /dev/zero | tr '\0' x)
	serve
	for i in $(seq 16); do
		send "$i" -t "$text" -c 16 && has "$i" "met $text" 16 || return
	done
	! send full -t "$text" -c 16 && ! send over -t x -c 3 &&
		[ "$(grep -c refused "$tmp/over")" -eq 3 ] &&
		send long --meetings && has long "$text met $text" 8 &&
		ends_well
}

# The client of a program that sends the bytes "a", NUL, ESC, "b".
texts_have_any_bytes()
{
	sed 's/strlen(text)/4/
	    s/= PIER_ARGS_TEXT/= "a\\0\\33b"/' \
	    "$top/samples/services/request_reply_client.c" >"$tmp/nul.c"
	# shellcheck disable=SC2046
	"$build/libtool" --silent --tag=CC --mode=link "${CC:-gcc}" \
	    $(sed -n 's/^SANITIZE_FLAGS = //p' "$build/Makefile") \
	    -std=gnu11 -I"$top/lib/include" -o "$tmp/nul" "$tmp/nul.c" \
	    "$build/lib/libpier.la" || return
	serve
	"$tmp/nul" -d "$device" -c 4 >"$tmp/got" 2>"$tmp/got.err" &&
		send list --meetings || return
	text='a\x00\x1bb'
	has got "met $text" 4 && has list "$text met $text" 2 && ends_well
}

a_request_has_a_deadline()
{
	serve
	! send late -t late --timeout 1 && cat "$tmp/late" &&
		grep -q "not finished after 1000 ms" "$tmp/late" &&
		wait_for 20 one_has_ended && send pair -t pair -c 2 &&
		has pair "met pair" 2 &&
		meetings 1 && ends_well 1
}

# The text of a client that was killed is given to none.
a_server_survives_a_client_that_is_killed()
{
	serve
	"$bin/request_reply_client" -d "$device" -t dead -c 3 \
	    >"$tmp/dead" 2>&1 &
	dead=$!
	wait_for 20 grep -q dead "$tmp/dead" && kill -KILL $dead &&
		wait_for 60 one_has_ended && send pair -t pair -c 2 &&
		has pair "met pair" 2 && meetings 2 && ends_well 1
}

a_client_without_a_server_says_so()
{
	! send alone -t x && cat "$tmp/alone" &&
		grep -q 'no server "request_reply"' "$tmp/alone"
}

run each_of_two_gets_the_text_of_the_other
run many_requests_wait_at_a_time
run a_long_reply_arrives_whole
run the_last_lines_are_listed
run a_full_server_refuses_what_it_has_no_memory_for
natively run texts_have_any_bytes
run a_request_has_a_deadline
run a_server_survives_a_client_that_is_killed
run a_client_without_a_server_says_so
tap_done
