#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Options of pier run, by real programs: faults of the network, which they do
# not notice, a capture, and the counters at the end.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need ibverbs-utils ibv_devinfo ibv_rc_pingpong ibv_ud_pingpong
need rdmacm-utils rping

# number NAME - of the counter, in the JSON of a client
number()
{
	sed -n 's/^ *"'"$1"'": \([0-9]*\),*$/\1/p' "$tmp/client"
}

# more NAME - it has counted
more()
{
	[ "$(number "$1")" -gt 0 ] || {
		echo "$1 is 0"
		cat "$tmp/client"
		return 1
	}
}

# -c compares what was received.
pingpong()
{
	pair ibv_rc_pingpong -d soft_lo -g 0 -c "$@"
}

# ping COUNT - a pair that disconnects at its end, so that no acknowledgement of
# the last message is missing; -V compares.
ping()
{
	next_port
	serve rping -s -C "$1"
	wait_for 30 accepts_or_ended
	client rping -c -a 127.0.0.1 -C "$1" -V
	both_succeed
}

lost_packets_are_sent_again()
{
	options="--loss 2 --seed 3 --stats --json"
	ping 500 && more faults_lost && more resent &&
	    [ "$(number faults_corrupted)" -eq 0 ]
}

wrong_packets_are_dropped()
{
	options="--corrupt=2 --stats --json"
	ping 500 && more faults_corrupted && more resent &&
	    more bad_icrc
}

# A lap of two delays takes 10 ms, whatever else takes time.
late_packets_are_waited_for()
{
	options="--delay 5"
	pingpong -n 20 || return
	usec=$(sed -n 's/.* = \([0-9]*\)\.[0-9]* usec\/iter.*/\1/p' \
	    "$tmp/client")
	[ "$usec" -ge 10000 ] || {
		echo "$usec us a lap"
		cat "$tmp/client"
		return 1
	}
}

# Requests to connect and all that follows.
connections_are_made_in_spite_of_them()
{
	options="--loss 3 --corrupt 1 --delay 0.5"
	ping 20
}

all_that_is_lost_ends_the_program()
{
	options="--loss 100"
	next_port
	serve ibv_rc_pingpong -d soft_lo -g 0
	wait_for 30 listens_or_ended
	client ibv_rc_pingpong -d soft_lo -g 0 127.0.0.1
	kill "$server"
	[ "$client" -ne 0 ] && says "$tmp/client" "retries exceeded"
}

the_summary_has_what_was_moved()
{
	options=--stats
	pingpong -n 100 -s 4096 || return
	for side in client server; do
		says "$tmp/$side" "100 iters in" \
		    "soft devices of 1 process" || return
		tr -s ' ' <"$tmp/$side" |
		    grep -q '^ completions 200 polled, 0 with an error$' &&
		    grep -q '^  packets  *[1-9]' "$tmp/$side" || {
			cat "$tmp/$side"
			return 1
		}
	done
}

# Its counters remain, and nothing else does.
a_program_that_was_killed_has_a_summary()
{
	next_port
	status 137 "$pier" run --stats --json -- sh -c '
		echo "$PIER_COUNTERS_DIR" >"$2"
		ibv_rc_pingpong -d soft_lo -g 0 -p "$1" & one=$!
		until grep -qs "" "$PIER_COUNTERS_DIR"/pier.*.$one.*; do
			sleep 0.1; done
		kill -9 $one; wait $one' sh "$port" "$tmp/dir" &&
	    says "$tmp/out" '"processes": 1' '"tx_packets": ' || return
	dir=$(cat "$tmp/dir")
	case $dir in
	/dev/shm/pier-run.*)
		[ ! -e "$dir" ] ;;
	*)
		echo "the counters were in $dir"
		return 1 ;;
	esac
}

# Both count what the one within the other has run, and no more.
one_within_another_has_the_same_summary()
{
	status 0 "$pier" run --stats -- "$pier" run --stats -- \
	    ibv_devinfo -d soft_lo || return
	[ "$(grep -c "soft devices of 1 process" "$tmp/err")" -eq 2 ] || {
		cat "$tmp/err"
		return 1
	}
}

counters_remain_where_the_user_has_them()
{
	dir=$(mktemp -d /dev/shm/kept.XXXXXX) || return
	status 0 env PIER_COUNTERS_DIR="$dir" "$pier" run --stats -- \
	    ibv_devinfo -d soft_lo
	kept=$(find "$dir" -name 'pier.*' | wc -l)
	rm -r "$dir"
	[ "$kept" -eq 1 ]
}

a_program_without_devices_has_none()
{
	status 0 "$pier" run --stats -- true &&
	    says "$tmp/err" "no process has opened a soft device"
}

# Both directions, of both programs: the second writes beside the first.
the_capture_is_read_by_tshark()
{
	command -v tshark >/dev/null || skip "there is no tshark"
	options="--pcap $tmp/x.pcap"
	pingpong -n 20 || return
	[ "$(find "$tmp" -name 'x.pcap*' | wc -l)" -eq 2 ] || return
	tshark -r "$tmp/x.pcap" -Y infiniband -T fields -e _ws.col.Info \
	    >"$tmp/info" 2>"$tmp/err" &&
	    says "$tmp/info" "RC Send First" "RC Acknowledge"
}

a_capture_that_cannot_be_written_is_reported()
{
	echo precious >"$tmp/notes"
	options="--pcap $tmp/notes"
	pingpong -n 20 && [ "$(cat "$tmp/notes")" = precious ] &&
	    says "$tmp/client" "notes is there and no capture"
}

run lost_packets_are_sent_again
run wrong_packets_are_dropped
run late_packets_are_waited_for
run connections_are_made_in_spite_of_them
run all_that_is_lost_ends_the_program
run the_summary_has_what_was_moved
run a_program_that_was_killed_has_a_summary
run one_within_another_has_the_same_summary
run counters_remain_where_the_user_has_them
run a_program_without_devices_has_none
run the_capture_is_read_by_tshark
run a_capture_that_cannot_be_written_is_reported
tap_done
