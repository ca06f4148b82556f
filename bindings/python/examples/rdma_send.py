# SPDX-License-Identifier: BSD-2-Clause
"""Send a text to a receiver, in Python or C."""
import sample

import pier


def main() -> None:
    """Send it, with an immediate if one is given."""
    parser = sample.arguments(__doc__)
    parser.add_argument("-s", dest="text", default=sample.TEXT)
    parser.add_argument("-i", dest="immediate", type=int)
    args = parser.parse_args()
    text = args.text.encode() + b"\0"
    with sample.context(args) as rdma, \
            rdma.dev.register(text, pier.Access.LOCAL_READ) as memory:
        conn, _ = sample.meet(rdma, args)
        if args.immediate is None:
            conn.send(memory).wait(args.timeout)
        else:
            conn.send_imm(memory, args.immediate).wait(args.timeout)
        conn.disconnect().wait(args.timeout)
    print(f'sent "{args.text}"')


main()
