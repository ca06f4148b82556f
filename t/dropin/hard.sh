#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs whose peers are killed, that are many, or that find no port.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/peers.sh"
need ibverbs-utils ibv_rc_pingpong ibv_devinfo
need rdmacm-utils rping
need perftest ib_write_bw
own_net "$@"
ip link set lo up

sends_packets()
{
	"$pier" counters "$server" 2>/dev/null | grep -q tx_packets
}

# It has requests that are not answered any more.  A program that has none, and
# waits for a message, waits for ever, as with an adapter.
a_program_whose_peer_is_killed_ends()
{
	export PIER_SHM=off
	next_port
	"$pier" run -- ib_write_bw -d soft_lo -x 0 -D 60 -p "$port" \
	    >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 listens_or_ended
	timeout -k 5 60 "$pier" run --stats -- ib_write_bw -d soft_lo -x 0 \
	    -D 60 -p "$port" 127.0.0.1 >"$tmp/client" 2>&1 &
	client=$!
	wait_for 20 sends_packets
	"$pier" counters "$server" | grep "connection 0x" || return
	kill -9 "$server"
	wait $client
	client=$?
	unset PIER_SHM
	[ $client -eq 1 ] || echo "exit $client"
	[ $client -eq 1 ] && says "$tmp/client" "Failed status 12"
}

listening()
{
	cat /proc/net/tcp /proc/net/tcp6 | grep -c ':0000 0A '
}

all_listen()
{
	[ "$(listening)" -eq "$1" ]
}

# Each has a device of its own, and each pair its data.
fifty_processes_run_at_once()
{
	clients=
	for i in $(seq 25); do
		timeout -k 5 120 "$pier" run -- ibv_rc_pingpong -d soft_lo \
		    -g 0 -e -c -n 20 -p $((20000 + i)) >"$tmp/s$i" 2>&1 &
	done
	wait_for 60 all_listen 25 || return
	for i in $(seq 25); do
		timeout -k 5 120 "$pier" run -- ibv_rc_pingpong -d soft_lo \
		    -g 0 -e -c -n 20 -p $((20000 + i)) 127.0.0.1 \
		    >"$tmp/c$i" 2>&1 &
		clients="$clients $!"
	done
	for client in $clients; do
		wait "$client" || return
	done
	wait
	[ "$(cat "$tmp"/[sc][0-9]* | grep -c '20 iters in')" -eq 50 ]
}

# With and without shared memory, which is one user's own.
users_exchange_data()
{
	next_port
	PIER_SHM=$1 "$pier" run -- ibv_rc_pingpong -d soft_lo -g 0 -e -c \
	    -n 100 -p "$port" >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 listens_or_ended
	PIER_SHM=$1 timeout -k 5 60 $as_another "$pier" run -- \
	    ibv_rc_pingpong -d soft_lo -g 0 -e -c -n 100 -p "$port" 127.0.0.1 \
	    >"$tmp/client" 2>&1
	client=$?
	both_succeed && says "$tmp/client" "100 iters in" &&
	    says "$tmp/server" "100 iters in"
}

# Ids find their listener at an address that one user's process has.
users_connect()
{
	next_port
	timeout -k 5 60 "$pier" run -- rping -s -a 127.0.0.1 -C 10 -V \
	    -p "$port" >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 accepts_or_ended
	timeout -k 5 60 $as_another "$pier" run -- rping -c -a 127.0.0.1 -C 10 \
	    -V -v -p "$port" >"$tmp/client" 2>&1
	client=$?
	pings_succeed && says "$tmp/client" "ping data: rdma-ping-9"
}

programs_of_two_users_meet()
{
	[ "$(id -u)" -eq 0 ] || skip "only root has several users"
	as_another="setpriv --reuid=65534 --regid=65534 --clear-groups"
	$as_another test -r "$dropin" ||
		skip "other users have no access to the build tree"
	users_exchange_data off && users_exchange_data auto &&
	    users_connect
}

# Those that a number of a queue pair can carry.
cat >"$tmp/ports.py" <<'END'
import resource, signal, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (5000, 5000))
taken = [socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    for _ in range(4096)]
for i, one in enumerate(taken):
    one.bind(("::", 49152 + i))
print("taken", flush=True)
signal.pause()
END

that_all_ports_are_taken_is_reported()
{
	[ "$(id -u)" -eq 0 ] || skip "the limit of files may be too low"
	python3 "$tmp/ports.py" >"$tmp/ports" &
	wait_for 30 grep -q taken "$tmp/ports" || return
	status 1 "$pier" run -- ibv_devinfo -d soft_lo &&
	    says "$tmp/err" "all UDP ports from 49152 to 53246 are taken"
}

# The reason is that of the option, not that there is no device.
what_pier_faults_has_wrong_is_reported()
{
	status 1 env PIER_FAULTS=loss=200 "$pier" run -- \
	    ibv_devinfo -d soft_lo && says "$tmp/err" "loss=0 to 100"
}

what_pier_roce_peers_has_wrong_is_reported()
{
	for peers in 10.0.0.0/33 fd00::1/129 host 10.0.0.1/ 10.0.0.1,; do
		status 1 env PIER_ROCE_PEERS="$peers" "$pier" run -- \
		    ibv_devinfo -d soft_lo &&
		    says "$tmp/err" "PIER_ROCE_PEERS=$peers: addresses" ||
			return
	done
	status 0 env PIER_ROCE_PEERS=::/0,10.0.0.0/8,10.9.0.1 "$pier" run -- \
	    ibv_devinfo -d soft_lo
}

run a_program_whose_peer_is_killed_ends
run fifty_processes_run_at_once
run programs_of_two_users_meet
run that_all_ports_are_taken_is_reported
run what_pier_faults_has_wrong_is_reported
run what_pier_roce_peers_has_wrong_is_reported
tap_done
