# SPDX-License-Identifier: BSD-2-Clause
"""Counters, and the flight recorder."""
from __future__ import annotations

from typing import NamedTuple

from ._errors import check, create, text
from ._info import address_of
from ._pier import ffi, lib


class ConnEvent(NamedTuple):
    """What has happened on a connection: an entry of the flight recorder."""

    at_ns: int      # as time.clock_gettime_ns(CLOCK_MONOTONIC)
    qpn: int        # of the connection; 0: it had none yet
    count: int      # type: ignore[assignment] # how often
    psn: int        # of the packet it is about; 0: of none
    name: str       # "nak_received"
    detail: str     # "access"; "": none


class Counted(NamedTuple):
    """A device of a process, or a connection of one, with its counters."""

    pid: int
    program: str
    device: str
    qpn: int            # of the connection; 0: the device
    peer_qpn: int       # 0: not connected yet, nor the rest
    local_address: str
    peer_address: str
    local_port: int
    peer_port: int
    counters: dict      # of their names
    events: list        # of a device: those of its connections, ConnEvent


def numbers(call, *args) -> dict[str, int]:
    """The counters that a call of C fills in, by their names."""
    ret = ffi.new("struct pier_counters *")
    ret.size = ffi.sizeof(ret[0])
    check(call(*args, ret))
    return {text(ret.counter[i].name): ret.counter[i].value
            for i in range(ret.count)}


def members(call, obj) -> dict[str, int]:
    """The counters of a struct of C that call fills in, by their names."""
    kind = ffi.typeof(call).args[-1].item
    ret = ffi.new(ffi.getctype(kind, "*"))
    call(obj, ret)
    return {name: getattr(ret, name) for name, _ in kind.fields}


def _events(devlist, i: int) -> list[ConnEvent]:
    events: list[ConnEvent] = []
    ret = ffi.new("struct pier_conn_event *")
    while check(lib.pier_counterlist_event(devlist, i, len(events), ret)):
        events.append(ConnEvent(ret.at_ns, ret.qpn, ret.count, ret.psn,
                                text(ret.name), text(ret.detail)))
    return events


def counters(pid: int = 0) -> list[Counted]:
    """Those of the process pid; 0: of all whose counters this user can read.

    For each process its soft devices, each followed by its connections.
    Raises ENOENT, pid does not run, has no soft device, or belongs to another
    user.
    """
    entries = ffi.gc(create(lib.pier_counterlist_create, pid),
                     lib.pier_counterlist_destroy)
    result = []
    for i in range(lib.pier_counterlist_count(entries)):
        entry = lib.pier_counterlist_get(entries, i)
        result.append(Counted(
            entry.pid, text(entry.program), text(entry.device), entry.qpn,
            entry.peer_qpn, address_of(entry.local_gid),
            address_of(entry.peer_gid), entry.local_port, entry.peer_port,
            numbers(lib.pier_counterlist_counters, entries, i),
            _events(entries, i)))
    return result
