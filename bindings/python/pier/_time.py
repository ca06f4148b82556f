# SPDX-License-Identifier: BSD-2-Clause
"""Waits in slices, between which Python looks for signals."""
from __future__ import annotations

import errno
import time
from typing import Callable, Optional

from ._errors import check

SLICE_MS = 100


def limit_of(timeout: Optional[float]) -> Optional[float]:
    """When timeout seconds from now are over; None: never."""
    return None if timeout is None else time.monotonic() + timeout


def slice_of(limit: Optional[float]) -> int:
    """The milliseconds of the next slice; 0: the time is over."""
    if limit is None:
        return SLICE_MS
    left = int((limit - time.monotonic()) * 1000 + 0.999)
    return max(0, min(left, SLICE_MS))


def wait(call: Callable[[int], int], timeout: Optional[float]) -> None:
    """Make a call of C that waits for so many milliseconds, until it ends."""
    limit = limit_of(timeout)
    while True:
        left = slice_of(limit)
        err = call(left)
        if err != -errno.ETIMEDOUT or not left:
            check(err)
            return
