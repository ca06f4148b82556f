# SPDX-License-Identifier: BSD-2-Clause
"""Receive a text on each of several connections, from Python or C."""
import sample


def main() -> None:
    """One engine has them all, and their receives are those of its context."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-nc", dest="count", type=int, default=1)
    args = parser.parse_args()
    with sample.context(args) as rdma, \
            rdma.dev.register(256 * args.count) as memory:
        parts = [memory[256 * i:256 * (i + 1)] for i in range(args.count)]
        receives = [rdma.receive(part) for part in parts]
        conns = sample.meet_many(rdma, args, args.count)
        for receive, part in zip(receives, parts):
            length = len(receive.wait(args.timeout))
            print(f'received "{bytes(part)[:length - 1].decode()}"')
        for conn in conns:      # senders disconnect first
            conn.disconnected().wait(args.timeout)


main()
