# SPDX-License-Identifier: BSD-2-Clause
"""What contexts without connections of RDMA have in common."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from ._callbacks import user_data
from ._engine import engine_of
from ._errors import error_of
from ._life import Closable, close_dropped, drop
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._engine import Engine


class Context(Closable):
    """An object of pier that is started on an engine, and its life."""

    _obj = ffi.NULL

    def __init__(self, engine: Engine, obj, ctx, destroy) -> None:
        try:
            self.engine = engine_of(engine)
        except TypeError:
            destroy(obj)
            raise
        self._obj = obj
        self._ctx = ctx
        self._destroy = destroy
        lib.pier_ctx_set_user_data(ctx, user_data(self))

    def start(self) -> None:
        """Start it; on an error it is destroyed."""
        err = lib.pier_ctx_start(self._ctx, self.engine.handle)
        if err not in (0, -errno.EINPROGRESS):
            error = error_of(err)
            self.close()
            raise error
        self.engine.enter(self)

    @property
    def handle(self):
        """The struct of C.  Raises ESHUTDOWN once closed."""
        if self._obj == ffi.NULL:
            raise error_of(-errno.ESHUTDOWN,
                           f"the {type(self).__name__} is closed")
        return self._obj

    @property
    def context(self):
        """The struct pier_ctx.  Raises ESHUTDOWN once closed."""
        return self._ctx if self.handle else None

    @property
    def is_running(self) -> bool:
        """Is it running?  Neither while it starts, nor once it has ended."""
        return (self._obj != ffi.NULL and
                lib.pier_ctx_state(self._ctx) == lib.PIER_CTX_RUNNING)

    def close(self) -> None:
        """Stop it, which ends its tasks, and destroy it.

        It may be repeated.  Raises EBUSY in a function of Func or Graph: it
        stops then, but is still open.
        """
        if self._obj == ffi.NULL:
            return
        self.engine.stop(self._ctx)
        obj, self._obj = self._obj, ffi.NULL
        self.engine.give_up_prepared(self)
        self._destroy(obj)
        self.engine.leave(self)
        self.engine.look_at_changes()
        close_dropped()

    def __del__(self) -> None:
        if self._obj != ffi.NULL:
            drop(self.close, self.engine)
