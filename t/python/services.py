# SPDX-License-Identifier: BSD-2-Clause
"""Copies, sync events, Comm Channels."""
import asyncio
import contextlib
import errno
import hashlib
import os
import subprocess
import sys
import threading

import pier
from tap import LIMIT, fails, pair, run

NAME = f"python {os.getpid()}"


@contextlib.contextmanager
def base():
    """A device and an engine."""
    with pier.Device("soft_lo") as dev, pier.Engine() as engine:
        yield dev, engine


@contextlib.contextmanager
def channel(**config):
    """A server, its connection of a client, and that of the client."""
    with base() as (dev, engine), \
            pier.ComchServer(engine, dev, NAME, **config) as server, \
            pier.ComchClient(engine, dev, NAME) as client:
        conn = client.connection().wait(LIMIT)
        yield server, server.connection().wait(LIMIT), conn


def bytes_are_copied():
    with base() as (dev, engine), pier.Dma(dev, engine) as dma, \
            dev.register(bytearray(b"0123456789")) as src, \
            dev.register(8) as dst:
        dma.copy([src[2:4], src[8:]], dst[1:]).wait(LIMIT)
        assert bytes(dst[:]) == b"\0002389\0\0\0", bytes(dst[:])
        fails(errno.EMSGSIZE, dma.copy(src, dst).wait, LIMIT)
        dma.close()
        fails(errno.ESHUTDOWN, dma.copy, src, dst)


def digests_are_those_of_hashlib():
    text = bytes(range(256)) * 40
    with base() as (dev, engine), pier.Sha(engine) as sha, \
            dev.register(bytearray(text)) as src, dev.register(70) as dst:
        for algorithm, name in ((pier.ShaAlgorithm.SHA_1, "sha1"),
                                (pier.ShaAlgorithm.SHA_256, "sha256"),
                                (pier.ShaAlgorithm.SHA_512, "sha512")):
            wanted = hashlib.new(name, text[5:]).digest()
            sha.hash(src[5:], dst[1:], algorithm).wait(LIMIT)
            assert algorithm.digest_len == len(wanted)
            assert bytes(dst[1:1 + len(wanted)]) == wanted, name
        fails(errno.EMSGSIZE, sha.hash(src, dst[:8]).wait, LIMIT)


COPIER = """
import sys
import pier
with pier.Device("soft_lo") as dev, pier.Engine() as engine, \\
        pier.Dma(dev, engine) as dma, dev.register(16) as local:
    far = pier.Mmap.from_dma_export(dev, bytes.fromhex(sys.argv[1]))
    dma.copy(far[2:6], local).wait(20)
    dma.copy(local[:4], far[8:]).wait(20)
    print(bytes(local[:4]).decode())
"""


def another_process_copies_what_is_exported():
    access = pier.Access.PEER_READ | pier.Access.PEER_WRITE
    data = bytearray(b"0123456789abcdef")
    with pier.Device("soft_lo") as dev, dev.register(data, access) as mem, \
            pier.DmaExport(dev, mem) as exported:
        fails(errno.EBUSY, mem.close)
        fails(errno.ETIMEDOUT, exported.wait, 0.01, kind=TimeoutError)
        done = subprocess.run([sys.executable, "-c", COPIER,
                               exported.descriptor.hex()], check=True,
                              stdout=subprocess.PIPE, timeout=2 * LIMIT)
        exported.wait(LIMIT)
        assert done.stdout == b"2345\n", done
        assert data == b"012345672345cdef", data
    fails(errno.ESHUTDOWN, lambda: exported.descriptor)
    with pier.Device("soft_lo") as dev, dev.register(8) as mem:
        fails(errno.EACCES, pier.DmaExport, dev, mem)


def copies_are_awaited():
    async def program(dma, src, dst):
        await asyncio.gather(*(dma.copy(src[i:i + 1], dst[7 - i:])
                               for i in range(8)))

    with base() as (dev, engine), pier.Dma(dev, engine) as dma, \
            dev.register(bytearray(b"01234567")) as src, \
            dev.register(8) as dst:
        asyncio.run(asyncio.wait_for(program(dma, src, dst), LIMIT))
        assert bytes(dst[:]) == b"76543210"


def threads_wait_for_an_event():
    with pier.SyncEvent() as event:
        def other():
            event.wait_eq(3, timeout=LIMIT)
            event.value = 10

        thread = threading.Thread(target=other)
        thread.start()
        assert event.add(2) == 0
        assert event.add(1) == 2
        event.wait_gt(9, timeout=LIMIT)
        thread.join()
        assert event.value == 10
        fails(errno.ETIMEDOUT, lambda: event.wait_neq(10, timeout=0.01),
              kind=TimeoutError)
    fails(errno.ESHUTDOWN, event.add, 1)


def an_event_is_awaited():
    async def program(event):
        waiting = [asyncio.ensure_future(event.when_gt(4)),
                   asyncio.ensure_future(event.when_eq(1, 1)),
                   asyncio.ensure_future(event.when_neq(0))]
        await asyncio.sleep(0)
        event.value = 2
        await waiting[2]
        assert not waiting[0].done() and not waiting[1].done()
        await event.set(5)
        await asyncio.gather(*waiting)
        assert await event.fetch_add(3) == 5 and await event.get() == 8

    with pier.Engine() as engine, pier.SyncEventContext(engine) as event:
        asyncio.run(asyncio.wait_for(program(event), LIMIT))


def the_event_of_a_peer_is_set_and_read():
    with pair() as (one, other):
        with pier.SyncEvent(other.rdma.dev, remote_publisher=True) as event, \
                pier.RemoteSyncEvent(one.rdma.dev, event.export()) as far:
            one.event_set(far, 40).wait(LIMIT)
            assert event.value == 40
            assert one.event_add(far, 2).wait(LIMIT) == 40
            assert one.event_get(far).wait(LIMIT) == 42
        with pier.SyncEvent() as event:
            fails(errno.EACCES, event.export)


SIGNALLER = """
import sys
import pier
with pier.Device("soft_lo") as dev, \\
        pier.SyncEvent.from_process(dev, bytes.fromhex(sys.argv[1])) as far:
    assert far.add(2) == 40
    far.wait_eq(50, timeout=20)
    far.value = 60
    print(far.value)
"""


def another_process_uses_an_event():
    with pier.Device("soft_lo") as dev, \
            pier.SyncEvent(dev, remote_publisher=True) as event:
        fails(errno.EINVAL, event.export_wait, 0)
        event.value = 40
        with subprocess.Popen([sys.executable, "-c", SIGNALLER,
                               event.export_process().hex()],
                              stdout=subprocess.PIPE) as process:
            event.wait_eq(42, timeout=2 * LIMIT)
            event.value = 50
            event.export_wait(LIMIT)
            assert process.stdout.read() == b"60\n"
        assert process.returncode == 0 and event.value == 60
    with pier.Device("soft_lo") as dev:
        fails_with_any(lambda: pier.SyncEvent.from_process(dev, b"x"))


WAITER = """
import asyncio
import sys
import pier

async def use(event):
    assert await event.fetch_add(2) == 40
    await event.when_eq(50)
    await asyncio.gather(*(event.fetch_add(1) for _ in range(10)))
    await event.set(await event.get() + 5)

with pier.Device("soft_lo") as dev, pier.Engine() as engine, \\
        pier.SyncEventContext.from_process(
            engine, dev, bytes.fromhex(sys.argv[1]), tasks=16) as event:
    try:
        event.value
    except pier.PierError as error:
        print(error.name)
    asyncio.run(use(event))
"""


def another_process_has_an_event_as_a_context():
    with pier.Device("soft_lo") as dev, \
            pier.SyncEvent(dev, remote_publisher=True) as event:
        event.value = 40
        with subprocess.Popen([sys.executable, "-c", WAITER,
                               event.export_process().hex()],
                              stdout=subprocess.PIPE) as process:
            event.wait_eq(42, timeout=2 * LIMIT)
            event.value = 50
            event.export_wait(LIMIT)
            assert process.stdout.read() == b"EPERM\n"
        assert process.returncode == 0 and event.value == 65, event.value
    with pier.Device("soft_lo") as dev, pier.Engine() as engine:
        fails_with_any(lambda: pier.SyncEventContext.from_process(
            engine, dev, b"x"))


def messages_pass_on_a_channel():
    with channel() as (_, there, here):
        here.send(b"to the server").wait(LIMIT)
        assert there.receive().wait(LIMIT) == b"to the server"
        there.send(bytearray(b"and back")).wait(LIMIT)
        assert here.receive().wait(LIMIT) == b"and back"
        fails(errno.EMSGSIZE, here.send, bytes(here.max_message + 1))


def what_is_to_be_sent_is_not_resized_before_it_is_submitted():
    with channel() as (server, there, here), \
            pier.ComchConsumer(there) as consumer, \
            pier.ComchProducer(here) as producer:
        consumer.ready().wait(LIMIT)
        producer.ready().wait(LIMIT)
        here.consumer().wait(LIMIT)
        received = consumer.receive()
        tasks = []
        for prepared in (
                lambda data: pier.prepare(here.send, data),
                lambda data: pier.prepare(here.request, data),
                lambda data: pier.prepare(producer.send, None, consumer.id,
                                          data)):
            data = bytearray(b"x" * 4)
            task = prepared(data)
            try:
                data.append(0)
            except BufferError:
                pass
            else:
                raise AssertionError("it was resized")
            task.submit()
            data.append(0)
            tasks.append(task)
        request = server.request().wait(LIMIT)
        request.reply(request.data)
        assert tasks[1].wait(LIMIT) == b"xxxx"
        assert there.receive().wait(LIMIT) == b"xxxx"
        assert received.wait(LIMIT).imm == b"xxxx"
        tasks[0].wait(LIMIT)
        tasks[2].wait(LIMIT)


def a_full_peer_is_waited_for():
    with channel(recv_queue=2) as (_, there, here):
        sent = 0
        while sent < 50:
            try:
                here.send(sent.to_bytes(2, "big"))
                sent += 1
            except pier.PierError as error:
                assert error.errno == errno.EAGAIN, error
                here.writable().wait(LIMIT)
        for number in range(50):
            message = there.receive().wait(LIMIT)
            assert message == number.to_bytes(2, "big")


def long_messages_pass_from_buffer_to_buffer():
    text = bytes(range(256)) * 4096
    with channel() as (server, there, here), \
            server._dev.register(len(text)) as into, \
            server._dev.register(bytearray(text)) as out, \
            pier.ComchConsumer(there, into) as consumer, \
            pier.ComchProducer(here) as producer:
        consumer.ready().wait(LIMIT)
        producer.ready().wait(LIMIT)
        assert here.consumer().wait(LIMIT) == consumer.id
        assert here.consumers == {consumer.id}
        received = consumer.receive(into)
        producer.send(out, consumer.id, b"all").wait(LIMIT)
        data = received.wait(LIMIT)
        assert len(data) == len(text) and data.imm == b"all"
        assert data.producer == producer.id
        assert bytes(into[:]) == text
        received = consumer.receive(into[4:8])
        producer.send(out[1:3], consumer.id).wait(LIMIT)
        assert len(received.wait(LIMIT)) == 2 and bytes(into[4:6]) == b"\1\2"
        fails(errno.ENOENT, producer.send, out, consumer.id + 1)


def a_consumer_of_another_engine_receives_immediates():
    with channel() as (_, there, here), pier.Engine() as other:
        consumer = pier.ComchConsumer(there, engine=other)
        producer = pier.ComchProducer(here)
        both = threading.Event()

        def serve():
            consumer.ready().wait(LIMIT)
            seen.append(consumer.receive().wait(LIMIT).imm)
            other.wait_for(both.is_set, LIMIT)

        seen = []
        thread = threading.Thread(target=serve)
        thread.start()
        number = here.consumer().wait(LIMIT)
        producer.ready().wait(LIMIT)
        producer.send(None, number, b"number").wait(LIMIT)
        here.engine.wait_for(lambda: seen, LIMIT)
        both.set()
        other.wake()
        thread.join()
        assert seen == [b"number"], seen
        consumer.close()
        here.engine.wait_for(lambda: not here.consumers, LIMIT)
        assert not here.consumers


def the_end_of_a_client_is_reported():
    with channel() as (_, there, here):
        here.send(b"last").wait(LIMIT)
        here.disconnect()
        assert there.receive().wait(LIMIT) == b"last"
        fails(errno.ENOTCONN, there.receive().wait, LIMIT)
        fails(errno.ENOTCONN, there.send, b"late")


def a_client_without_a_server_fails():
    with base() as (dev, engine), \
            pier.ComchClient(engine, dev, NAME + " none") as client:
        raised = fails_to_connect(client)
        assert raised.strerror, raised


def fails_to_connect(client):
    """The error of the attempt."""
    try:
        client.connection().wait(LIMIT)
    except pier.PierError as error:
        return error
    raise AssertionError("it is connected")


def a_name_is_used_once():
    with channel() as (server, _, _):
        fails(errno.EEXIST, pier.ComchServer, server.engine, server._dev,
              NAME)


def requests_are_replied_to_in_any_order():
    with channel() as (server, _, here):
        calls = [here.request(bytes([i])) for i in range(3)]
        requests = [server.request().wait(LIMIT) for _ in range(3)]
        requests[2].reply(b"three")
        requests[0].reply(b"one")
        requests[1].refuse()
        assert calls[0].wait(LIMIT) == b"one"
        assert calls[2].wait(LIMIT) == b"three"
        fails(errno.EREMOTEIO, calls[1].wait, LIMIT)
        fails(errno.ESTALE, requests[0].reply, b"again")


def a_request_that_cannot_be_made_leaves_nothing():
    with channel() as (server, _, here), server._dev.register(
            8, pier.Access.REMOTE_WRITE) as into, server._dev.register(
            8) as closed:
        closed.close()
        for options in ({"into": into, "timeout": float("inf")},
                        {"into": into, "timeout": float("nan")},
                        {"into": closed}):
            for _ in range(2000):   # more than there are tasks
                try:
                    here.request(b"x", 8, **options)
                except (pier.PierError, OverflowError, ValueError) as error:
                    assert not into.users(), into.users()
                    assert getattr(error, "errno", 0) != errno.ENOBUFS, error
                else:
                    raise AssertionError(f"it was sent: {options}")


def requests_are_awaited():
    async def serve(server):
        for _ in range(20):
            request = await server.request()
            request.reply(request.data[::-1])

    async def program(server, here):
        serving = asyncio.create_task(serve(server))
        for number in range(20):
            data = f"request {number}".encode()
            assert await here.request(data) == data[::-1]
        await serving

    with channel() as (server, _, here):
        asyncio.run(asyncio.wait_for(program(server, here), LIMIT))


def a_channel_is_closed_in_any_order():
    dev = pier.Device("soft_lo")
    engine = pier.Engine()
    server = pier.ComchServer(engine, dev, NAME)
    client = pier.ComchClient(engine, dev, NAME)
    conn = client.connection().wait(LIMIT)
    call = conn.request(b"never")
    server.request().wait(LIMIT)
    data = [pier.ComchConsumer(conn), pier.ComchProducer(conn)]
    data[0].ready().wait(LIMIT)
    engine.close()
    assert call.done()
    fails_with_any(call.result)
    fails(errno.ENOTCONN, conn.send, b"")
    fails(errno.ESHUTDOWN, data[0].receive)
    for closable in client, *data, server, engine, dev:
        closable.close()


def fails_with_any(call):
    """call raises a PierError."""
    try:
        call()
    except pier.PierError:
        return
    raise AssertionError("no error")


run(bytes_are_copied,
    digests_are_those_of_hashlib,
    another_process_copies_what_is_exported,
    copies_are_awaited,
    threads_wait_for_an_event,
    an_event_is_awaited,
    the_event_of_a_peer_is_set_and_read,
    another_process_uses_an_event,
    another_process_has_an_event_as_a_context,
    messages_pass_on_a_channel,
    what_is_to_be_sent_is_not_resized_before_it_is_submitted,
    a_full_peer_is_waited_for,
    long_messages_pass_from_buffer_to_buffer,
    a_consumer_of_another_engine_receives_immediates,
    the_end_of_a_client_is_reported,
    a_client_without_a_server_fails,
    a_name_is_used_once,
    requests_are_replied_to_in_any_order,
    a_request_that_cannot_be_made_leaves_nothing,
    requests_are_awaited,
    a_channel_is_closed_in_any_order)
