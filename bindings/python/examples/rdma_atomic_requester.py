# SPDX-License-Identifier: BSD-2-Clause
"""Add to the number of an atomic responder, in Python or C; replace it."""
import sample


def main() -> None:
    """Print the numbers before and after."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-a", dest="add", type=int, default=1)
    parser.add_argument("-s", dest="swap", type=int, default=100)
    args = parser.parse_args()
    with sample.context(args) as rdma:
        conn, remote = sample.meet(rdma, args, remote=True)
        old = conn.fetch_add(remote, args.add).wait(args.timeout)
        print(f"fetch and add: old {old}, new {old + args.add}")
        old = conn.compare_swap(remote, old + args.add,
                                args.swap).wait(args.timeout)
        print(f"compare and swap: old {old}, new {args.swap}")
        conn.disconnect().wait(args.timeout)
        remote.close()


main()
