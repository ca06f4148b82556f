#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier counters --events: what the flight recorders of real processes have, also
# of one that has ended; the same in the log when a connection fails.
. "${0%/*}/../lib/tap.sh"
device=soft_lo
. "$top/t/lib/toolbox.sh"

# On the file system of the counters files.
PIER_COUNTERS_DIR=$(mktemp -d /dev/shm/kept.XXXXXX) || exit
export PIER_COUNTERS_DIR
trap 'tap_reap; rm -rf "$tmp" "$PIER_COUNTERS_DIR"' EXIT

# ended - a requester whose responder was killed; sets $side_b, the requester
ended()
{
	begin "--respond" "-n 100000000" || return 1
	wait_for 10 moved $side_b
	held=$?
	kill -KILL $side_a
	wait $side_a
	wait $side_b
	return $held
}

moved()
{
	"$pier" counters "$1" 2>/dev/null | grep -q '^    rtt_ns  *[1-9]'
}

the_death_of_a_peer_is_recorded_and_logged()
{
	PIER_LOG=warning
	export PIER_LOG
	ended || return 1
	unset PIER_LOG
	status 0 "$pier" counters --events $side_b &&
		says "$tmp/out" "$side_b pier soft_lo" "state INIT" \
			"state RTS" "timeout" "resent, PSN" "state ERR" \
			"completion RETRY_EXC_ERR" &&
		! grep tx_packets "$tmp/out" &&
		says "$tmp/b.err" "before it failed: timeout" \
			"before it failed: state RTS" || return 1
	status 0 "$pier" counters --events --json $side_b &&
		is_json "$tmp/out" &&
		says "$tmp/json" '"event": "timeout"' '"detail": "RTS"' \
			'"time": "20' '"tx_packets": '
}

nothing_is_recorded_if_it_is_off()
{
	PIER_EVENTS=off
	export PIER_EVENTS
	ended || return 1
	unset PIER_EVENTS
	status 0 "$pier" counters --events $side_b &&
		says "$tmp/out" "$side_b pier soft_lo" &&
		! grep state "$tmp/out"
}

# The process goes on, and does it again.
a_signal_prints_the_events()
{
	PIER_EVENTS=USR2
	export PIER_EVENTS
	begin "--respond" "-n 100000000" || return 1
	unset PIER_EVENTS
	wait_for 10 moved $side_b && kill -USR2 $side_b &&
		wait_for 10 grep -q "state RTS" "$tmp/b.err" &&
		says "$tmp/b.err" "pier: soft_lo " "state INIT" &&
		: >"$tmp/b.err" && kill -USR2 $side_b &&
		wait_for 10 grep -q "state RTS" "$tmp/b.err" &&
		kill -0 $side_b
	held=$?
	kill -KILL $side_a $side_b
	return $held
}

# The default action of the signal ends it.
a_signal_that_is_not_chosen_is_left_alone()
{
	begin "--respond" "-n 100000000" || return 1
	wait_for 10 moved $side_b
	kill -USR2 $side_b
	wait $side_b
	held=$?
	kill -KILL $side_a
	[ $held -gt 128 ] &&
		! grep "state RTS" "$tmp/b.err"
}

# Of connections by address also the messages of connection management; the REQ
# came before the connection had a queue pair.  No end of one is logged.
connecting_is_recorded()
{
	PIER_LOG=warning
	export PIER_LOG
	"$pier" ping -d "$device" --listen=127.0.0.1:0 >"$tmp/serve" 2>&1 &
	server=$!
	wait_for 10 grep -q 'listens on port' "$tmp/serve" || return 1
	port=$(sed -n 's/.*listens on port \([0-9]*\),.*/\1/p' "$tmp/serve")
	status 0 "$pier" ping -d "$device" -c 1 "127.0.0.1:$port"
	held=$?
	unset PIER_LOG
	! grep "before it failed" "$tmp/serve" "$tmp/err" || held=1
	status 0 "$pier" counters --events $server
	kill $server
	[ $held -eq 0 ] && says "$tmp/out" "0x000000 cm_received REQ" \
		"cm_sent REP" "cm_received RTU" "state RTS" \
		"cm_received DREQ" &&
		grep -v 0x000000 "$tmp/out" | grep -q "cm_received REQ"
}

a_folder_that_cannot_be_read_is_an_error()
{
	for form in --json --events --prometheus ""; do
		status 1 env PIER_COUNTERS_DIR="$tmp/nowhere" "$pier" \
			counters $form &&
			says "$tmp/err" "PIER_COUNTERS_DIR: $tmp/nowhere: No" &&
			[ ! -s "$tmp/out" ] || return 1
	done
	: >"$tmp/file"
	status 1 env PIER_COUNTERS_DIR="$tmp/file" "$pier" counters &&
		says "$tmp/err" "$tmp/file: Not a directory"
}

a_process_without_counters_has_its_reason()
{
	"$pier" --version >"$tmp/out" &
	ended=$!
	wait $ended
	status 1 "$pier" counters --events $ended &&
		says "$tmp/err" "process $ended has no counters file in" \
			"$PIER_COUNTERS_DIR, the folder" || return 1
	status 1 env -u PIER_COUNTERS_DIR "$pier" counters --events $ended &&
		says "$tmp/err" "process $ended does not run" \
			PIER_COUNTERS_DIR &&
		status 1 env -u PIER_COUNTERS_DIR "$pier" counters $$ &&
		says "$tmp/err" "process $$ has no soft device in use"
}

# Root may send signals to each.
a_process_of_another_user_is_reported()
{
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chmod 755 "$tmp" && $as test -x "$pier" 2>/dev/null ||
		skip "user 65534 cannot run the tool here"
	status 1 env -u PIER_COUNTERS_DIR $as "$pier" counters $$ &&
		says "$tmp/err" "process $$ is another user's"
}

run the_death_of_a_peer_is_recorded_and_logged
run nothing_is_recorded_if_it_is_off
run a_signal_prints_the_events
run a_signal_that_is_not_chosen_is_left_alone
run connecting_is_recorded
run a_folder_that_cannot_be_read_is_an_error
run a_process_without_counters_has_its_reason
run a_process_of_another_user_is_reported
tap_done
