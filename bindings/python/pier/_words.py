# SPDX-License-Identifier: BSD-2-Clause
"""Registered numbers of 8 bytes, the results of atomics."""
from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ._memory import Buf, Mmap
from ._pier import ffi

if TYPE_CHECKING:
    from ._device import Device

SLAB = 4096     # bytes that are registered at a time


def number_of(value: int) -> int:
    """A number of 64 bits.  Raises TypeError, OverflowError, as cffi does."""
    return int(ffi.new("uint64_t *", value)[0])


class Word:
    """8 bytes, which return to their slab with the last reference."""

    def __init__(self, words: Words, buf: Buf) -> None:
        self._words = words
        self.buf = buf

    def value(self, _task=None) -> int:
        """The number in it."""
        return struct.unpack("=Q", self.buf.view())[0]

    def set(self, value: int) -> None:
        """Store a number in it."""
        struct.pack_into("=Q", self.buf.view(), 0, number_of(value))

    def __del__(self) -> None:
        self._words.free.append(self.buf)


class Words:
    """The numbers of a context."""

    def __init__(self, dev: Device) -> None:
        self._dev = dev
        self._slabs: list[Mmap] = []
        self.free: list[Buf] = []

    def take(self) -> Word:
        """A free one; memory is registered as needed."""
        if not self.free:
            slab = Mmap(self._dev, SLAB)
            self._slabs.append(slab)
            self.free = [slab[at:at + 8] for at in range(0, SLAB, 8)]
        return Word(self, self.free.pop())

    def close(self) -> None:
        """Release the memory; no task may use it any more."""
        for slab in self._slabs:
            slab.close()
        self._slabs.clear()
        self.free.clear()
