# SPDX-License-Identifier: BSD-2-Clause
"""Errors of pier as exceptions."""
from __future__ import annotations

import enum
import errno
from typing import Optional

from ._pier import ffi, lib


class Scope(enum.IntEnum):
    """The object that an error affects; pier_error(3)."""

    RETRY = lib.PIER_SCOPE_RETRY
    TASK = lib.PIER_SCOPE_TASK
    CONN = lib.PIER_SCOPE_CONN
    CTX = lib.PIER_SCOPE_CTX


class PierError(OSError):
    """A call or a task of pier has failed.

    errno is the positive number of the error, from errno or from enum
    pier_error; strerror is the message: what failed, with which value, and
    what is allowed.
    """

    @property
    def code(self) -> int:
        """The negative number that C calls return."""
        return -(self.errno or 0)

    @property
    def name(self) -> str:
        """The name of the error: "EINVAL", "PIER_ERNR"."""
        return text(lib.pier_error_name(self.code))

    @property
    def scope(self) -> Scope:
        """What the error has ended."""
        return Scope(lib.pier_error_scope(self.code))

    def __str__(self) -> str:
        if self.errno is None:      # the program has made it
            return super().__str__()
        return f"{self.name}: {self.strerror}"


class PierTimeoutError(PierError, TimeoutError):
    """The time is over: ETIMEDOUT."""


class PierConnectionError(PierError, ConnectionError):
    """The connection has ended: every error of Scope.CONN."""


def text(chars) -> str:
    """The string of a char pointer; "" for NULL."""
    if chars == ffi.NULL:
        return ""
    return ffi.string(chars).decode("utf-8", "replace")


def error_of(code: int, message: Optional[str] = None) -> PierError:
    """The exception for the negative code; message None: the last one."""
    if message is None:
        message = text(lib.pier_last_error())
    if not message:
        message = text(lib.pier_strerror(code))
    kind = PierError
    if -code == errno.ETIMEDOUT:
        kind = PierTimeoutError
    elif lib.pier_error_scope(code) == lib.PIER_SCOPE_CONN:
        kind = PierConnectionError
    return kind(-code, message)


def check(result: int) -> int:
    """Return what a C call has returned, or raise its error."""
    if result < 0:
        raise error_of(result)
    return result


def create(call, *args):
    """Make the object that call stores by its last parameter."""
    ret = ffi.new("void **")
    check(call(*args, ffi.cast(_pointer_type(call), ret)))
    return ffi.cast(_pointer_type(call).item, ret[0])


def _pointer_type(call):
    return ffi.typeof(call).args[-1]


def configuration(kind: str, options: dict):
    """A struct pier_KIND_config with the given members set."""
    cfg = ffi.new(f"struct pier_{kind}_config *")
    cfg.size = ffi.sizeof(cfg[0])
    for name, value in options.items():
        if name == "size" or not hasattr(cfg, name):
            raise TypeError(f"struct pier_{kind}_config has no member {name}")
        setattr(cfg, name, value)
    return cfg
