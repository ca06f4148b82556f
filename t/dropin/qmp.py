# SPDX-License-Identifier: BSD-2-Clause
#
# usage: qmp.py SOCKET COMMAND...
# Give a virtual machine of QEMU commands, in JSON, and print the last answer.
import json
import socket
import sys


def answer(lines):
    for line in lines:
        got = json.loads(line)
        if "return" in got or "error" in got:    # not an event
            return got
    sys.exit("no answer")


with socket.socket(socket.AF_UNIX) as peer:
    peer.connect(sys.argv[1])
    lines = peer.makefile()
    for command in ['{"execute": "qmp_capabilities"}'] + sys.argv[2:]:
        peer.sendall(command.encode() + b"\n")
        last = answer(lines)
print(json.dumps(last))
sys.exit("error" in last)
