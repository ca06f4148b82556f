#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fio as Debian has it, with its rdma engine, on soft devices.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
need fio fio

at()
{
	shift
	"$@"
}

program()
{
	shift
	timeout -k 5 60 "$pier" run -- "$@"
}

accepts()
{
	accepts_or_ended
}

server_at=here client_at=here
run fio_writes_blocks
run fio_reads_blocks
run fio_sends_blocks_and_verifies_them
tap_done
