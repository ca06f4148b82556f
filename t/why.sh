#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What is said when RDMA is there but out of reach: causes that look alike
# through libibverbs.  It takes devices, modules and libraries away, so it runs
# in the guest of t/vm/run only.
. "${0%/*}/tap.sh"

[ -f /run/vm/job ] || skip_all "it breaks RDMA: only for the guest of t/vm/run"
. "$top/t/vm/net.sh"

verbs=$build/t/verbs.t

# says PORTS TEXT... - the number of ports listed, and parts of the sentence
says()
{
	"$verbs" why >"$tmp/why" 2>"$tmp/why.err"
	said "$@"
}

# says_nobody PORTS TEXT... - the same to a user without rights
says_nobody()
{
	as_nobody "$verbs" why >"$tmp/why" 2>"$tmp/why.err"
	said "$@"
}

said()
{
	cat "$tmp/why" "$tmp/why.err"
	[ "$(head -n 1 "$tmp/why")" = "$1" ] || return 1
	shift
	for text; do
		grep -qF -e "$text" "$tmp/why" || return 1
	done
}

as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

two_devices_in_order_need_no_sentence()
{
	says 2 "" && [ -z "$(sed -n 2p "$tmp/why")" ]
}

one_without_permission_is_told_and_the_other_still_listed()
{
	chmod 600 /dev/infiniband/uverbs0 &&
	says_nobody 1 "/dev/infiniband/uverbs0 may not be opened" "chmod 666"
	held=$?
	chmod 666 /dev/infiniband/uverbs0
	return $held
}

a_container_without_the_nodes_is_told()
{
	mount -t tmpfs none /dev/infiniband &&
	says 0 "there is no /dev/infiniband/uverbs" "--device=/dev/infiniband"
	held=$?
	umount /dev/infiniband
	return $held
}

a_missing_provider_library_is_told()
{
	for libs in /usr/lib/*/libibverbs /usr/lib*/libibverbs; do
		[ ! -d "$libs" ] || break
	done
	mount -t tmpfs none "$libs" || return 1
	says 0 "rxe0: libibverbs has no provider library" "ibverbs-providers" ||
	says 0 "rxe1: libibverbs has no provider library" "ibverbs-providers"
	held=$?
	umount "$libs"
	return $held
}

a_machine_without_devices_is_told()
{
	rdma link delete rxe0 && rdma link delete rxe1 &&
	says 0 "no RDMA device" "modprobe rdma_rxe"
	held=$?
	vm_rxe rxe0 v0 && vm_rxe rxe1 v1 || return 1
	return $held
}

the_limit_of_locked_memory_is_told_with_its_remedies()
{
	(ulimit -l 64 && as_nobody "$verbs" pin 1048576 >"$tmp/pin")
	cat "$tmp/pin"
	for text in "1048576 bytes cannot be registered" "is 64 KiB" \
	    "ulimit -l" "LimitMEMLOCK=infinity" "--ulimit memlock=-1"; do
		grep -qF -e "$text" "$tmp/pin" || return 1
	done
}

memory_within_the_limit_is_registered()
{
	(ulimit -l 64 && as_nobody "$verbs" pin 8192 >"$tmp/pin")
	cat "$tmp/pin"
	grep -qx registered "$tmp/pin"
}

a_listing_prints_nothing_by_itself()
{
	"$verbs" why 2>&1 >"$tmp/why" | grep . && return 1
	return 0
}

run two_devices_in_order_need_no_sentence
run a_listing_prints_nothing_by_itself
run one_without_permission_is_told_and_the_other_still_listed
run a_container_without_the_nodes_is_told
run a_missing_provider_library_is_told
run a_machine_without_devices_is_told
run the_limit_of_locked_memory_is_told_with_its_remedies
run memory_within_the_limit_is_registered
run two_devices_in_order_need_no_sentence
tap_done
