# SPDX-License-Identifier: BSD-2-Clause
"""Copy the text that dma_copy_host, in Python or C, offers."""
import argparse

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier


def main() -> None:
    """Copy it by DMA, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", dest="device")
    parser.add_argument("-d", dest="descriptor",
                        default="/tmp/export_desc.txt")
    parser.add_argument("-b", dest="info", default="/tmp/buffer_info.txt")
    args = parser.parse_args()
    with open(args.info, encoding="ascii") as info:
        _, length = map(int, info.read().split())
    text = bytearray(length)
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            pier.Dma(dev, engine) as dma, dev.register(text) as local:
        remote = pier.Mmap.from_dma_export(
            dev, pier.read_descriptor(args.descriptor))
        dma.copy(remote, local).wait()
        remote.close()
    print(f'copied "{text.split(bytes(1))[0].decode()}"')


main()
