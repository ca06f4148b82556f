# SPDX-License-Identifier: BSD-2-Clause
"""Receive a text from a sender, in Python or C."""
import sample


def main() -> None:
    """Receive it, and print it, with its immediate if it has one."""
    args = sample.arguments(__doc__).parse_args()
    with sample.context(args) as rdma, rdma.dev.register(256) as memory:
        receive = rdma.receive(memory)      # before a peer can send
        conn, _ = sample.meet(rdma, args)
        message = receive.wait()
        text = bytes(memory[:len(message)])[:-1].decode()
        conn.disconnected().wait()
    number = ""
    if message.imm is not None:
        number = f" with immediate {message.imm}"
    print(f'received "{text}"{number}')


main()
