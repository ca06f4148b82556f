# SPDX-License-Identifier: BSD-2-Clause
"""Offer a text that a read requester, in Python or C, reads."""
import sample

import pier


def main() -> None:
    """Offer it until the peer disconnects."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-r", dest="text", default=sample.TEXT)
    args = parser.parse_args()
    text = args.text.encode() + b"\0"
    with sample.context(args) as rdma, \
            rdma.dev.register(text, pier.Access.REMOTE_READ) as memory:
        conn, _ = sample.meet(rdma, args, memory=memory)
        conn.disconnected().wait()
    print("done: the peer has disconnected")


main()
