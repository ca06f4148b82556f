# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# TAP for tests in sh: . "${0%/*}/../lib/tap.sh"
#
# A test is a function whose name is what it checks.  `run NAME [WHERE]` calls
# it and prints "ok" if it returns 0; `none NAME` also wants it to print
# nothing, as fits a function that prints what breaks a rule.  What a failed
# test printed follows on stderr, where prove shows it.  In a test, `skip WHY`
# ends it.  `tap_done` comes last.
#
# Without a function: `ok NAME COMMAND...` wants the command to succeed, `is
# GOT WANT NAME` the same text, `like GOT PART NAME` one within the other, and
# `skipped WHY NAME` prints why a test is not run.  `wait_for SECONDS
# COMMAND...` tries a command until it succeeds.
#
# $top is the source tree, $build the build tree: the current directory if it
# is one, else build/.  $tmp is a directory of the test's own.  After
# `take_ports` $first_port is the first of 64 ports that no script beside it has
# taken.

top=$(cd "${0%/*}/../.." && pwd) || exit
if [ -f config.status ]; then
	build=$PWD
else
	build=$top/build
fi
LC_ALL=C
export LC_ALL

tap_count=0
tap_failed=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/pier-test.XXXXXX") || exit
tap_link=
trap 'tap_reap; rm -rf "$tmp" ${tap_link:+"$tap_link"}' EXIT
trap 'exit 1' HUP INT TERM

# Take ports below those of the kernel: the first of 190 slots whose link names
# no process that exists.  Not in a test, whose end is not that of the script.
take_ports()
{
	[ -z "${first_port:-}" ] || return 0
	tap_slot=$(($$ % 190)) tap_tries=0
	tap_links=${TMPDIR:-/tmp}/pier-ports
	until ln -s $$ "$tap_links.$tap_slot" 2>/dev/null; do
		kill -0 "$(readlink "$tap_links.$tap_slot")" 2>/dev/null ||
			rm -f "$tap_links.$tap_slot" 2>/dev/null
		tap_slot=$(((tap_slot + 1) % 190)) tap_tries=$((tap_tries + 1))
		[ $tap_tries -lt 1000 ] || break
	done
	tap_link=$tap_links.$tap_slot
	first_port=$((20000 + tap_slot * 64))
}

# tap_kill PID - and what it has started: timeout(1) that is killed leaves that
tap_kill()
{
	for tap_child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		tap_kill "$tap_child"
	done
	kill -9 "$1" 2>/dev/null
}

# End what runs in the background.
tap_reap()
{
	jobs -p >"$tmp/tap-jobs"
	while read -r pid; do
		tap_kill "$pid"
	done <"$tmp/tap-jobs"
	wait
}

# tap_line OUTCOME NAME
tap_line()
{
	tap_count=$((tap_count + 1))
	echo "$1 $tap_count - $2"
}

# tap_judge NAME HELD - after a test has written $tmp/tap-out
tap_judge()
{
	if [ -f "$tmp/tap-skip" ]; then
		tap_skipped "$1" "$(cat "$tmp/tap-skip")"
		rm -f "$tmp/tap-skip"
	elif [ "$2" -eq 0 ]; then
		tap_line ok "$1"
	else
		tap_line "not ok" "$1"
		tap_failed=$((tap_failed + 1))
		sed 's/^/# /' "$tmp/tap-out" >&2
	fi
}

tap_skipped()
{
	if [ -n "${PIER_TEST_REQUIRE:-}" ]; then
		echo "Bail out! $1 skipped: $2"
		exit 255
	fi
	tap_line ok "$1 # SKIP $2"
	echo "# $1 skipped: $2" >&2	# prove(1) names no skip of one test
}

# Call a test; what it has left in the background ends.
tap_call()
{
	(trap tap_reap EXIT; set +e; "$1") >"$tmp/tap-out" 2>&1
}

run()
{
	tap_call "$1"
	tap_judge "$1${2:+, $2}" $?
}

none()
{
	tap_call "$1" && [ ! -s "$tmp/tap-out" ]
	tap_judge "$1" $?
}

# ok NAME COMMAND...
ok()
{
	tap_name=$1
	shift
	tap_held=0
	"$@" >"$tmp/tap-out" 2>&1 </dev/null || tap_held=$?
	tap_judge "$tap_name" $tap_held
}

# is GOT WANT NAME
is()
{
	tap_held=0
	[ "$1" = "$2" ] || tap_held=1
	printf 'got:  %s\nwant: %s\n' "$1" "$2" >"$tmp/tap-out"
	tap_judge "$3" $tap_held
}

# like GOT PART NAME
like()
{
	tap_held=0
	case $1 in
	*"$2"*) ;;
	*) tap_held=1 ;;
	esac
	printf 'got:  %s\npart: %s\n' "$1" "$2" >"$tmp/tap-out"
	tap_judge "$3" $tap_held
}

# skipped WHY NAME
skipped()
{
	tap_skipped "$2" "$1"
}

# wait_for SECONDS COMMAND... - PIER_TEST_SLOWER stretches them
wait_for()
{
	tap_tries=$(($1 * 20 * ${PIER_TEST_SLOWER:-1}))
	shift
	until "$@"; do
		[ $tap_tries -gt 0 ] || return 1
		tap_tries=$((tap_tries - 1))
		sleep 0.05
	done
}

# natively COMMAND... - but not in the guest of t/vm/run, whose processor is
# emulated: what does not depend on the device is shown elsewhere.
natively()
{
	[ -f /run/vm/job ] || "$@"
}

skip()
{
	echo "$*" >"$tmp/tap-skip"
	exit 0
}

# Nothing here can be tested: before the first test.
skip_all()
{
	if [ -n "${PIER_TEST_REQUIRE:-}" ]; then
		echo "Bail out! skipped: $*"
		exit 255
	fi
	echo "1..0 # SKIP $*"
	exit 0
}

tap_done()
{
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ]
	exit
}
