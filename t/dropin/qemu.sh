#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# QEMU as Debian has it, on soft devices: a virtual machine that runs migrates
# to another process by RDMA.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
. "$top/t/lib/qemu.sh"
alone
run_qemu
tap_done
