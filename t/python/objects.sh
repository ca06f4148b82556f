#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The objects of the package for Python.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"

exec "$python" -X dev -W error "$top/t/python/objects.py"
