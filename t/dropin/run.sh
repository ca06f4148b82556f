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

# from FOLDER STATUS WORD... - of pier run, in a build tree there that has it
# and its libraries alone
from()
{
	program=$build/tools/.libs/pier tree=$tmp/$1 wanted=$2
	shift 2
	[ -x "$program" ] || program=$pier
	mkdir -p "$tree/tools" && cp "$program" "$tree/tools/pier" &&
	    ln -s "$build/dropin" "$tree/dropin" &&
	    status "$wanted" env \
		LD_LIBRARY_PATH="$build/lib/.libs:$build/lib/uv/.libs" \
		"$tree/tools/pier" run "$@"
}

# Also to what a program starts.
a_folder_with_a_space_has_the_libraries()
{
	from "a b" 0 sh -c 'ibv_devices; cat \
		/sys/class/infiniband/soft_lo/node_type' &&
	    says "$tmp/out" soft_lo "1: CA" && [ ! -s "$tmp/err" ]
}

a_folder_that_ends_a_path_is_reported()
{
	for folder in a:b 'a;b'; do
		from "$folder" 1 true && says "$tmp/err" \
			"$folder/dropin/.libs\": the dynamic linker" || return
	done
}

faults_are_named_in_the_environment()
{
	status 0 "$pier" run --loss 0.1 --delay=2 --corrupt 100 --seed 7 env &&
	    says "$tmp/out" "PIER_FAULTS=loss=0.100000,corrupt=100.000000,\
delay=2.000000,seed=7" || return
	status 0 "$pier" run env && ! grep PIER_FAULTS "$tmp/out" &&
	    status 0 "$pier" run --seed 7 env && ! grep PIER_FAULTS "$tmp/out"
}

# wrong OPTION VALUE ALLOWED...
wrong()
{
	option=$1 value=$2
	shift 2
	status 2 "$pier" run "--$option" "$value" -- echo run || return
	[ ! -s "$tmp/out" ] && says "$tmp/err" "$value" "$@"
}

wrong_faults_are_refused_with_what_is_allowed()
{
	for option in loss corrupt; do
		for value in -0.1 100.1 1% nan inf x; do
			wrong $option "$value" "$option" "percent, 0 to 100" ||
			    return
		done
	done
	wrong delay 1001 "delay" "milliseconds, 0 to 1000" &&
	    wrong seed -1 && wrong seed 4294967296 "0 to 4294967295" &&
	    wrong seed x
}

# The program may be in another directory when it writes it.
a_capture_is_named_by_its_whole_path()
{
	cd "$tmp" && status 0 "$pier" run --pcap x.pcap env &&
	    says "$tmp/out" "PIER_PCAP=$tmp/x.pcap" "PIER_LOG=warning" &&
	    status 0 env PIER_LOG=debug "$pier" run --pcap=/x/y env &&
	    says "$tmp/out" "PIER_PCAP=/x/y" "PIER_LOG=debug"
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

# Nothing is between a program and a library that it names by its path, but what
# that library is bound to is pier's.
a_library_loaded_by_its_path_is_reported()
{
	real=$(ldconfig -p | sed -n 's/.*libibverbs\.so\.1 .*=> //p' |
	    head -n 1)
	[ -f "$real" ] || skip "there is no other libibverbs.so.1"
	status 0 "$pier" run -- /usr/bin/python3 -c '
import ctypes, sys
verbs = ctypes.CDLL(sys.argv[1])
verbs.ibv_get_device_list.restype = ctypes.c_void_p
verbs.ibv_get_device_list(None)' "$real" || return
	says "$tmp/err" "has loaded $real by its path"
}

# Also by those of links, which NCCL has.
a_library_loaded_by_its_name_is_that_of_pier()
{
	status 0 "$pier" run -- /usr/bin/python3 -c '
import ctypes
for name in "libibverbs.so.1", "libibverbs.so", "librdmacm.so":
    ctypes.CDLL(name)' && [ ! -s "$tmp/err" ]
}

run a_program_must_be_named
run a_program_that_is_not_there_is_reported
run a_file_that_is_no_program_is_reported
run the_exit_status_is_that_of_the_program
run words_behind_the_program_are_its_own
run the_library_is_named_in_the_environment
run a_folder_with_a_space_has_the_libraries
run a_folder_that_ends_a_path_is_reported
run faults_are_named_in_the_environment
run wrong_faults_are_refused_with_what_is_allowed
run a_capture_is_named_by_its_whole_path
run json_is_what_the_program_was
run an_option_file_is_j
run a_signal_reaches_the_program
run what_cannot_be_run_has_no_json
run a_static_program_is_refused
run a_program_with_privileges_is_refused
run a_library_loaded_by_its_path_is_reported
run a_library_loaded_by_its_name_is_that_of_pier
tap_done
