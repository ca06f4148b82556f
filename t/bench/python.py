# SPDX-License-Identifier: BSD-2-Clause
"""Round trips of 8 bytes, and writes of 1 MiB, between two processes in Python.

usage: python.py asyncio | blocking | stream DEPTH WRITES  [CORE CORE]

Prints the median of a round trip in us, or GB/s (10^9).  PYTHONPATH is the
folder of the package.  Its two ends run on these cores.  python.sh compares
this with pier perf.
"""
import asyncio
import multiprocessing
import os
import statistics
import sys
import time

import pier

ROUNDS = 20000
SIZE = 1 << 20
WARM_UP = 100       # writes, as pier perf has them
POLL_NS = 1000000


def connect(pipe, rdma, memory):
    """Exchange descriptors: the connection, and the peer's memory."""
    conn = rdma.export()
    pipe.send((conn.descriptor, memory.export()))
    peer, remote = pipe.recv()
    conn.connect(peer).wait(10)
    return conn, pier.Mmap.from_descriptor(rdma.dev, remote)


def serve(pipe, other, *args):
    """The other process: pipe ends with this one's."""
    other.close()
    run(pipe, *args)


def run(pipe, work, size, core, *args):
    """One end: work, connected, on size bytes, with its arguments."""
    access = pier.Access.LOCAL_WRITE | pier.Access.REMOTE_WRITE
    if core is not None:
        os.sched_setaffinity(0, {core})
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.Mmap.allocate(dev, size, access) as memory, \
            pier.Rdma(dev, engine, ack_timeout=17) as rdma:
        memory[:].view()[:] = b"Z" * size       # its pages are there
        conn, remote = connect(pipe, rdma, memory)
        work(conn, memory, remote, *args)
        conn.close()


def report(times):
    """The median round trip, without those before caches were warm."""
    print(f"{statistics.median(times[1000:]) / 1000:.2f}")


def asyncio_client(conn, memory, _):
    """Send, and await the answer."""
    async def client():
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter_ns()
            receive = conn.rdma.receive(memory)
            await conn.send(memory)
            await receive
            times.append(time.perf_counter_ns() - start)
        report(times)
    asyncio.run(client())


def asyncio_server(conn, memory, _):
    """Await a message, and answer."""
    async def server():
        receive = conn.rdma.receive(memory)
        for _ in range(ROUNDS):
            await receive
            receive = conn.rdma.receive(memory)
            await conn.send(memory)
    asyncio.run(server())


def blocking_client(conn, memory, _):
    """The same, by calls that wait."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        receive = conn.rdma.receive(memory)
        conn.send(memory).wait()
        receive.wait()
        times.append(time.perf_counter_ns() - start)
    report(times)


def blocking_server(conn, memory, _):
    """The same, by calls that wait."""
    receive = conn.rdma.receive(memory)
    for _ in range(ROUNDS):
        receive.wait()
        receive = conn.rdma.receive(memory)
        conn.send(memory).wait()


def stream(conn, memory, remote, depth, writes):
    """Write, with depth in flight; returns the seconds that it takes."""
    start = time.perf_counter()
    tasks = [conn.write(memory, remote) for _ in range(depth)]
    for number in range(writes - depth):
        tasks[number % depth].wait()
        tasks[number % depth] = conn.write(memory, remote)
    for task in tasks:
        task.wait()
    return time.perf_counter() - start


def stream_client(conn, memory, remote, depth, writes):
    """A stream, after a short one that is not counted."""
    stream(conn, memory, remote, depth, WARM_UP)
    seconds = stream(conn, memory, remote, depth, writes)
    print(f"{writes * SIZE / seconds / 1e9:.3f}")


def stream_server(conn, *_):
    """Has the memory, and polls as pier perf's does."""
    end = conn.disconnected()
    while not end.done():
        conn.engine.progress(POLL_NS)


def main(what, *args):
    """Both ends."""
    work = {name: value for name, value in globals().items()
            if callable(value)}
    size = SIZE if what == "stream" else 8
    numbers = [int(arg) for arg in args]
    words = [numbers.pop(0) for _ in range(2 if what == "stream" else 0)]
    cores = numbers or [None, None]
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(
        target=serve,
        args=(there, here, work[f"{what}_server"], size, cores[1], *words))
    server.start()
    there.close()
    with here:
        run(here, work[f"{what}_client"], size, cores[0], *words)
    server.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
