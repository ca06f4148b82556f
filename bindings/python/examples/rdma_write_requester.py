# SPDX-License-Identifier: BSD-2-Clause
"""Write a text into the memory of a write responder, in Python or C."""
import sample

import pier


def main() -> None:
    """Write it, with an immediate if one is given."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-w", dest="text", default=sample.TEXT)
    parser.add_argument("-i", dest="immediate", type=int)
    args = parser.parse_args()
    text = args.text.encode() + b"\0"
    with sample.context(args) as rdma:
        conn, remote = sample.meet(rdma, args, remote=True)
        with rdma.dev.register(text, pier.Access.LOCAL_READ) as memory:
            if args.immediate is None:
                task = conn.write(memory, remote)
            else:
                task = conn.write_imm(memory, remote, args.immediate)
            task.wait(args.timeout)
        conn.disconnect().wait(args.timeout)
        remote.close()
    print(f'wrote "{args.text}"')


main()
