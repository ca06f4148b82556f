# SPDX-License-Identifier: BSD-2-Clause
"""Have a sync event that rdma_sync_event_requester sets, in Python or C."""
import sample

import pier


def main() -> None:
    """See a number, set one more, and see what follows."""
    args = sample.arguments(__doc__).parse_args()
    with sample.context(args) as rdma, \
            pier.SyncEvent(rdma.dev, remote_publisher=True) as event:
        conn, _ = sample.meet_event(rdma, args, event=event)
        event.wait_gt(0, timeout=args.timeout)
        first = event.value
        event.value = first + 1
        event.wait_gt(first + 1, timeout=args.timeout)
        last = event.value
        conn.disconnected().wait(args.timeout)
    print(f"seen {first}, set {first + 1}, seen {last}")


main()
