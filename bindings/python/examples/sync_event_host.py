# SPDX-License-Identifier: BSD-2-Clause
"""Share a sync event with sync_event_dpu, in Python or C, and signal it."""
import argparse

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier

TIMEOUT = 10


def main() -> None:
    """Set it to the number, and wait for the number that follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-d", dest="device")
    parser.add_argument("-f", dest="path", default="/tmp/sync_event_desc.txt")
    parser.add_argument("--atomic", action="store_true")
    parser.add_argument("-n", dest="number", type=int, default=1)
    args = parser.parse_args()
    with pier.Device(args.device) as dev, \
            pier.SyncEvent(dev, remote_publisher=True) as event:
        pier.write_descriptor(args.path, event.export_process())
        if args.atomic:
            event.add(args.number)
        else:
            event.value = args.number
        event.wait_eq(args.number + 1, timeout=TIMEOUT)
        # The event ends with this process: let the DPU end first.
        event.export_wait(TIMEOUT)
    print(f"signalled {args.number}, seen {args.number + 1}")


main()
