# SPDX-License-Identifier: BSD-2-Clause
"""Devices, representors, counters, descriptors, replies into memory."""
import errno
import os
import tempfile
import threading

import pier
from pier._pier import lib
from tap import LIMIT, fails, pair, run

NAME = f"python looks {os.getpid()}"


def a_device_describes_itself():
    assert "soft_lo" in [info.name for info in pier.device_infos()]
    for name, reason in pier.missing_devices():
        assert isinstance(name, str) and reason
    with pier.Device("soft_lo") as dev:
        info = dev.info
        assert (info.name, info.kind, info.netdev) == ("soft_lo", "soft",
                                                       "lo")
        assert info.is_active and not info.is_infiniband and not info.lid
        assert infos_pci(dev) == info.pci
        assert info.mtu >= 256 and info.port == 1
        assert "127.0.0.1" in [gid.address for gid in info.gids]
        assert all(gid.kind == "RoCE v2" for gid in info.gids)
        assert info.limit(pier.Limit.MESSAGE) == 2 ** 31
        assert all(info.can_task(task) for task in pier.TaskType)
        assert info.has(pier.Feature.RC)
        assert info.lacks(pier.Feature.RC) == ""
        assert "datagrams" in info.lacks(pier.Feature.UD)
        fails(errno.EINVAL, info.limit, 1000)
        fails(errno.EINVAL, info.has, 1000)


def infos_pci(dev):
    """The PCI address of its one representor, as of the device."""
    rep, = dev.representors()
    assert rep.is_pci(rep.pci) and not rep.is_pci("ffff:00:00.0")
    return rep.pci


def a_representor_is_opened():
    with pier.Device("soft_lo") as dev:
        infos = dev.representors()
        assert [info.port for info in infos] == ["pf0"], infos
        assert infos[0].kind == pier.RepKind.PF
        assert infos[0].parent == "soft_lo:1" and not infos[0].number
        assert not dev.representors(pier.RepKind.VF)
        with pier.Representor(dev, "pf0") as rep, pier.Engine() as engine:
            assert rep.info.vuid == infos[0].vuid
            with pier.ComchServer(engine, dev, NAME, rep=rep) as server:
                assert server.is_running
        fails(errno.EINVAL, lambda: rep.info)
        fails(errno.ENODEV, pier.Representor, dev, "pf9")


def what_was_moved_is_counted():
    with pair() as (one, other), one.rdma.dev.register(64) as mem:
        before = one.rdma.dev.counters()["tx_packets"]
        receive = other.rdma.receive(mem[:32])
        one.send(mem[32:]).wait(LIMIT)
        receive.wait(LIMIT)
        assert one.rdma.dev.counters()["tx_packets"] > before
        assert one.counters()["tx_packets"] >= 1
        mine = pier.counters(os.getpid())
        assert mine[0].device == "soft_lo" and mine[0].qpn == 0
        conns = [entry for entry in mine if entry.qpn]
        assert len(conns) == 2 and {entry.peer_qpn for entry in conns} == {
            entry.qpn for entry in conns}
        assert conns[0].local_address in ("127.0.0.1", "::1")
        assert all("tx_packets" in entry.counters for entry in conns)
    fails(errno.ENOENT, pier.counters, 1 << 22)


def the_recorder_has_what_failed():
    with pair() as (one, other), one.rdma.dev.register(8) as mem, \
            other.rdma.dev.register(8, pier.Access.REMOTE_READ) as there:
        far = pier.Mmap.from_descriptor(one.rdma.dev, there.export())
        there.close()
        try:
            one.read(far, mem).wait(LIMIT)
        except pier.PierError:
            pass
        events = pier.counters(os.getpid())[0].events
        naks = [event for event in events if event.name == "nak_received"]
        assert naks and naks[-1].detail == "access", events
        assert naks[-1].count == 1 and naks[-1].at_ns


def descriptors_are_printed_and_stored():
    with pair() as (one, _), tempfile.TemporaryDirectory() as folder, \
            one.rdma.dev.register(8, pier.Access.REMOTE_READ) as mem:
        path = os.path.join(folder, "desc")
        pier.write_descriptor(path, mem.export())
        assert pier.read_descriptor(path) == mem.export()
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert pier.describe(mem.export()).startswith("kind: memory\n")
        fails(errno.ETIMEDOUT, pier.await_descriptor, path, 0.01,
              kind=TimeoutError)
        assert not os.path.exists(path)
        writer = threading.Timer(0, _write_once_waited, (path,))
        open(path, "wb").close()
        writer.start()
        assert pier.await_descriptor(path, LIMIT) == b"desc"
        writer.join()
        fails(errno.ENOENT, pier.read_descriptor, path)


def _write_once_waited(path):
    """What waits has removed the old file: write a new one."""
    while os.path.exists(path):
        pass
    pier.write_descriptor(path, b"desc")


def services_are_seen():
    with pier.Device("soft_lo") as dev, \
            dev.register(8, pier.Access.PEER_READ) as mem, \
            pier.DmaExport(dev, mem):
        service, = pier.services(os.getpid())
        assert (service.device, service.exports) == ("soft_lo", 1), service
        assert "127.0.0.1" in service.addresses and service.port
    assert not pier.services(os.getpid())


def the_log_has_a_level():
    before = lib.pier_log_level()
    pier.set_log_level("debug")
    assert lib.pier_log_level() == lib.PIER_LOG_DEBUG
    pier.set_log_level(before)
    assert lib.pier_log_level() == before
    fails(errno.EINVAL, pier.set_log_level, "loud")


def long_replies_are_written_into_memory():
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.ComchServer(engine, dev, NAME) as server, \
            pier.ComchClient(engine, dev, NAME) as client, \
            dev.register(bytearray(bytes(range(256)) * 4096)) as text, \
            dev.register(1 << 20, pier.Access.REMOTE_WRITE) as into:
        here = client.connection().wait(LIMIT)
        call = here.request(b"all", into=into)
        request = server.request().wait(LIMIT)
        assert request.max_reply == 1 << 20
        request.reply_from(text)
        assert call.wait(LIMIT) == 1 << 20
        assert bytes(into[:]) == bytes(text[:])
        engine.wait_for(lambda: not server.replies, LIMIT)
        assert not server.replies
        fails(errno.ESTALE, request.reply_from, text)
        slow = here.request(b"never", timeout=0.02)
        fails(errno.ETIMEDOUT, slow.wait, LIMIT, kind=TimeoutError)
        here.send(b"counted").wait(LIMIT)
        assert here.counters()["sent_messages"] >= 1
        assert server.counters()["received_messages"] >= 1


def memory_of_piers_own_lives_as_long_as_its_views():
    with pier.Device("soft_lo") as dev:
        mem = pier.Mmap.allocate(dev, 8192, shared=True)
        assert mem.page_size >= 4096 and bytes(mem[:]) == bytes(8192)
        view = mem[:4].view()
        view[:] = b"seen"
        assert os.pread(mem.fd, 4, 0) == b"seen"
        mem.close()
        assert bytes(view) == b"seen"
        fails(errno.EBUSY, dev.close)
        del view
    fails(errno.ERANGE, _allocate_far)
    with pier.Device("soft_lo") as dev, dev.register(8) as other:
        assert not other.page_size
        fails(errno.EINVAL, lambda: other.fd)


def _allocate_far():
    """Memory of a node that does not exist."""
    with pier.Device("soft_lo") as dev:
        pier.Mmap.allocate(dev, 4096, node=1000)


def an_aborted_connection_says_no_goodbye():
    with pair() as (one, _):
        one.abort()
        one.disconnected().wait(LIMIT)
        assert not one.is_alive and not one.reject_reason


def a_connection_has_a_path():
    with pair() as (one, other):
        here, there = one.path(), other.path()
        assert here.local_gid == there.peer_gid, (here, there)
        assert len(here.local_gid) == 16 and here.mtu >= 256, here
        assert here.local_qpn == there.peer_qpn, (here, there)
        assert here.gid_index < len(one.rdma.dev.info.gids), here
        assert one.transport == other.transport == "RoCE v2"
        fails(errno.ENOTCONN, one.rdma.export().path)


run(a_device_describes_itself,
    a_representor_is_opened,
    what_was_moved_is_counted,
    the_recorder_has_what_failed,
    descriptors_are_printed_and_stored,
    services_are_seen,
    the_log_has_a_level,
    long_replies_are_written_into_memory,
    memory_of_piers_own_lives_as_long_as_its_views,
    an_aborted_connection_says_no_goodbye,
    a_connection_has_a_path)
