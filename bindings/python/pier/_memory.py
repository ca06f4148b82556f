# SPDX-License-Identifier: BSD-2-Clause
"""Memory that devices may access: mmaps, and parts of them."""
from __future__ import annotations

import builtins
import enum
import errno
import mmap
from typing import TYPE_CHECKING, Any, Optional, Sequence, Sized, Union

from ._data import data_of, device_of
from ._errors import PierError, check, create, error_of
from ._life import Closable, close_dropped, drop
from ._pier import ffi, lib

if TYPE_CHECKING:
    import ctypes
    from ._device import Device
    from ._engine import Engine

# An object that has the buffer protocol, for which there is no type before
# Python 3.12: what has the protocol has a length, but for structures.
Buffer = Union[Sized, "ctypes.Structure"]


class Access(enum.IntFlag):
    """Access to the memory of an mmap, or-ed."""

    LOCAL_READ = lib.PIER_LOCAL_READ
    LOCAL_WRITE = lib.PIER_LOCAL_WRITE
    REMOTE_READ = lib.PIER_REMOTE_READ
    REMOTE_WRITE = lib.PIER_REMOTE_WRITE
    REMOTE_ATOMIC = lib.PIER_REMOTE_ATOMIC
    PEER_READ = lib.PIER_PEER_READ
    PEER_WRITE = lib.PIER_PEER_WRITE


_READS = Access.LOCAL_READ | Access.REMOTE_READ | Access.PEER_READ


class Mmap(Closable):
    """A registered range of memory, pier_mmap(3).

    Mmap(dev, obj) registers the bytes of obj without a copy: a bytearray, an
    mmap, an array, a NumPy array, or another object that has the buffer
    protocol and is C-contiguous.  While the mmap is open it exports obj's
    buffer: Python frees and resizes it no sooner than close() returns.
    Mmap(dev, LENGTH) has zeroed memory of its own.
    """

    def __init__(self, dev: Device, obj: Union[int, Buffer],
                 access: int = Access.LOCAL_WRITE) -> None:
        self._bytes: Optional[memoryview] = None
        self._view: Any = None
        self._memory = None     # of pier's own: it goes with its last view
        self._mmap = ffi.NULL
        self._length = 0        # in bytes
        self._dev: Optional[Device] = dev
        if isinstance(obj, int):
            obj = mmap.mmap(-1, obj) if obj else bytearray()
        self._register(dev, obj, access)

    # pylint: disable=too-many-arguments
    @classmethod
    def allocate(cls, dev: Device, length: int,
                 access: int = Access.LOCAL_WRITE, *, huge: bool = False,
                 shared: bool = False, node: Optional[int] = None) -> Mmap:
        """Zeroed memory of pier's: huge pages, of a NUMA node, shared by fd.

        It is freed when the mmap is closed and no view of it is left.
        Raises ENOMEM; ERANGE, no such node.
        """
        cfg = ffi.new("struct pier_mmap_config *")
        cfg.size = ffi.sizeof(cfg[0])
        cfg.access = access
        cfg.flags = (huge * lib.PIER_MMAP_HUGE |
                     shared * lib.PIER_MMAP_SHARED |
                     (node is not None) * lib.PIER_MMAP_NODE)
        cfg.numa_node = node or 0
        handle = create(lib.pier_mmap_alloc, device_of(dev), length, cfg)
        self = cls.adopt(dev, handle)
        self._memory = ffi.gc(
            ffi.cast("char *", lib.pier_mmap_addr(handle)),
            lambda _: _free(handle))
        self._bytes = memoryview(ffi.buffer(self._memory, length)).cast("B")
        return self

    @property
    def fd(self) -> int:
        """The memfd of shared memory; duplicate it, or send it.

        Raises EINVAL, other memory.
        """
        return check(lib.pier_mmap_fd(self.handle))

    @property
    def page_size(self) -> int:
        """The bytes in a page of memory of pier's; 0: other memory."""
        return lib.pier_mmap_page_size(self.handle)

    @classmethod
    def from_descriptor(cls, dev: Optional[Device], descriptor: bytes) -> Mmap:
        """The memory of a peer, whose Mmap.export() made descriptor.

        dev is the device that it will be used on; None: not known yet.
        Raises PIER_EDESC, PIER_EVERSION, PIER_EKIND, EPROTOTYPE.
        """
        return cls.adopt(dev, create(
            lib.pier_mmap_create_from_export,
            ffi.NULL if dev is None else device_of(dev),
            *data_of(descriptor)))

    @classmethod
    def from_dma_export(cls, dev: Optional[Device], descriptor: bytes) -> Mmap:
        """The memory of a DmaExport of another process, for Dma.copy().

        dev as above.  Raises PIER_EDESC, PIER_EVERSION, PIER_EKIND,
        EPROTOTYPE, EHOSTUNREACH, EADDRNOTAVAIL.
        """
        return cls.adopt(dev, create(
            lib.pier_dma_import, ffi.NULL if dev is None else device_of(dev),
            *data_of(descriptor)))

    @classmethod
    def adopt(cls, dev: Optional[Device], handle) -> Mmap:
        """The object of a struct pier_mmap of a peer's memory."""
        self = cls.__new__(cls)
        self._bytes = None
        self._view = None
        self._memory = None
        self._dev = dev
        self._mmap = handle
        self._length = lib.pier_mmap_len(handle)
        return self

    @property
    def handle(self):
        """The struct pier_mmap.  Raises EINVAL once closed."""
        if not self._mmap:
            raise error_of(-errno.EINVAL, "the mmap is closed")
        return self._mmap

    @property
    def address(self) -> int:
        """The address of the first byte, in its owner's process."""
        return int(ffi.cast("uintptr_t", lib.pier_mmap_addr(self.handle)))

    @property
    def is_remote(self) -> bool:
        """Is it a peer's memory?"""
        return bool(lib.pier_mmap_is_remote(self.handle))

    def bytes(self) -> memoryview:
        """All bytes of local memory.  Raises EINVAL: a peer's, or closed."""
        if self._bytes is None:
            raise error_of(-errno.EINVAL,
                           "this is no open mmap of local memory")
        return self._bytes

    def __len__(self) -> int:
        return lib.pier_mmap_len(self.handle)

    def __getitem__(self, part: slice) -> Buf:
        """The bytes from part.start to part.stop, as of a bytearray."""
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError("a part of an mmap is mmap[START:STOP], in bytes")
        start, stop, _ = part.indices(len(self))
        return Buf(self, start, max(stop - start, 0))

    def export(self) -> builtins.bytes:
        """The descriptor by which peers use the memory: a secret.

        Raises EACCES, no remote access was requested.
        """
        ret = ffi.new("const void **")
        length = ffi.new("size_t *")
        check(lib.pier_mmap_export(self.handle, ret, length))
        return ffi.unpack(ffi.cast("char *", ret[0]), length[0])

    def users(self) -> int:
        """How many buffers of it tasks in flight use."""
        return lib.pier_mmap_buf_count(self.handle)

    def close(self) -> None:
        """Revoke the registration and release the memory.

        It may be repeated.  Raises EBUSY, and stays open, while tasks in
        flight use it, if it is local memory: a peer's is forgotten at once,
        and the tasks go on.
        """
        if self._mmap == ffi.NULL:
            return
        if not self.is_remote:
            check(lib.pier_mmap_stop(self._mmap))
        self._destroy()

    # After an exception what is in use is closed with its last reference.
    def __exit__(self, *error) -> None:
        try:
            self.close()
        except PierError:
            if error[0] is None:
                raise

    # The engine refers to what a task in flight uses.  In a cycle with the
    # engine this may come before the task has ended.
    def __del__(self) -> None:
        if getattr(self, "_mmap", ffi.NULL) != ffi.NULL:
            drop(self._drop)

    def _drop(self) -> None:
        if (not self.is_remote and
                lib.pier_mmap_stop(self._mmap) == -errno.EBUSY):
            raise error_of(-errno.EBUSY)
        self._destroy()

    def _destroy(self) -> None:
        handle, self._mmap = self._mmap, ffi.NULL
        if self._memory is None:
            _free(handle)
        self._release()
        self._memory = None
        self._dev = None

    def _release(self) -> None:
        view, self._view = self._view, None
        data, self._bytes = self._bytes, None
        if view is not None:
            ffi.release(view)
        if data is not None:
            data.release()

    def _register(self, dev: Device, obj, access: int) -> None:
        writable = not access or bool(access & ~_READS)
        self._bytes = memoryview(obj).cast("B")
        try:
            self._view = ffi.from_buffer("char[]", self._bytes,
                                         require_writable=writable)
            self._length = len(self._view)
            self._mmap = create(lib.pier_mmap_map, device_of(dev), self._view,
                                self._length, access)
        except BaseException:
            self._release()
            raise


def _free(handle) -> None:
    lib.pier_mmap_destroy(handle)
    close_dropped()


class Buf:
    """A part of an mmap: offset and length in bytes.

    It costs nothing but its object: a task takes a struct pier_buf for the
    time that it is in flight.
    """

    __slots__ = ("mmap", "offset", "length")

    def __init__(self, mmap: Mmap, offset: int, length: int) -> None:
        self.mmap = mmap
        self.offset = offset
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __bytes__(self) -> bytes:
        return bytes(self.view())

    def view(self) -> memoryview:
        """The bytes of local memory, without a copy.

        Python does not free them before the view, also if the mmap is closed.
        Raises EINVAL, it is the memory of a peer, or closed.
        """
        data = self.mmap.bytes()
        return data[self.offset:self.offset + self.length]

    def pointer(self):
        """The address of the first byte, a char pointer."""
        return ffi.cast("char *",
                        lib.pier_mmap_addr(self.mmap.handle)) + self.offset


Part = Union[Buf, Mmap]
Parts = Union[Buf, Mmap, Sequence[Part], None]     # a list or a tuple


def _no_memory(what: Any) -> TypeError:
    return TypeError("memory is a Mmap, a part of one, or a list or tuple of "
                     f"parts, not {type(what).__name__}")


def _parts(what: Any) -> list[Buf]:
    if what is None:
        return []
    if not isinstance(what, (list, tuple)):     # which a task can hold
        raise _no_memory(what)
    parts: list[Buf] = []
    for part in what:
        if isinstance(part, Mmap):
            part = part[:]
        if not isinstance(part, Buf):
            raise _no_memory(part)
        parts.append(part)
    return parts


def _take(engine: Engine, mmap: Mmap, offset: int, length: int,
          is_data: bool):
    buf = lib.pier_py_buf(engine.inventory, mmap.handle, offset, length,
                          is_data, engine.err)
    if not buf:
        raise error_of(engine.err[0])
    return buf


def _chain(engine: Engine, what: Parts, is_data: bool):
    if isinstance(what, Mmap):
        # pylint: disable=protected-access
        return _take(engine, what, 0, what._length, is_data)
    if isinstance(what, Buf):
        return _take(engine, what.mmap, what.offset, what.length, is_data)
    head = ffi.NULL
    try:
        for part in _parts(what):
            buf = _take(engine, part.mmap, part.offset, part.length, is_data)
            if head == ffi.NULL:
                head = buf
            else:
                check(lib.pier_buf_chain(head, buf))
    except BaseException:
        lib.pier_buf_put(head)
        raise
    return head


def source(engine: Engine, what: Parts):
    """A chain of struct pier_buf that is read; NULL for None."""
    return _chain(engine, what, True)


def target(engine: Engine, what: Parts):
    """A chain of struct pier_buf that is written to; NULL for None."""
    return _chain(engine, what, False)


def pair(engine: Engine, src: Parts, dst: Parts, is_data: bool = True
         ) -> tuple:
    """The chains of both: of src, which has data, and of the target dst."""
    head = _chain(engine, src, is_data)
    try:
        return head, target(engine, dst)
    except BaseException:
        lib.pier_buf_put(head)
        raise
