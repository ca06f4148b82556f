# SPDX-License-Identifier: BSD-2-Clause
"""Sync events: numbers that one side sets and another waits for."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Optional

from ._context import Context
from ._data import data_of, device_of
from ._errors import check, configuration, create, error_of
from ._life import Closable, close_dropped
from ._operation import Task
from ._pier import ffi, lib
from ._time import wait

if TYPE_CHECKING:
    from ._device import Device
    from ._engine import Engine

ALL = 2 ** 64 - 1


class SyncEvent(Closable):
    """A sync event of this process, of 64 bits, pier_sync_event(3).

    With a device other processes can use it: remote_publisher=True, they set
    it; remote_subscriber=True, they read it.
    wait_gt(), wait_eq() and wait_neq() block; any thread may make every call
    but close().
    """

    def __init__(self, dev: Optional[Device] = None, *,
                 remote_publisher: bool = False,
                 remote_subscriber: bool = False) -> None:
        self._event = ffi.NULL
        self._dev = dev
        self._event = _configured(dev, remote_publisher, remote_subscriber)
        check(lib.pier_sync_event_start(self._event))

    @classmethod
    def from_process(cls, dev: Device, descriptor: bytes) -> SyncEvent:
        """The event of another process, whose export_process() made it.

        Each use of it blocks for a round trip.
        Raises PIER_EDESC, PIER_EVERSION, PIER_EKIND, EPROTOTYPE.
        """
        self = cls.__new__(cls)
        self._dev = dev
        self._event = create(lib.pier_sync_event_import_process,
                             device_of(dev), *data_of(descriptor))
        check(lib.pier_sync_event_start(self._event))
        return self

    @property
    def handle(self):
        """The struct pier_sync_event.  Raises ESHUTDOWN once closed."""
        if self._event == ffi.NULL:
            raise error_of(-errno.ESHUTDOWN, "the sync event is closed")
        return self._event

    @property
    def value(self) -> int:
        """The number."""
        return _get(self.handle)

    @value.setter
    def value(self, value: int) -> None:
        check(lib.pier_sync_event_set(self.handle, value))

    def add(self, value: int) -> int:
        """Add to the number, modulo 2^64; returns the number before."""
        return _add(self.handle, value)

    def wait_gt(self, value: int, mask: int = ALL,
                timeout: Optional[float] = None) -> None:
        """Wait until the number AND mask is greater than value.

        At most timeout seconds: PierTimeoutError.
        """
        self._wait(lib.pier_sync_event_wait_gt, value, mask, timeout)

    def wait_eq(self, value: int, mask: int = ALL,
                timeout: Optional[float] = None) -> None:
        """Wait until the number AND mask is equal to value."""
        self._wait(lib.pier_sync_event_wait_eq, value, mask, timeout)

    def wait_neq(self, value: int, mask: int = ALL,
                 timeout: Optional[float] = None) -> None:
        """Wait until the number AND mask is not equal to value."""
        self._wait(lib.pier_sync_event_wait_neq, value, mask, timeout)

    def export(self) -> bytes:
        """The descriptor by which RDMA peers use it: a secret.

        Raises EACCES, neither side is remote.
        """
        return self._descriptor(lib.pier_sync_event_export)

    def export_process(self) -> bytes:
        """The same for from_process() of other processes: a secret.

        This process may do anything else, or sleep, until the event is closed.
        Raises EACCES, neither side is remote.
        """
        return self._descriptor(lib.pier_sync_event_export_process)

    def export_wait(self, timeout: Optional[float] = None) -> None:
        """Wait until a process has connected to it, and none is any more.

        At most timeout seconds: PierTimeoutError.
        """
        wait(lambda ms: lib.pier_sync_event_export_wait(self.handle, ms),
             timeout)

    def close(self) -> None:
        """Stop it, and destroy it.  It may be repeated."""
        event, self._event = self._event, ffi.NULL
        lib.pier_sync_event_destroy(event)
        close_dropped()

    def __del__(self) -> None:
        if getattr(self, "_event", ffi.NULL) != ffi.NULL:
            self.close()

    def _descriptor(self, call) -> bytes:
        ret = ffi.new("const void **")
        length = ffi.new("size_t *")
        check(call(self.handle, ret, length))
        return ffi.unpack(ffi.cast("char *", ret[0]), length[0])

    def _wait(self, call, value: int, mask: int,
              timeout: Optional[float]) -> None:
        wait(lambda ms: call(self.handle, value, mask,
                             lib.PIER_SYNC_EVENT_YIELD, ms), timeout)


class SyncEventContext(Context):
    """A sync event of this process whose waits are tasks of an engine.

    At most so many tasks are in flight; 0: the default.
    """

    # pylint: disable=too-many-arguments
    def __init__(self, engine: Engine, dev: Optional[Device] = None, *,
                 remote_publisher: bool = False,
                 remote_subscriber: bool = False, tasks: int = 0) -> None:
        self._begin(engine, dev, _configured(
            dev, remote_publisher, remote_subscriber, tasks))

    @classmethod
    def from_process(cls, engine: Engine, dev: Device, descriptor: bytes, *,
                     tasks: int = 0) -> SyncEventContext:
        """The event of another process, whose export_process() made it.

        Use get(), set() and fetch_add(), which are tasks: value and add()
        would block, and raise EPERM.
        Raises PIER_EDESC, PIER_EVERSION, PIER_EKIND, EPROTOTYPE.
        """
        self = cls.__new__(cls)
        event = create(lib.pier_sync_event_import_process, device_of(dev),
                       *data_of(descriptor))
        self._begin(engine, dev, _configure(event, tasks=tasks))
        return self

    def _begin(self, engine: Engine, dev: Optional[Device], event) -> None:
        super().__init__(engine, event, lib.pier_sync_event_ctx(event),
                         lib.pier_sync_event_destroy)
        self._dev = dev
        self.start()

    @property
    def value(self) -> int:
        """The number."""
        return _get(self.handle)

    @value.setter
    def value(self, value: int) -> None:
        check(lib.pier_sync_event_set(self.handle, value))

    def add(self, value: int) -> int:
        """Add to the number, modulo 2^64; returns the number before."""
        return _add(self.handle, value)

    def get(self) -> Task[int]:
        """A task that reads the number: its result."""
        return self._update(lib.pier_sync_event_task_get)

    def set(self, value: int) -> Task[None]:
        """A task that sets the number."""
        return Task.make(self.engine, lib.pier_sync_event_task_set,
                         (self.handle, value), (self,))

    def fetch_add(self, value: int) -> Task[int]:
        """A task that adds to it; the result is the number before."""
        return self._update(lib.pier_sync_event_task_add, value)

    def when_gt(self, value: int, mask: int = ALL) -> Task[None]:
        """A task that ends when the number AND mask is greater."""
        return self._when(lib.pier_sync_event_task_wait_gt, value, mask)

    def when_eq(self, value: int, mask: int = ALL) -> Task[None]:
        """A task that ends when the number AND mask is equal to value."""
        return self._when(lib.pier_sync_event_task_wait_eq, value, mask)

    def when_neq(self, value: int, mask: int = ALL) -> Task[None]:
        """A task that ends when the number AND mask is not equal to it."""
        return self._when(lib.pier_sync_event_task_wait_neq, value, mask)

    def _update(self, call, *value: int) -> Task:
        number = ffi.new("uint64_t *")
        return Task.make(self.engine, call, (self.handle, *value, number),
                         (self,), lambda _: number[0])

    def _when(self, call, value: int, mask: int) -> Task:
        return Task.make(self.engine, call, (self.handle, value, mask),
                         (self,))


class RemoteSyncEvent(Closable):
    """The event of an RDMA peer, whose export() made descriptor.

    Connection.event_get(), event_set() and event_add() use it.
    """

    def __init__(self, dev: Device, descriptor: bytes) -> None:
        self._event = ffi.NULL
        self._dev = dev
        self._event = create(lib.pier_sync_event_create_from_export,
                             device_of(dev), *data_of(descriptor))
        check(lib.pier_sync_event_start(self._event))

    @classmethod
    def adopt(cls, dev: Device, handle) -> RemoteSyncEvent:
        """The object of a struct pier_sync_event of a peer's, started."""
        self = cls.__new__(cls)
        self._dev = dev
        self._event = handle
        return self

    @property
    def handle(self):
        """The struct pier_sync_event.  Raises ESHUTDOWN once closed."""
        if self._event == ffi.NULL:
            raise error_of(-errno.ESHUTDOWN, "the sync event is closed")
        return self._event

    def close(self) -> None:
        """Forget it; the peer's event remains.  It may be repeated."""
        event, self._event = self._event, ffi.NULL
        lib.pier_sync_event_destroy(event)
        close_dropped()

    def __del__(self) -> None:
        if getattr(self, "_event", ffi.NULL) != ffi.NULL:
            self.close()


def _location(is_remote: bool) -> int:
    return (lib.PIER_SYNC_EVENT_REMOTE if is_remote else
            lib.PIER_SYNC_EVENT_CPU)


def _configured(dev: Optional[Device], publisher: bool, subscriber: bool,
                tasks: int = 0):
    handle = ffi.NULL if dev is None else device_of(dev)
    return _configure(create(lib.pier_sync_event_create), dev=handle,
                      publisher=_location(publisher),
                      subscriber=_location(subscriber), tasks=tasks)


def _configure(event, **members):
    err = lib.pier_sync_event_configure(
        event, configuration("sync_event", members))
    if err:
        error = error_of(err)
        lib.pier_sync_event_destroy(event)
        raise error
    return event


def _get(event) -> int:
    ret = ffi.new("uint64_t *")
    check(lib.pier_sync_event_get(event, ret))
    return ret[0]


def _add(event, value: int) -> int:
    ret = ffi.new("uint64_t *")
    check(lib.pier_sync_event_add(event, value, ret))
    return ret[0]
