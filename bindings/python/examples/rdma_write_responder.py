# SPDX-License-Identifier: BSD-2-Clause
"""Offer memory that a write requester, in Python or C, writes a text to."""
import sample

import pier


def main() -> None:
    """Print the text when the peer has disconnected."""
    args = sample.arguments(__doc__).parse_args()
    text = bytearray(256)
    with sample.context(args) as rdma:
        with rdma.dev.register(text, pier.Access.REMOTE_WRITE) as memory:
            conn, _ = sample.meet(rdma, args, memory=memory)
            conn.disconnected().wait()
    print(f'the peer has written "{text.split(bytes(1))[0].decode()}"')


main()
