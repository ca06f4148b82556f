#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier doctor finds what is wrong with a machine: each test makes it so, in
# namespaces of its own, or with files in the place of the kernel's.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/netns.sh"
own_net "$@"
. "$top/t/lib/doctor.sh"

the_exit_status_is_that_of_the_worst()
{
	doctor || return 1
	if jq -e '.errors > 0' "$tmp/out" >/dev/null; then
		[ $status -eq 3 ]
	elif jq -e '.warnings > 0' "$tmp/out" >/dev/null; then
		[ $status -eq 1 ]
	else
		[ $status -eq 0 ]
	fi || return 1
	doctor -d no_such0 && [ $status -eq 3 ] &&
		found "chosen_device error" no_such0 \
			"| pier info lists the devices, of which -d has" ||
		return 1
	as="env PIER_DEVICE=no_such0"
	doctor && found "chosen_device error" "of which PIER_DEVICE has"
}

a_warning_is_status_1()
{
	as="taskset -c 0"
	doctor && lacks ".* error" && [ $status -eq 1 ]
}

findings_are_counted()
{
	doctor || return 1
	for grade in ok warning error; do
		key=$(echo $grade | sed 's/warning/warnings/; s/error/errors/')
		[ "$(jq ".$key" "$tmp/out")" -eq \
			"$(jq "[.findings[] | select(.grade == \"$grade\")] |
				length" "$tmp/out")" ] || return 1
	done
}

# That of JSON is seen by each doctor of these tests.
each_warning_and_error_has_a_remedy_below()
{
	taskset -c 0 "$pier" doctor -d no_such0 >"$tmp/text" 2>"$tmp/err"
	says "$tmp/text" "error    chosen_device" "warning  cpus" &&
		awk '/^[a-z]+ +[a-z_]+ / || /^[0-9]+ ok/ {
			if (owed) { print "no remedy: " owed; bad = 1 }
			owed = $1 == "ok" || /^[0-9]/ ? "" : $2
		}
		/^ *remedy: / { owed = "" }
		END { exit bad }' "$tmp/text"
}

it_is_text_too_of_80_columns()
{
	"$pier" doctor >"$tmp/text" 2>"$tmp/err"
	says "$tmp/text" "ok       device           soft_lo" \
		"ok       pier_version     pier " " ok, " &&
		awk 'length > 80 { print; wide = 1 } END { exit wide }' \
			"$tmp/text"
}

a_wrong_command_line_is_status_2()
{
	status 2 "$pier" doctor a b && says "$tmp/err" '"b"' &&
		status 2 "$pier" doctor host:99999 &&
		says "$tmp/err" "host:99999" &&
		status 2 "$pier" doctor a b c && says "$tmp/err" '"b": at' &&
		status 2 "$pier" doctor --no
}

# refused OPERAND REASON
refused()
{
	status 2 "$pier" doctor "$1" && says "$tmp/err" "\"$1\": $2"
}

a_wrong_operand_has_its_reason()
{
	for operand in 127.0.0.1:0 "[::1]:99999" localhost:x host: "[::1]:" \
	    0 99999; do
		refused "$operand" "a port is 1 to 65535" || return 1
	done
	for operand in "" :7000 7000 "[]:7000"; do
		refused "$operand" "there is no HOST" || return 1
	done
	refused "$(printf '%0128d' 0)" "HOST[:PORT] has at most 127 characters"
}

devices_are_listed_and_one_is_chosen()
{
	doctor && found "device ok" "soft_lo: lo, active, MTU 4096" &&
		found "chosen_device ok" "soft_lo is used: the first active" &&
		doctor -d soft_lo && found "chosen_device ok" "named by -d" ||
		return 1
	PIER_DEVICE=soft_lo
	export PIER_DEVICE
	doctor && found "chosen_device ok" "named by PIER_DEVICE"
}

a_gid_that_the_device_lacks_is_reported()
{
	ip addr add 10.66.0.1/32 dev lo && doctor -d soft_lo -g 99 &&
		[ $status -eq 3 ] && found "chosen_gid error" \
			"soft_lo has no GID index 99" "-g 0 to " \
			"pier info -d soft_lo" &&
		doctor -d soft_lo -g 99 127.0.0.1 && lacks answer &&
		lacks choice && lacks path_mtu && found "chosen_gid error"
	held=$?
	ip addr del 10.66.0.1/32 dev lo
	[ $held -eq 0 ] && doctor -d soft_lo -g 0 && lacks chosen_gid
}

a_device_with_a_single_gid_has_its_remedy()
{
	two_hosts && ip addr flush dev near0 &&
		ip addr add 10.77.0.1/24 dev near0 &&
		doctor -d soft_near0 -g 99 &&
		found "chosen_gid error" "| -g 0, its only one"
}

a_device_that_is_down_is_reported()
{
	two_hosts && ip link set near0 down && doctor -d soft_near0 &&
		found "device ok" "soft_near0: near0, down" \
			"ip link set near0 up" &&
		found "chosen_device error" "but it is down" \
			"| ip link set near0 up, and the cable"
}

without_an_active_device_none_is_chosen()
{
	ip link set lo down
	doctor
	held=$?
	ip link set lo up
	[ $held -eq 0 ] && [ $status -eq 3 ] &&
		found "chosen_device error" "active port among" \
			"| bring a network interface up"
}

# denied CALL[:FIRST] - what it is called with first, or any
denied()
{
	python=/usr/bin/python3
	[ -x $python ] || skip "there is no python3"
	as="$python $top/t/tools/deny.py $1"
}

that_devices_cannot_be_listed_is_reported()
{
	denied socket
	doctor && [ $status -eq 3 ] &&
		found "device error" "cannot list network interfaces" \
			"| ulimit -n 1024" && lacks chosen_device
}

no_rdma_device_is_no_fault()
{
	place <<-END
	mount -t tmpfs none /sys/class
	END
	doctor && found "missing_device ok" "is empty | load the adapter's" \
		"modprobe rdma_rxe"
}

# What the kernel has of devices without a node below /dev/infiniband.
two_adapters()
{
	cat <<-END
	mount -t tmpfs none /sys/class
	mkdir -p /sys/class/infiniband/mlx5_0 /sys/class/infiniband/mlx5_1
	END
}

each_device_that_cannot_be_used_has_its_reason()
{
	two_adapters | place
	as=$placed
	doctor && found "missing_device warning" \
		"mlx5_0: there is no /dev/infiniband/" \
		") | modprobe ib_uverbs; a container needs" &&
		found "missing_device warning" "mlx5_1: there is no" &&
		[ $status -eq 1 ] &&
		jq -e '[.findings[] | select(.check == "missing_device") |
			.device] | sort == ["mlx5_0", "mlx5_1"]' "$tmp/out"
}

# one_adapter COMMAND - with a node; the command makes something else, too
one_adapter()
{
	: >"$tmp/null"
	place <<-END
	mount --bind /dev/null $tmp/null
	mount -t tmpfs none /dev
	mkdir /dev/infiniband
	: >/dev/infiniband/uverbs0
	: >/dev/null
	mount --bind $tmp/null /dev/null
	mount -t tmpfs none /sys/class
	mkdir -p /sys/class/infiniband/mlx5_0
	mkdir -p /sys/class/infiniband_verbs/uverbs0
	echo mlx5_0 >/sys/class/infiniband_verbs/uverbs0/ibdev
	$1
	END
}

the_remedy_is_that_of_the_reason()
{
	rights=-dac_override,-dac_read_search
	one_adapter "chmod 0 /dev/infiniband/uverbs0"
	as="$placed setpriv --bounding-set=$rights --inh-caps=$rights"
	doctor && found "missing_device warning" "may not be opened" \
			") | chmod 666 it" || return 1
	one_adapter "echo 99 >/sys/class/infiniband_verbs/abi_version"
	doctor && found "missing_device warning" "mlx5_0: the kernel's" \
		"do not fit | install the rdma-core"
}

gids_that_are_not_chosen_have_the_reason()
{
	two_hosts && ip addr add fe80::77/64 dev near0 nodad &&
		ip addr add fd00:77::1/64 dev near0 nodad &&
		ip addr add fd00:77::2/64 dev near0 nodad preferred_lft 0 &&
		doctor && found "rejected_gid ok" "fe80::77" "link-local" \
			"uses it nevertheless" &&
		found "rejected_gid ok" "fd00:77::2" "it expires" &&
		! grep -q "fd00:77::1" "$tmp/lines" &&
		lacks "no_gid .*"
}

a_device_without_any_other_is_reported()
{
	two_hosts && ip addr flush dev near0 &&
		ip addr add fe80::77/64 dev near0 nodad && doctor &&
		found "no_gid warning" "soft_near0 has no GID that" \
			"ip addr add ADDRESS/24 dev near0" &&
		doctor -d soft_near0 && found "no_gid error" soft_near0
}

little_locked_memory_matters_to_rdma_devices_alone()
{
	as="setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock"
	(ulimit -l 64 && doctor) &&
		found "locked_memory ok" "64 KiB; soft devices lock none" ||
		return 1
	two_adapters | place
	as="$placed setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock"
	(ulimit -l 64 && doctor) &&
		found "locked_memory warning" "64 KiB, which holds few" \
			"ulimit -l unlimited" LimitMEMLOCK "--ulimit memlock" ||
		return 1
	! raised 131072 || {
		ulimit -l 131072 && doctor &&
			found "locked_memory ok" "is 128 MiB"
	}
}

# raised KIB - may the limit be that, here?
raised()
{
	(ulimit -l "$1") 2>/dev/null
}

locked_memory_without_a_limit_is_reported()
{
	raised unlimited || skip "the limit of locked memory cannot be raised"
	ulimit -l unlimited && doctor &&
		found "locked_memory ok" "no limit of locked memory |"
}

root_is_exempt_from_the_limit()
{
	[ "$(readlink /proc/self/ns/user)" = "user:[4026531837]" ] ||
		skip "this is not the first user namespace"
	(ulimit -l 64 && doctor) &&
		found "locked_memory ok" "which has CAP_IPC_LOCK"
}

small_socket_buffers_are_reported()
{
	doctor && found "receive_buffer ok" "get 8 MiB of the 8 MiB" &&
		found "send_buffer ok" "get 8 MiB of the 8 MiB" || return 1
	as="setpriv --bounding-set=-net_admin --inh-caps=-net_admin"
	doctor || return 1
	grep -q "_buffer ok.*8 MiB of" "$tmp/lines" &&
		skip "net.core.rmem_max is as large as that"
	found "receive_buffer warning" "they lose packets under load" \
		"sysctl -w net.core.rmem_max=8388608" &&
		found "send_buffer warning" \
			"sysctl -w net.core.wmem_max=8388608"
}

# Which tools cannot include.
the_size_of_a_buffer_is_that_of_the_library()
{
	[ "$(sed -n 's/^#define BUFFER_SIZE \(([^)]*)\).*/\1/p' \
		"$top/lib/fabric/soft/io/udp.c")" = \
	"$(sed -n 's/^#define SOCKET_BUFFER \(([^)]*)\).*/\1/p' \
		"$top/tools/doctor_limits.c")" ] &&
	[ "$(sed -n 's/^#define OVERHEAD \([0-9]*\)$/\1/p' \
		"$top/lib/fabric/soft/io/netif.c")" = \
	"$(sed -n 's/^#define DOCTOR_OVERHEAD \([0-9]*\).*/\1/p' \
		"$top/tools/doctor.h")" ]
}

free_ports_are_reported()
{
	doctor && found "udp_port ok" "UDP port 4791: free, and packets" &&
		found "udp_port ok" "UDP port 13579: free" &&
		found "udp_port ok" "UDP ports of connections: packets arrive"
}

a_process_that_has_the_port_of_roce_is_reported()
{
	listen 4791 && doctor &&
		found "udp_port warning" "4791: another process has it" \
			"ss -ulnp sport = :4791" || return 1
	place <<-END
	mount -t tmpfs none /sys/module
	mkdir /sys/module/rdma_rxe
	echo 0 >/sys/module/rdma_rxe/refcnt
	END
	doctor && found "udp_port ok" "4791: rdma_rxe has it"
}

a_server_on_this_host_is_no_fault()
{
	listen 13579 && doctor &&
		found "udp_port ok" "13579: another process has it"
}

a_port_that_this_user_may_not_use_is_reported()
{
	as="setpriv --bounding-set=-net_bind_service \
		--inh-caps=-net_bind_service"
	doctor --timeout 1 -d soft_lo 127.0.0.1:7 &&
		found "udp_port ok" "UDP port 7: cannot be used: Permission" \
			"net.ipv4.ip_unprivileged_port_start=7"
}

# Without sockets of IPv4, whose domain is 2.
a_port_that_cannot_be_used_is_an_error()
{
	denied socket:2
	doctor -d soft_lo && [ $status -eq 3 ] &&
		found "udp_port error" "4791: cannot be used: Operation not" \
			"| ulimit -n 1024" &&
		found "udp_port error" "13579: cannot be used" &&
		found "udp_port error" "connections: cannot be used"
}

that_no_port_is_left_is_an_error()
{
	range=/proc/sys/net/ipv4/ip_local_port_range
	old=$(cat $range)
	listen 40000 && echo "40000 40000" >$range && doctor -d soft_lo
	held=$?
	echo "$old" >$range
	[ $held -eq 0 ] && found "udp_port error" \
			"connections: cannot be used: Address already" \
			"sysctl -w net.ipv4.ip_local_port_range" &&
		found "udp_port error" "port 13579: cannot be used: Address"
}

# rules HOOK RULE... - of a firewall
rules()
{
	hook=$1
	shift
	{
		echo "table inet filter { chain $hook {"
		echo "type filter hook $hook priority 0"
		printf '%s\n' "$@" "}" "}"
	} | nft -f -
}

no_rules()
{
	nft flush ruleset
}

firewalled()
{
	command -v nft >/dev/null || skip "there is no nft"
	rules "$@" || return 1
	doctor
	held=$?
	no_rules
	return $held
}

a_firewall_that_drops_packets_is_reported()
{
	firewalled input "udp dport 4791 drop" &&
		found "udp_port error" "4791: a firewall of this host drops" \
			"udp dport 4791 accept" &&
		found "udp_port ok" "13579: free" &&
		found "nftables warning" "inet filter input drops" \
			"UDP port 4791" "nft insert rule inet filter input" &&
		[ $status -eq 3 ] || return 1
	firewalled input "policy drop" "udp dport { 4791, 5000 } accept" &&
		found "udp_port ok" "4791: free" &&
		found "udp_port error" "13579: a firewall" &&
		found "udp_port error" "UDP ports of connections: a firewall" \
			"udp dport $(tr '\t' - \
			</proc/sys/net/ipv4/ip_local_port_range) accept" &&
		found "nftables warning" "UDP port 13579" &&
		! grep "nftables.*4791" "$tmp/lines"
}

a_firewall_that_lets_no_packet_leave_is_reported()
{
	firewalled output "udp dport 4791 drop" &&
		found "udp_port error" "4791:" "does not let packets leave"
}

rules_that_drop_nothing_are_in_order()
{
	firewalled input "udp dport 1000-2000 drop" "tcp dport 4791 drop" \
	    "udp dport != 4791 accept" "ct state established accept" \
	    "iifname eth7 drop" &&
		found "nftables ok" "no rule that could be read drops"
}

# not_known RULE... - may they let a packet pass, which the policy drops?
not_known()
{
	firewalled input "policy drop" "$@" &&
		found "nftables ok" "whether chain inet filter input drops" \
			"UDP port 4791 is not known: a rule" &&
		lacks "nftables warning" &&
		! grep "no rule that could be read" "$tmp/lines"
}

rules_that_may_accept_before_a_policy_are_not_judged()
{
	not_known "ip saddr 10.0.0.0/8 accept" &&
		not_known "iifname eth7 accept" &&
		not_known "limit rate 10/second accept" &&
		not_known "ct count 5 accept" &&
		not_known "ip protocol udp accept" &&
		not_known "ip protocol != tcp accept" &&
		not_known "udp sport vmap { 68 : accept }" &&
		not_known "ip saddr 10.0.0.0/8 udp dport vmap \
			{ 4791 : accept, 13579 : accept }" &&
		not_known "ip saddr 10.0.0.1 accept" "udp dport 4791 drop" &&
		not_known "ip saddr 10.0.0.1 ip daddr 10.0.0.2 accept" \
			"ip saddr 10.0.0.3 drop" || return 1
	nft 'add table inet filter; add chain inet filter more
		add set inet filter ports { type inet_service; }'
	not_known "udp dport @ports accept" || return 1
	nft 'add table inet filter; add chain inet filter more'
	not_known "jump more"
}

# dropped RULE... - by the policy, as the rules are of other packets
dropped()
{
	firewalled input "policy drop" "$@" &&
		found "nftables warning" "inet filter input drops packets" \
			"UDP port 4791" || return 1
}

# Those of most firewalls: none has a first packet from another host.
rules_of_other_packets_do_not_hide_a_policy()
{
	two_hosts || return 1
	as="env PIER_DEVICE=soft_near0"
	dropped "ct state established,related accept" "iif lo accept" \
		"iifname { lo } accept" "ct state { established } accept" \
		"ct state vmap { established : accept, invalid : drop }" \
		"tcp dport != 22 accept" "tcp dport vmap { 22 : accept }" \
		"meta l4proto { icmp, ipv6-icmp } accept" \
		"ip protocol icmp accept" "ip6 nexthdr icmpv6 accept" \
		"icmp type echo-request accept" \
		"ip saddr 10.0.0.1 udp dport 53 accept" \
		"meta l4proto != udp accept" "ct state != new accept" \
		"ip saddr 10.0.0.1 drop" "counter" "log" || return 1
	dropped "udp dport 4791 return" "udp dport 4791 accept" &&
		dropped "udp dport vmap { 4791 : drop }" "accept" &&
		dropped 'iif != "lo" drop' "accept" || return 1
	firewalled input "policy drop" "ct state new accept" &&
		found "nftables ok" "no rule that could be read" &&
		firewalled input "policy drop" \
			"ct state vmap { new : accept }" &&
		found "nftables ok" "no rule that could be read" &&
		firewalled input "policy drop" "ct state established,new \
			meta l4proto { tcp, udp } accept" &&
		found "nftables ok" "no rule that could be read" || return 1
	as="env PIER_DEVICE=soft_lo"
	firewalled input "policy drop" "iif lo accept" &&
		found "nftables ok" "no rule that could be read"
}

a_host_without_nft_is_no_fault()
{
	command -v nft >/dev/null || skip "there is no nft"
	place <<-END
	mount --bind /dev/null $(readlink -f "$(command -v nft)")
	END
	doctor && found "nftables ok" "its rules cannot be read here"
}

rules_that_cannot_be_read_are_no_fault()
{
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chmod 755 "$tmp" && $as test -x "$pier" ||
		skip "user 65534 cannot run the tool here"
	doctor && found "nftables ok" "cannot be read by this user"
}

one_processor_is_a_warning()
{
	as="taskset -c 0"
	doctor && found "cpus warning" "1 of the " "take turns"
}

a_machine_of_one_processor_has_another_remedy()
{
	echo 0 >"$tmp/online"
	place <<-END
	mount --bind $tmp/online /sys/devices/system/cpu/online
	END
	as="$placed taskset -c 0"
	doctor && found "cpus warning" "1 of the 1 processors" \
		"give the machine another processor"
}

# governed NAME
governed()
{
	place <<-END
	mount -t tmpfs none /sys/devices/system/cpu/cpu0
	mkdir /sys/devices/system/cpu/cpu0/cpufreq
	echo $1 >/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
	END
	doctor
}

a_governor_that_saves_power_is_a_warning()
{
	governed powersave && found "governor warning" "is powersave" \
		"cpupower frequency-set -g performance" &&
		governed performance && found "governor ok" "is performance" ||
		return 1
	place <<-END
	mount -t tmpfs none /sys/devices/system/cpu/cpu0
	END
	doctor && found "governor ok" "does not control"
}

# A filter as those of containers.
calls_that_are_denied_are_reported()
{
	doctor && found "system_call ok" "executes the calls" || return 1
	for call in io_uring_setup memfd_create openat2 mbind; do
		denied $call
		doctor && found "system_call warning" "$call is denied" \
			"seccomp" || return 1
		[ "$(grep -c '^system_call' "$tmp/lines")" -eq 1 ] || return 1
	done
}

# grouped LINE NAME=TEXT... - the line of /proc/self/cgroup, and files
grouped()
{
	echo "$1" >"$tmp/cgroup"
	shift
	{
		echo "mount --bind $tmp/cgroup /proc/\$\$/cgroup"
		echo "mount -t tmpfs none /sys/fs/cgroup"
		for file; do
			name=/sys/fs/cgroup/${file%%=*}
			echo "mkdir -p ${name%/*}"
			echo "echo ${file#*=} >$name"
		done
	} | place
	as=$placed
	doctor
}

limits_of_a_container_are_reported()
{
	grouped 0::/a/b a/memory.max=33554432 a/b/memory.max=max \
	    a/b/pids.max=20 a/b/cpu.max="50000 100000" &&
		found "container_memory warning" "to 32 MiB" "--memory" &&
		found "container_pids warning" "to 20: " "--pids-limit" &&
		found "container_cpu warning" "0.50 processors" "--cpus" &&
		grouped 0::/ memory.max=8589934592 pids.max=4096 \
			cpu.max="200000 100000" &&
		found "container_memory ok" "to 8 GiB" &&
		found "container_pids ok" "to 4096" &&
		found "container_cpu ok" "2.00 processors"
}

limits_of_control_groups_of_version_1_are_reported()
{
	grouped 3:cpu,cpuacct:/x cpu/x/cpu.cfs_quota_us=25000 \
	    cpu/x/cpu.cfs_period_us=100000 &&
		found "container_cpu warning" "0.25 processors" &&
		found "container_pids ok" "no control group limits" &&
		grouped 4:memory:/x memory/memory.limit_in_bytes=67108864 &&
		found "container_memory warning" "to 64 MiB" &&
		grouped 5:pids:/ pids/pids.max=30 &&
		found "container_pids warning" "to 30"
}

a_machine_without_limits_is_in_order()
{
	grouped 0::/a a/memory.max=max a/pids.max=max \
	    a/cpu.max="max 100000" &&
		found "container_memory ok" "no control group" &&
		found "container_pids ok" "no control group" &&
		found "container_cpu ok" "no control group" &&
		grouped 4:memory:/ \
			memory/memory.limit_in_bytes=9223372036854771712 &&
		found "container_memory ok" "no control group"
}

versions_are_printed()
{
	library=$(ldd "$build/lib/.libs/libpier.so" |
		sed -n 's/.*libibverbs.so.* => \([^ ]*\) .*/\1/p')
	core=$(readlink -f "$library" | sed 's/.*\.so\.[0-9]*\.[0-9]*\.//')
	doctor && found "pier_version ok" "pier $(sed -n \
		's/.*PIER_VERSION "\(.*\)"/\1/p' \
		"$top/lib/include/pier/version.h")" &&
		found "kernel_version ok" "Linux $(uname -r)" &&
		found "rdma_core ok" "rdma-core $core:"
}

# A library whose file has another name than that of rdma-core.
a_version_of_rdma_core_may_not_be_known()
{
	! grep -q '^SANITIZE_FLAGS = *[^ ]' "$build/Makefile" ||
		skip "a sanitizer has to be the first library"
	mkdir "$tmp/other" && cp "$(ldd "$build/lib/.libs/libpier.so" |
		sed -n 's/.*libibverbs.so.* => \([^ ]*\) .*/\1/p')" \
		"$tmp/other/libibverbs.so.1" || return 1
	as="env LD_LIBRARY_PATH=$tmp/other"
	doctor && found "rdma_core ok" \
		"a version that is not known: $tmp/other/libib" || return 1
	mv "$tmp/other/libibverbs.so.1" "$tmp/other/verbs.so"
	as="env LD_PRELOAD=$tmp/other/verbs.so"
	doctor && found "rdma_core ok" "the version of rdma-core is not known"
}

modules_are_required_by_rdma_devices_alone()
{
	place <<-END
	mount -t tmpfs none /sys/class
	mount -t tmpfs none /sys/module
	END
	doctor && found "kernel_module ok" "ib_uverbs is not loaded" \
		"soft devices do not need it" &&
		found "kernel_module ok" "rdma_rxe is not loaded" || return 1
	{
		two_adapters
		echo mount -t tmpfs none /sys/module
		echo mkdir /sys/module/ib_uverbs
		echo "echo 1 >/sys/module/ib_uverbs/refcnt"
	} | place
	as=$placed
	doctor && found "kernel_module ok" "ib_uverbs is loaded" &&
		found "kernel_module warning" "rdma_ucm is not loaded" \
			"modprobe rdma_ucm"
}

# sysfs has what they have made, and no modules.
modules_may_be_a_part_of_the_kernel()
{
	{
		two_adapters
		echo mount -t tmpfs none /sys/module
		made infiniband_verbs
		made misc/rdma_cm
	} | place
	as=$placed
	doctor && found "kernel_module ok" "ib_uverbs is loaded" &&
		found "kernel_module ok" "rdma_ucm is loaded" &&
		found "kernel_module ok" "rdma_rxe is not loaded"
}

# made FOLDER - a module has made it
made()
{
	echo "mkdir -p /sys/class/$1"
	echo "echo 6 >/sys/class/$1/abi_version"
}

run the_exit_status_is_that_of_the_worst
run a_warning_is_status_1
run findings_are_counted
run each_warning_and_error_has_a_remedy_below
run it_is_text_too_of_80_columns
run a_wrong_command_line_is_status_2
run a_wrong_operand_has_its_reason
run devices_are_listed_and_one_is_chosen
run a_gid_that_the_device_lacks_is_reported
run a_device_with_a_single_gid_has_its_remedy
run a_device_that_is_down_is_reported
run without_an_active_device_none_is_chosen
run that_devices_cannot_be_listed_is_reported
run no_rdma_device_is_no_fault
run each_device_that_cannot_be_used_has_its_reason
run the_remedy_is_that_of_the_reason
run gids_that_are_not_chosen_have_the_reason
run a_device_without_any_other_is_reported
run little_locked_memory_matters_to_rdma_devices_alone
run locked_memory_without_a_limit_is_reported
run root_is_exempt_from_the_limit
run small_socket_buffers_are_reported
run the_size_of_a_buffer_is_that_of_the_library
run free_ports_are_reported
run a_process_that_has_the_port_of_roce_is_reported
run a_server_on_this_host_is_no_fault
run a_port_that_this_user_may_not_use_is_reported
run a_port_that_cannot_be_used_is_an_error
run that_no_port_is_left_is_an_error
run a_firewall_that_drops_packets_is_reported
run a_firewall_that_lets_no_packet_leave_is_reported
run rules_that_drop_nothing_are_in_order
run rules_that_may_accept_before_a_policy_are_not_judged
run rules_of_other_packets_do_not_hide_a_policy
run a_host_without_nft_is_no_fault
run rules_that_cannot_be_read_are_no_fault
run one_processor_is_a_warning
run a_machine_of_one_processor_has_another_remedy
run a_governor_that_saves_power_is_a_warning
run calls_that_are_denied_are_reported
run limits_of_a_container_are_reported
run limits_of_control_groups_of_version_1_are_reported
run a_machine_without_limits_is_in_order
run versions_are_printed
run a_version_of_rdma_core_may_not_be_known
run modules_are_required_by_rdma_devices_alone
run modules_may_be_a_part_of_the_kernel
tap_done
