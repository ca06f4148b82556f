# SPDX-License-Identifier: BSD-2-Clause
"""Share an array between two processes, and read a slice of it.

One process has the array; the other one reads a part of it by RDMA, while the
first does nothing about it.  Descriptors pass through a pipe.
"""
import array
import multiprocessing
import sys
from multiprocessing.connection import Connection

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier

COUNT = 1000000
FIRST, LAST = 500000, 500005


def owner(pipe: Connection, other: Connection) -> None:
    """Share an array of squares until the reader has disconnected."""
    other.close()       # so that pipe ends with the reader's process
    squares = array.array("d", (float(i * i) for i in range(COUNT)))
    with pier.Device() as dev, pier.Engine() as engine, \
            dev.register(squares, pier.Access.REMOTE_READ) as memory, \
            pier.Rdma(dev, engine) as rdma:
        conn = rdma.export()
        pipe.send((conn.descriptor, memory.export()))
        conn.connect(pipe.recv()).wait(10)
        conn.disconnected().wait()


def reader(pipe: Connection) -> None:
    """Read squares[FIRST:LAST], and print them."""
    part = array.array("d", bytes(8 * (LAST - FIRST)))
    with pier.Device() as dev, pier.Engine() as engine, \
            dev.register(part) as memory, pier.Rdma(dev, engine) as rdma:
        conn = rdma.export()
        peer, descriptor = pipe.recv()
        pipe.send(conn.descriptor)
        conn.connect(peer).wait(10)
        squares = pier.Mmap.from_descriptor(dev, descriptor)
        conn.read(squares[8 * FIRST:8 * LAST], memory).wait(10)
        conn.disconnect().wait(10)
        squares.close()
    print(f"squares[{FIRST}:{LAST}] is {part.tolist()}")


def main() -> None:
    """Both, in processes that share a pipe and nothing else."""
    here, there = multiprocessing.Pipe()
    peer = multiprocessing.Process(target=owner, args=(there, here))
    peer.start()
    there.close()       # the same for the owner's
    with here:
        try:
            reader(here)
        except EOFError:
            sys.exit("read.py: the process that has the array has ended")
    peer.join()
    sys.exit(peer.exitcode)


if __name__ == "__main__":
    main()
