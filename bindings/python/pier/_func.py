# SPDX-License-Identifier: BSD-2-Clause
"""Function contexts: functions of the program as tasks."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, Callable, Optional

from ._callbacks import user_data
from ._context import Context
from ._errors import check, configuration, create
from ._operation import R, R_co, Task
from ._pier import lib

if TYPE_CHECKING:
    from ._engine import Engine

AGAIN = object()    # what a function returns to be called again


class Call:
    """A call of a function of the program, which the engine makes.

    The one callback of pier that runs code of the program: a context for
    functions, or a graph, has been asked for that.
    """

    def __init__(self, engine: Engine, function: Callable[..., Any],
                 args: tuple) -> None:
        self.engine = engine
        self._function = function
        self._args = args
        self.value: Any = None
        self.error: Optional[Exception] = None
        self.pointer = user_data(self)

    def run(self) -> int:
        """A callback: call it; the status for pier."""
        try:
            value = self._function(*self._args)
        except Exception as error:  # pylint: disable=broad-except
            self.error = error
            code = getattr(error, "errno", None)
            return -code if isinstance(code, int) and code > 0 \
                and code not in (errno.EAGAIN, errno.EINPROGRESS) \
                else -errno.EIO
        if value is AGAIN:
            return -errno.EAGAIN
        self.value = value
        return 0


class CallTask(Task[R_co]):
    """A task whose error is the exception of its function."""

    def __init__(self, engine: Engine, task, owners: tuple,
                 call: Call) -> None:
        super().__init__(engine, task, owners, lambda _: call.value)
        self._call = call

    def error_for(self, status: int) -> BaseException:
        """What the function has raised, or else the error of the task."""
        return self._call.error or super().error_for(status)


class Func(Context):
    """A running function context, pier_func(3).

    config has members of struct pier_func_config.
    """

    def __init__(self, engine: Engine, **config: int) -> None:
        cfg = configuration("func", config)
        func = create(lib.pier_func_create)
        super().__init__(engine, func, lib.pier_func_ctx(func),
                         lib.pier_func_destroy)
        check(lib.pier_func_configure(func, cfg))
        self.start()

    def call(self, function: Callable[..., R], *args: Any) -> Task[R]:
        """Call function(*args) in a round of the engine, on its thread.

        The result is what it returns, the error what it raises.  If it
        returns AGAIN it is called again in a later round.  It must not wait
        for anything.
        """
        call = Call(self.engine, function, args)
        task = create(lib.pier_func_task_call, self.handle,
                      lib.pier_py_call, call.pointer)
        return CallTask(self.engine, task, (self, call), call).begun()
