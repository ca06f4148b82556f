#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier run: what the program gets, and which ones it cannot reach.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"

# fails STATUS TEXT COMMAND... - with that message
fails()
{
	wanted=$1 text=$2
	shift 2
	status "$wanted" "$@" && says "$tmp/err" "$text"
}

a_program_must_be_named()
{
	fails 2 "without a program" "$pier" run &&
	    fails 2 "without a program" "$pier" run --
}

a_program_that_is_not_there_is_reported()
{
	fails 127 "nosuch: no such program" "$pier" run -- nosuch &&
	    fails 127 "/nosuch: no such program" "$pier" run -- /nosuch
}

a_file_that_is_no_program_is_reported()
{
	: >"$tmp/file"
	fails 126 "not an executable file" "$pier" run -- "$tmp/file" &&
	    fails 126 "not an executable file" "$pier" run -- "$tmp"
}

the_exit_status_is_that_of_the_program()
{
	status 7 "$pier" run -- sh -c 'exit 7' && status 0 "$pier" run true
}

words_behind_the_program_are_its_own()
{
	status 0 "$pier" run printf '%s.' -h --version -- '' 'a b' &&
	    says "$tmp/out" "-h.--version.--..a b."
}

the_library_is_named_in_the_environment()
{
	status 0 env LD_LIBRARY_PATH=/nosuch "$pier" run -- env &&
	    says "$tmp/out" "LD_PRELOAD=$dropin" \
		"LD_LIBRARY_PATH=${dropin%/*}:"
}

# Options of pier run end where the program begins.
json_is_what_the_program_was()
{
	status 7 "$pier" run --json -linfo -- sh -c 'echo text; exit 7' a &&
	    is_json "$tmp/out" && says "$tmp/err" text &&
	    says "$tmp/json" '/sh"' '"echo text; exit 7"' "\"${dropin%/*}\"" \
		'"soft_lo"' '"exit_status": 7' '"signal": 0' &&
	    status 143 "$pier" run --json sh -c 'kill $$' &&
	    says "$tmp/out" '"exit_status": 143' '"signal": 15'
}

an_option_file_is_j()
{
	echo '{ "json": true }' >"$tmp/options"
	status 0 "$pier" run -j "$tmp/options" true && is_json "$tmp/out" &&
	    status 2 "$pier" run -j "$tmp/nosuch" true
}

# It is sent to pier run alone, which prints JSON nevertheless.
a_signal_reaches_the_program()
{
	"$pier" run --json -- sh -c 'trap "exit 9" TERM; echo begun; n=0
		while [ $((n += 1)) -lt 200 ]; do sleep 0.1; done' \
		>"$tmp/out" 2>"$tmp/err" &
	run=$!
	wait_for 20 grep -q begun "$tmp/err"
	kill "$run"
	wait "$run"
	[ $? -eq 9 ] && says "$tmp/out" '"exit_status": 9'
}

what_cannot_be_run_has_no_json()
{
	fails 127 "nosuch: no such program" "$pier" run --json nosuch &&
	    [ ! -s "$tmp/out" ]
}

a_static_program_is_refused()
{
	echo 'int main(void) { return 0; }' >"$tmp/static.c"
	"${CC:-cc}" -static "$tmp/static.c" -o "$tmp/static" 2>"$tmp/err" ||
		skip "cc links nothing statically"
	fails 126 "is linked statically" "$pier" run -- "$tmp/static"
}

a_program_with_privileges_is_refused()
{
	[ "$(id -u)" -eq 0 ] || skip "only root makes a program setuid"
	cp "$(command -v env)" "$tmp/setuid"
	chown 65534 "$tmp/setuid"
	chmod u+s "$tmp/setuid"
	fails 126 "gets privileges" "$pier" run -- "$tmp/setuid"
}

run a_program_must_be_named
run a_program_that_is_not_there_is_reported
run a_file_that_is_no_program_is_reported
run the_exit_status_is_that_of_the_program
run words_behind_the_program_are_its_own
run the_library_is_named_in_the_environment
run json_is_what_the_program_was
run an_option_file_is_j
run a_signal_reaches_the_program
run what_cannot_be_run_has_no_json
run a_static_program_is_refused
run a_program_with_privileges_is_refused
tap_done
