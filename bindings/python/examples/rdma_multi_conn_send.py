# SPDX-License-Identifier: BSD-2-Clause
"""Send a text on each of several connections, to Python or C."""
import sample

import pier


def main() -> None:
    """All sends are in flight at once."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-s", dest="text", default=sample.TEXT)
    parser.add_argument("-nc", dest="count", type=int, default=1)
    args = parser.parse_args()
    text = args.text.encode() + b"\0"
    with sample.context(args) as rdma, \
            rdma.dev.register(text, pier.Access.LOCAL_READ) as memory:
        conns = sample.meet_many(rdma, args, args.count)
        for task in [conn.send(memory) for conn in conns]:
            task.wait(args.timeout)
        for conn in conns:
            conn.disconnect().wait(args.timeout)
    print(f'sent "{args.text}" on {args.count} connections')


main()
