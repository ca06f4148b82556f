# SPDX-License-Identifier: BSD-2-Clause
"""Offer a text for dma_copy_dpu, in Python or C, to copy."""
import argparse

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier


def main() -> None:
    """Export it, and sleep until the peer has been here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", dest="device")
    parser.add_argument("-t", dest="text", default="Hi DOCA RDMA!")
    parser.add_argument("-d", dest="descriptor",
                        default="/tmp/export_desc.txt")
    parser.add_argument("-b", dest="info", default="/tmp/buffer_info.txt")
    args = parser.parse_args()
    text = bytearray(args.text.encode() + bytes(1))
    with pier.Device(args.device) as dev, \
            dev.register(text, pier.Access.PEER_READ) as memory, \
            pier.DmaExport(dev, memory) as exported:
        pier.write_descriptor(
            args.info, f"{memory.address}\n{len(memory)}".encode())
        pier.write_descriptor(args.descriptor, exported.descriptor)
        print(f'offering "{args.text}"', flush=True)
        exported.wait()


main()
