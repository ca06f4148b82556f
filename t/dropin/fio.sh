#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fio as Debian has it, with its rdma engine, on soft devices.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
need fio fio
alone
run_fio
tap_done
