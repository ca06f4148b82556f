# SPDX-License-Identifier: BSD-2-Clause
"""The life of objects that own a struct of C."""
from __future__ import annotations

import collections
import errno
import threading
import traceback
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

from ._errors import PierError
from ._pier import ffi

if TYPE_CHECKING:
    from ._engine import Engine

T = TypeVar("T", bound="Closable")

_dropped: collections.deque[Callable[[], None]] = collections.deque()


class _Mark:
    """Lives as long as its thread; an ident is that of a later one, too."""

    __slots__ = ("__weakref__",)


class _Here(threading.local):
    """Of each thread: its mark, and a weak reference to that."""

    def __init__(self) -> None:
        self._mark = _Mark()
        self.thread = weakref.ref(self._mark)


here = _Here()


def no_thread() -> None:
    """In the place of such a reference."""


class Single:
    """An object that has no copy: both would own the same struct."""

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} is neither copied nor "
                        "pickled")


class Closable(Single):
    """An object that is closed by `with`, or with its last reference."""

    def close(self) -> None:
        """Free what it owns.  It may be repeated."""
        raise NotImplementedError

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Own:
    """A struct that its object owns, and that goes with another one's.

    Both refer to this strongly: the garbage collector clears weak references
    before it calls the first __del__ of a cycle.
    """

    __slots__ = ("pointer",)

    def __init__(self, pointer) -> None:
        self.pointer = pointer

    def take(self) -> Any:
        """The pointer, which is NULL from now on."""
        pointer, self.pointer = self.pointer, ffi.NULL
        return pointer


def drop(close: Callable[[], None], engine: Optional[Engine] = None) -> None:
    """Of a __del__: close() now, or, while that raises EBUSY, later.

    The garbage collector calls the __del__ of a cycle in any order, that of a
    device before those of what is on it; and in any thread: what is on an
    engine is closed by the thread of that.
    """
    if engine is None:
        _try(close, _dropped)
    elif engine.is_elsewhere():
        engine.close_soon(close)
    else:
        _try(close, engine.dropped)


def _try(close: Callable[[], None], dropped: collections.deque) -> None:
    try:
        close()
    except PierError as error:
        if error.errno != errno.EBUSY:
            raise
        dropped.append(close)


def close_dropped(dropped: collections.deque = _dropped) -> None:
    """Something was closed: close what was dropped and has no user left."""
    for _ in range(len(dropped)):
        try:
            close = dropped.popleft()
        except IndexError:      # another thread has it
            return
        try:
            _try(close, dropped)
        except PierError:       # not of the call that has come here
            traceback.print_exc()
