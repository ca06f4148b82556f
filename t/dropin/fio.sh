#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fio as Debian has it, with its rdma engine, on soft devices.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need fio fio

address=127.0.0.1

# job NAME OPTION... - a file of 4 MiB in blocks of 64 KiB
job()
{
	name=$1
	shift
	timeout -k 5 60 "$pier" run -- fio --output-format=terse \
	    --name="$name" --ioengine=rdma --port="$port" --bs=64k --size=4m \
	    --iodepth=8 "$@"
}

# transfer VERB SERVER-OPTIONS CLIENT-OPTIONS - who reads is the server, for any
# verb.  One that hangs is not ended by TERM: fio waits for its jobs.
transfer()
{
	next_port
	# shellcheck disable=SC2086 # words
	job server --rw=read $2 >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 accepts_or_ended
	# shellcheck disable=SC2086 # words
	job client --hostname="$address" --verb="$1" --rw=write $3 \
	    >"$tmp/client" 2>&1
	client=$?
	both_succeed && grep -q ';client;[0-9]*;0;' "$tmp/client" &&
	    grep -q ';server;[0-9]*;0;' "$tmp/server" || {
		cat "$tmp/client" "$tmp/server"
		return 1
	}
}

blocks_are_written()
{
	transfer write
}

blocks_are_read()
{
	transfer read
}

# fio connects without RNR retries: the server has a receive for each block.
blocks_are_sent_and_verified()
{
	transfer send "--size=2m --iodepth=64 --verify=crc32c" \
	    "--size=2m --verify=crc32c --do_verify=0"
}

run blocks_are_written
run blocks_are_read
run blocks_are_sent_and_verified
tap_done
