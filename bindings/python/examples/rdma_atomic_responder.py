# SPDX-License-Identifier: BSD-2-Clause
"""Offer a number to an atomic requester, in Python or C."""
import array

import sample

import pier


def main() -> None:
    """Print the number when the peer has disconnected."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-n", dest="number", type=int, default=5)
    args = parser.parse_args()
    number = array.array("Q", [args.number])
    with sample.context(args) as rdma:
        with rdma.dev.register(number, pier.Access.REMOTE_ATOMIC) as memory:
            conn, _ = sample.meet(rdma, args, memory=memory)
            conn.disconnected().wait()
    print(f"the number was {args.number}, is {number[0]}")


main()
