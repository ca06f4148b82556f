# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors as text and in files, the log, services of processes."""
from __future__ import annotations

import os
from typing import NamedTuple, Optional, Union

from ._data import data_of
from ._errors import check, create, text
from ._pier import ffi, lib
from ._time import ms_of


def describe(descriptor: bytes) -> str:
    """What a descriptor has, as pier desc prints it: a secret, too.

    Raises PIER_EDESC, PIER_EVERSION.
    """
    chars = ffi.new("char[]", 16384)
    check(lib.pier_desc_print(*data_of(descriptor), chars, len(chars)))
    return text(chars)


def write_descriptor(path: Union[str, os.PathLike], descriptor: bytes
                     ) -> None:
    """Write a descriptor file at once, for this user alone to read."""
    check(lib.pier_desc_write(os.fsencode(path), *data_of(descriptor)))


def read_descriptor(path: Union[str, os.PathLike]) -> bytes:
    """The descriptor in a file.  Raises ENOENT, EFBIG, PIER_EDESC."""
    ret = ffi.new("char[]", lib.PIER_DESC_MAX)
    return ffi.unpack(ret, check(lib.pier_desc_read(os.fsencode(path), ret)))


def await_descriptor(path: Union[str, os.PathLike],
                     timeout: Optional[float] = None) -> bytes:
    """Remove what is at path, and wait for a file there, which is removed.

    Not in slices, as each would remove what came after the one before.
    Raises PierTimeoutError after timeout seconds.
    """
    ret = ffi.new("char[]", lib.PIER_DESC_MAX)
    return ffi.unpack(ret, check(lib.pier_desc_await(
        os.fsencode(path), ms_of(timeout), ret)))


def set_log_level(level: Union[str, int]) -> None:
    """Log messages up to level: "error", "info", "debug", ... or a number.

    Raises EINVAL.
    """
    ret = ffi.new("enum pier_log_level *")
    check(lib.pier_log_parse_level(str(level).encode(), ret))
    check(lib.pier_log_set_level(ret[0]))


class Service(NamedTuple):
    """What a process exports to others on a device; pier_service(3)."""

    pid: int
    program: str
    device: str
    port: int
    exports: int
    peers: int          # that are connected
    refused: int        # requests of strangers
    addresses: list


def services(pid: int = 0) -> list[Service]:
    """Those of the process pid; 0: of all that this user can see."""
    entries = ffi.gc(create(lib.pier_servicelist_create, pid),
                     lib.pier_servicelist_destroy)
    result = []
    for i in range(lib.pier_servicelist_count(entries)):
        entry = lib.pier_servicelist_get(entries, i)
        result.append(Service(
            entry.pid, text(entry.program), text(entry.device), entry.port,
            entry.exports, entry.peers, entry.refused,
            [text(entry.address[n]) for n in range(entry.address_count)]))
    return result
