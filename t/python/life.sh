#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The life of the objects of the package for Python: copies, cycles, close().
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"

exec "$python" -X dev -W error "$top/t/python/life.py"
