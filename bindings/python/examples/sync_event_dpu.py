# SPDX-License-Identifier: BSD-2-Clause
"""Wait for the sync event of sync_event_host, in Python or C, and answer."""
import argparse

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier


def main() -> None:
    """Wait until it has the number, and set it to the one that follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-d", dest="device")
    parser.add_argument("-f", dest="path", default="/tmp/sync_event_desc.txt")
    parser.add_argument("--atomic", action="store_true")
    parser.add_argument("-n", dest="number", type=int, default=1)
    args = parser.parse_args()
    with pier.Device(args.device) as dev:
        descriptor = pier.await_descriptor(args.path)
        with pier.SyncEvent.from_process(dev, descriptor) as event:
            event.wait_eq(args.number)
            if args.atomic:
                event.add(1)
            else:
                event.value = args.number + 1
    print(f"seen {args.number}, signalled {args.number + 1}")


main()
