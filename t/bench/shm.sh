#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Soft devices of one host by shared memory, beside UCX by its own.
# usage: shm.sh PIER BARE; BENCH_TURNS=N turns, 7 without it
targets=7
. "${0%/*}/pairs.sh"
pier=$1 bare=$2
has_ucx=''
! have_ucx || has_ucx=1
export PIER_SHM=require

by_ucx()
{
	ucx "$@" env UCX_TLS=self,posix,cma UCX_LOG_LEVEL=error
}

# beside OURS THEIRS - in turns; nothing without UCX
beside()
{
	[ -z "$has_ucx" ] || repeat "$1" "$2"
}

sent() { perf lat send 8 100000 median; }
tagged() { by_ucx tag_lat 8 200000 2; }
beside sent tagged
judge "8-byte send one way, of UCX tag" "at most" 0.75 us sent tagged

send_rate() { perf bw send 8 1000000 messages_per_s; }
am_rate() { faster_of_ucx by_ucx ucp_am_bw 8 2000000 8; }
beside send_rate am_rate
judge "8-byte sends, of UCX am" "at least" 1.5 "a second" send_rate am_rate

# UCX has the way there only; of pier it is until the write is complete.
written() { perf lat write 8 100000 median; }
put() { by_ucx ucp_put_lat 8 200000 2; }
beside written put
judge "8-byte write, of UCX put one way" "at most" 1.15 us written put

read_one() { perf lat read 8 100000 median; }
repeat read_one
judge "8-byte read" "at most" 0.12 us read_one

add_one() { perf lat fetch-add 8 100000 median; }
repeat add_one
judge "fetch-add" "at most" 0.12 us add_one

# MB, as UCX counts them, and GB.
streamed() { perf bw send 1048576 5000 gb_per_s; }
tag_stream()
{
	faster_of_ucx by_ucx tag_bw 1048576 5000 6 | to_mb | to_gb
}
beside streamed tag_stream
judge "1 MiB sends, of UCX tag" "at least" 1.5 GB/s streamed tag_stream

write_stream() { perf bw write 1048576 5000 gb_per_s; }
put_stream()
{
	faster_of_ucx by_ucx ucp_put_bw 1048576 5000 6 | to_mb | to_gb
}
beside write_stream put_stream
judge "1 MiB writes, of UCX put" "at least" 2 GB/s write_stream put_stream

# With nothing else around it.
line() { "$bare" line 1000000 | awk '{ print $1 / 1000 }'; }
copied() { "$bare" copy 5000; }
copied_cold() { "$bare" copy 1000 cold; }
read_by_kernel() { "$bare" readv 3000; }
through_pieces() { "$bare" ring 3000; }
repeat line copied copied_cold read_by_kernel through_pieces
bound "a cache line, one way" us line
bound "1 MiB by memcpy(), the same memory" GB/s copied
bound "1 MiB by memcpy(), 256 MiB of memory" GB/s copied_cold
bound "1 MiB by process_vm_readv()" GB/s read_by_kernel
bound "1 MiB by two copies, in pieces of 32 KiB" GB/s through_pieces
