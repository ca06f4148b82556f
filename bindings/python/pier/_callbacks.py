# SPDX-License-Identifier: BSD-2-Clause
"""What pier calls.

A callback notes what has happened and runs no code of the program, but for the
functions of function contexts and graphs, and the callbacks of copies; the
engine acts on it when pier has returned.  An exception in a callback is raised
by the call that drives the engine.
"""
from __future__ import annotations

import errno
import weakref

from ._pier import ffi

_objects: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_last = 0


def user_data(obj):
    """A pointer for pier by which callbacks find obj, as long as it lives."""
    global _last  # pylint: disable=global-statement
    _last += 1
    _objects[_last] = obj
    return ffi.cast("void *", _last)


def _object(pointer):
    return _objects.get(int(ffi.cast("uintptr_t", pointer)))


def _failed(_kind, error, traceback):
    pointer = traceback.tb_frame.f_locals.get("pointer")
    obj = None if pointer is None else _object(pointer)
    if obj is None:
        return
    obj.engine.errors.append(error)


@ffi.def_extern(onerror=_failed)
def pier_py_conn_state(_conn, prev, next_state, pointer):
    """The state of a connection has changed."""
    obj = _object(pointer)
    if obj is not None:
        obj.state_changed(prev, next_state)


@ffi.def_extern(onerror=_failed)
def pier_py_conn_request(conn, _conn_data, pointer):
    """A client requests a connection."""
    obj = _object(pointer)
    if obj is not None:
        obj.requested(conn)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_connected(conn, pointer):
    """A connection of a Comm Channel is connected."""
    obj = _object(pointer)
    if obj is not None:
        obj.connected(conn)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_disconnected(conn, pointer):
    """A connection of a Comm Channel has ended."""
    obj = _object(pointer)
    if obj is not None:
        obj.disconnected(conn)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_received(conn, message, length, pointer):
    """A message, which is valid until this returns."""
    obj = _object(pointer)
    if obj is not None:
        data = ffi.unpack(ffi.cast("char *", message), length)
        obj.find(conn).received(data)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_requested(conn, request, message, length, pointer):
    """A request, whose message is valid until it ends."""
    obj = _object(pointer)
    if obj is not None:
        data = ffi.unpack(ffi.cast("char *", message), length)
        obj.requested(conn, request, data)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_request_ended(_comch, request, _status, pointer):
    """A request has ended; a buffer of its reply is the program's again."""
    obj = _object(pointer)
    if obj is not None:
        obj.request_ended(request)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_writable(conn, pointer):
    """A message can be sent again."""
    obj = _object(pointer)
    if obj is not None:
        obj.find(conn).became_writable()


@ffi.def_extern(onerror=_failed)
def pier_py_comch_consumer(conn, consumer, pointer):
    """The peer has a new consumer."""
    obj = _object(pointer)
    if obj is not None:
        obj.find(conn).consumer_added(consumer)


@ffi.def_extern(onerror=_failed)
def pier_py_comch_expired(conn, consumer, pointer):
    """A consumer of the peer has ended."""
    obj = _object(pointer)
    if obj is not None:
        obj.find(conn).consumer_expired(consumer)


@ffi.def_extern(error=-errno.EINTR, onerror=_failed)
def pier_py_call(pointer):
    """The function of a task, or of a node of a graph."""
    obj = _object(pointer)
    return -errno.ECANCELED if obj is None else obj.run()


@ffi.def_extern()
def pier_py_copy_failed(path, error, message, pointer):
    """A file was not copied."""
    obj = _object(pointer)
    if obj is not None:
        obj.file_failed(path, error, message)


@ffi.def_extern()
def pier_py_copy_progress(path, size, done, pointer):
    """A file is being copied."""
    obj = _object(pointer)
    if obj is not None:
        obj.file_progress(path, size, done)


@ffi.def_extern()
def pier_py_copy_listening(pointer):
    """Clients can connect."""
    obj = _object(pointer)
    if obj is not None:
        obj.is_listening()
