# SPDX-License-Identifier: BSD-2-Clause
"""What pier calls.

A callback notes what has happened and runs no code of the program; the engine
acts on it when pier has returned.  An exception in a callback is raised by the
call that drives the engine.
"""
from __future__ import annotations

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
