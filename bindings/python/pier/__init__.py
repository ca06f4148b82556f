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
from ._conn import Connection, ConnPath, ConnState
from ._copy import Copy, CopyResult
from ._counters import ConnEvent, Counted, counters
from ._device import Device, devices
from ._dma import Dma
from ._dma_export import DmaExport
from ._engine import Engine, close_all
from ._errors import (PierConnectionError, PierError, PierTimeoutError, Scope,
                      text as _text)
from ._files import (Service, await_descriptor, describe, read_descriptor,
                     services, set_log_level, write_descriptor)
from ._func import AGAIN, Func
from ._graph import Graph, Instance, Node
from ._info import (DeviceInfo, Feature, Gid, Limit, TaskType, device_infos,
                    missing_devices)
from ._memory import Access, Buf, Mmap
from ._operation import Change, Operation, Task, prepare
from ._pier import lib as _lib
from ._rdma import Listener, Message, Rdma
from ._rep import Representor, RepresentorInfo, RepKind
from ._sha import Sha, ShaAlgorithm
from ._sync_event import RemoteSyncEvent, SyncEvent, SyncEventContext

__version__ = _text(_lib.pier_version())

__all__ = [
    "AGAIN", "Access", "Buf", "Change", "ComchClient", "ComchConnection",
    "ComchConsumer", "ComchData", "ComchProducer", "ComchRequest",
    "ComchServer", "ConnEvent", "ConnPath", "ConnState", "Connection", "Copy",
    "CopyResult", "Counted", "Device", "DeviceInfo", "Dma", "DmaExport",
    "Engine", "Feature", "Func", "Gid", "Graph", "Instance", "Limit",
    "Listener", "Message", "Mmap", "Node", "Operation",
    "PierConnectionError", "PierError", "PierTimeoutError", "Rdma",
    "RemoteSyncEvent", "RepKind", "Representor", "RepresentorInfo", "Scope",
    "Service", "Sha", "ShaAlgorithm", "SyncEvent", "SyncEventContext",
    "Task", "TaskType", "await_descriptor", "counters", "describe",
    "device_infos", "devices", "missing_devices", "prepare",
    "read_descriptor", "services", "set_log_level", "write_descriptor",
]

_atexit.register(close_all)
