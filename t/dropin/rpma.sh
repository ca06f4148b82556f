#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# librpma as Debian has it, on soft devices: a client and a server that were
# compiled for it.  An id that is bound to an address of lo has no device, as in
# the kernel, which librpma needs.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"
not_lo
need_rpma || {
	echo "1..0 # SKIP librpma is a package of Debian"
	exit
}

alone "$address"
run memory_is_written_flushed_and_read
tap_done
