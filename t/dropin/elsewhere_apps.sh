#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# UCX, libfabric, librpma, fio, qperf and QEMU as Debian has them, and pier's
# own programs on devices of verbs, between two network namespaces: as
# elsewhere.sh.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/elsewhere.sh"
. "$top/t/lib/qemu.sh"
need_others
run_ucx
run libfabric_exchanges_messages
run qperf_measures
run_fio
! need_rpma || run memory_is_written_flushed_and_read
run_pier
run_qemu
tap_done
