# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # $tmp, $pier, $port
#
# Programs of Debian as they are, and pier's own: a server at one end and its
# client at another or the same.  Source it after dropin.sh.  The ends are
# "near", which is here, and "far".  A test of one host calls `alone`; another
# sets
#
#	near_device near_host	and of the far end: its device and address
#	to_far			the command that runs others there
#	kernel			which one has rdma-core's libraries, if any
#	near_env far_env	NAME=VALUE... of the programs there, if any
#
# and calls `find_gids`, then `ways`.

rounds=200
kernel=
near_env=
far_env=
brief=false	# of what is measured in several ways: one
. "$top/t/lib/perftest.sh"

near()
{
	device=$near_device gid=$near_gid host=$near_host
}

far()
{
	device=$far_device gid=$far_gid host=$far_host
}

# at END COMMAND...
at()
{
	end=$1
	shift
	case $end in
	near)	"$@" ;;
	*)	$to_far "$@" ;;
	esac
}

# program END COMMAND... - with RDMA, for a minute, which PIER_TEST_SLOWER
# stretches
program()
{
	end=$1
	shift
	[ "$end" = "$kernel" ] || set -- "$pier" run --only-soft -- "$@"
	case $end in
	near)	words=$near_env ;;
	*)	words=$far_env ;;
	esac
	# shellcheck disable=SC2086 # words
	at "$end" timeout -k 5 $((60 * ${PIER_TEST_SLOWER:-1})) \
	    env $words "$@"
}

# Is the server ready for connections, or at its end?
accepts()
{
	[ "$server_at" = "$kernel" ] || {
		accepts_or_ended at "$server_at"
		return
	}
	vm_listens "$port" || ! kill -0 "$server" 2>/dev/null
}

# ways SERVER CLIENT - which ends they are at, in the tests from here on
ways()
{
	server_at=$1
	client_at=$2
	"$client_at"
	client_device=$device client_gid=$gid client_address=$host
	"$server_at"
	address=$host
	where="server on $device"
}

# alone [ADDRESS] - both on the interface of the address, or on lo
alone()
{
	near_device=soft_lo near_gid=0 near_host=${1:-127.0.0.1}
	ways near near
}

# gid_index END DEVICE ADDRESS - of the GID
gid_index()
{
	program "$1" ibv_devinfo -v -d "$2" |
	    sed -n "s/.*GID\[ *\([0-9]*\)\].*[[:space:]]$3,.*/\1/p"
}

find_gids()
{
	near_gid=$(gid_index near "$near_device" "::ffff:$near_host")
	far_gid=$(gid_index far "$far_device" "::ffff:$far_host")
}

# begin PROGRAM ARG... - the server
begin()
{
	program "$server_at" "$@" >"$tmp/server" 2>&1 &
	server=$!
}

# finish PROGRAM ARG... - the client
finish()
{
	program "$client_at" "$@" >"$tmp/client" 2>&1
	client=$?
}

# The client has succeeded; the server goes on until it is ended.
end_server()
{
	# shellcheck disable=SC2046 # more than one
	kill $(pgrep -P "$server")
	wait "$server"
	[ "$client" -eq 0 ] || {
		cat "$tmp/client" "$tmp/server"
		return 1
	}
}

# pair_at OPTION PROGRAM ARG... - on their devices; OPTION is that of the GID
pair_at()
{
	option=$1
	shift
	next_port
	begin "$@" -d "$device" "$option" "$gid" -p "$port"
	wait_for 30 listens_or_ended at "$server_at"
	finish "$@" -d "$client_device" "$option" "$client_gid" -p "$port" \
	    "$address"
	both_succeed
}

pingpong()
{
	pair_at -g "$@" -n "$rounds" && says "$tmp/client" "$rounds iters in" &&
	    says "$tmp/server" "$rounds iters in"
}

# connected PROGRAM ARG... - a server that is ready
connected()
{
	next_port
	begin "$@" -p "$port"
	wait_for 30 accepts
}

# -c compares what was received.
a_pingpong_polls()
{
	pingpong ibv_rc_pingpong -c
}

a_pingpong_waits_for_events()
{
	pingpong ibv_rc_pingpong -c -e
}

a_pingpong_posts_call_by_call()
{
	pingpong ibv_rc_pingpong -c -N
}

# rxe has no on-demand paging.
a_pingpong_registers_on_demand()
{
	pingpong ibv_rc_pingpong -c -o && pingpong ibv_rc_pingpong -c -o -O
}

receives_are_shared()
{
	pingpong ibv_srq_pingpong
}

datagrams_are_sent()
{
	pingpong ibv_ud_pingpong -s 1024
}

# rping closes its event channel while a thread of its own may wait for the next
# event, and exits with 255 if that thread sees it first.
has_closed_its_channel()
{
	[ "$client" -eq 255 ] &&
	    grep -q "rdma_get_cm_event: Bad file descriptor" "$tmp/client"
}

# rping and its server have.
pings_succeed()
{
	! has_closed_its_channel || client=0
	both_succeed
}

# -V compares what was received.
a_ping_is_verified()
{
	connected rping -s -a "$address" -C "$rounds"
	finish rping -c -a "$address" -C "$rounds" -V -v -p "$port"
	pings_succeed || return 1
	pings=$(grep -o 'ping data: rdma-ping-' "$tmp/client" | wc -l)
	[ "$pings" -eq "$rounds" ] || {
		echo "$pings pings of $rounds"
		return 1
	}
}

# four_connections OPTION... - ten messages on each
four_connections()
{
	connected ucmatose "$@" -c 4 -C 10
	finish ucmatose "$@" -s "$address" -c 4 -C 10 -p "$port"
	both_succeed && says "$tmp/client" "data transfers complete" &&
	    says "$tmp/server" "data transfers complete"
}

connections_are_made_and_ended()
{
	four_connections
}

connections_are_made_in_another_space()
{
	four_connections -P ib
}

# Fewer in the guest, whose processor is emulated.
many_connections_are_made()
{
	count=100
	[ ! "$kernel" ] || count=20
	connected cmtime -c $count
	finish cmtime -s "$address" -c $count -p "$port"
	end_server && says "$tmp/client" "us / conn" &&
		! grep "failure" "$tmp/client" "$tmp/server"
}

calls_wait_for_their_end()
{
	connected rdma_server
	finish rdma_client -s "$address" -p "$port"
	both_succeed && says "$tmp/client" "rdma_client: end 0" &&
	    says "$tmp/server" "rdma_server: end 0"
}

# The port cannot be chosen.
datagrams_are_exchanged_by_rdma_cm()
{
	port=7174
	begin udaddy -c 2 -C 10
	wait_for 30 accepts
	finish udaddy -s "$address" -c 2 -C 10
	both_succeed && says "$tmp/client" "data transfers complete" &&
	    says "$tmp/server" "data transfers complete"
}

# The receiver of mckey is in the group.
joins_or_ended()
{
	grep -q "joined dgid" "$tmp/server" || ! kill -0 "$server" 2>/dev/null
}

# mckey's output is to be seen while it waits.  It ends when it has them all.
a_group_gets_each_message()
{
	set -- stdbuf -oL mckey -m 239.1.2.3 -C 10
	begin "$@" -b "$address"
	wait_for 30 joins_or_ended
	finish "$@" -s -b "$client_address"
	both_succeed
}

# stream PROGRAM OPTION... - what is received is compared
stream()
{
	connected "$@" -T v
	finish "$@" -T v -s "$address" -p "$port"
	both_succeed
}

streams_are_verified()
{
	stream rstream -S 100000 -C 20 && streams_are_polled
}

# With rdma-core's rpoll() a client that gets the last bytes and the end of the
# stream at once fails: it sees POLLHUP.  The server polls then.
streams_are_polled()
{
	polls="-T a"
	[ "$client_at" != "$kernel" ] || polls=
	connected rstream -T a -T v -S 1000 -C 20
	# shellcheck disable=SC2086 # words
	finish rstream $polls -T v -S 1000 -C 20 -s "$address" -p "$port"
	both_succeed
}

memory_of_the_peer_is_written()
{
	stream riostream -S 10000 -C 20
}

a_file_is_copied()
{
	head -c 300000 /dev/urandom >"$tmp/from"
	connected rcopy
	finish rcopy "$tmp/from" "$address:$tmp/to" -p "$port"
	end_server && cmp "$tmp/from" "$tmp/to"
}

# They are those of UDP, to pier's alone.
datagrams_are_exchanged_by_sockets()
{
	connected udpong -b "$address" -C 20 -S 1000
	finish udpong -C 20 -S 1000 -s "$address" -p "$port"
	end_server
}

# By the preload library of librdmacm1.
sockets_of_tcp_become_streams()
{
	preload=$(dpkg -L librdmacm1 2>/dev/null | grep 'librspreload\.so$')
	[ -f "$preload" ] || skip "there is no librspreload.so"
	# shellcheck disable=SC2016 # the shell that runs there expands it
	by='LD_PRELOAD="$LD_PRELOAD $0" exec rstream -T s -T v -S 50 -C 9 "$@"'
	connected sh -c "$by" "$preload"
	finish sh -c "$by" "$preload" -s "$address" -p "$port"
	both_succeed && says "$tmp/client" custom
}

# A client and a server on librpma, which has a package in Debian alone.
build_rpma()
{
	# shellcheck disable=SC2046 # words
	[ -x "$tmp/rpma" ] || gcc -std=gnu11 -Wall -Wextra -Werror \
	    -o "$tmp/rpma" "$top/t/dropin/rpma.c" \
	    $(pkg-config --cflags --libs librpma) -libverbs
}

memory_is_written_flushed_and_read()
{
	build_rpma || return 1
	next_port
	begin "$tmp/rpma" "$address" "$port" server
	wait_for 30 accepts
	finish "$tmp/rpma" "$address" "$port" client
	both_succeed && says "$tmp/client" compared &&
	    says "$tmp/server" compared "all is written"
}

# ucx TRANSPORTS TEST SIZE
ucx()
{
	next_port
	set -- "$1" ucx_perftest -t "$2" -s "$3" -n "$rounds" -w 10 -p "$port"
	tls=UCX_TLS=$1
	shift
	begin env "$tls" "UCX_NET_DEVICES=$device:1" "$@"
	wait_for 30 listens_or_ended at "$server_at"
	finish env "$tls" "UCX_NET_DEVICES=$client_device:1" "$@" "$address"
	both_succeed && says "$tmp/client" "Final:"
}

ucx_sends_tags()
{
	ucx rc_v tag_lat 8 && ucx ud_verbs tag_lat 8
}

# By a rendezvous, which reads them.
ucx_sends_long_messages()
{
	ucx rc_v tag_bw 300000
}

ucx_reads_memory()
{
	ucx rc_v ucp_put_lat 8 && ucx rc_v ucp_get 4096
}

# fabric PROVIDER TYPE - messages of several sizes, whose data are compared
fabric()
{
	next_port
	set -- fi_pingpong -p "$1" -e "$2" -I 20 -c
	begin "$@" -B "$port"
	wait_for 30 listens_or_ended at "$server_at"
	finish "$@" -P "$port" "$address"
	both_succeed && says "$tmp/client" "1k" "64k"
}

libfabric_exchanges_messages()
{
	fabric verbs msg && fabric "verbs;ofi_rxm" rdm
}

# The client tells what the server is to do.
qperf_measures()
{
	next_port
	begin qperf -lp "$port"
	wait_for 30 listens_or_ended at "$server_at"
	tests="rc_bw rc_lat rc_rdma_write_lat rc_rdma_read_bw"
	! $brief || tests="rc_bw rc_lat"
	for test in $tests ver_rc_fetch_add; do
		finish qperf -lp "$port" -t 1 -cm 1 "$address" $test
		[ $client -eq 0 ] && grep -q "$test:" "$tmp/client" || break
	done
	end_server && says "$tmp/client" "ver_rc_fetch_add:"
}

# Without rdma_cm it gives no GID, which RoCE needs, on either device.  The
# client reports an error of the server, if that is first, as one of that.
qperf_without_rdma_cm_fails()
{
	next_port
	begin qperf -lp "$port"
	wait_for 30 listens_or_ended at "$server_at"
	finish qperf -lp "$port" -t 1 "$address" ud_lat
	end_server
	[ $client -ne 0 ] &&
	    grep -e "failed to create address handle" -e "^server:" \
		"$tmp/client"
}

# fio_job NAME OPTION... - a file in blocks of 64 KiB
fio_job()
{
	name=$1
	shift
	echo fio --output-format=terse --name="$name" --ioengine=rdma \
	    --port="$port" --bs=64k "$@"
}

# fio_moves VERB SERVER-OPTIONS CLIENT-OPTIONS - who reads is the server, for
# any verb.  One that hangs is not ended by TERM: fio waits for its jobs.
fio_moves()
{
	next_port
	# shellcheck disable=SC2046,SC2086 # words
	begin $(fio_job server --rw=read $2)
	wait_for 30 accepts
	# shellcheck disable=SC2046,SC2086
	finish $(fio_job client --hostname="$address" --verb="$1" \
	    --rw=write $3)
	both_succeed && grep -q ';client;[0-9]*;0;' "$tmp/client" &&
	    grep -q ';server;[0-9]*;0;' "$tmp/server" || {
		cat "$tmp/client" "$tmp/server"
		return 1
	}
}

fio_writes_blocks()
{
	fio_moves write "--size=4m --iodepth=8" "--size=4m --iodepth=8"
}

fio_reads_blocks()
{
	fio_moves read "--size=4m --iodepth=8" "--size=4m --iodepth=8"
}

# fio connects without RNR retries: the server has a receive for each block.
fio_sends_blocks_and_verifies_them()
{
	fio_moves send "--size=2m --iodepth=64 --verify=crc32c" \
	    "--size=2m --iodepth=8 --verify=crc32c --do_verify=0"
}

# perf WHAT... - by address: either may be first, and the data are compared.  To
# an address of lo librdmacm binds no device, so the server has no address.
perf()
{
	next_port
	begin "$pier" perf -d "$device" --listen "$@" "$port"
	finish "$pier" perf -d "$client_device" --verify -n "$rounds" \
	    --timeout 40 "$@" "$address:$port"
	both_succeed
}

# What pier's own programs do, on devices of verbs: those of pier behind the
# library where there is no kernel's.
pier_measures()
{
	perf lat send && perf bw write && perf lat read || return
	! $brief || return 0
	perf bw send && perf bw read && perf lat fetch-add && perf lat comch
}

# By files, which the other end removes.
pier_exchanges_descriptors()
{
	set -- "$pier" perf -n "$rounds" --timeout 40 -m "$tmp/m"
	begin "$@" -d "$device" -g "$gid" -ld "$tmp/a" -re "$tmp/b" --respond \
	    lat send
	finish "$@" -d "$client_device" -g "$client_gid" -ld "$tmp/b" \
	    -re "$tmp/a" lat send
	both_succeed
}

pier_pings()
{
	next_port
	begin "$pier" ping -d "$device" --listen "$port"
	wait_for 30 grep -q "listens on port" "$tmp/server"
	finish "$pier" ping -d "$client_device" -c 5 -i 0.01 --timeout 40 \
	    "$address:$port"
	end_server && says "$tmp/client" "5 rounds, 5 answered"
}

# What the tests below are made of.
need_rdma_core()
{
	need ibverbs-utils ibv_devinfo ibv_rc_pingpong ibv_srq_pingpong \
	    ibv_ud_pingpong
	need perftest ib_send_lat ib_send_bw ib_write_lat ib_write_bw \
	    ib_read_lat ib_read_bw ib_atomic_lat ib_atomic_bw
	need rdmacm-utils rping ucmatose cmtime rdma_server rdma_client \
	    udaddy mckey rstream riostream rcopy udpong
}

need_others()
{
	need ucx-utils ucx_perftest
	need libfabric-bin fi_pingpong
	need fio fio
	need qperf qperf
}

# Is there librpma, or is it a package of this system?
need_rpma()
{
	need pkg-config pkg-config
	need gcc gcc
	pkg-config --exists librpma && return
	[ ! -f /etc/debian_version ] ||
		skip_all "there is no librpma: install librpma-dev"
	return 1
}

# run_all WHERE TEST...
run_all()
{
	at_which=$1
	shift
	for test; do
		run "$test" "$at_which"
	done
}

# run_pingpongs [WHERE] - and so below
run_pingpongs()
{
	run_all "${1:-}" a_pingpong_polls a_pingpong_waits_for_events \
	    a_pingpong_posts_call_by_call receives_are_shared \
	    datagrams_are_sent
	[ "$kernel" ] || run_all "${1:-}" a_pingpong_registers_on_demand
}

run_cm()
{
	run_all "${1:-}" a_ping_is_verified connections_are_made_and_ended \
	    connections_are_made_in_another_space many_connections_are_made \
	    calls_wait_for_their_end datagrams_are_exchanged_by_rdma_cm
}

run_streams()
{
	run_all "${1:-}" streams_are_verified memory_of_the_peer_is_written \
	    a_file_is_copied sockets_of_tcp_become_streams
}

run_ucx()
{
	run_all "${1:-}" ucx_sends_tags ucx_sends_long_messages ucx_reads_memory
}

run_pier()
{
	run_all "${1:-}" pier_measures pier_exchanges_descriptors pier_pings
}

run_fio()
{
	run_all "${1:-}" fio_writes_blocks fio_reads_blocks \
	    fio_sends_blocks_and_verifies_them
}
