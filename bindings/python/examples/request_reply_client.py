# SPDX-License-Identifier: BSD-2-Clause
"""Send a text to request_reply_server, in Python or C; print the reply."""
import argparse
import asyncio
import sys

import sample

import pier

LENGTH = 1 << 16        # of a reply


def options() -> argparse.Namespace:
    """Those of the client in C."""
    parser = sample.service_arguments(__doc__)
    parser.add_argument("-t", "--text", default=sample.TEXT)
    parser.add_argument("-c", "--count", type=int, default=1,
                        choices=range(1, 17), metavar="N",
                        help="send it N times, 1 to 16")
    parser.add_argument("-m", "--meetings", action="store_true",
                        help="print who has met so far")
    parser.add_argument("-sa", "--server-addr", dest="address")
    parser.add_argument("--timeout", type=float, default=60)
    return parser.parse_args()


async def request(conn: pier.ComchConnection, args: argparse.Namespace,
                  memory: pier.Buf) -> bool:
    """Send one, and print its reply; False: it has failed."""
    text = b"" if args.meetings else args.text.encode()
    try:
        length = await conn.request(text, into=memory, timeout=args.timeout)
    except pier.PierError as error:
        print(f"request_reply_client.py: {error}", file=sys.stderr)
        return False
    reply = bytes(memory.view()[:length])
    lines = reply.splitlines() if args.meetings else [b"met " + reply]
    for line in lines:
        print(sample.printable(line), flush=True)
    return True


async def main(args: argparse.Namespace) -> bool:
    """Send all at a time; False: one of them has failed."""
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            dev.register(args.count * LENGTH,
                         pier.Access.REMOTE_WRITE) as memory, \
            pier.ComchClient(engine, dev, "request_reply",
                             args.address) as client:
        if not client.is_running:
            print("waiting for the server; Ctrl-C ends it", file=sys.stderr,
                  flush=True)
        conn = await client.connection()
        parts = [memory[at:at + LENGTH]
                 for at in range(0, len(memory), LENGTH)]
        return all(await asyncio.gather(*(request(conn, args, part)
                                          for part in parts)))


try:
    sys.exit(not asyncio.run(main(options())))
except pier.PierError as problem:
    sys.exit(f"request_reply_client.py: {problem}")
