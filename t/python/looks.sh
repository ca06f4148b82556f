#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Devices, counters and the like in the package for Python.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"

exec "$python" -X dev -W error "$top/t/python/looks.py"
