# SPDX-License-Identifier: BSD-2-Clause
"""Waits in slices, between which Python looks for signals."""
from __future__ import annotations

import errno
import time
from typing import Callable, Optional

from ._errors import check

SLICE_MS = 100
MAX_MS = 2 ** 31 - 1    # 24 days


def limit_of(timeout: Optional[float]) -> Optional[float]:
    """When timeout seconds from now are over; None: never."""
    if timeout is None:
        return None
    limit = time.monotonic() + timeout
    if limit != limit:
        raise ValueError("a timeout is a number of seconds, not NaN")
    return limit


def slice_of(limit: Optional[float]) -> int:
    """The milliseconds of the next slice; 0: the time is over."""
    if limit is None:
        return SLICE_MS
    left = min((limit - time.monotonic()) * 1000 + 0.999, SLICE_MS)
    return max(0, int(left))


def ms_of(timeout: Optional[float]) -> int:
    """The milliseconds of a wait that is one call of C; -1: without limit."""
    limit = limit_of(timeout)
    if limit is None or timeout is None:
        return -1
    return max(0, int(min(timeout * 1000 + 0.999, MAX_MS)))


def wait(call: Callable[[int], int], timeout: Optional[float]) -> None:
    """Make a call of C that waits for so many milliseconds, until it ends."""
    limit = limit_of(timeout)
    while True:
        left = slice_of(limit)
        err = call(left)
        if err != -errno.ETIMEDOUT or not left:
            check(err)
            return
