# SPDX-License-Identifier: BSD-2-Clause
"""RDMA contexts."""
from __future__ import annotations

import collections
import errno
import socket
import weakref
from typing import TYPE_CHECKING, Any, Optional

from ._callbacks import user_data
from ._conn import Connection
from ._data import chars_of, data_of, device_of
from ._engine import engine_of
from ._errors import check, configuration, create, error_of
from ._life import Closable, Own, close_dropped, drop
from ._memory import Mmap, Parts, target
from ._operation import PENDING, Change, Next, Receive, Task
from ._pier import ffi, lib
from ._sync_event import RemoteSyncEvent, SyncEvent
from ._time import ms_of
from ._words import Words

if TYPE_CHECKING:
    from ._device import Device
    from ._engine import Engine


_IMM = 1 << 32      # above the lengths of receives: their opcode


class Message:
    """What a receive has received."""

    __slots__ = ("length", "imm", "conn", "is_write")

    def __init__(self, length: int, imm: Optional[int],
                 conn: Optional[Connection], is_write: bool) -> None:
        self.length = length        # bytes
        self.imm = imm              # the immediate; None: without one
        self.conn = conn            # it came from
        self.is_write = is_write    # the bytes are in the mmap of the writer's
        # choice, not in the memory of the receive

    def __len__(self) -> int:
        return self.length


class Rdma(Closable):
    """A running RDMA context, pier_rdma(3): connections and receives.

    config has members of struct pier_rdma_config: Rdma(dev, engine,
    max_conns=8).
    """

    def __init__(self, dev: Device, engine: Engine, **config: int) -> None:
        self._rdma = ffi.NULL
        self.dev = dev
        self.engine = engine_of(engine)
        self.words = Words(dev)
        self._conns: weakref.WeakValueDictionary = (
            weakref.WeakValueDictionary())
        self.has_lost = False       # a connection since the last was made
        self._requests: collections.deque = collections.deque()
        self._owned: set[Own] = set()       # by connections and listeners
        self._listening: set[Own] = set()   # of these, those of listeners
        cfg = configuration("rdma", config)
        self._rdma = create(lib.pier_rdma_create, device_of(dev))
        try:
            check(lib.pier_rdma_configure(self._rdma, cfg))
            check(lib.pier_ctx_start(self._ctx(), engine.handle))
        except BaseException:
            self.close()
            raise
        lib.pier_ctx_set_user_data(self._ctx(), user_data(self))
        engine.enter(self)

    @property
    def handle(self):
        """The struct pier_rdma.  Raises EINVAL once closed."""
        if not self._rdma:
            raise error_of(-errno.EINVAL, "the RDMA context is closed")
        return self._rdma

    @property
    def context(self):
        """The struct pier_ctx."""
        return lib.pier_rdma_ctx(self.handle)

    def export(self) -> Connection:
        """Create a connection; its descriptor is for the peer.

        Raises ENOSPC, ENOMEM, ENETDOWN, ENODEV, ERANGE.
        """
        ret = ffi.new("const void **")
        length = ffi.new("size_t *")
        conn = ffi.new("struct pier_conn **")
        check(lib.pier_rdma_export(self.handle, ret, length, conn))
        descriptor = ffi.unpack(ffi.cast("char *", ret[0]), length[0])
        return self._adopt(conn[0], descriptor)

    def connect(self, peer: str, port: int = 0, data: bytes = b"",
                **config: Any) -> Change[Connection]:
        """Connect to the listener at peer, "HOST" or "HOST:PORT".

        data is private data for it; config has members of struct
        pier_connect_config, as retry_ms=5000.  The result is the connection.
        Raises ENOSPC, EMSGSIZE, EADDRNOTAVAIL, EHOSTUNREACH.
        """
        source = config.pop("source", None)
        cfg = configuration("connect", config)
        texts = [chars_of(peer, "peer"), chars_of(source, "source")]
        cfg.peer, cfg.source = texts
        cfg.port = port
        private, cfg.data_len = data_of(data)
        cfg.data = private
        conn = create(lib.pier_rdma_connect_to, self.handle, cfg)
        return self._adopt(conn).connected()

    def rendezvous(self, memory: Optional[Mmap] = None, remote: bool = False,
                   timeout: float = 60, **options: Any
                   ) -> tuple[Connection, Optional[Mmap]]:
        """Connect as the samples in C do: by files, or by address.

        Exports memory, if there is any; returns the connection, and with
        remote the peer's memory.  options are members of struct pier_args:
        local_descriptor, remote_descriptor, memory_descriptor; use_cm,
        server_addr, listen_port.  Blocks, at most timeout seconds, and the
        loop of asyncio with it.
        """
        conn, mmap = self._meet(lib.pier_rendezvous, memory,
                                "struct pier_mmap **" if remote else "",
                                timeout, options)
        return conn, Mmap.adopt(self.dev, mmap) if remote else None

    def rendezvous_event(self, event: Optional[SyncEvent] = None,
                         remote: bool = False, timeout: float = 60,
                         **options: Any
                         ) -> tuple[Connection, Optional[RemoteSyncEvent]]:
        """The same with sync events instead of memory."""
        conn, far = self._meet(lib.pier_rendezvous_event, event,
                               "struct pier_sync_event **" if remote else "",
                               timeout, options)
        return conn, RemoteSyncEvent.adopt(self.dev, far) if remote else None

    # pylint: disable=too-many-arguments
    def _meet(self, call, what, kind: str, timeout: float, options: dict
              ) -> tuple[Connection, Any]:
        texts = []
        args = lib.pier_py_args()
        for name, value in options.items():
            if not hasattr(args, name):
                raise TypeError(f"struct pier_args has no member {name}")
            if isinstance(value, str):
                value = ffi.new("char[]", value.encode())
                texts.append(value)
            setattr(args, name, ffi.NULL if value is None else value)
        args.timeout_ms = ms_of(timeout)
        conn = ffi.new("struct pier_conn **")
        remote = ffi.new(kind) if kind else ffi.NULL
        with self.engine.driven_by_c():
            check(call(self.handle, ffi.addressof(args),
                       ffi.NULL if what is None else what.handle, conn,
                       remote))
        return self._adopt(conn[0]), remote[0] if kind else None

    def listen(self, port: int = 0, address: Optional[str] = None,
               **config: int) -> Listener:
        """Accept requests of clients on port; 0: a free one.

        config has members of struct pier_listen_config.
        Raises EADDRINUSE, EADDRNOTAVAIL, EINVAL, EOPNOTSUPP.
        """
        cfg = configuration("listen", config)
        chars = chars_of(address or "", "address")
        cfg.address = chars
        cfg.port = port
        none = ffi.NULL
        check(lib.pier_rdma_set_conn_callbacks(
            self.handle, lib.pier_py_conn_request, none, none, none))
        own = self.own(create(lib.pier_rdma_listen, self.handle, cfg))
        self._listening.add(own)
        return Listener(self, own)

    def receive(self, dst: Parts) -> Task[Message]:
        """Receive a message of any connection into dst; None: an empty one.

        The result is a Message.  When nothing can arrive any more, because
        every connection has ended, what waits for it fails with the error of
        the last one.
        """
        rdma = self.handle
        buf = target(self.engine, dst)
        return Receive.make(self.engine, lib.pier_rdma_task_receive,
                            (rdma, buf), (self, dst), self._message, dst=buf)

    def close(self) -> None:
        """Say goodbye on its connections, end its tasks, and free it.

        Waits for at most drain_ms.  It may be repeated.  Raises EBUSY in a
        function of Func or Graph: it stops then, but is still open.
        """
        if self._rdma == ffi.NULL:
            return
        self.engine.stop(self._ctx())
        rdma, self._rdma = self._rdma, ffi.NULL
        for own in self._owned:
            own.take()
        self._owned.clear()
        self._listening.clear()
        self.engine.give_up_prepared(self)
        lib.pier_rdma_destroy(rdma)
        self.words.close()
        self._requests.clear()
        self.engine.leave(self)
        self.engine.look_at_changes()
        close_dropped()

    def __del__(self) -> None:
        if getattr(self, "_rdma", ffi.NULL) != ffi.NULL:
            drop(self.close, self.engine)

    def requested(self, conn) -> None:
        """A callback: a client requests a connection."""
        self._requests.append(self._adopt(conn))

    def next_request(self) -> Any:
        """The oldest request that the program has not taken, or PENDING."""
        return self._requests.popleft() if self._requests else PENDING

    def look_for_hope(self) -> None:
        """Once no connection is alive, receives that are waited for fail."""
        if not self.has_lost or self._listening:
            return
        conns = list(self._conns.values())
        if any(conn.is_alive for conn in conns):
            return
        errors = [conn.error for conn in conns if conn.error]
        error = errors[-1] if errors else error_of(
            -errno.ENOTCONN, "no message arrives: no connection is left")
        for task in list(self.engine.tasks.values()):
            if isinstance(task, Receive) and task.is_of(self):
                task.lose(error)

    def own(self, pointer) -> Own:
        """A struct of an object that goes with that of this one."""
        own = Own(pointer)
        self._owned.add(own)
        return own

    def disown(self, own: Own) -> Any:
        """Its object is closed: the pointer; NULL: it was before."""
        self._owned.discard(own)
        self._listening.discard(own)
        return own.take()

    def _ctx(self):
        return lib.pier_rdma_ctx(self._rdma)

    def _adopt(self, conn, descriptor: Optional[bytes] = None) -> Connection:
        connection = Connection(self, conn, descriptor)
        self._conns[int(ffi.cast("uintptr_t", conn))] = connection
        self.has_lost = False
        return connection

    def _message(self, task) -> Message:
        length = lib.pier_py_received(task)
        conn = self._conns.get(lib.pier_py_task_conn(task))
        if length < _IMM:
            return Message(length, None, conn, False)
        return Message(length % _IMM, socket.ntohl(lib.pier_recv_imm(task)),
                       conn, length // _IMM == lib.PIER_RECV_WRITE_IMM)


class Listener(Closable):
    """Accepts requests on a port; Rdma.listen() makes it."""

    def __init__(self, rdma: Rdma, own: Own) -> None:
        self._rdma = rdma
        self._own = own

    @property
    def port(self) -> int:
        """The port in use; 0: closed."""
        if self._own.pointer == ffi.NULL:
            return 0
        return lib.pier_listener_port(self._own.pointer)

    def request(self) -> Change[Connection]:
        """Wait for the next request of a client of the context.

        The result is a Connection, to accept(), reject() or close().
        Fails with ESHUTDOWN once the listener is closed.
        """
        return Next(self._rdma.engine, "request", self._next)

    def _next(self) -> Any:
        request = self._rdma.next_request()
        if request is PENDING and self._own.pointer == ffi.NULL:
            raise error_of(-errno.ESHUTDOWN, "the listener is closed")
        return request

    def close(self) -> None:
        """Accept no more requests.  It may be repeated."""
        lib.pier_listener_destroy(self._rdma.disown(self._own))
        self._rdma.engine.look_at_changes()

    def __del__(self) -> None:
        if self._own.pointer != ffi.NULL:
            drop(self.close, self._rdma.engine)
