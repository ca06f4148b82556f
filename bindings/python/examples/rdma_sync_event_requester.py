# SPDX-License-Identifier: BSD-2-Clause
"""Set the event of rdma_sync_event_responder, wait, and set it again."""
import sample


def main() -> None:
    """Set the number, and one more than what the responder has set."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-n", "--number", type=int, default=1)
    args = parser.parse_args()
    seen = args.number
    with sample.context(args) as rdma:
        conn, event = sample.meet_event(rdma, args, remote=True)
        with event:
            conn.event_set(event, args.number).wait(args.timeout)
            while seen <= args.number:
                seen = conn.event_get(event).wait(args.timeout)
            conn.event_set(event, seen + 1).wait(args.timeout)
        conn.disconnect().wait(args.timeout)
    print(f"set {args.number}, read {seen}, set {seen + 1}")


main()
