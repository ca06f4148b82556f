#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What is output when RDMA is there but out of reach: causes that look alike
# through libibverbs.  It takes devices, modules and libraries away, so it runs
# in the guest of t/vm/run only.
. "${0%/*}/../lib/tap.sh"

[ -f /run/vm/job ] || skip_all "it breaks RDMA: only for the guest of t/vm/run"
. "$top/t/vm/net.sh"

verbs=$build/t/verbs/verbs.t
cm=$build/t/verbs/verbs_cm.t
pier=$build/tools/pier
as=			# who a user is
silent=			# if not empty, pier info does not nag
abi=/sys/class/infiniband_verbs/abi_version
cm_node=/dev/infiniband/rdma_cm

# says PORTS TEXT... - the number of ports listed, parts of the error message
says()
{
	"$verbs" why >"$tmp/why" 2>"$tmp/why.err"
	output "$@"
}

# says_unprivileged PORTS TEXT... - the same to a user without rights
says_unprivileged()
{
	as_nobody "$verbs" why >"$tmp/why" 2>"$tmp/why.err"
	output "$@"
}

output()
{
	cat "$tmp/why" "$tmp/why.err"
	[ "$(head -n 1 "$tmp/why")" = "$1" ] || return 1
	shift
	for text; do
		grep -qF -e "$text" "$tmp/why" || return 1
	done
}

# user COMMAND... - a program as users run it: $as and no output of its own
user()
{
	timeout 100 $as "$@" >"$tmp/user" 2>"$tmp/user.err"
}

# tells TEXT... - users get the text, by name or not; soft devices still work
tells()
{
	if user "$pier" info -d rxe0; then return 1; fi
	cat "$tmp/user.err"
	for text; do
		grep -qF -e "$text" "$tmp/user.err" || return 1
	done
	user "$pier" info --json || return 1
	grep -q '"soft_lo"' "$tmp/user" || return 1
	for text; do
		[ -n "$silent" ] || grep -qF -e "$text" "$tmp/user.err" ||
			return 1
	done
	[ -z "$silent" ] || [ ! -s "$tmp/user.err" ] || return 1
	soft_works
}

soft_works()
{
	dir=$(mktemp -d "$tmp/soft.XXXXXX") && chmod 777 "$dir" "$tmp" ||
		return 1
	soft_end receive a b &
	soft_end send b a && wait $! && return
	cat "$dir"/*.err
	return 1
}

# soft_end SAMPLE LOCAL REMOTE
soft_end()
{
	timeout 100 $as "$build/samples/rdma_$1" -d soft_lo -ld "$dir/$2" \
		-re "$dir/$3" --timeout 90 >"$dir/$2.out" 2>"$dir/$2.err"
}

as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

two_devices_in_order_need_no_message()
{
	says 2 "" && [ -z "$(sed -n 2p "$tmp/why")" ]
}

one_without_permission_is_reported_and_the_other_still_listed()
{
	chmod 600 /dev/infiniband/uverbs0 &&
	says_unprivileged 1 "/dev/infiniband/uverbs0 may not be opened" \
		"chmod 666"
	held=$?
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	[ $held -ne 0 ] ||
		tells "/dev/infiniband/uverbs0 may not be opened" "chmod 666"
	held=$?
	as=
	chmod 666 /dev/infiniband/uverbs0
	return $held
}

a_container_without_the_nodes_is_reported()
{
	mount -t tmpfs none /dev/infiniband &&
	says 0 "there is no /dev/infiniband/uverbs" \
		"--device=/dev/infiniband" &&
	tells "there is no /dev/infiniband/uverbs" "--device=/dev/infiniband"
	held=$?
	umount /dev/infiniband
	return $held
}

hide_providers()
{
	for libs in /usr/lib/*/libibverbs /usr/lib*/libibverbs; do
		[ ! -d "$libs" ] || break
	done
	mount -t tmpfs none "$libs"
}

a_missing_provider_library_is_reported()
{
	hide_providers || return 1
	says 0 "libibverbs has no provider library" "ibverbs-providers" &&
	tells "libibverbs has no provider library" "ibverbs-providers"
	held=$?
	umount "$libs"
	return $held
}

# What a driver looks like whose version no installed provider is for.
hide_provider_of_rxe()
{
	hide_providers && umount "$libs" || return 1
	mkdir -p "$tmp/libs" "$tmp/conf" &&
	cp -L "$libs"/*-rdmav*.so "$tmp/libs" && rm "$tmp"/libs/librxe-* &&
	cp /etc/libibverbs.d/*.driver "$tmp/conf" &&
	rm "$tmp/conf/rxe.driver" &&
	mount --bind "$tmp/libs" "$libs" &&
	mount --bind "$tmp/conf" /etc/libibverbs.d
}

a_driver_that_no_provider_fits_is_reported_with_its_version()
{
	hide_provider_of_rxe || return 1
	version=$(cat /sys/class/infiniband_verbs/uverbs0/abi_version)
	ls "$libs"
	says 0 "driver in the kernel (interface version $version)" \
		"install the rdma-core" &&
	tells "provider libraries do not fit" "install the rdma-core"
	held=$?
	umount /etc/libibverbs.d "$libs"
	return $held
}

# A kernel of another time.  libibverbs does not list its devices; where it asks
# by netlink it looks at the drivers' versions only, which cannot be changed.
a_kernel_that_does_not_fit_is_reported()
{
	echo 2 >"$tmp/abi"
	hide_providers && mount --bind "$tmp/abi" $abi || return 1
	says 0 "interface (version 2) and libibverbs" "install the rdma-core" &&
	tells "do not fit" "install the rdma-core"
	held=$?
	umount $abi "$libs"
	return $held
}

a_machine_without_devices_is_reported()
{
	rdma link delete rxe0 && rdma link delete rxe1 &&
	says 0 "no RDMA device" "modprobe rdma_rxe" &&
	silent=yes tells "no RDMA device" "modprobe rdma_rxe"
	held=$?
	silent=
	vm_rxe rxe0 v0 && vm_rxe rxe1 v1 || return 1
	return $held
}

# cm_says TEXT... - parts of the error of opening the connection manager
cm_says()
{
	"$cm" open >"$tmp/cm" 2>&1
	cm_output "$@"
}

cm_output()
{
	cat "$tmp/cm"
	for text; do
		grep -qF -e "$text" "$tmp/cm" || return 1
	done
}

a_connection_manager_without_permission_is_reported()
{
	chmod 600 "$cm_node" &&
	as_nobody "$cm" open >"$tmp/cm" 2>&1
	cm_output "$cm_node may not be opened" "chmod 666"
	held=$?
	chmod 666 "$cm_node"
	return $held
}

a_container_without_the_connection_manager_is_reported()
{
	mv "$cm_node" "$cm_node.away" &&
	cm_says "there is no $cm_node" "--device=/dev/infiniband"
	held=$?
	mv "$cm_node.away" "$cm_node"
	return $held
}

a_connection_manager_that_is_not_loaded_is_reported()
{
	echo "install rdma_ucm /bin/false" >/etc/modprobe.d/away.conf
	rmmod rdma_ucm && cm_says "modprobe rdma_ucm"
	held=$?
	rm /etc/modprobe.d/away.conf
	return $held
}

connecting_loads_the_connection_manager()
{
	cm_says opened && cm_says opened
}

a_device_that_is_taken_away_is_reported_to_who_connects()
{
	PIER_DEVICE=rxe1 "$cm" gone >"$tmp/cm" 2>&1 &
	vm_wait grep -q ready "$tmp/cm"
	rdma link delete rxe1
	wait $!
	cm_output ready gone released
	held=$?
	vm_rxe rxe1 v1 && return $held
}

the_limit_of_locked_memory_is_reported_with_its_remedies()
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

run two_devices_in_order_need_no_message
run a_listing_prints_nothing_by_itself
run one_without_permission_is_reported_and_the_other_still_listed
run a_container_without_the_nodes_is_reported
run a_missing_provider_library_is_reported
run a_driver_that_no_provider_fits_is_reported_with_its_version
run a_kernel_that_does_not_fit_is_reported
run a_machine_without_devices_is_reported
run a_connection_manager_without_permission_is_reported
run a_container_without_the_connection_manager_is_reported
run a_connection_manager_that_is_not_loaded_is_reported
run connecting_loads_the_connection_manager
run a_device_that_is_taken_away_is_reported_to_who_connects
run the_limit_of_locked_memory_is_reported_with_its_remedies
run memory_within_the_limit_is_registered
run two_devices_in_order_need_no_message
tap_done
