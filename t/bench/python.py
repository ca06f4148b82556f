# SPDX-License-Identifier: BSD-2-Clause
"""Round trips of 8 bytes, and reads of 1 MiB, between two processes in Python.

usage: python.py [asyncio | blocking | stream]

Prints the median of a round trip in us, or GB/s (10^9).  PYTHONPATH is the
folder of the package.  Compare with `pier perf lat send`, whose figure is half
a round trip, and with `pier perf bw read -s 1M`.
"""
import asyncio
import multiprocessing
import statistics
import sys
import time

import pier

ROUNDS = 20000
DEPTH, READS, SIZE = 8, 4000, 1 << 20


def connect(pipe, rdma, memory):
    """Exchange descriptors: the connection, and the peer's memory."""
    conn = rdma.export()
    pipe.send((conn.descriptor, memory.export()))
    peer, remote = pipe.recv()
    conn.connect(peer).wait(10)
    return conn, pier.Mmap.from_descriptor(rdma.dev, remote)


def run(pipe, work, size):
    """One end: work, connected, on size bytes."""
    access = pier.Access.LOCAL_WRITE | pier.Access.REMOTE_READ
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            dev.register(size, access) as memory, \
            pier.Rdma(dev, engine) as rdma:
        conn, remote = connect(pipe, rdma, memory)
        work(conn, memory, remote)
        conn.close()


def report(times):
    """The median round trip, without those before caches were warm."""
    print(f"{statistics.median(times[1000:]) / 1000:.1f} us")


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


def stream_client(conn, memory, remote):
    """Read, with DEPTH in flight."""
    start = time.perf_counter()
    tasks = [conn.read(remote, memory) for _ in range(DEPTH)]
    for number in range(READS):
        tasks[number % DEPTH].wait()
        tasks[number % DEPTH] = conn.read(remote, memory)
    for task in tasks:
        task.wait()
    seconds = time.perf_counter() - start
    print(f"{(READS + DEPTH) * SIZE / seconds / 1e9:.2f} GB/s")


def stream_server(conn, _, __):
    """Has the memory, and drives the engine."""
    conn.disconnected().wait()


def main(what="asyncio"):
    """Both ends."""
    work = {name: value for name, value in globals().items()
            if callable(value)}
    size = SIZE if what == "stream" else 8
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(
        target=run, args=(there, work[f"{what}_server"], size))
    server.start()
    run(here, work[f"{what}_client"], size)
    server.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
