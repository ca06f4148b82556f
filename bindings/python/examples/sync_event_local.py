# SPDX-License-Identifier: BSD-2-Clause
"""Two threads signal each other by a sync event."""
import argparse
import contextlib
import threading
from typing import Union

import sample

import pier

Event = Union[pier.SyncEvent, pier.SyncEventContext]


def signal(event: Event, number: int, is_atomic: bool) -> None:
    """Have it number, which is 0, by adding or by setting it."""
    if isinstance(event, pier.SyncEventContext):
        (event.fetch_add(number) if is_atomic else event.set(number)).wait()
    elif is_atomic:
        event.add(number)
    else:
        event.value = number


def answer(event: Event, args: argparse.Namespace) -> None:
    """The other thread: one more, by calls that suit both modes."""
    while event.value != args.number:
        pass
    if args.atomic:
        event.add(1)
    else:
        event.value = args.number + 1


def main() -> None:
    """Signal the number, and wait for the one that follows."""
    parser = sample.event_arguments(__doc__)
    parser.add_argument("--async", dest="has_tasks", action="store_true")
    parser.add_argument("--qdepth", type=int, default=32)
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        dev = stack.enter_context(pier.Device(args.device)) \
            if args.device else None
        remote = dev is not None
        event: Event
        if args.has_tasks:
            engine = stack.enter_context(pier.Engine())
            event = stack.enter_context(pier.SyncEventContext(
                engine, dev, remote_publisher=remote, tasks=args.qdepth))
        else:
            event = stack.enter_context(pier.SyncEvent(
                dev, remote_publisher=remote))
        thread = threading.Thread(target=answer, args=(event, args),
                                  daemon=True)      # if this one fails
        thread.start()
        signal(event, args.number, args.atomic)
        if isinstance(event, pier.SyncEventContext):
            event.when_gt(args.number).wait()
        else:
            event.wait_gt(args.number)
        print(f"signalled {args.number}, seen {event.value}")
        thread.join()


main()
