# SPDX-License-Identifier: BSD-2-Clause
"""Copy a file to the side that lacks it; the peer is in Python or C."""
import argparse
import sys

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier


def main() -> None:
    """With -r be the server, on that representor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-f", dest="file", required=True)
    parser.add_argument("-p", dest="device")
    parser.add_argument("-r", dest="rep")
    parser.add_argument("-sa", dest="address")
    args = parser.parse_args()
    name = "dma copy server"
    with pier.Device(args.device) as dev:
        if args.rep:
            with pier.Representor(dev, args.rep) as rep, \
                    pier.Copy(dev, rep=rep, name=name) as copy:
                result = copy.serve_file(args.file)
        else:
            where = {"address": args.address} if args.address else {}
            with pier.Copy(dev, name=name, **where) as copy:
                result = copy.file(args.file)
    print(f"copied {result.bytes} bytes of {args.file}")


try:
    main()
except pier.PierError as error:
    sys.exit(f"dma_copy.py: {error}")
