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

# A server that hangs is not ended by TERM: fio waits for its jobs.
blocks_are_written()
{
	next_port
	job server --rw=read >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 accepts_or_ended
	job client --hostname="$address" --verb=write --rw=write \
	    >"$tmp/client" 2>&1
	client=$?
	both_succeed && grep -q ';client;[0-9]*;0;' "$tmp/client" || {
		cat "$tmp/client"
		return 1
	}
}

run blocks_are_written
tap_done
