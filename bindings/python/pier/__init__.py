# SPDX-License-Identifier: BSD-2-Clause
"""pier: RDMA from Python.

    import pier

    with pier.Device() as dev, pier.Engine() as engine, \\
            pier.Rdma(dev, engine) as rdma:
        ...

Objects are closed by `with`, or by close(), in the reverse order of their
creation.  What takes time returns an Operation: wait(SECONDS) for it, or await
it.  Failures are PierError, an OSError with the error and its message.
docs/python.md is the guide.
"""
import atexit as _atexit

from . import _callbacks
from ._comch import (ComchClient, ComchConnection, ComchRequest,
                     ComchServer)
from ._comch_data import ComchConsumer, ComchData, ComchProducer
from ._conn import Connection, ConnState
from ._device import Device, devices
from ._dma import Dma
from ._dma_export import DmaExport
from ._engine import Engine, close_all
from ._errors import (PierConnectionError, PierError, PierTimeoutError, Scope,
                      text as _text)
from ._memory import Access, Buf, Mmap
from ._operation import Change, Operation, Task
from ._pier import lib as _lib
from ._rdma import Listener, Message, Rdma
from ._sha import Sha, ShaAlgorithm
from ._sync_event import RemoteSyncEvent, SyncEvent, SyncEventContext

__version__ = _text(_lib.pier_version())

__all__ = [
    "Access", "Buf", "Change", "ComchClient", "ComchConnection",
    "ComchConsumer", "ComchData", "ComchProducer", "ComchRequest",
    "ComchServer", "ConnState", "Connection", "Device", "Dma", "DmaExport",
    "Engine", "Listener", "Message", "Mmap", "Operation",
    "PierConnectionError", "PierError", "PierTimeoutError", "Rdma",
    "RemoteSyncEvent", "Scope", "Sha", "ShaAlgorithm", "SyncEvent",
    "SyncEventContext", "Task", "devices",
]

_atexit.register(close_all)
