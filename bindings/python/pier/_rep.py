# SPDX-License-Identifier: BSD-2-Clause
"""Representors of the functions of an adapter."""
from __future__ import annotations

import enum
import errno
from typing import TYPE_CHECKING

from ._data import chars_of, device_of
from ._errors import create, error_of, text
from ._life import Closable
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._device import Device


class RepKind(enum.IntFlag):
    """Functions: physical, virtual, sub-functions."""

    PF = lib.PIER_REP_PF
    VF = lib.PIER_REP_VF
    SF = lib.PIER_REP_SF
    ALL = PF | VF | SF


class RepresentorInfo:
    """A description of a representor, pier_rep(3), when it was taken."""

    def __init__(self, info, owner) -> None:
        self._info = info
        self._owner = owner     # has the struct

    @property
    def kind(self) -> RepKind:
        """What it stands for."""
        return RepKind(lib.pier_repinfo_kind(self._info))

    @property
    def controller(self) -> int:
        """Its host's number among those of the adapter; 0: this host."""
        return lib.pier_repinfo_controller(self._info)

    @property
    def pf(self) -> int:
        """The number of its PF."""
        return lib.pier_repinfo_pf(self._info)

    @property
    def number(self) -> int:
        """The number of the VF or SF in that; 0 of a PF."""
        return lib.pier_repinfo_number(self._info)

    @property
    def port(self) -> str:
        """Its port on the switch: "pf0vf2"."""
        return text(lib.pier_repinfo_port(self._info))

    @property
    def netdev(self) -> str:
        """Its network interface; "": none."""
        return text(lib.pier_repinfo_netdev(self._info))

    @property
    def vuid(self) -> str:
        """An id that no other has and that survives a restart."""
        return text(lib.pier_repinfo_vuid(self._info))

    @property
    def parent(self) -> str:
        """The device whose switch it is of."""
        return text(lib.pier_repinfo_parent(self._info))

    @property
    def pci(self) -> str:
        """The PCI address of the function; "": it has none here."""
        return text(lib.pier_repinfo_pci(self._info))

    def is_pci(self, pci: str) -> bool:
        """Is that the PCI address, also without its domain?"""
        return bool(lib.pier_repinfo_is_pci(self._info, pci.encode()))

    def __repr__(self) -> str:
        return f"<RepresentorInfo {self.port}>"


class Representor(Closable):
    """An open representor of dev, by its netdev, port, id or PCI address.

    Raises ENODEV.
    """

    def __init__(self, dev: Device, name: str) -> None:
        self._rep = ffi.NULL
        self._rep = create(lib.pier_rep_open_by_name, device_of(dev),
                           chars_of(name, "name"))

    @property
    def handle(self):
        """The struct pier_rep.  Raises EINVAL once closed."""
        if self._rep == ffi.NULL:
            raise error_of(-errno.EINVAL, "the representor is closed")
        return self._rep

    @property
    def info(self) -> RepresentorInfo:
        """Its description when it was opened."""
        return RepresentorInfo(lib.pier_rep_info(self.handle), self)

    def close(self) -> None:
        """Close it.  It may be repeated."""
        rep, self._rep = self._rep, ffi.NULL
        lib.pier_rep_close(rep)

    def __del__(self) -> None:
        if getattr(self, "_rep", ffi.NULL) != ffi.NULL:
            self.close()


def representors(dev: Device, kinds: int = RepKind.ALL
                 ) -> list[RepresentorInfo]:
    """Descriptions of the representors of the switch of dev."""
    replist = ffi.gc(create(lib.pier_replist_create,
                            lib.pier_dev_info(device_of(dev)), kinds),
                     lib.pier_replist_destroy)
    return [RepresentorInfo(lib.pier_replist_get(replist, i), replist)
            for i in range(lib.pier_replist_count(replist))]
