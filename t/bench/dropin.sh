#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# perftest under `pier run` beside `pier perf`, and UCX over its queue pairs
# beside UCX over TCP.
# usage: dropin.sh PIER; BENCH_TURNS=N turns, 7 without it
targets=4
. "${0%/*}/pairs.sh"
pier=$1

# perftest PROGRAM SIZE ITERATIONS COLUMN - of its row
perftest()
{
	next_port
	words="$pier run -- $1 -F -d soft_lo -x 0 -s $2 -n $3 -p $port"
	pair "$words" "$words 127.0.0.1"
	awk -v size="$2" -v column="$4" '$1 == size { print $column }' \
	    "$tmp/out"
}

sent() { perftest ib_send_lat 8 10000 5; }
sent_by_pier() { perf lat send 8 10000 median; }
repeat sent sent_by_pier
judge "8-byte send one way, of pier perf" "at most" 1.25 us sent sent_by_pier

written() { perftest ib_write_lat 8 5000 5; }
repeat written
judge "8-byte write into polled memory, one way" "at most" 25 us written

# MiB a second, and GB.
streamed()
{
	perftest ib_write_bw 1048576 2000 4 | awk '{ print $1 / 953.67 }'
}
streamed_by_pier() { perf bw write 1048576 2000 gb_per_s; }
repeat streamed streamed_by_pier
judge "1 MiB writes, of pier perf" "at least" 0.9 GB/s streamed streamed_by_pier

tagged()
{
	ucx tag_lat 8 10000 2 env UCX_TLS=rc_v,self \
	    UCX_NET_DEVICES=soft_lo:1 "$pier" run --
}
tagged_by_tcp()
{
	ucx tag_lat 8 10000 2 env UCX_TLS=tcp,self UCX_NET_DEVICES=lo
}
! have_ucx || repeat tagged tagged_by_tcp
judge "8-byte UCX tag over rc_verbs, of UCX over TCP" "at most" 1 us \
    tagged tagged_by_tcp
