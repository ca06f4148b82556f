# SPDX-License-Identifier: BSD-2-Clause
#
# usage: deny.py CALL[:FIRST] COMMAND... - the command may not execute the
# system call, or not with that number as its first argument, as in a
# container: a filter returns EPERM for it.
import ctypes
import os
import platform
import struct
import sys

NUMBERS = {
    "x86_64": {"io_uring_setup": 425, "memfd_create": 319, "openat2": 437,
               "mbind": 237, "socket": 41, "epoll_create1": 291},
    "aarch64": {"io_uring_setup": 425, "memfd_create": 279, "openat2": 437,
                "mbind": 235, "socket": 198, "epoll_create1": 20},
}
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
MODE_FILTER = 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
FIRST_AT = 16           # its lower half, in struct seccomp_data
ALLOW, ERRNO_EPERM = 0x7fff0000, 0x00050001


def filter_of(number, first):
    """Programs of BPF: load the call's number, compare it, return."""
    compare = [(LOAD, 0, 0, FIRST_AT), (EQUAL, 0, 1, int(first))] \
        if first else []
    return b"".join(struct.pack("=HBBI", *step) for step in (
        (LOAD, 0, 0, 0),
        (EQUAL, 0, 1 + len(compare), number),
        *compare,
        (RETURN, 0, 0, ERRNO_EPERM),
        (RETURN, 0, 0, ALLOW)))


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    call, _, first = sys.argv[1].partition(":")
    code = filter_of(NUMBERS[platform.machine()][call], first)
    steps = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(steps))

    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0):
        sys.exit(os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


main()
