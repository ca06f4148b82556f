# SPDX-License-Identifier: BSD-2-Clause
"""The progress engine: blocking waits, and asyncio."""
from __future__ import annotations

import asyncio
import collections
import contextlib
import errno
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Generator, Optional

from ._errors import create, error_of
from ._life import Closable, close_dropped, drop, here, no_thread
from ._operation import Change, Operation, Task
from ._pier import ffi, lib
from ._time import limit_of, slice_of

if TYPE_CHECKING:
    from ._rdma import Rdma

ROUNDS = 16     # of progress in one call of the loop
POLL_NS = 100000    # before what is awaited suspends
TURN_NS = 1000000   # of polling before others of the loop have their turn

_engines: weakref.WeakSet = weakref.WeakSet()


class Engine(Closable):
    """A progress engine, pier_pe(3).

    All objects on it belong to one thread.  Work is done in calls that wait,
    in progress(), or, once attached, by the running asyncio loop.
    """

    def __init__(self) -> None:
        self._pe = create(lib.pier_pe_create)
        self._thread: Callable[[], Any] = here.thread   # which drives it
        self.err = ffi.new("int *")     # of calls that return something else
        self.task = ffi.new("struct pier_task **")      # a new one
        self.address = ffi.cast("uintptr_t *", self.task)   # as a number
        self.inventory = create(lib.pier_buf_inventory_create, 64)
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._armed = False
        self._resumes = False           # the loop calls _run() soon
        self._armed_at = 0              # of the clock of time, in ns
        self._polls = True              # before it suspends
        self._turn = 0          # when others have their turn; 0: not set
        self.prepares = False           # tasks, which are not submitted
        self.prepared: weakref.WeakSet = weakref.WeakSet()
        self.tasks: dict[int, Task] = {}
        self.changes: set[Change] = set()
        self.hopes: set[Rdma] = set()   # of which a connection may have ended
        self.contexts: weakref.WeakSet = weakref.WeakSet()
        self._inside: set[int] = set()  # the ids of those, open ones
        self.dropped: collections.deque = collections.deque()   # close() of
        # what is on it, in a callback, or of another thread
        self.errors: list[BaseException] = []
        _engines.add(self)

    @property
    def handle(self):
        """The struct pier_pe.  Raises EINVAL once closed."""
        if self._pe == ffi.NULL:
            raise error_of(-errno.EINVAL, "the engine is closed")
        return self._pe

    @property
    def is_open(self) -> bool:
        """Was it not closed?"""
        return self._pe != ffi.NULL

    @property
    def fd(self) -> int:
        """The descriptor of pier_pe_fd(); it belongs to the engine."""
        return lib.pier_pe_fd(self.handle)

    def progress(self, limit_ns: int = 0) -> int:
        """Do what is pending, without sleeping; returns how many events.

        If nothing is, poll for limit_ns nanoseconds.
        """
        self._thread = here.thread
        events = lib.pier_py_poll(self._pe or self.handle, limit_ns)
        if events < 0:
            raise error_of(events)
        if events or self.hopes or self.dropped:
            self._dispatch()
        return events

    def wake(self) -> None:
        """End a wait early.  Any thread."""
        lib.pier_pe_wake(self.handle)

    def is_elsewhere(self) -> bool:
        """Does another thread drive it, which has not ended?"""
        thread = self._thread
        return thread is not here.thread and thread() is not None

    def close_soon(self, close: Callable[[], None]) -> None:
        """Have its thread call close().  Any thread.

        Without a lock, which what the garbage collector has interrupted may
        hold, and without the struct pier_pe, which may be destroyed meanwhile:
        wait_for() sleeps in slices.
        """
        self.dropped.append(close)
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):     # the loop is closed
                loop.call_soon_threadsafe(self._run)

    def wait_for(self, is_over: Callable[[], object],
                 timeout: Optional[float]) -> bool:
        """Drive the engine until is_over(); False: timeout seconds are over.

        None is without limit.  A signal's exception, as of Ctrl-C, ends it.
        """
        limit = limit_of(timeout)
        self._thread = here.thread
        self._disarm()
        try:
            while not is_over():
                left = slice_of(limit)
                # Polling takes a wake(): what it was for is looked at.
                if left and (self.progress(POLL_NS) or is_over()):
                    continue
                err = lib.pier_pe_wait(self.handle, left)
                if err not in (0, -errno.ETIMEDOUT):
                    raise error_of(err)
                self._dispatch()
                if not left and not is_over():
                    return False
            return True
        finally:
            self._resume()

    def attach(self) -> None:
        """Have the running asyncio loop drive the engine.

        What is awaited does that by itself; call it in a program that only
        has memory which peers use.
        """
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return
        self.detach()
        loop.add_reader(self.fd, self._run)
        self._loop = loop
        self._run()

    def poll_for(self, operation: Operation) -> None:
        """Poll before suspending: the operation may soon be over.

        It is not done after it was in vain for POLL_NS, whatever else has
        happened, until the loop is woken as early; after TURN_NS of it others
        of the loop have their turn.
        """
        loop = self._loop
        if loop is None or not self._polls:
            return
        if self._armed:
            self._disarm()
        now = time.monotonic_ns()
        end = now + POLL_NS
        if not self._turn:
            self._turn = now + TURN_NS
        try:
            while not operation.has_ended and self._loop is not None:
                is_turn = now >= self._turn
                if is_turn or now >= end or not self._round(loop, end - now):
                    self._polls = is_turn
                    self._turn = 0
                    break
                now = time.monotonic_ns()
        finally:
            if not self._resumes:
                self._resume()

    def detach(self) -> None:
        """Undo attach()."""
        loop, self._loop = self._loop, None
        self._resumes = False
        self._disarm()
        if loop is not None and not loop.is_closed():
            loop.remove_reader(self.fd)

    @contextlib.contextmanager
    def driven_by_c(self) -> Generator[None, None, None]:
        """For calls of C that drive the engine: the loop goes on after it."""
        self._thread = here.thread
        self._disarm()
        try:
            yield
        finally:
            self._resume()

    def enter(self, context) -> None:
        """An object of a struct pier_ctx was started."""
        self._thread = here.thread
        self.contexts.add(context)
        self._inside.add(id(context))

    def leave(self, context) -> None:
        """It is closed."""
        self.contexts.discard(context)
        self._inside.discard(id(context))
        close_dropped(self.dropped)     # which it may have kept from that

    def look_at_changes(self) -> None:
        """Something has happened: end what has waited for that."""
        for change in list(self.changes):
            change.look()
            if change.has_ended:
                self.changes.discard(change)

    def stop(self, context) -> None:
        """Stop a struct pier_ctx, and take the tasks that have ended.

        Raises EBUSY in a callback: it stops, but has not yet.
        """
        if self._pe == ffi.NULL:
            return
        with self.driven_by_c():
            err = lib.pier_ctx_stop_wait(context, -1)
            if err == -errno.EBUSY:
                raise error_of(err)
            self._drain()

    def give_up_prepared(self, context) -> None:
        """Free the tasks of context that prepare() has made."""
        close_dropped(self.dropped)     # as another thread may have dropped
        for task in list(self.prepared):
            if task.is_of(context):
                self.prepared.discard(task)
                task.give_up()

    def look_for_hope(self, context: Rdma) -> None:
        """See soon whether what waits for a receive waits in vain."""
        self.hopes.add(context)
        self._resume()

    def close(self) -> None:
        """Close the contexts on it, which ends their tasks, then the engine.

        It may be repeated.  Raises EBUSY in a function of Func or Graph, as
        the close() of each context: it stops then, but is still open.
        """
        if self._pe != ffi.NULL:
            self._destroy()
        close_dropped(self.dropped)

    # Nothing refers to it: no thread is in it, and this one may close it.
    def __del__(self) -> None:
        if getattr(self, "dropped", None) is None:
            return
        self._thread = here.thread
        close_dropped(self.dropped)
        if self._pe != ffi.NULL:
            drop(self._drop)

    def _drop(self) -> None:
        if self._inside:
            raise error_of(-errno.EBUSY, "the engine has open contexts")
        self.close()

    def _destroy(self) -> None:
        for context in list(self.contexts):
            context.close()
        close_dropped(self.dropped)
        self.detach()
        self._drain()
        pe, self._pe = self._pe, ffi.NULL
        lib.pier_buf_inventory_destroy(self.inventory)
        lib.pier_pe_destroy(pe)
        self._end_changes()
        self._thread = no_thread

    def _dispatch(self) -> None:
        self._drain()
        if self.dropped:
            close_dropped(self.dropped)
        while self.hopes:
            self.hopes.pop().look_for_hope()
        if self.changes:
            self.look_at_changes()
        if self.errors:
            raise self.errors.pop(0)

    def _drain(self) -> None:
        while address := lib.pier_py_retrieve(self._pe):
            task = self.tasks.pop(address & ~1, None)
            if task is not None:
                task.ended(lib.pier_task_status(task.pointer)
                           if address & 1 else 0)

    def _end_changes(self) -> None:
        for change in list(self.changes):
            change.look()
            if not change.has_ended:
                change._finish(None, error_of(-errno.ECANCELED,
                                              "the engine was closed"))
        self.changes.clear()

    def _disarm(self) -> None:
        if self._armed:
            self._armed = False
            lib.pier_pe_clear(self._pe)

    def _resume(self) -> None:
        if (self._loop is not None and not self._resumes and
                not self._loop.is_closed()):
            self._resumes = True
            self._loop.call_soon(self._run)

    # The loop calls it: until nothing is pending, then the descriptor wakes.
    def _run(self) -> None:
        self._resumes = False
        self._turn = 0                  # others have theirs
        if self._loop is None or self._pe == ffi.NULL:
            return
        if self._armed and time.monotonic_ns() - self._armed_at < POLL_NS:
            self._polls = True
        self._disarm()
        try:
            for _ in range(ROUNDS):
                if self._loop is None:
                    return
                if self._round(self._loop, 0) == 0 and not self._arm():
                    return
        finally:
            if not self._armed:
                self._resume()

    # What is raised is the handler's; the loop goes on driving the engine.
    def _round(self, loop: asyncio.AbstractEventLoop, limit_ns: int) -> int:
        try:
            return self.progress(limit_ns)
        except Exception as error:  # pylint: disable=broad-except
            loop.call_exception_handler({
                "message": "an exception in a callback of pier",
                "exception": error})
            return 1

    def _arm(self) -> int:
        err = lib.pier_pe_arm(self._pe)
        self._armed = not err
        self._armed_at = time.monotonic_ns()
        return err


def engine_of(engine: Any) -> Engine:
    """engine.  Raises TypeError, it is none."""
    if not isinstance(engine, Engine):
        raise TypeError(f"engine is an Engine, not {type(engine).__name__}")
    return engine


def close_all() -> None:
    """At the end of the program: peers get their goodbye."""
    for engine in list(_engines):
        engine.close()
