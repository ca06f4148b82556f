# SPDX-License-Identifier: BSD-2-Clause
"""Comm Channels: messages, requests and replies."""
from __future__ import annotations

import collections
import errno
import weakref
from typing import TYPE_CHECKING, Any, Optional

from ._context import Context
from ._counters import members
from ._data import chars_of, data_of, device_of
from ._errors import check, configuration, create, error_of, text
from ._life import Single
from ._memory import Part, Parts, source, target
from ._operation import PENDING, Change, CopyingTask, Next, Task
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._device import Device
    from ._engine import Engine
    from ._rep import Representor


def _key(pointer) -> int:
    return int(ffi.cast("uintptr_t", pointer))


class RequestTask(CopyingTask[Any]):
    """A request in flight."""

    def prepare_reply(self, into: Parts, timeout: Optional[float]) -> None:
        """Set where the reply goes, and its time; on an error it is freed."""
        try:
            self.limit(timeout)
            self._dst = target(self._engine, into)
            if self._dst != ffi.NULL:
                check(lib.pier_comch_task_set_reply_buf(self._task, self._dst))
        except BaseException:
            self.give_up()
            raise


class ComchConnection(Single):
    """A connection of a Comm Channel, of a server or a client."""

    def __init__(self, comch: _Comch, conn) -> None:
        self._conn = conn
        self._messages: collections.deque = collections.deque()
        self._blocked = False
        self._fresh: collections.deque = collections.deque()
        self.consumers: set[int] = set()    # of the peer, by their ids
        self._error: Optional[OSError] = None
        self.comch = comch
        self.engine = comch.engine

    @property
    def handle(self):
        """The struct pier_comch_conn.  Raises ENOTCONN once it has ended."""
        if self._conn == ffi.NULL:
            raise self._ended()
        return self._conn

    @property
    def max_message(self) -> int:
        """The most bytes of a message to the peer."""
        return lib.pier_comch_conn_max_msg_size(self.handle)

    def counters(self) -> dict[str, int]:
        """Its counters, by their names."""
        return members(lib.pier_comch_conn_get_counters, self.handle)

    def send(self, data) -> Task[None]:
        """Send a message: bytes, or another object with a buffer; copied.

        The task ends when the peer has it.
        Raises EAGAIN, the peer has as many as it receives at a time: wait for
        writable(); EMSGSIZE; ENOTCONN.
        """
        message = ffi.from_buffer(data)
        task = create(lib.pier_comch_task_send, self.handle, message,
                      len(message))
        return self._submit(CopyingTask(self.engine, task, (self, message)))

    def request(self, data, max_reply: int = 65536, *,
                into: Parts = None, timeout: Optional[float] = None) -> Task:
        """Send a request to the server; the result is its reply, bytes.

        With into, memory with Access.REMOTE_WRITE, the reply is written there
        however long it is, and the result is its length.  After timeout
        seconds it is cancelled.
        Fails with EREMOTEIO, refused; EOPNOTSUPP, the server takes none;
        ETIMEDOUT.  Raises as send(); EINVAL, this is a server.
        """
        message = ffi.from_buffer(data)
        reply = ffi.new("char[]", max_reply)
        task = create(lib.pier_comch_task_request, self.handle, message,
                      len(message), reply, max_reply)

        def take(task):
            length = lib.pier_comch_reply_len(task)
            return ffi.unpack(reply, length) if into is None else length

        request = RequestTask(self.engine, task, (self, reply, into, message),
                              take)
        request.prepare_reply(into, timeout)
        return self._submit(request)

    def receive(self) -> Change[bytes]:
        """Wait for the next message; the result is its bytes.

        Fails with the connection's error, or ENOTCONN.
        """
        return Next(self.engine, "receive", self._next_message)

    def consumer(self) -> Change[int]:
        """Wait for the peer's next new consumer; the result is its id."""
        return Next(self.engine, "consumer", self._next_consumer)

    def writable(self) -> Change[None]:
        """Wait until a message can be sent after EAGAIN."""
        return Change(self.engine, "writable", self._look_writable)

    def disconnect(self) -> None:
        """End it, after the messages that were sent.  It may be repeated."""
        if self._conn != ffi.NULL:
            check(lib.pier_comch_disconnect(self._conn))

    def _submit(self, task: Task) -> Task:
        try:
            return task.begun()
        except OSError as error:
            self._blocked = error.errno == errno.EAGAIN
            raise

    def _next_message(self):
        if self._messages:
            return self._messages.popleft()
        if self._conn == ffi.NULL:
            raise self._ended()
        return PENDING

    def _next_consumer(self):
        while self._fresh:
            consumer = self._fresh.popleft()
            if consumer in self.consumers:
                return consumer
        if self._conn == ffi.NULL:
            raise self._ended()
        return PENDING

    def _look_writable(self):
        if self._conn == ffi.NULL:
            raise self._ended()
        return PENDING if self._blocked else None

    def _ended(self) -> OSError:
        return self._error or error_of(-errno.ENOTCONN,
                                       "comch: the connection has ended")

    def forget(self) -> None:
        """Its context has ended, and with it the struct pier_comch_conn."""
        self._conn = ffi.NULL

    # Callbacks.

    def received(self, message: bytes) -> None:
        """A message has arrived."""
        self._messages.append(message)

    def consumer_added(self, consumer: int) -> None:
        """The peer has one more."""
        self.consumers.add(consumer)
        self._fresh.append(consumer)

    def consumer_expired(self, consumer: int) -> None:
        """One of the peer has ended."""
        self.consumers.discard(consumer)

    def became_writable(self) -> None:
        """Credits have arrived."""
        self._blocked = False

    def disconnected(self) -> None:
        """It has ended; the struct is valid until this returns."""
        reason = ffi.new("const char **")
        code = lib.pier_comch_conn_error(self._conn, reason)
        if code:
            self._error = error_of(code, text(reason[0]))
        self._conn = ffi.NULL


class _Comch(Context):
    """What servers and clients have in common."""

    def __init__(self, engine: Engine, comch, config: dict) -> None:
        super().__init__(engine, comch, lib.pier_comch_ctx(comch),
                         lib.pier_comch_destroy)
        self.conns: dict[int, ComchConnection] = {}
        self.data: weakref.WeakSet = weakref.WeakSet()
        self.fresh: collections.deque = collections.deque()
        check(lib.pier_comch_configure(comch, configuration("comch", config)))
        check(lib.pier_comch_set_callbacks(
            comch, lib.pier_py_comch_connected,
            lib.pier_py_comch_disconnected, lib.pier_py_comch_received,
            lib.pier_py_comch_writable))
        check(lib.pier_comch_set_consumer_callbacks(
            comch, lib.pier_py_comch_consumer, lib.pier_py_comch_expired))

    def counters(self) -> dict[str, int]:
        """Its counters, by their names."""
        return members(lib.pier_comch_get_counters, self.handle)

    def close(self) -> None:
        """Close its consumers and producers, and then as every context."""
        for data in list(getattr(self, "data", ())):
            data.close()
        super().close()
        for connection in self.conns.values():      # if no callback has
            connection.forget()
        self.conns.clear()
        self.engine.look_at_changes()

    def connected(self, conn) -> ComchConnection:
        """A callback: messages may be sent."""
        connection = ComchConnection(self, conn)
        self.conns[_key(conn)] = connection
        self.fresh.append(connection)
        return connection

    def find(self, conn) -> ComchConnection:
        """The object of a struct pier_comch_conn, connected or about to be."""
        return self.conns.get(_key(conn)) or self.connected(conn)

    def disconnected(self, conn) -> None:
        """A callback: it has ended."""
        connection = self.conns.pop(_key(conn), None)
        if connection is not None:
            connection.disconnected()


class ComchServer(_Comch):
    """A server of a Comm Channel, pier_comch(3): name on dev.

    rep is the representor of the function whose host it is for.

    config has members of struct pier_comch_config.
    Raises EEXIST, another server on this host has the name.
    """

    def __init__(self, engine: Engine, dev: Device, name: str,
                 rep: Optional[Representor] = None, **config: int) -> None:
        comch = create(lib.pier_comch_create_server, device_of(dev),
                       ffi.NULL if rep is None else rep.handle,
                       chars_of(name, "name"))
        self._requests: collections.deque = collections.deque()
        self.replies: dict[int, tuple] = {}     # memory that is being sent
        super().__init__(engine, comch, config)
        self._dev = dev
        self._rep = rep
        check(lib.pier_comch_set_request_callbacks(
            comch, lib.pier_py_comch_requested,
            lib.pier_py_comch_request_ended))
        self.start()

    def connection(self) -> Change[ComchConnection]:
        """Wait for the next client; the result is a ComchConnection.

        Fails with ESHUTDOWN once the server is closed.
        """
        return Next(self.engine, "connection",
                    lambda: self._first(self.fresh))

    def request(self) -> Change[ComchRequest]:
        """Wait for the next request of any client: a ComchRequest.

        Fails with ESHUTDOWN once the server is closed.
        """
        return Next(self.engine, "request",
                    lambda: self._first(self._requests))

    def _first(self, queue: collections.deque) -> Any:
        if queue:
            return queue.popleft()
        _ = self.handle             # raises, once it is closed
        return PENDING

    def requested(self, conn, request: int, data: bytes) -> None:
        """A callback: a client's request."""
        self._requests.append(ComchRequest(self.find(conn), request, data))

    def request_ended(self, request: int) -> None:
        """A callback: its reply was sent, or it has ended otherwise."""
        buf, _ = self.replies.pop(request, (ffi.NULL, None))
        lib.pier_buf_put(buf)


class ComchRequest:
    """A request of a client: reply() to it, or refuse() it, once."""

    __slots__ = ("conn", "data", "_request")

    def __init__(self, conn: ComchConnection, request: int,
                 data: bytes) -> None:
        self.conn = conn
        self.data = data
        self._request = request

    def reply(self, data) -> None:
        """Reply with bytes, which are copied.

        Raises ESTALE, it has ended; EMSGSIZE, more than the client takes.
        """
        check(lib.pier_comch_reply(
            self.conn.comch.handle, self._request, *data_of(data)))

    @property
    def max_reply(self) -> int:
        """The most bytes of reply_from(); 0: it has ended."""
        return lib.pier_comch_reply_buf_max(self.conn.comch.handle,
                                            self._request)

    def reply_from(self, src: Part) -> None:
        """Reply with a part of an mmap of the server's device.

        A long one is written into the client's memory.  Until that is done
        the server holds src, whose bytes must not be changed.
        Raises as reply().
        """
        server: Any = self.conn.comch
        buf = source(server.engine, src)
        err = lib.pier_comch_reply_buf(server.handle, self._request, buf)
        if err:
            error = error_of(err)
            lib.pier_buf_put(buf)
            raise error
        server.replies[self._request] = (buf, src)

    def refuse(self) -> None:
        """Refuse it: the client's task fails with EREMOTEIO."""
        check(lib.pier_comch_refuse(self.conn.comch.handle, self._request))


class ComchClient(_Comch):
    """A client of the server of name on dev, of this host or at address."""

    def __init__(self, engine: Engine, dev: Device, name: str,
                 address: Optional[str] = None, **config: int) -> None:
        comch = create(lib.pier_comch_create_client, device_of(dev),
                       chars_of(name, "name"), chars_of(address, "address"))
        super().__init__(engine, comch, config)
        self._dev = dev
        self.start()

    def connection(self) -> Change[ComchConnection]:
        """Wait until it is connected; the result is a ComchConnection.

        Fails with the error of the attempt.
        """
        return Change(self.engine, "connection", self._look)

    def _look(self):
        conn = lib.pier_comch_conn(self.handle)
        if conn != ffi.NULL and self.is_running:
            return self.find(conn)
        if lib.pier_ctx_state(self._ctx) != lib.PIER_CTX_IDLE:
            return PENDING
        reason = ffi.new("const char **")
        code = lib.pier_comch_error(self.handle, reason)
        raise error_of(code or -errno.ENOTCONN, text(reason[0]) or
                       "comch: the client is not connected")
