#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connections by address on the soft device, over loopback: how many a second,
# and what each of many idle ones costs.  BENCH_DEVICE is another device.
# usage: cm.sh PROGRAM; BENCH_TURNS=N runs, 5 without it
targets=2 turns=5
[ "${BENCH_DEVICE:=soft_lo}" = soft_lo ] || BENCH_UNSHARED=1
export BENCH_DEVICE
. "${0%/*}/pairs.sh"
export PIER_SHM=auto		# so that rings are counted
conns=4096

run_cm()
{
	take connects,bytes "$program" $conns
}

program=$1
in_turns "$turns" run_cm
judge "connects, $conns with 64 under way" "at least" 5000 "a second" connects
judge "an idle connection, of $conns" "at most" 6144 bytes bytes
