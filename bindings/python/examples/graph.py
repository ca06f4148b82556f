# SPDX-License-Identifier: BSD-2-Clause
"""Digest and copy a text at the same time, then compare."""
import argparse

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier


def main() -> None:
    """A graph of three nodes, run once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-d", dest="device")
    parser.add_argument("-t", dest="text", default="Hi DOCA RDMA!")
    args = parser.parse_args()
    text = bytearray(args.text.encode())
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            pier.Sha(engine) as sha, pier.Dma(dev, engine) as dma, \
            dev.register(text) as src, dev.register(32) as digest, \
            dev.register(len(text)) as copy:
        def compare() -> bool:
            return bytes(copy[:]) == bytes(src[:])

        with pier.Graph(engine) as graph:
            hashing, copying = graph.add(sha), graph.add(dma)
            last = graph.add(compare)
            graph.order(hashing, last)
            graph.order(copying, last)
            graph.start()
            result = graph.run({
                hashing: pier.prepare(sha.hash, src, digest),
                copying: pier.prepare(dma.copy, src, copy),
            }).wait(10)
        assert result[last]
        print(bytes(digest[:]).hex(), bytes(copy[:]).decode())


main()
