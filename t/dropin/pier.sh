#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier itself under pier run: its devices of verbs are those of the library.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
. "$top/t/lib/peers.sh"

# A device of verbs and a soft one have this name: the first is taken.
the_device_is_one_of_verbs()
{
	status 0 "$pier" run -- "$pier" info --json -d soft_lo &&
	    is_json "$tmp/out" && says "$tmp/json" '"kind": "verbs"' &&
	    status 0 "$pier" info --json -d soft_lo && is_json "$tmp/out" &&
	    says "$tmp/json" '"kind": "soft"'
}

alone
run the_device_is_one_of_verbs
run_pier
tap_done
