# SPDX-License-Identifier: BSD-2-Clause
"""Clients of request_reply_client, in Python or C, meet in pairs.

Each sends a text as a request, and the text of the other is its reply, as soon
as there is another.  The reply to an empty text is who has met so far.
"""
import signal
import sys
from typing import Optional

import sample

import pier

SIZE = 1 << 20
LINE = 2 * 4080 + 6     # of two messages, unless configured


class Meetings:
    """Who has met, a line each, in memory that replies are sent from."""

    def __init__(self, memory: pier.Mmap) -> None:
        self._memory = memory
        self._used = 0

    @property
    def is_full(self) -> bool:
        """Is there no memory for one more?"""
        return self._used > SIZE - LINE

    def meet(self, first: pier.ComchRequest, second: pier.ComchRequest
             ) -> None:
        """Each gets the text of the other."""
        line = first.data + b" met " + second.data + b"\n"
        start, self._used = self._used, self._used + len(line)
        self._memory[start:self._used].view()[:] = line
        middle = start + len(first.data)
        reply(first, self._memory[middle + 5:self._used - 1])
        reply(second, self._memory[start:middle])

    def list(self, request: pier.ComchRequest) -> None:
        """As many of the last lines as the client has memory for."""
        start = 0
        if request.max_reply < self._used:
            start = self._used - request.max_reply
            text = bytes(self._memory[start - 1:self._used])
            start += text.index(b"\n")
        reply(request, self._memory[start:self._used])


def reply(request: pier.ComchRequest, part: pier.Buf) -> None:
    """More than fits into a message is written into the client's memory."""
    try:
        request.reply_from(part)
    except pier.PierError:
        refuse(request)         # else it waits for ever


def refuse(request: pier.ComchRequest) -> None:
    """It has no reply; its client may have given up, or died."""
    try:
        request.refuse()
    except pier.PierError as error:
        print(f"a request ended: {error}", file=sys.stderr)


def serve(server: pier.ComchServer, meetings: Meetings) -> None:
    """Until Ctrl-C."""
    first: Optional[pier.ComchRequest] = None
    while True:
        request = server.request().wait()
        if not request.data:
            meetings.list(request)
        elif meetings.is_full:
            refuse(request)
        elif first is None:
            first = request
        elif not first.max_reply:       # it has ended, or takes no reply
            refuse(first)
            first = request
        else:
            meetings.meet(first, request)
            first = None


def main() -> None:
    """The server, and its memory."""
    args = sample.service_arguments(__doc__).parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pier.Device(args.device) as dev, pier.Engine() as engine, \
            dev.register(SIZE, pier.Access.LOCAL_READ) as memory, \
            pier.ComchServer(engine, dev, "request_reply") as server:
        try:
            serve(server, Meetings(memory))
        except KeyboardInterrupt:
            pass


try:
    main()
except pier.PierError as problem:
    sys.exit(f"request_reply_server.py: {problem}")
