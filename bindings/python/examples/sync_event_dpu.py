# SPDX-License-Identifier: BSD-2-Clause
"""Wait for the sync event of sync_event_host, in Python or C, and answer."""
import sample

import pier


def main() -> None:
    """Wait until it has the number, and set it to the one that follows."""
    args = sample.shared_event_arguments(__doc__)
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
