# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# What tests of pier doctor share: source it after netns.sh, in a namespace.

command -v jq >/dev/null || skip_all "there is no jq"
unshare -m true || skip_all "no mount namespace can be made"
unset PIER_DEVICE
ip link set lo up
as=	# what runs the next doctor

# doctor WORD... - examine; lines of "CHECK GRADE TEXT | REMEDY" in $tmp/lines
doctor()
{
	timeout 60 $as "$pier" doctor --json "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	jq -r '.findings[] | "\(.check) \(.grade) \(.text) | \(.remedy)"' \
		"$tmp/out" >"$tmp/lines" && has_remedies && return
	echo "exit $status: doctor $*"
	cat "$tmp/out" "$tmp/err"
	return 1
}

# Every warning and error has one, whatever the test is about.
has_remedies()
{
	! grep -E '^[^ ]+ (warning|error) .*\| $' "$tmp/lines"
}

# found "CHECK GRADE" TEXT... - a line begins so and has each text
found()
{
	grep "^$1 " "$tmp/lines" >"$tmp/found" || : >"$tmp/found"
	begins=$1
	shift
	for text; do
		grep -F -e "$text" "$tmp/found" >"$tmp/fewer" || {
			echo "no line \"$begins\" has: $text"
			cat "$tmp/lines"
			return 1
		}
		mv "$tmp/fewer" "$tmp/found"
	done
	[ -s "$tmp/found" ] || {
		echo "there is no line \"$begins\""
		cat "$tmp/lines"
		return 1
	}
}

# lacks "CHECK GRADE" - no line begins so
lacks()
{
	! grep "^$1 " "$tmp/lines"
}

# place - stdin has commands that put files in the place of the kernel's, for
# the next doctor, which is $placed
place()
{
	cat >"$tmp/place" && printf 'exec "$@"\n' >>"$tmp/place"
	as=$placed
}

placed="unshare -m sh -e $tmp/place"

# two_hosts - a second one, with a cable
two_hosts()
{
	for cable in near0 near1; do	# of hosts that are ending
		ip link del $cable 2>/dev/null
	done
	far_host && connect_both
}

# listen PORT - a process that has it
listen()
{
	"$pier" ping -d soft_lo --listen "$1" >"$tmp/serve.out" \
		2>"$tmp/serve.err" &
	wait_for 20 grep -q 'listens on port' "$tmp/serve.out"
}
