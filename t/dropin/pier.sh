#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier itself under pier run: its devices of verbs are those of the library.
# Its programs, and of the test programs that the guest of t/vm/run runs on
# kernel Soft-RoCE some, or with PIER_TEST_WHOLE=1 all but those of pier_not.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
two_hosts "$@"
ip link set lo up

# A device of verbs and a soft one have this name: the first is taken.
the_device_is_one_of_verbs()
{
	status 0 "$pier" run -- "$pier" info --json -d soft_lo &&
	    is_json "$tmp/out" && says "$tmp/json" '"kind": "verbs"' &&
	    status 0 "$pier" info --json -d soft_lo && is_json "$tmp/out" &&
	    says "$tmp/json" '"kind": "soft"'
}

# $test
a_test_of_the_guest_passes()
{
	cd "$build" && env -u PIER_TEST_REQUIRE PIER_DEVICE=soft_near0 \
	    "$pier" run -- sh "$top/t/run" "$test" >"$tmp/out" 2>&1 &&
	    grep '^ok' "$tmp/out" | grep -qv '# SKIP' &&
	    ! grep '^not ok' "$tmp/out" || {
		cat "$tmp/out"
		return 1
	}
}

# Those without PIER_TEST_WHOLE.
some='t/cm/conn.t t/cm/process.t t/cm/rdmacm.t t/cm/rdmacm_answer.t
    t/fabric/fabric.t t/ops/bulk.t t/ops/comch.t t/ops/comch_data.t
    t/ops/comch_request.t t/ops/dma.t t/ops/graph_rdma.t t/ops/rdma.t
    t/ops/sync_event_rdma.t t/ops/task.t'

whole()
{
	awk -f "$top/t/lib/without.awk" "$top/t/dropin/pier_not" \
	    "$top/t/vm/tests"
}

alone
run the_device_is_one_of_verbs
run_pier
[ -z "${PIER_TEST_WHOLE:-}" ] || some=$(whole) || exit
for test in $some; do
	run a_test_of_the_guest_passes "$test"
done
tap_done
