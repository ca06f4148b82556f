# SPDX-License-Identifier: BSD-2-Clause
"""What the examples share: options and connection of the samples in C."""
import argparse
import contextlib
import sys
from typing import Any, Iterator, Optional

import in_tree  # noqa: F401  pylint: disable=unused-import
import pier

TEXT = "Hi DOCA RDMA!"


def arguments(about: Optional[str]) -> argparse.ArgumentParser:
    """A parser with the options of the samples."""
    parser = argparse.ArgumentParser(description=about, allow_abbrev=False)
    parser.add_argument("-d", "--device")
    parser.add_argument("-ld", dest="local_descriptor",
                        default="/tmp/local_connection_desc_path.txt")
    parser.add_argument("-re", dest="remote_descriptor",
                        default="/tmp/remote_connection_desc_path.txt")
    parser.add_argument("-m", dest="memory_descriptor",
                        default="/tmp/remote_resource_desc_path.txt")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("-cm", dest="use_cm", action="store_true")
    parser.add_argument("-sa", dest="server_addr")
    parser.add_argument("-lp", dest="listen_port", type=int, default=13579)
    return parser


def event_arguments(about: Optional[str]) -> argparse.ArgumentParser:
    """A parser with the options of the samples of sync events."""
    parser = argparse.ArgumentParser(description=about, allow_abbrev=False)
    parser.add_argument("-d", "--dev-pci-addr", dest="device")
    parser.add_argument("--atomic", action="store_true")
    parser.add_argument("-n", "--number", type=int, default=1)
    return parser


def shared_event_arguments(about: Optional[str]) -> argparse.Namespace:
    """The options of those of two processes."""
    parser = event_arguments(about)
    parser.add_argument("-f", dest="path", default="/tmp/sync_event_desc.txt")
    return parser.parse_args()


def channel_arguments(about: Optional[str]) -> argparse.ArgumentParser:
    """A parser with the options of the samples of Comm Channels."""
    parser = argparse.ArgumentParser(description=about, allow_abbrev=False)
    parser.add_argument("-p", "--pci-addr", dest="device")
    parser.add_argument("-t", "--text", default=TEXT)
    return parser


def service_arguments(about: Optional[str]) -> argparse.ArgumentParser:
    """A parser with the options of the samples of services."""
    parser = argparse.ArgumentParser(description=about, allow_abbrev=False)
    parser.add_argument("-d", "--device")
    return parser


def printable(data: bytes) -> str:
    """A peer's bytes as text, with what does not print as "\\xNN"."""
    return "".join(char if char.isprintable() else
                   "".join(f"\\x{byte:02x}" for byte in char.encode())
                   for char in data.decode("utf-8", "backslashreplace"))


def _peer(args: argparse.Namespace) -> dict[str, Any]:
    names = ("local_descriptor", "remote_descriptor", "memory_descriptor",
             "timeout", "use_cm", "server_addr", "listen_port")
    return {name: getattr(args, name) for name in names}


def meet(rdma: pier.Rdma, args: argparse.Namespace,
         **memory: Any) -> tuple[pier.Connection, Any]:
    """Connect to the peer that the options name."""
    return rdma.rendezvous(**memory, **_peer(args))


def meet_event(rdma: pier.Rdma, args: argparse.Namespace,
               **event: Any) -> tuple[pier.Connection, Any]:
    """The same with a sync event instead of memory."""
    return rdma.rendezvous_event(**event, **_peer(args))


def meet_many(rdma: pier.Rdma, args: argparse.Namespace, count: int
              ) -> list[pier.Connection]:
    """By files, whose names end in the number of the connection."""
    conns = []
    for number in range(count):
        numbered = argparse.Namespace(**vars(args))
        numbered.local_descriptor += f"-{number:04}"
        numbered.remote_descriptor += f"-{number:04}"
        conns.append(meet(rdma, numbered)[0])
    return conns


@contextlib.contextmanager
def context(args: argparse.Namespace) -> Iterator[pier.Rdma]:
    """A device, and an RDMA context on an engine; a failure ends the program.
    """
    try:
        with pier.Device(args.device) as dev, pier.Engine() as engine, \
                pier.Rdma(dev, engine) as rdma:
            yield rdma
    except pier.PierError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
