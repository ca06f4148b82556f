#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# librpma as Debian has it, on soft devices: a client and a server that were
# compiled for it.  An id that is bound to an address of lo has no device, as in
# the kernel, which librpma needs.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need pkg-config pkg-config
need gcc gcc
not_lo
pkg-config --exists librpma || {
	[ -f /etc/debian_version ] || {
		echo "1..0 # SKIP librpma is a package of Debian"
		exit
	}
	skip_all "there is no librpma: install librpma-dev"
}

# shellcheck disable=SC2046 # words
gcc -std=gnu11 -Wall -Wextra -Werror -o "$tmp/rpma" "$top/t/dropin/rpma.c" \
    $(pkg-config --cflags --libs librpma) -libverbs ||
    skip_all "t/dropin/rpma.c cannot be compiled"

# end_of KIND - a process; both have their address and port
end_of()
{
	timeout -k 5 60 "$pier" run -- "$tmp/rpma" "$address" "$port" "$1"
}

memory_is_written_flushed_and_read()
{
	next_port
	end_of server >"$tmp/server" 2>&1 &
	server=$!
	wait_for 30 accepts_or_ended
	end_of client >"$tmp/client" 2>&1
	client=$?
	both_succeed && says "$tmp/client" compared &&
	    says "$tmp/server" compared "all is written"
}

run memory_is_written_flushed_and_read
tap_done
