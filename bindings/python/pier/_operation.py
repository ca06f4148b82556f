# SPDX-License-Identifier: BSD-2-Clause
"""What takes time: tasks, and changes that a program waits for."""
from __future__ import annotations

import asyncio
import errno
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Generator, Generic, Optional,
                    TypeVar)

from ._errors import check, error_of, text
from ._life import Single, drop
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._engine import Engine

PENDING: Any = object()
R = TypeVar("R")        # the result
R_co = TypeVar("R_co", covariant=True)


class Operation(Single, Generic[R_co]):
    """Something that has begun: wait() for it, or await it.

    Both return its result, or raise its error, and may be repeated.  A wait
    that is given up, by a timeout or because an asyncio task was cancelled,
    ends the wait alone.
    """

    _over = False
    _seen = False
    _value: Any = None
    _error: Optional[BaseException] = None
    _futures: tuple = ()
    _waits = 0

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def has_ended(self) -> bool:
        """Has it ended?  Takes nothing."""
        return self._over

    def done(self) -> bool:
        """Has it ended?  Does not drive the engine."""
        return self._over

    def result(self) -> R_co:
        """The result of what has ended.  Raises its error."""
        if not self._over:
            raise error_of(-errno.EINPROGRESS, "the operation has not ended")
        self._seen = True
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout: Optional[float] = None) -> R_co:
        """Drive the engine until it has ended, and return its result.

        timeout is in seconds, None: without limit.
        Raises its error, or PierTimeoutError; then it still goes on.
        """
        if self._over:
            return self.result()
        self._waits += 1
        try:
            ended = self._engine.wait_for(self.done, timeout)
        finally:
            self._waits -= 1
        if not ended:
            raise error_of(-errno.ETIMEDOUT,
                           f"{self._name()}: not finished after {timeout} s")
        return self.result()

    def __await__(self) -> Generator[Any, None, R_co]:
        if not self._over:
            self._engine.attach()       # which may end it
        if not self._over:
            self._engine.poll_for(self)
        if not self._over:
            self._suspends()
            yield from self._suspend()
        return self.result()

    # What is cancelled waits no longer.
    def _suspend(self) -> Generator[Any, None, None]:
        future = asyncio.get_running_loop().create_future()
        self._futures += (future,)
        try:
            yield from future
        finally:
            if self._futures:
                self._futures = tuple([other for other in self._futures
                                       if other is not future])

    def _suspends(self) -> None:
        pass

    def _name(self) -> str:
        return "operation"

    def _finish(self, value: Any, error: Optional[BaseException]) -> None:
        if self._over:
            return
        self._over = True
        if value is not None:
            self._value = value
        if error is not None:
            self._error = error
        if self._futures:
            self._wake()

    def _wake(self) -> None:
        futures, self._futures = self._futures, ()
        for future in futures:
            if not future.done():
                future.set_result(None)


class Change(Operation[R_co]):
    """A change that a function looks for whenever the engine has worked.

    The function returns PENDING, or the result, or raises the error.
    """

    def __init__(self, engine: Engine, name: str,
                 look: Callable[[], R_co]) -> None:
        super().__init__(engine)
        self._look = look
        self._what = name
        self._seen = True
        self.look()
        if not self._over:
            engine.changes.add(self)

    def look(self) -> None:
        """See whether it has happened."""
        try:
            value = self._look()
        except Exception as error:  # pylint: disable=broad-except
            self._finish(None, error)
            return
        if value is not PENDING:
            self._finish(value, None)

    def _name(self) -> str:
        return self._what


class Next(Change[R_co]):
    """The next of a queue: nothing is taken before something waits for it.

    One that was given up, or cancelled, has taken nothing.
    """

    def __init__(self, engine: Engine, name: str,
                 look: Callable[[], R_co]) -> None:
        Operation.__init__(self, engine)
        self._look = look
        self._what = name
        self._seen = True

    def done(self) -> bool:
        """Has it ended?  Takes what has arrived: look at result() then."""
        if not self._over:
            super().look()
        return self._over

    def look(self) -> None:
        """Wake what awaits it, which then takes the next."""
        self._wake()

    def __await__(self) -> Generator[Any, None, R_co]:
        self._engine.attach()
        while not self.done():
            self._engine.changes.add(self)
            try:
                yield from self._suspend()
            finally:
                if not self._futures:
                    self._engine.changes.discard(self)
        return self.result()


class Task(Operation[R_co]):
    """A task of pier in flight.

    The engine holds it, and with it all memory that it uses, until it has
    ended; a program need not.  The struct pier_buf in src and dst are its own.
    """

    _prepared = False

    # pylint: disable=super-init-not-called,too-many-arguments
    def __init__(self, engine: Engine, task, owners: tuple,
                 take: Optional[Callable[[Any], Any]] = None,
                 src=ffi.NULL, dst=ffi.NULL) -> None:
        self._engine = engine
        self._task = task
        self._src = src
        self._dst = dst
        for owner in owners:
            if isinstance(owner, list):     # which the program may change
                owners = tuple([tuple(part) if isinstance(part, list) else part
                                for part in owners])
                break
        self._owners = owners
        self._take = take

    # pylint: disable=too-many-arguments
    @classmethod
    def make(cls, engine: Engine, call, args: tuple, owners: tuple,
             take: Optional[Callable[[Any], Any]] = None, *,
             src=ffi.NULL, dst=ffi.NULL) -> Any:
        """The task that call(*args, &task) makes, begun.

        Of args src and dst are its own; on an error they are put.
        """
        engine.task[0] = ffi.NULL
        try:
            err = call(*args, engine.task)
            if err:
                raise error_of(err)
        except BaseException:       # an interrupt comes when it is made
            lib.pier_task_free(engine.task[0])
            lib.pier_buf_put(src)
            lib.pier_buf_put(dst)
            raise
        return cls(engine, engine.task[0], owners, take, src, dst).begun()

    @property
    def pointer(self):
        """The struct pier_task; NULL once it has ended."""
        return self._task

    def limit(self, timeout: Optional[float]) -> None:
        """Before it is submitted: the engine cancels it after that time."""
        if timeout is not None:
            check(lib.pier_task_set_timeout_ms(
                self._task, max(1, int(timeout * 1000 + 0.999))))

    def begun(self):
        """Submit it, unless prepare() makes it; returns it."""
        if self._engine.prepares:
            self._prepared = self._seen = True
            self._engine.prepared.add(self)
        else:
            self._submit()
        return self

    def submit(self) -> None:
        """Submit what prepare() has made.

        On an error nothing is in flight, and it is freed.
        Raises EBUSY, it is that of a node, or submitted; EAGAIN.
        """
        if self._task == ffi.NULL or not lib.pier_task_may_free(self._task):
            raise error_of(-errno.EBUSY, f"{self._name()}: it is submitted, "
                           "by itself or in a graph, or has ended")
        self._engine.prepared.discard(self)
        self._prepared = self._seen = False
        self._submit()

    # All is noted before the call, at whose end interrupts come.
    def _submit(self) -> None:
        engine, src, dst = self._engine, self._src, self._dst
        engine.task[0] = self._task
        address = engine.address[0]
        engine.tasks[address] = self
        self._src = self._dst = ffi.NULL        # the task in flight has them
        err = lib.pier_py_submit(self._task, src, dst)
        if err:
            del engine.tasks[address]
            self._task = ffi.NULL
            self._seen = True
            self._release()
            raise error_of(err)

    def cancel(self) -> None:
        """End it early: it ends with ECANCELED unless it finished otherwise.

        What prepare() has made and nothing has run is freed.  What is on an
        RDMA connection ends that; pier_task(3).
        Raises EOPNOTSUPP, EBUSY.
        """
        if self._over:
            return
        if self._prepared and lib.pier_task_may_free(self._task):
            self.give_up()
            return
        check(lib.pier_task_cancel(self._task))
        self._seen = True

    def ended(self, status: int) -> None:
        """The engine has retrieved it; status is that of pier_task_status().
        """
        value, error = None, None
        if status:
            error = self.error_for(status)
        elif self._take is not None:
            try:
                value = self._take(self._task)
            except Exception as problem:  # pylint: disable=broad-except
                error = problem
        self._release()
        self._finish(value, error)

    def error_for(self, status: int) -> BaseException:
        """The error of the task, which has ended with status."""
        return error_of(status, text(lib.pier_task_error_text(self._task)))

    def give_up(self) -> None:
        """Nothing will run it any more: it is freed."""
        if self._over or self._task == ffi.NULL:
            return
        status = lib.pier_task_status(self._task)
        error = (self.error_for(status) if status and
                 status != -errno.EINPROGRESS else
                 error_of(-errno.ECANCELED, f"{self._name()}: it has not run"))
        self._seen = True
        self._release()
        self._finish(None, error)

    def is_of(self, context) -> bool:
        """Is it a prepared task of that context?"""
        return any(owner is context or getattr(owner, "rdma", None) is context
                   for owner in self._owners)

    def lose(self, error: BaseException) -> None:
        """It can no longer succeed: what waits for it gets error."""
        if self._futures or self._waits:
            self._finish(None, error)
            lib.pier_task_cancel(self._task)

    def _release(self) -> None:
        task, self._task = self._task, ffi.NULL
        lib.pier_task_free(task)
        if self._src or self._dst:
            lib.pier_buf_put(self._src)
            lib.pier_buf_put(self._dst)
            self._src = self._dst = ffi.NULL
        self._owners = ()
        self._take = None

    def _name(self) -> str:
        if self._task == ffi.NULL:
            return "task"
        return text(lib.pier_task_type_name(lib.pier_task_type(self._task)))

    def __del__(self) -> None:
        if self._prepared:
            drop(self.give_up, self._engine)
        error = self._error
        if (error is None or self._seen or
                getattr(error, "errno", 0) == errno.ECANCELED):
            return
        warnings.warn(f"a task has failed and no one looked: {error}",
                      RuntimeWarning, source=self)


class CopyingTask(Task[R_co]):
    """A task that copies bytes when it is submitted, the last of its owners.

    These are a cffi buffer: until then their object is not resized.
    """

    def _submit(self) -> None:
        try:
            super()._submit()
        finally:
            self._owners = self._owners[:-1]


class Receive(Task[R_co]):
    """A receive in flight of an RDMA context, the first of its owners."""

    def wait(self, timeout: Optional[float] = None) -> R_co:
        if not self._over:
            self._suspends()
        return super().wait(timeout)

    # What was lost before it waits, the engine does not look for again.
    def _suspends(self) -> None:
        if self._owners[0].has_lost:
            self._engine.look_for_hope(self._owners[0])


def prepare(method: Callable[..., Task[R]], *args: Any, **options: Any
            ) -> Task[R]:
    """The task of a method, as dma.copy, that is not submitted yet.

    It is for a node of a graph, or for its submit().
    """
    engine = method.__self__.engine     # type: ignore[attr-defined]
    before, engine.prepares = engine.prepares, True
    try:
        return method(*args, **options)
    finally:
        engine.prepares = before
