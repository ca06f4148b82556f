#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The package for Python and asyncio.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"

exec "$python" -X dev -W error "$top/t/python/loop.py"
