#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# rdma-core's programs and perftest, as Debian has them, between the kernel's
# Soft-RoCE and a soft device.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/rxe.sh"

programs_meet()
{
	run_pingpongs "$where"
	run_perftest "$where"
	run_perftest_by_cm "$where"
	run_cm "$where"
	run a_group_gets_each_message "$where"
	run_streams "$where"
}

both_ways programs_meet
tap_done
