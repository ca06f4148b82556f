#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# UCX, libfabric, librpma, fio, qperf and QEMU as Debian has them, and pier's
# own programs on devices of verbs, between the kernel's Soft-RoCE and a soft
# device.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/rxe.sh"
. "$top/t/lib/qemu.sh"
need_others
need_rpma || skip_all "librpma is a package of Debian"

programs_meet()
{
	run_ucx "$where"
	run libfabric_exchanges_messages "$where"
	run memory_is_written_flushed_and_read "$where"
	run qperf_measures "$where"
	run qperf_without_rdma_cm_fails "$where"
	run_fio "$where"
	run_pier "$where"
	run_qemu "$where"
}

both_ways programs_meet
tap_done
