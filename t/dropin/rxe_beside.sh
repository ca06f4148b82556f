#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Under pier run the kernel's Soft-RoCE is a real device, beside soft ones.  The
# programs run under one of them: pier run takes longest in the guest.
. "${0%/*}/../lib/tap.sh"
[ -f /run/vm/job ] || skip_all "only for the guest of t/vm/run"
. "$top/t/lib/dropin.sh"
need ibverbs-utils ibv_devices ibv_rc_pingpong
need perftest ib_send_bw
need rdmacm-utils rping rdma_server rdma_client rstream

# What they print is in files; pairs have the status of both.
cat >"$tmp/all" <<'END'
cd "$1" || exit
ibv_devices >devices
ibv_devinfo -v -d rxe0 >rxe0
ls /sys/class/infiniband >names
ls /dev/infiniband >nodes
cat /sys/class/infiniband_verbs/uverbs0/ibdev \
    /sys/class/infiniband/soft_lo/ports/1/state >contents
rxe_gid=$(sed -n 's/.*GID\[ *\([0-9]*\)\].*::ffff:10.9.0.1,.*/\1/p' rxe0)

# pair NAME PORT COMMAND...
pair()
{
	name=$1 port=$2
	shift 2
	timeout 60 "$@" -p "$port" >"$name.server" 2>&1 &
	server=$!
	until grep -q "$(printf ':%04X [0-9A-F]*:0000 0A ' "$port")" \
	    /proc/net/tcp /proc/net/tcp6; do
		kill -0 $server || break
		sleep 0.1
	done
	timeout 60 "$@" -p "$port" 127.0.0.1 >"$name.client" 2>&1
	client=$?
	wait $server
	echo "$client $?" >"$name"
}

for device in rxe0 soft_lo; do
	gid=0
	[ $device = soft_lo ] || gid=$rxe_gid
	pair pingpong.$device "$2" ibv_rc_pingpong -d $device -g "$gid" \
	    -n 20 -c -e
	pair bytes.$device "$2" ib_send_bw -d $device -x "$gid" -n 20
done

# packets - that rxe0 has sent
packets()
{
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
}

# served COMMAND... - in the background, with a port of rdma_cm
served()
{
	timeout 60 "$@" >server 2>&1 &
	server=$!
	until grep -q "$(printf ':%04X ' "$3")" /proc/net/udp /proc/net/udp6; do
		kill -0 $server || break
		sleep 0.1
	done
}

# client NAME ADDRESS COMMAND... - "yes" if its bytes go by rxe0
client()
{
	name=$1 address=$2 before=$(packets)
	shift 2
	timeout 60 "$@" "$address" >"$name.client" 2>&1
	echo "$? $(test "$(packets)" -gt "$before" && echo yes)" >"$name"
}

served rping -p "$2" -s -P
client any.rxe0 10.9.0.1 rping -p "$2" -c -C 5 -V -a
client any.soft_lo 127.0.0.1 rping -p "$2" -c -C 5 -V -a
kill $server
wait $server
served rdma_server -p "$2"
client waits 10.9.0.1 rdma_client -p "$2" -s
wait $server
served rstream -p "$2" -T v -S 1000 -C 20
client stream 10.9.0.1 rstream -p "$2" -T v -S 1000 -C 20 -s
wait $server
timeout 60 rping -p "$2" -s -a 10.9.0.1 -C 5 >server 2>&1 &
server=$!
until rdma resource show cm_id | grep -q "LISTEN.*:$2 "; do
	kill -0 $server || break
	sleep 0.1
done
client one 10.9.0.1 rping -p "$2" -c -C 5 -V -a
wait $server
END
next_port
"$pier" run --json -- sh "$tmp/all" "$tmp" "$port" >"$tmp/json" 2>"$tmp/err"

real_devices_come_first()
{
	awk 'NR > 2 { print $1 }' "$tmp/devices" >"$tmp/listed"
	[ "$(sed -n 1,2p "$tmp/listed" | sort | tr '\n' ' ')" = \
	    "rxe0 rxe1 " ] && says "$tmp/listed" soft_lo soft_v0
}

only_soft_ones_are_listed()
{
	status 0 "$pier" run --only-soft -- ibv_devices &&
	    says "$tmp/out" soft_lo && ! grep rxe "$tmp/out"
}

json_has_both()
{
	[ "$(jq -c '.real_devices | sort' "$tmp/json")" = \
	    '["rxe0","rxe1"]' ] &&
	    [ "$(jq -c '.devices[:2] | sort' "$tmp/json")" = \
		'["rxe0","rxe1"]' ] && says "$tmp/json" '"soft_lo"'
}

folders_have_both()
{
	says "$tmp/names" rxe0 soft_lo &&
	    says "$tmp/nodes" rdma_cm uverbs0 uverbs1 uverbs2 &&
	    says "$tmp/contents" rxe "4: ACTIVE"
}

# succeeded NAME
succeeded()
{
	[ "$(cat "$tmp/$1")" = "0 0" ] || {
		cat "$tmp/$1" "$tmp/$1.server" "$tmp/$1.client"
		return 1
	}
}

# -c compares what was received.
a_pingpong_succeeds()
{
	succeeded "pingpong.$device" &&
	    says "$tmp/pingpong.$device.client" "20 iters in"
}

bytes_are_measured()
{
	succeeded "bytes.$device" &&
	    says "$tmp/bytes.$device.client" "65536"
}

# went NAME YES
went()
{
	[ "$(cat "$tmp/$1")" = "0 $2" ] || {
		cat "$tmp/$1" "$tmp/$1.client"
		return 1
	}
}

one_listener_has_both_kinds()
{
	went any.rxe0 yes && went any.soft_lo ""
}

an_address_of_a_real_device_is_its_own()
{
	went one yes
}

calls_wait_for_their_end()
{
	went waits yes
}

streams_are_verified()
{
	went stream yes
}

run real_devices_come_first
run only_soft_ones_are_listed
run json_has_both
run folders_have_both
for device in rxe0 soft_lo; do
	run a_pingpong_succeeds "on $device"
	run bytes_are_measured "on $device"
done
run one_listener_has_both_kinds
run an_address_of_a_real_device_is_its_own
run calls_wait_for_their_end
run streams_are_verified
tap_done
