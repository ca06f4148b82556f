# SPDX-License-Identifier: BSD-2-Clause
"""Share a sync event with sync_event_dpu, in Python or C, and signal it."""
import sample

import pier

TIMEOUT = 10


def main() -> None:
    """Set it to the number, and wait for the number that follows."""
    args = sample.shared_event_arguments(__doc__)
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
