# SPDX-License-Identifier: BSD-2-Clause
"""Read the text that a read responder, in Python or C, offers."""
import sample


def main() -> None:
    """Read it, and print it."""
    args = sample.arguments(__doc__).parse_args()
    text = bytearray(4096)
    with sample.context(args) as rdma:
        conn, remote = sample.meet(rdma, args, remote=True)
        with rdma.dev.register(text) as memory:
            conn.read(remote, memory).wait(args.timeout)
        conn.disconnect().wait(args.timeout)
        remote.close()
    print(f'read "{text.split(bytes(1))[0].decode()}"')


main()
