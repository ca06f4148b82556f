#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Inside the guest: make the devices, run the tests.  TAP goes to the second
# serial line; the third one gets the word "pass" if everything passed.
# Started by init.

export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
. /run/vm/job
. "$src/t/vm/net.sh"

tap=/dev/ttyS1
verdict=/dev/ttyS2

# What programs have made on the two devices.
resources()
{
	rdma resource show | sed -n 's/^[0-9]*: \(rxe[01]:\)/\1/p'
}

# leaves BEFORE - print what is left of a program that has ended, which the
# kernel may need a moment to take away
leaves()
{
	tries=0
	until [ "$(resources)" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || { resources; return; }
		sleep 0.1
	done
}

# Run one test as the build does, through t/run.
run_one()
{
	case $1 in
	*.sh) path=$src/$1 ;;
	*) path=$1 ;;
	esac
	[ -e "$build/$1" ] || [ "$path" != "$1" ] || path=$src/$1
	begun=$(date +%s)
	echo "#vm begin $1"
	before=$(resources)
	(cd "$build" && sh "$src/t/run" "$path") </dev/null 2>&1
	status=$?
	left=$(leaves "$before")
	[ -z "$left" ] || {
		echo "# before: $before" | tr '\n' ' '
		echo "# left: $left" | tr '\n' ' '
		echo
		echo "not ok - $1 leaves something on a device"
		status=1
	}
	echo "#vm end $1 $status $(($(date +%s) - begun))"
	return $status
}

run_all()
{
	all=0
	while read -r t; do
		run_one "$t" || all=1
	done </run/vm/tests
	return $all
}

off()
{
	sync
	echo o >/proc/sysrq-trigger
	# No program: its file may be gone before the guest is.
	while :; do
		:
	done
}

# The CPU is emulated, and the machine that does it may be busy.
export PIER_DEVICE=rxe0 PIER_TEST_REQUIRE=verbs PIER_TEST_SLOWER=5
stty -F $tap raw -echo
stty -F $verdict raw -echo
echo 60 >/proc/sys/kernel/hung_task_timeout_secs
ulimit -c 0
echo 8 >/proc/sys/vm/nr_hugepages

if ! vm_modules || ! vm_devices; then
	echo "#vm the devices could not be made; see console.log" >$tap
	off
fi
if run_all >$tap; then
	echo pass >$verdict
fi
off
