# SPDX-License-Identifier: BSD-2-Clause
"""What calls of C take: bytes and strings of the program."""
from __future__ import annotations

from typing import Any, Optional

from ._pier import ffi


def data_of(data: Any) -> tuple:
    """The bytes of an object with a buffer, and how many: not of its items."""
    view = ffi.from_buffer(data)
    return view, len(view)


def device_of(dev: Any) -> Any:
    """The struct of a Device.  Raises TypeError, it is none."""
    try:
        return dev.handle
    except AttributeError:
        raise TypeError(
            f"dev is a Device, not {type(dev).__name__}") from None


def chars_of(value: Optional[str], what: str) -> Any:
    """A string for C, NULL for None.  Raises TypeError, it is no str."""
    if value is None:
        return ffi.NULL
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
    return ffi.new("char[]", value.encode())
