# SPDX-License-Identifier: BSD-2-Clause
"""What a device is and can do."""
from __future__ import annotations

import enum
import errno
import ipaddress
from typing import NamedTuple, Optional

from ._errors import check, create, text
from ._pier import ffi, lib


class Limit(enum.IntEnum):
    """Numbers that a device has, pier_dev(3)."""

    MESSAGE = lib.PIER_LIMIT_MESSAGE
    MMAP = lib.PIER_LIMIT_MMAP
    INLINE = lib.PIER_LIMIT_INLINE
    SEND_SGE = lib.PIER_LIMIT_SEND_SGE
    RECV_SGE = lib.PIER_LIMIT_RECV_SGE
    CONNS = lib.PIER_LIMIT_CONNS
    SEND_QUEUE = lib.PIER_LIMIT_SEND_QUEUE
    RECV_QUEUE = lib.PIER_LIMIT_RECV_QUEUE
    RD_ATOMIC = lib.PIER_LIMIT_RD_ATOMIC
    GIDS = lib.PIER_LIMIT_GIDS
    CTX_SENDS = lib.PIER_LIMIT_CTX_SENDS
    TASKS = lib.PIER_LIMIT_TASKS
    COPY = lib.PIER_LIMIT_COPY
    COPY_CHAIN = lib.PIER_LIMIT_COPY_CHAIN
    HASH = lib.PIER_LIMIT_HASH
    HASH_CHAIN = lib.PIER_LIMIT_HASH_CHAIN
    MMAP_DEVS = lib.PIER_LIMIT_MMAP_DEVS
    BUF_REFS = lib.PIER_LIMIT_BUF_REFS
    PRIVATE_DATA = lib.PIER_LIMIT_PRIVATE_DATA
    COMCH_NAME = lib.PIER_LIMIT_COMCH_NAME
    COMCH_MESSAGE = lib.PIER_LIMIT_COMCH_MESSAGE
    COMCH_RECV_QUEUE = lib.PIER_LIMIT_COMCH_RECV_QUEUE
    COMCH_CLIENTS = lib.PIER_LIMIT_COMCH_CLIENTS
    COMCH_DATA = lib.PIER_LIMIT_COMCH_DATA
    COMCH_CHAIN = lib.PIER_LIMIT_COMCH_CHAIN
    COMCH_CONSUMERS = lib.PIER_LIMIT_COMCH_CONSUMERS
    COMCH_IMM = lib.PIER_LIMIT_COMCH_IMM


class Feature(enum.IntEnum):
    """What a device may support."""

    RC = lib.PIER_FEATURE_RC
    DC = lib.PIER_FEATURE_DC
    UD = lib.PIER_FEATURE_UD
    ADDRESS = lib.PIER_FEATURE_ADDRESS
    ATOMIC_CPU = lib.PIER_FEATURE_ATOMIC_CPU
    DMABUF = lib.PIER_FEATURE_DMABUF
    COMCH = lib.PIER_FEATURE_COMCH


class TaskType(enum.IntEnum):
    """The types of tasks that depend on the device."""

    SEND = lib.PIER_TASK_SEND
    SEND_IMM = lib.PIER_TASK_SEND_IMM
    RECEIVE = lib.PIER_TASK_RECEIVE
    READ = lib.PIER_TASK_READ
    WRITE = lib.PIER_TASK_WRITE
    WRITE_IMM = lib.PIER_TASK_WRITE_IMM
    COMPARE_SWAP = lib.PIER_TASK_COMPARE_SWAP
    FETCH_ADD = lib.PIER_TASK_FETCH_ADD


class Gid(NamedTuple):
    """An address of a device; on RoCE an IP address."""

    address: str
    index: int          # type: ignore[assignment] # in the table of the port
    kind: str           # "IB", "RoCE v1", "RoCE v2"
    unusable: str       # why connections do not choose it; "": they may


_KINDS = {lib.PIER_GID_IB: "IB", lib.PIER_GID_ROCE_V1: "RoCE v1",
          lib.PIER_GID_ROCE_V2: "RoCE v2"}


def address_of(gid) -> str:
    """The text of a GID of 16 bytes: of an IPv4 address, as that."""
    address = ipaddress.IPv6Address(bytes(gid))
    return str(address.ipv4_mapped or address)


class DeviceInfo:
    """A description of a device, as it was when it was taken."""

    def __init__(self, info, owner) -> None:
        self._info = info
        self._owner = owner     # has the struct

    @property
    def name(self) -> str:
        """Its name, as pier info prints it."""
        return text(lib.pier_devinfo_name(self._info))

    @property
    def kind(self) -> str:
        """"soft" or "verbs"."""
        return text(lib.pier_devinfo_kind(self._info))

    @property
    def netdev(self) -> str:
        """Its network interface; "": none."""
        return text(lib.pier_devinfo_netdev(self._info))

    @property
    def pci(self) -> str:
        """Its PCI address; "": none."""
        return text(lib.pier_devinfo_pci(self._info))

    @property
    def port(self) -> int:
        """The number of its port."""
        return lib.pier_devinfo_port(self._info)

    @property
    def is_infiniband(self) -> bool:
        """Is its link InfiniBand?  Else it is Ethernet."""
        return (lib.pier_devinfo_link(self._info) ==
                lib.PIER_LINK_INFINIBAND)

    @property
    def is_active(self) -> bool:
        """Is its port active?"""
        return bool(lib.pier_devinfo_active(self._info))

    @property
    def lid(self) -> int:
        """Its address in an InfiniBand subnet; 0: none."""
        return lib.pier_devinfo_lid(self._info)

    @property
    def mtu(self) -> int:
        """The largest path MTU, in bytes."""
        return lib.pier_devinfo_mtu(self._info)

    @property
    def gids(self) -> list[Gid]:
        """Its addresses."""
        gids: list[Gid] = []
        gid = ffi.new("struct pier_gid *")
        while not lib.pier_devinfo_gid(self._info, len(gids), gid):
            reason = self._reason(lib.pier_devinfo_can_gid, len(gids))
            gids.append(Gid(address_of(gid.raw), gid.index,
                            _KINDS[gid.type], reason or ""))
        return gids

    def limit(self, limit: Limit) -> Optional[int]:
        """The value of a limit; None: there is none but memory."""
        ret = ffi.new("uint64_t *")
        check(lib.pier_devinfo_limit(self._info, limit, ret))
        return None if ret[0] == 2 ** 64 - 1 else ret[0]

    def has(self, feature: Feature) -> bool:
        """Does it support it?"""
        return self._reason(lib.pier_devinfo_has, feature) is None

    def can_task(self, task: TaskType) -> bool:
        """Does it run tasks of the type?"""
        return self._reason(lib.pier_devinfo_can_task, task) is None

    def lacks(self, what) -> str:
        """Why a Feature or TaskType is not supported; "": it is."""
        call = (lib.pier_devinfo_has if isinstance(what, Feature)
                else lib.pier_devinfo_can_task)
        return self._reason(call, what) or ""

    def _reason(self, call, what) -> Optional[str]:
        err = call(self._info, what)
        if not err:
            return None
        if err not in (-errno.EOPNOTSUPP, -errno.EADDRNOTAVAIL):
            check(err)
        return text(lib.pier_last_error())

    def __repr__(self) -> str:
        return f"<DeviceInfo {self.name}>"


def _devlist():
    return ffi.gc(create(lib.pier_devlist_create),
                  lib.pier_devlist_destroy)


def device_infos() -> list[DeviceInfo]:
    """Descriptions of all devices of this host."""
    devlist = _devlist()
    return [DeviceInfo(lib.pier_devlist_get(devlist, i), devlist)
            for i in range(lib.pier_devlist_count(devlist))]


def missing_devices() -> list[tuple[str, str]]:
    """RDMA devices that are not listed: the name, and why, with the remedy.

    The name is "" if the machine has none at all.
    """
    devlist = _devlist()
    missing: list[tuple[str, str]] = []
    while True:
        name = lib.pier_devlist_missing(devlist, len(missing))
        if name == ffi.NULL:
            return missing
        reason = lib.pier_devlist_missing_text(devlist, len(missing))
        missing.append((text(name), text(reason)))
