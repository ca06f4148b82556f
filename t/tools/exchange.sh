#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `pier exchange`, by real processes over 127.0.0.1 and through pipes.  What a
# peer that lies can do is in t/uv/exchange_lies.c.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"

bin=$build/samples
"$pier" exchange --help >/dev/null 2>&1 || skip_all "it has no exchange"

# A new directory of each test.
fresh()
{
	dir=$(mktemp -d "$tmp/test.XXXXXX") && cd "$dir" || exit
	mkdir left right
}

# listening - the port of the listener, from what it prints
listening()
{
	port=$(sed -n 's/.*listening on port \([0-9]*\)$/\1/p' left.err \
		2>/dev/null)
	[ -n "$port" ]
}

# listen OPTION... - the left side, in the background, in left/
listen()
{
	rm -f left.err		# of a listener before
	(cd left && exec timeout 50 "$pier" exchange \
		--listen 127.0.0.1:0 "$@" 2>../left.err) &
	left=$!
	wait_for 20 listening || { cat left.err; return 1; }
}

# dial OPTION... - the right side, in right/; sets $right, its status
dial()
{
	(cd right && exec timeout 50 "$pier" exchange "127.0.0.1:$port" "$@" \
		2>../right.err)
	right=$?
}

# ends LEFT RIGHT - their exit status; what they printed otherwise
ends()
{
	wait "$left"
	left=$?
	[ "$left" -eq "$1" ] && [ "$right" -eq "$2" ] || {
		echo "left: $left, right: $right"
		cat left.err right.err
		return 1
	}
}

files_cross_in_both_directions()
{
	fresh
	echo 1 >left/a
	echo 2 >right/b
	listen --send a --receive in || return 1
	dial --send b --receive out
	ends 0 0 && cmp left/a right/out/a && cmp right/b left/in/b &&
		says left.err "1 sent, 1 received" &&
		says right.err "1 sent, 1 received"
}

# With --json the line for people is not there.
the_report_is_json_too()
{
	fresh
	echo 1 >left/a
	(cd left && exec timeout 50 "$pier" exchange --listen 127.0.0.1:0 \
		--json --send a >../left.out 2>../left.err) &
	left=$!
	wait_for 20 listening || return 1
	(cd right && exec timeout 50 "$pier" exchange "127.0.0.1:$port" \
		--json --receive out >../right.out 2>../right.err)
	right=$?
	ends 0 0 && is_json left.out &&
		says "$tmp/json" '"sent": 1' '"received": 0' &&
		is_json right.out && says "$tmp/json" '"received": 1' &&
		! grep waiting left.err right.err
}

both_sides_say_for_what_they_wait()
{
	fresh
	listen || return 1
	dial
	ends 0 0 && says left.err "waiting 60 s for the peer; Ctrl-C ends it" &&
		says right.err "waiting 60 s for 127.0.0.1:$port; Ctrl-C ends"
}

# Another process may have it.
without_a_port_it_is_that_of_the_other_commands()
{
	fresh
	for place in "" 127.0.0.1; do
		timeout 50 "$pier" exchange --listen $place >left.out \
			2>left.err &
		left=$!
		wait_for 20 grep -qs -e "listening on port 13579" \
			-e "cannot listen" left.err || return 1
		timeout 50 "$pier" exchange 127.0.0.1 --timeout 20 \
			2>right.err
		right=$?
		grep -q "cannot listen" left.err || ends 0 0 || return 1
		says right.err "waiting 20 s for 127.0.0.1" || return 1
	done
}

what_comes_is_for_its_owner_only()
{
	fresh
	echo 1 >left/a
	chmod 644 left/a
	listen --send a || return 1
	dial --receive out
	ends 0 0 && [ "$(stat -c %a right/out/a)" = 600 ] &&
		[ "$(stat -c %a right/out)" = 700 ] &&
		[ "$(ls -A right/out)" = a ]
}

files_may_go_one_way_or_not_at_all()
{
	fresh
	echo 2 >right/b
	listen --receive in || return 1
	dial --send b
	ends 0 0 && cmp right/b left/in/b || return 1
	listen || return 1
	dial
	ends 0 0 && says left.err "0 sent, 0 received"
}

empty_and_largest_files_arrive_whole()
{
	fresh
	: >left/empty
	head -c 16777216 /dev/urandom >left/largest
	head -c 16777216 /dev/urandom >right/other
	listen --send empty largest --receive in || return 1
	dial --send other --receive out
	ends 0 0 && cmp left/empty right/out/empty &&
		cmp left/largest right/out/largest &&
		cmp right/other left/in/other
}

as_many_files_as_are_allowed_arrive()
{
	fresh
	for i in $(seq 64); do
		echo "$i" >"left/f$i"
	done
	(cd left && echo f* >../names)
	listen --send $(cat names) || return 1
	dial --receive out
	ends 0 0 && [ "$(ls right/out | wc -l)" -eq 64 ] || return 1
	for i in $(seq 64); do
		cmp "left/f$i" "right/out/f$i" || return 1
	done
}

a_file_that_is_there_is_replaced_whole()
{
	fresh
	echo new >left/a
	mkdir right/out
	echo old >right/out/a
	listen --send a || return 1
	dial --receive out
	ends 0 0 && cmp left/a right/out/a
}

# refused STATUS TEXT OPTION... - before anybody is met
refused()
{
	wanted=$1 part=$2
	shift 2
	timeout 20 "$pier" exchange "$@" >out 2>err </dev/null
	got=$?
	[ $got -eq "$wanted" ] || { echo "exit $got: $*"; cat err; return 1; }
	says err "$part"
}

what_cannot_be_sent_is_refused_at_once()
{
	fresh
	mkdir d
	echo 1 >a
	echo 2 >d/a
	echo 3 >.hidden
	head -c 16777217 /dev/zero >big
	set --
	for i in $(seq 65); do
		set -- "$@" "f$i"
	done
	at=127.0.0.1:1
	refused 2 "more than 64 files" $at --send "$@" &&
		refused 1 "more than 16777216 bytes" $at --send big &&
		refused 1 'two files of the name "a"' $at --send a d/a &&
		refused 1 "no name that a peer accepts" $at --send .hidden &&
		refused 1 "no name that a peer accepts" $at --send d/ &&
		refused 1 "not a regular file" $at --send d &&
		refused 1 "No such file" $at --send nowhere &&
		refused 2 "--send without a file" $at --send
}

a_command_line_that_makes_no_sense_is_refused()
{
	fresh
	refused 2 "give one of" &&
		refused 2 "give one of" --stdio --listen 0 &&
		refused 2 "give one of" a:1 b:2 &&
		refused 2 "give one of" --stdio a:1 &&
		refused 2 "carries the files" --stdio --json &&
		refused 1 "cannot resolve" --listen nonsense.invalid &&
		refused 1 "has no port" --listen 127.0.0.1:65536 &&
		refused 1 "has no port" localhost: &&
		refused 1 "is not HOST:PORT" 7471 &&
		refused 1 "is not HOST:PORT" localhost:0 &&
		refused 1 "cannot resolve" no-such-host.invalid:1 &&
		refused 1 "cannot listen" --listen 192.0.2.1:0 &&
		refused 1 "cannot listen" --listen=192.0.2.1:0
}

a_directory_that_cannot_be_written_is_refused_at_once()
{
	fresh
	echo 1 >file
	refused 1 "file is not a directory" --listen 0 --receive file &&
		refused 1 "cannot create directory" --listen 0 \
			--receive nowhere/in || return 1
	[ "$(id -u)" -ne 0 ] || return 0	# root may write everywhere
	mkdir -m 500 in
	refused 1 "cannot write into in" --listen 0 --receive in
}

# The place of the file is taken by a directory: the write fails late.
both_ends_report_that_a_file_cannot_be_stored()
{
	fresh
	echo 1 >left/a
	mkdir -p right/out/a
	listen --send a || return 1
	dial --receive out
	ends 1 1 && says right.err "cannot replace out/a" &&
		says left.err "the peer has given up: " "cannot replace out/a"
}

both_ends_report_that_files_are_not_wanted()
{
	fresh
	echo 1 >left/a
	listen --send a || return 1
	dial
	ends 1 1 && says right.err "no directory to receive into" &&
		says left.err "the peer has given up: " "no directory"
}

who_connects_may_be_first()
{
	fresh
	echo 1 >left/a
	listen --timeout 1	# to learn of a port that is free
	wait "$left"
	(cd right && exec timeout 50 "$pier" exchange "127.0.0.1:$port" \
		--receive out -l debug 2>../right.err) &
	dialler=$!
	wait_for 20 tried || return 1
	(cd left && exec timeout 50 "$pier" exchange \
		--listen "127.0.0.1:$port" --send a 2>../left.err) &
	left=$!
	wait "$dialler"
	right=$?
	ends 0 0 && cmp left/a right/out/a
}

# The directory is made before anybody is dialled.
tried()
{
	[ -d right/out ]
}

no_peer_there_is_reported_when_the_time_is_up()
{
	fresh
	listen --timeout 1
	wait "$left"
	[ $? -eq 1 ] && says left.err "no peer within 1000 ms" || return 1
	dial --timeout 1
	[ $right -eq 1 ] &&
		says right.err "exchange: cannot connect to 127.0.0.1:$port" \
			refused &&
		! says right.err "exchange: exchange"
}

a_listener_waits_on_when_a_stranger_calls()
{
	command -v bash >/dev/null || skip "there is no bash"
	fresh
	echo 1 >left/a
	listen --send a || return 1
	bash -c "exec 3<>/dev/tcp/127.0.0.1/$port &&
		echo 'GET / HTTP/1.0' >&3 && cat <&3" >received || return 1
	[ ! -s received ] || { echo "a stranger was sent something"; return 1; }
	dial --receive out
	ends 0 0 && cmp left/a right/out/a
}

# The file is stopped on its way, at the gate, so the peer cannot be done.
a_peer_that_is_killed_is_reported()
{
	fresh
	mkfifo back gate
	head -c 16777216 /dev/zero >left/a
	{
		timeout 50 "$pier" exchange --stdio --send left/a \
			<back 2>left.err
		echo $? >status
	} | {
		head -c 100000
		cat gate
	} | sh -c 'echo $$ >pid && exec "$0" "$@"' "$pier" exchange --stdio \
		--receive right/out >back 2>right.err &
	wait_for 20 test -d right/out || return 1
	kill -KILL "$(cat pid)"
	wait_for 20 test -s status
	: >gate
	[ "$(cat status)" = 1 ] && says left.err "the peer has disconnected" &&
		[ -z "$(ls -A right/out)" ]
}

it_runs_through_pipes()
{
	fresh
	echo 1 >left/a
	head -c 300000 /dev/urandom >right/b
	mkfifo to from
	(cd left && exec timeout 50 "$pier" exchange --stdio --send a \
		--receive in <../to >../from 2>../left.err) &
	left=$!
	(cd right && exec timeout 50 "$pier" exchange --stdio --send b \
		--receive out >../to <../from 2>../right.err)
	right=$?
	ends 0 0 && cmp left/a right/out/a && cmp right/b left/in/b
}

# As ssh is in the guides: one pipe and one FIFO.
it_runs_in_a_pipeline()
{
	fresh
	echo 1 >left/a
	echo 2 >right/b
	mkfifo back
	"$pier" exchange --stdio --send left/a --receive left <back 2>left.err |
		"$pier" exchange --stdio --send right/b --receive right \
			>back 2>right.err || { cat *.err; return 1; }
	cmp left/a right/a && cmp right/b left/b
}

standard_input_and_output_must_lead_to_a_peer()
{
	fresh
	refused 1 "standard input is a terminal or device" --stdio &&
		: >empty || return 1
	echo | timeout 20 "$pier" exchange --stdio >out 2>err
	says err "standard output is a file" || return 1
	timeout 20 "$pier" exchange --stdio <empty 2>err | cat
	says err "standard input is a file" || return 1
	timeout 20 "$pier" exchange --stdio <&- 2>err | cat
	says err "standard input is a terminal or device" || return 1
	timeout 20 "$pier" exchange --listen 0 --timeout 1 <&- 2>err
	says err "no peer within"
}

a_pipe_without_a_peer_is_reported()
{
	fresh
	: | timeout 20 "$pier" exchange --stdio 2>err | cat >out
	says err "the peer has disconnected"
}

# The samples' three files, each where only its writer and reader see it.
# Each in a directory of its own, until all files are there.
samples_begin()
{
	[ -x "$bin/rdma_read_responder" ] || skip "the samples are not built"
	fresh
	(cd left && exec timeout 50 "$bin/rdma_read_responder" -d soft_lo \
		-ld a -re b -m m -r "over there" --timeout 40 >out 2>&1) &
	responder=$!
	(cd right && exec timeout 50 "$bin/rdma_read_requester" -d soft_lo \
		-ld b -re a -m m --timeout 40 >out 2>&1) &
	requester=$!
	wait_for 20 test -e left/a && wait_for 20 test -e left/m &&
		wait_for 20 test -e right/b
}

samples_have_met()
{
	wait $requester && wait $responder &&
		says right/out 'read "over there"' || {
		cat left/out right/out
		return 1
	}
}

samples_meet_by_files_that_were_copied()
{
	samples_begin || return 1
	cp left/a left/m right/ && cp right/b left/ && samples_have_met
}

samples_meet_by_files_that_were_exchanged()
{
	samples_begin || return 1
	listen --send a m --receive . || return 1
	dial --send b --receive .
	ends 0 0 && samples_have_met
}

run files_cross_in_both_directions
run the_report_is_json_too
run both_sides_say_for_what_they_wait
run without_a_port_it_is_that_of_the_other_commands
run what_comes_is_for_its_owner_only
run files_may_go_one_way_or_not_at_all
run empty_and_largest_files_arrive_whole
run as_many_files_as_are_allowed_arrive
run a_file_that_is_there_is_replaced_whole
run what_cannot_be_sent_is_refused_at_once
run a_command_line_that_makes_no_sense_is_refused
run a_directory_that_cannot_be_written_is_refused_at_once
run both_ends_report_that_a_file_cannot_be_stored
run both_ends_report_that_files_are_not_wanted
run who_connects_may_be_first
run no_peer_there_is_reported_when_the_time_is_up
run a_listener_waits_on_when_a_stranger_calls
run a_peer_that_is_killed_is_reported
run it_runs_through_pipes
run it_runs_in_a_pipeline
run standard_input_and_output_must_lead_to_a_peer
run a_pipe_without_a_peer_is_reported
run samples_meet_by_files_that_were_copied
run samples_meet_by_files_that_were_exchanged
tap_done
