# SPDX-License-Identifier: BSD-2-Clause
"""Connections, and the tasks that run on them."""
from __future__ import annotations

import enum
import errno
import socket
from typing import TYPE_CHECKING, NamedTuple, Optional

from ._callbacks import user_data
from ._counters import numbers
from ._data import data_of
from ._errors import PierError, check, error_of, text
from ._life import Closable, drop
from ._memory import Parts, pair, source, target
from ._operation import PENDING, Change, Task
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._rdma import Rdma
    from ._sync_event import RemoteSyncEvent


class ConnState(enum.IntEnum):
    """The state of a connection; pier_conn(3)."""

    RESET = lib.PIER_CONN_RESET
    INIT = lib.PIER_CONN_INIT
    CONNECTED = lib.PIER_CONN_CONNECTED
    ERROR = lib.PIER_CONN_ERROR


class ConnPath(NamedTuple):
    """The path of a connection; pier_conn(3)."""

    local_gid: bytes
    peer_gid: bytes
    local_qpn: int
    peer_qpn: int
    mtu: int            # of the path, in bytes
    gid_index: int      # of local_gid


class Connection(Closable):
    """A connection to one peer; Rdma makes it.

    Sources and destinations are Mmaps, parts of them, mmap[START:STOP], or
    lists of parts of local memory.  Every task is in flight when its method
    returns; its memory must not be changed until it has ended.
    Methods raise EAGAIN when the queue is full: wait for a task first.
    """

    def __init__(self, rdma: Rdma, conn, descriptor: Optional[bytes] = None
                 ) -> None:
        self._own = rdma.own(conn)
        self._ended: tuple = (None, "")
        self.rdma = rdma
        self.engine = rdma.engine
        self.descriptor = descriptor
        lib.pier_conn_set_user_data(conn, user_data(self))
        lib.pier_conn_set_state_changed(conn, lib.pier_py_conn_state)

    @property
    def handle(self):
        """The struct pier_conn.  Raises ENOTCONN once closed."""
        conn = self._own.pointer
        if not conn:
            raise error_of(-errno.ENOTCONN, "the connection is closed")
        return conn

    @property
    def state(self) -> ConnState:
        """Its state; RESET once closed."""
        if self._own.pointer == ffi.NULL:
            return ConnState.RESET
        return ConnState(lib.pier_conn_state(self._own.pointer))

    @property
    def error(self) -> Optional[PierError]:
        """The error that has ended it; None: there is none."""
        if self._own.pointer == ffi.NULL:
            return None
        conn = self._own.pointer
        code = lib.pier_conn_error(conn)
        if not code:
            return None
        return error_of(code, text(lib.pier_conn_error_text(conn)))

    @property
    def is_alive(self) -> bool:
        """Is it connected, or still connecting?"""
        return self.state in (ConnState.INIT, ConnState.CONNECTED)

    @property
    def peer_address(self) -> str:
        """"ADDRESS" or "ADDRESS port N"; "" if it is not known."""
        return text(lib.pier_conn_peer_address(self.handle))

    @property
    def private_data(self) -> bytes:
        """What the peer has sent with its request, or its answer, to connect.

        Raises ENOTCONN, nothing has arrived, or connected by descriptors.
        """
        ret = ffi.new("const void **")
        length = ffi.new("size_t *")
        check(lib.pier_conn_private_data(self.handle, ret, length))
        return ffi.unpack(ffi.cast("char *", ret[0]), length[0])

    def connect(self, descriptor: bytes) -> Change[Connection]:
        """Connect to the peer whose Rdma.export() made descriptor.

        The result is the connection.
        Raises PIER_EDESC, PIER_EVERSION, PIER_EKIND, EISCONN, EHOSTUNREACH.
        """
        check(lib.pier_rdma_connect(self.handle, *data_of(descriptor)))
        return self.connected()

    def accept(self, data: bytes = b"") -> Change[Connection]:
        """Accept a client's request, with private data.

        The result is the connection.  Raises ECONNABORTED, EMSGSIZE.
        """
        check(lib.pier_conn_accept(self.handle, *data_of(data)))
        return self.connected()

    def reject(self, data: bytes = b"") -> None:
        """Reject a client's request, with private data; it is closed then."""
        check(lib.pier_conn_reject(self.handle, *data_of(data)))
        self.rdma.disown(self._own)
        self.engine.look_at_changes()

    def connected(self) -> Change[Connection]:
        """Wait until it is connected; the result is the connection.

        Fails with the connection's error.
        """
        return Change(self.engine, "connect", self._look_connected)

    def disconnected(self) -> Change[Optional[PierError]]:
        """Wait until it has ended: by this end, the peer, or a failure.

        The result is its error, or None.
        """
        return Change(self.engine, "disconnect", self._look_ended)

    def disconnect(self) -> Change[Optional[PierError]]:
        """Say goodbye and end it; tasks in flight may complete first."""
        if self._own.pointer != ffi.NULL:
            check(lib.pier_conn_disconnect(self._own.pointer))
        return self.disconnected()

    def close(self) -> None:
        """End it, and free it; tasks in flight are cancelled.

        It may be repeated.
        """
        lib.pier_conn_destroy(self.rdma.disown(self._own))
        self.rdma.has_lost = True
        self.engine.look_for_hope(self.rdma)
        self.engine.look_at_changes()

    def send(self, src: Parts) -> Task[None]:
        """Send the bytes of src, which complete a receive of the peer's."""
        conn = self.handle
        buf = source(self.engine, src)
        return Task.make(self.engine, lib.pier_rdma_task_send, (conn, buf),
                         (self, src), src=buf)

    def send_imm(self, src: Parts, imm: int) -> Task[None]:
        """The same with a number of 32 bits, the immediate."""
        conn, number = self.handle, socket.htonl(imm)
        buf = source(self.engine, src)
        return Task.make(self.engine, lib.pier_rdma_task_send_imm,
                         (conn, buf, number), (self, src), src=buf)

    def read(self, src: Parts, dst: Parts) -> Task[int]:
        """Read the peer's memory src into dst.

        The result is the number of bytes: the smaller length of both.
        """
        return self._copy(lib.pier_rdma_task_read, src, dst,
                          take=lib.pier_read_len)

    def write(self, src: Parts, dst: Parts) -> Task[None]:
        """Write src into the peer's memory dst, from its first byte on."""
        return self._copy(lib.pier_rdma_task_write, src, dst)

    def write_imm(self, src: Parts, dst: Parts, imm: int) -> Task[None]:
        """The same, and complete a receive of the peer's with a number."""
        return self._copy(lib.pier_rdma_task_write_imm, src, dst,
                          socket.htonl(imm))

    def fetch_add(self, dst: Parts, add: int) -> Task[int]:
        """Add to the 8 bytes of the peer's memory dst.

        The result is the number before.
        """
        return self._atomic(lib.pier_rdma_task_fetch_add, dst, add)

    def compare_swap(self, dst: Parts, compare: int, swap: int) -> Task[int]:
        """Replace the 8 bytes of the peer's memory dst if they are compare.

        The result is the number before: compare, if it was replaced.
        """
        return self._atomic(lib.pier_rdma_task_compare_swap, dst, compare,
                            swap)

    def event_get(self, event: RemoteSyncEvent) -> Task[int]:
        """Read the number of the peer's sync event: the result."""
        return self._get(lib.pier_rdma_task_remote_get, event)

    def event_set(self, event: RemoteSyncEvent, value: int) -> Task[None]:
        """Set the number of the peer's sync event."""
        conn, remote = self.handle, event.handle
        word = self.rdma.words.take()
        word.set(value)
        buf = source(self.engine, word.buf)
        return Task.make(self.engine, lib.pier_rdma_task_notify_set,
                         (conn, remote, buf), (self, word, event), src=buf)

    def event_add(self, event: RemoteSyncEvent, value: int) -> Task[int]:
        """Add to it; the result is the number before."""
        return self._get(lib.pier_rdma_task_notify_add, event, value)

    @property
    def peer_is_pier(self) -> bool:
        """Does the peer use pier?  Known by address, from the request on."""
        return bool(lib.pier_conn_peer_is_pier(self.handle))

    @property
    def reject_reason(self) -> int:
        """The reason of the CM why the peer rejected it; 0: it did not."""
        return lib.pier_conn_reject_reason(self.handle)

    @property
    def local_address(self) -> str:
        """This end's address; "" if it is not known."""
        return text(lib.pier_conn_local_address(self.handle))

    def path(self) -> ConnPath:
        """Its GIDs, QPNs and MTU.  Raises ENOTCONN, not known yet."""
        ret = ffi.new("struct pier_conn_path *")
        check(lib.pier_conn_path(self.handle, ret))
        return ConnPath(bytes(ret.local_gid), bytes(ret.peer_gid),
                        ret.local_qpn, ret.peer_qpn, ret.mtu, ret.gid_index)

    @property
    def transport(self) -> str:
        """"RoCE v2" and the like, once the path is known."""
        return text(lib.pier_transport_name(
            lib.pier_conn_transport(self.handle)))

    def counters(self) -> dict[str, int]:
        """Its counters, by their names, and the size of its window.

        Raises EOPNOTSUPP, adapters do not count by connection.
        """
        return numbers(lib.pier_conn_counters, self.handle)

    def abort(self) -> None:
        """End it at once, without goodbye."""
        check(lib.pier_conn_abort(self.handle))

    def __del__(self) -> None:
        if self._own.pointer != ffi.NULL:
            drop(self.close, self.engine)

    def state_changed(self, _prev: int, state: int) -> None:
        """A callback: messages that have arrived come first."""
        if state not in (ConnState.INIT, ConnState.CONNECTED):
            self.rdma.has_lost = True
        self.engine.hopes.add(self.rdma)

    def _look_connected(self):
        state = self.state
        if state == ConnState.CONNECTED:
            return self
        if state == ConnState.INIT:
            return PENDING
        raise self.error or error_of(-errno.ENOTCONN,
                                     "the connection has ended")

    def _look_ended(self):
        return PENDING if self.is_alive else self.error

    def _copy(self, call, src: Parts, dst: Parts, *more: int, take=None
              ) -> Task:
        conn = self.handle
        bufs = pair(self.engine, src, dst)
        return Task.make(self.engine, call, (conn, *bufs, *more),
                         (self, src, dst), take, src=bufs[0], dst=bufs[1])

    def _get(self, call, event: RemoteSyncEvent, *more: int) -> Task:
        conn, remote = self.handle, event.handle
        word = self.rdma.words.take()
        buf = target(self.engine, word.buf)
        return Task.make(self.engine, call, (conn, remote, buf, *more),
                         (self, word, event), word.value, dst=buf)

    def _atomic(self, call, dst: Parts, *values: int) -> Task:
        conn = self.handle
        word = self.rdma.words.take()
        bufs = pair(self.engine, dst, word.buf, is_data=False)
        return Task.make(self.engine, call, (conn, *bufs, *values),
                         (self, dst, word), word.value, src=bufs[0],
                         dst=bufs[1])
