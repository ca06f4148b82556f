#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of rdma-core's Python binding, as its packages have them, one
# process a file.  What is skipped there is in docs/verbs-library.md.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"

python=/usr/bin/python3
"$python" -c "import pyverbs.device" 2>/dev/null ||
    skip_all "there is no pyverbs: install python3-pyverbs"
folder=/usr/share/doc/rdma-core/tests
[ -f $folder/run_tests.py ] ||
    skip_all "there are no tests of it: install python3-pyverbs, with documents"

# Those of rdma_cm bind to an address that is not lo's.
own_net "$@"
ip link set lo up && ip link add py0 type veth peer name py1 &&
    ip addr add 10.78.0.1/24 dev py0 && ip addr add fd78::1/64 dev py0 nodad &&
    ip link set py1 up && ip link set py0 up &&
    wait_for 10 is_up ip link show py0 ||
	skip_all "no interface can be made"

mkdir "$tmp/tests"
for file in "$folder"/*; do
	case $file in
	*.gz) gunzip -c "$file" >"$tmp/tests/$(basename "$file" .gz)" ;;
	*) cp "$file" "$tmp/tests" ;;
	esac
done

# passes FILE COUNT - so many tests at least, and none fails
passes()
{
	timeout -k 5 $((120 * ${PIER_TEST_SLOWER:-1})) \
	    "$pier" run -- "$python" "$tmp/tests/run_tests.py" \
	    --dev soft_py0 -v "test_$1" >"$tmp/out" 2>&1
	ran=$(sed -n 's/^Ran \([0-9]*\) test.*/\1/p' "$tmp/out")
	skipped=$(sed -n 's/^OK (skipped=\([0-9]*\)).*/\1/p' "$tmp/out")
	passed=$((${ran:-0} - ${skipped:-0}))
	grep -q '^OK' "$tmp/out" && [ $passed -ge "$2" ] || {
		echo "$passed tests passed, not $2"
		cat "$tmp/out"
		return 1
	}
}

requests_have_results()
{
	passes addr 3 && passes atomic 7 && passes qp 16 && passes qpex 17
}

completions_are_read()
{
	passes cq 4 && passes cq_events 2 && passes cqex 4
}

devices_are_described()
{
	passes device 12 && passes fork 1
}

memory_is_registered()
{
	passes mr 12 && passes odp 14 && passes pd 4 &&
	    passes parent_domain 1 && passes relaxed_ordering 2
}

connections_are_managed()
{
	passes rdmacm 10
}

what_is_missing_is_skipped()
{
	passes flow 0 && passes rss_traffic 0 && passes shared_pd 0 &&
	    passes tag_matching 0
}

run requests_have_results
run completions_are_read
run devices_are_described
run memory_is_registered
run connections_are_managed
run what_is_missing_is_skipped
tap_done
