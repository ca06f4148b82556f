# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# The device under test, for tests in sh: source it after tap.sh.
#
# $device is what PIER_DEVICE names, else soft_lo; after device_known, $address
# is the first IPv4 address that it has.

device=${PIER_DEVICE:-soft_lo}

device_known()
{
	address=$("$build/tools/pier" info -d "$device" |
		sed -n 's/.* roce_v2 *\([0-9.]*\)$/\1/p' | head -n 1)
	[ "$address" ] || skip_all "$device has no IPv4 address"
}

# has_name - a server on the device has a name, which is a socket's
has_name()
{
	grep -q "@pier-comch\..*\.$device:" /proc/net/unix
}
