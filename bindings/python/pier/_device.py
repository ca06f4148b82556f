# SPDX-License-Identifier: BSD-2-Clause
"""Devices."""
from __future__ import annotations

import errno
from typing import Optional, Union

from ._counters import numbers
from ._data import chars_of
from ._errors import PierError, create, error_of, text
from ._info import DeviceInfo
from ._life import Closable, drop
from ._memory import Access, Buffer, Mmap
from ._pier import ffi, lib
from ._rep import RepKind, RepresentorInfo, representors


class Device(Closable):
    """An open device, pier_dev(3).

    name is a device ("rxe0", "mlx5_0:2"), a netdev or a PCI address; None:
    the one in PIER_DEVICE, else the default.
    Raises ENODEV, ENETDOWN.
    """

    def __init__(self, name: Optional[str] = None) -> None:
        self._dev = ffi.NULL
        self._dev = create(lib.pier_dev_open, chars_of(name, "name"))

    @property
    def handle(self):
        """The struct pier_dev.  Raises EINVAL once closed."""
        if self._dev == ffi.NULL:
            raise error_of(-errno.EINVAL, "the device is closed")
        return self._dev

    @property
    def name(self) -> str:
        """Its name, as pier info prints it."""
        return text(lib.pier_devinfo_name(lib.pier_dev_info(self.handle)))

    @property
    def kind(self) -> str:
        """"soft" or "verbs"."""
        return text(lib.pier_devinfo_kind(lib.pier_dev_info(self.handle)))

    @property
    def info(self) -> DeviceInfo:
        """Its description when it was opened: GIDs, limits, features."""
        return DeviceInfo(lib.pier_dev_info(self.handle), self)

    def counters(self) -> dict[str, int]:
        """Its counters, by their names; of a soft one, of this process.

        Raises EOPNOTSUPP, it has none.
        """
        return numbers(lib.pier_dev_counters, self.handle)

    def representors(self, kinds: int = RepKind.ALL
                     ) -> list[RepresentorInfo]:
        """Descriptions of the representors of its switch, of kinds."""
        return representors(self, kinds)

    def register(self, obj: Union[int, Buffer],
                 access: int = Access.LOCAL_WRITE) -> Mmap:
        """Mmap(self, obj, access)."""
        return Mmap(self, obj, access)

    def users(self) -> int:
        """How many mmaps and contexts exist on it."""
        mmaps = ffi.new("unsigned int *")
        contexts = ffi.new("unsigned int *")
        lib.pier_dev_users(self.handle, mmaps, contexts)
        return mmaps[0] + contexts[0]

    def close(self) -> None:
        """Close it.  It may be repeated.

        Raises EBUSY, and stays open, while objects on it are open.
        """
        if self._dev == ffi.NULL:
            return
        users = self.users()
        if users:
            raise error_of(-errno.EBUSY, f"{self.name} has {users} open mmaps "
                           "and contexts: close them first")
        self._close()

    # After an exception what is in use is closed with its last reference.
    def __exit__(self, *error) -> None:
        try:
            self.close()
        except PierError:
            if error[0] is None:
                raise

    def __del__(self) -> None:
        if getattr(self, "_dev", ffi.NULL) != ffi.NULL:
            drop(self.close)

    def _close(self) -> None:
        dev, self._dev = self._dev, ffi.NULL
        lib.pier_dev_close(dev)


def devices() -> list[str]:
    """The names of all devices of this host."""
    devlist = create(lib.pier_devlist_create)
    try:
        return [text(lib.pier_devinfo_name(lib.pier_devlist_get(devlist, i)))
                for i in range(lib.pier_devlist_count(devlist))]
    finally:
        lib.pier_devlist_destroy(devlist)
