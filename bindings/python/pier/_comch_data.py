# SPDX-License-Identifier: BSD-2-Clause
"""The data path of Comm Channels: consumers and producers."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Optional

from ._context import Context
from ._counters import members
from ._errors import check, configuration, create, error_of, text
from ._memory import Mmap, Parts, source, target
from ._operation import PENDING, Change, CopyingTask, Task
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._comch import ComchConnection
    from ._engine import Engine


class ComchData:
    """What a consumer has received: its length, its immediate bytes, who."""

    __slots__ = ("length", "imm", "producer")

    def __init__(self, task) -> None:
        length = ffi.new("size_t *")
        imm = lib.pier_comch_task_imm(task, length)
        self.length = lib.pier_comch_task_len(task)
        self.imm = ffi.unpack(ffi.cast("char *", imm), length[0])
        self.producer = lib.pier_comch_task_producer(task)

    def __len__(self) -> int:
        return self.length


class _Data(Context):
    """What consumers and producers have in common.

    config has members of struct pier_comch_data_config.  engine is another
    one than that of the connection, None: the same.
    """

    _kind = ""
    _calls: dict = {}

    def __init__(self, conn: ComchConnection, engine: Optional[Engine],
                 config: dict, *what) -> None:
        cfg = configuration("comch_data", config)
        obj = create(self._call("create"), conn.handle, *what)
        super().__init__(engine or conn.engine, obj, self._call("ctx")(obj),
                         self._call("destroy"))
        self.conn = conn
        check(self._call("configure")(obj, cfg))
        self.start()
        conn.comch.data.add(self)

    def _call(self, verb: str):
        return self._calls[verb]

    @property
    def id(self) -> int:
        """Its number, 1 to 65534, of its kind and end."""
        return self._call("id")(self.handle)

    def counters(self) -> dict[str, int]:
        """Its counters, by their names."""
        return members(self._call("get_counters"), self.handle)

    def ready(self) -> Change[None]:
        """Wait until it runs.  Fails with the reason why it does not."""
        return Change(self.engine, f"{self._kind} ready", self._look)

    def _look(self):
        if self.is_running:
            return None
        if lib.pier_ctx_state(self._ctx) == lib.PIER_CTX_STARTING:
            return PENDING
        reason = ffi.new("const char **")
        code = self._call("error")(self.handle, reason)
        raise error_of(code or -errno.ESHUTDOWN, text(reason[0]) or
                       f"comch: the {self._kind} has stopped")


class ComchConsumer(_Data):
    """Receives messages of producers of the peer into parts of mmap.

    Without mmap it receives immediate bytes alone.
    """

    _kind = "consumer"
    _calls = {
        "create": lib.pier_comch_consumer_create,
        "configure": lib.pier_comch_consumer_configure,
        "ctx": lib.pier_comch_consumer_ctx,
        "destroy": lib.pier_comch_consumer_destroy,
        "error": lib.pier_comch_consumer_error,
        "get_counters": lib.pier_comch_consumer_get_counters,
        "id": lib.pier_comch_consumer_id,
    }

    def __init__(self, conn: ComchConnection, mmap: Optional[Mmap] = None,
                 engine: Optional[Engine] = None, **config: int) -> None:
        super().__init__(conn, engine, config,
                         ffi.NULL if mmap is None else mmap.handle)
        self._mmap = mmap

    def receive(self, dst: Parts = None) -> Task[ComchData]:
        """Receive one message into dst; the result is a ComchData.

        Raises EINVAL, dst is not of the consumer's mmap.
        """
        consumer = self.handle
        buf = target(self.engine, dst)
        return Task.make(self.engine, lib.pier_comch_task_receive,
                         (consumer, buf), (self, dst), ComchData, dst=buf)


class ComchProducer(_Data):
    """Sends messages to consumers of the peer."""

    _kind = "producer"
    _calls = {
        "create": lib.pier_comch_producer_create,
        "configure": lib.pier_comch_producer_configure,
        "ctx": lib.pier_comch_producer_ctx,
        "destroy": lib.pier_comch_producer_destroy,
        "error": lib.pier_comch_producer_error,
        "get_counters": lib.pier_comch_producer_get_counters,
        "id": lib.pier_comch_producer_id,
    }

    def __init__(self, conn: ComchConnection,
                 engine: Optional[Engine] = None, **config: int) -> None:
        super().__init__(conn, engine, config)

    def send(self, src: Parts, consumer: int, imm: bytes = b"") -> Task[None]:
        """Send the bytes of src, and imm, to that consumer of the peer.

        The task ends when they are in its buffer; until then it waits.
        Raises ENOENT, no such consumer; EMSGSIZE.
        """
        producer, imm_bytes = self.handle, ffi.from_buffer(imm)
        buf = source(self.engine, src)
        return CopyingTask.make(
            self.engine, lib.pier_comch_task_produce,
            (producer, buf, imm_bytes, len(imm_bytes), consumer),
            (self, src, imm_bytes), src=buf)
