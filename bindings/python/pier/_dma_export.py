# SPDX-License-Identifier: BSD-2-Clause
"""Memory for the DMA contexts of other processes."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Optional

from ._data import device_of
from ._errors import create, error_of
from ._life import Closable, close_dropped
from ._memory import Mmap
from ._pier import ffi, lib
from ._time import wait

if TYPE_CHECKING:
    from ._device import Device


class DmaExport(Closable):
    """An export of mmap, pier_dma_export(3): other processes copy it.

    mmap has Access.PEER_READ or Access.PEER_WRITE, and is not closed before
    the export.  This process may do anything else meanwhile, or sleep; peers
    use Mmap.from_dma_export().
    """

    def __init__(self, dev: Device, mmap: Mmap) -> None:
        self._export = create(lib.pier_dma_export_create, mmap.handle,
                              device_of(dev))
        self._owners: Optional[tuple] = (mmap, dev)

    @property
    def handle(self):
        """The struct pier_dma_export.  Raises ESHUTDOWN once closed."""
        if self._export == ffi.NULL:
            raise error_of(-errno.ESHUTDOWN, "the export is closed")
        return self._export

    @property
    def descriptor(self) -> bytes:
        """What peers import: a secret."""
        ret = ffi.new("const void **")
        length = ffi.new("size_t *")
        lib.pier_dma_export_desc(self.handle, ret, length)
        return ffi.unpack(ffi.cast("char *", ret[0]), length[0])

    def wait(self, timeout: Optional[float] = None) -> None:
        """Wait until a peer has connected, and none is connected any more.

        Raises ETIMEDOUT after timeout seconds, None: never; ENODEV.
        """
        wait(lambda ms: lib.pier_dma_export_wait(self.handle, ms), timeout)

    def close(self) -> None:
        """End it: peers have lost access on return.  It may be repeated."""
        handle, self._export = self._export, ffi.NULL
        lib.pier_dma_export_destroy(handle)
        self._owners = None
        close_dropped()

    def __del__(self) -> None:
        if getattr(self, "_export", ffi.NULL) != ffi.NULL:
            self.close()
