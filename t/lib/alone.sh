# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For tests of servers that have a name on a device: source it before tap.sh.
# On soft_lo the test runs in a network namespace of its own, where no other
# test that runs meanwhile has the name; where none can be made, it waits until
# they have ended.

# alone_as USER-OPTION RIGHTS-COMMAND TEST... - run it in a new namespace
alone_as()
{
	option=$1 command=$2
	shift 2
	unshare $option sh -c 'ip link set lo up' 2>/dev/null || return
	exec unshare $option sh -c "ip link set lo up && exec $command "'"$@"' \
	    sh "$@"
}

if [ -z "${PIER_TEST_ALONE:-}" ] &&
    [ "${PIER_DEVICE:-soft_lo}" = soft_lo ]; then
	PATH=$PATH:/usr/sbin:/sbin
	PIER_TEST_ALONE=1
	export PIER_TEST_ALONE PATH
	if [ "$(id -u)" -eq 0 ]; then
		alone_as -n "" sh "$0" "$@"
	else
		alone_as "-cn --keep-caps" \
		    "setpriv --inh-caps=-all --ambient-caps=-all" sh "$0" "$@"
	fi
	exec flock "${0%/*}/../lib/alone.sh" sh "$0" "$@"
fi
