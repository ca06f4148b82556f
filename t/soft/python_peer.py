# SPDX-License-Identifier: BSD-2-Clause
"""A peer of `pier ping --listen` that shares no code with pier.

It speaks InfiniBand's connection management and reliable connections over a
UDP socket, and prints TAP.  python_peer.py ADDRESS PORT
"""

import random
import socket
import struct
import sys
import time
import zlib

PATIENCE = 20.0		# seconds, for what must come
MTU = 1024
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0, 1, 2, 4
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 6, 7, 8, 10
READ, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 12, 13, 14, 15, 16
ACK, ATOMIC_ACK, SWAP, ADD = 17, 18, 19, 20
UD_SEND_ONLY, CNP = 0x64, 0x81
REQ, MRA, REJ, REP, RTU, DREQ, DREP = 16, 17, 18, 19, 20, 21, 22
HAS_AETH = (READ_FIRST, READ_LAST, READ_ONLY, ACK, ATOMIC_ACK)


def u24(value):
    return struct.pack(">I", value & 0xffffff)[1:]


def get24(data, at):
    return int.from_bytes(data[at:at + 3], "big")


def icrc(src, dst, ident, packet):
    """Of @packet, BTH to pad, from and to (address, port), over IPv4."""
    length = len(packet) + 4 + 8
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xff, 20 + length, ident, 0x4000,
                     0xff, 17, 0xffff, socket.inet_aton(src[0]),
                     socket.inet_aton(dst[0]))
    udp = struct.pack(">HHHH", src[1], dst[1], length, 0xffff)
    masked = packet[:4] + b"\xff" + packet[5:]
    crc = zlib.crc32(b"\xff" * 8 + ip + udp + masked)
    return struct.pack("<I", crc)


def bth(opcode, qpn, psn, pad=0, ack=False, byte4=0):
    return (struct.pack(">BBHB", opcode, pad << 4, 0xffff, byte4) + u24(qpn) +
            struct.pack(">B", 0x80 if ack else 0) + u24(psn))


class Packet:
    """A packet received, with a good ICRC."""

    def __init__(self, data):
        self.opcode, flags = data[0], data[1]
        self.qpn, self.ack = get24(data, 5), data[8] >> 7
        self.psn = get24(data, 9)
        at = 12
        self.syndrome = None
        if self.opcode in HAS_AETH:
            self.syndrome = data[at]
            at += 4
        if self.opcode == ATOMIC_ACK:
            self.original = int.from_bytes(data[at:at + 8], "big")
        if self.opcode == UD_SEND_ONLY:
            at += 8
        self.data = data[at:len(data) - 4 - (flags >> 4 & 3)]


class Peer:
    """One connection, and the socket that it has."""

    def __init__(self, address, port):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.IPPROTO_IP, 10, 2)	# DF: ID is 0
        self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        self.sock.bind((address, 0))
        self.me = self.sock.getsockname()
        self.listener = (address, port)
        self.server = None
        self.qpn = random.randrange(2, 0xfffffe)
        self.comm_id = random.getrandbits(32)
        self.tid = random.getrandbits(64)
        self.expected = random.getrandbits(24)	# PSN of the server's next
        self.message, self.messages = b"", []
        self.mute = False	# acknowledge nothing
        self.cnps, self.classes = [], set()
        self.bad_icrc = 0

    def transmit(self, where, packet, damage=0):
        crc = icrc(self.me, where, 0, packet)
        crc = bytes([crc[0] ^ damage]) + crc[1:]
        self.sock.sendto(packet + crc, where)

    def receive(self, seconds):
        self.sock.settimeout(max(seconds, 0.001))
        try:
            data, control, _, src = self.sock.recvmsg(65536, 64)
        except socket.timeout:
            return None
        if len(data) < 16:
            return None
        for ident in range(64):		# of segments of one call
            if icrc(src, self.me, ident, data[:-4]) == data[-4:]:
                packet = Packet(data)
                packet.bytes, packet.tos = data[:-4], control[0][2][0]
                return packet
        self.bad_icrc += 1
        return None

    def serve(self, packet):
        """The server's SENDs are collected and acknowledged."""
        if packet.opcode == CNP:
            self.cnps.append(packet.bytes)
        elif packet.qpn == self.qpn:
            self.classes.add(packet.tos)
        if packet.opcode not in (SEND_FIRST, SEND_MIDDLE, SEND_LAST,
                                 SEND_ONLY) or packet.qpn != self.qpn:
            return
        if packet.psn == self.expected:
            self.expected = self.expected + 1 & 0xffffff
            self.message += packet.data
            if packet.opcode in (SEND_LAST, SEND_ONLY):
                self.messages.append(self.message)
                self.message = b""
        if packet.ack and not self.mute:
            self.acknowledge()

    def acknowledge(self):
        self.request(ACK, self.expected - 1, struct.pack(">I", 0x1f000000))

    def wait(self, fits, again=None):
        """The first packet that @fits; @again repeats the request."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            packet = self.receive(0.5)
            if packet is None:
                if again:
                    again()
                continue
            self.serve(packet)
            if fits(packet):
                return packet
        raise TimeoutError("no answer in time")

    # Connection management.

    def mad(self, where, attr, tid, data):
        head = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, tid, attr, 0, 0)
        deth = struct.pack(">II", 0x80010000, 1)
        packet = bth(UD_SEND_ONLY, 1, 0, ack=True) + deth + head
        self.transmit(where, packet + data.ljust(232, b"\0"))

    def answer(self, attr, again):
        def fits(packet):
            return (packet.opcode == UD_SEND_ONLY and packet.qpn == 1 and
                    struct.unpack_from(">H", packet.data, 16)[0] == attr)
        return self.wait(fits, again).data

    def gid(self, where):
        return b"\0" * 10 + b"\xff\xff" + socket.inet_aton(where[0])

    def req(self):
        service = 0x0106 << 16 | self.listener[1]
        # A peer that has a UDP port of its own has it in its GUID.
        guid = 0x73f7 << 48 | self.me[1] << 32 | random.getrandbits(32)
        data = bytearray(232)
        struct.pack_into(">I", data, 0, self.comm_id)
        struct.pack_into(">QQ", data, 8, service, guid)
        data[32:35], data[35], data[39] = u24(self.qpn), 4, 4
        data[43], data[44:47] = 20 << 3, u24(self.expected)
        data[47] = 20 << 3 | 7
        struct.pack_into(">H", data, 48, 0xffff)
        data[50], data[51] = 3 << 4 | 7, 15 << 4	# MTU 1024
        data[52:56] = b"\xff" * 4
        data[56:72], data[72:88] = self.gid(self.me), self.gid(self.listener)
        data[93], data[95] = 64, 16 << 3
        ip = struct.pack(">BBH", 0, 4 << 4, self.me[1])
        ip += b"\0" * 12 + socket.inet_aton(self.me[0])
        ip += b"\0" * 12 + socket.inet_aton(self.listener[0])
        data[140:176] = ip
        return bytes(data)

    def connect(self):
        req = self.req()

        def again():
            self.mad(self.listener, REQ, self.tid, req)
        again()
        mad = self.answer(REP, again)
        tid, = struct.unpack_from(">Q", mad, 8)
        self.rep = mad[24:]
        self.peer_id, echoed = struct.unpack_from(">II", self.rep, 0)
        self.peer_qpn = get24(self.rep, 12)
        self.psn = get24(self.rep, 20)		# of our next request
        guid, = struct.unpack_from(">Q", self.rep, 28)
        self.server = (self.listener[0], guid >> 32 & 0xffff)
        ids = struct.pack(">II", self.comm_id, self.peer_id)
        self.mad(self.server, RTU, self.tid, ids)
        return tid == self.tid and echoed == self.comm_id and \
            guid >> 48 == 0x73f7

    def disconnect(self):
        tid = self.tid ^ 0xffff
        data = struct.pack(">II", self.comm_id, self.peer_id)
        data += u24(self.peer_qpn)

        def again():
            self.mad(self.server, DREQ, tid, data)
        again()
        mad = self.answer(DREP, again)
        return struct.unpack_from(">Q", mad, 8)[0] == tid and \
            struct.unpack_from(">II", mad, 24) == (self.peer_id, self.comm_id)

    # Reliable connections.

    def request(self, opcode, psn, body=b"", ack=False, damage=0):
        pad = -len(body) % 4
        packet = bth(opcode, self.peer_qpn, psn, pad, ack)
        self.transmit(self.server, packet + body + b"\0" * pad, damage)

    def response(self, psn, again, *opcodes):
        def fits(packet):
            return (packet.opcode in opcodes and packet.psn == psn & 0xffffff
                    and packet.qpn == self.qpn)
        return self.wait(fits, again)

    def message_of(self, data, names, head=b""):
        """Requests for @data; returns their opcodes and bodies."""
        first, middle, last, only = names
        parts = [data[i:i + MTU] for i in range(0, len(data), MTU)] or [b""]
        if len(parts) == 1:
            return [(only, head + data)]
        ret = [(first, head + parts[0])]
        ret += [(middle, part) for part in parts[1:-1]]
        return ret + [(last, parts[-1])]

    def execute(self, packets):
        """Returns the syndrome of what acknowledges the last one."""
        start = self.psn
        self.psn = start + len(packets) & 0xffffff

        def again():
            for i, (opcode, body) in enumerate(packets):
                self.request(opcode, start + i, body, i + 1 == len(packets))
        again()
        return self.response(self.psn - 1, again, ACK).syndrome

    def send(self, data):
        return self.execute(self.message_of(
            data, (SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY)))

    def write(self, address, rkey, data):
        reth = struct.pack(">QII", address, rkey, len(data))
        return self.execute(self.message_of(
            data, (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY), reth))

    def read(self, address, rkey, length):
        start, got, count = self.psn, b"", max((length + MTU - 1) // MTU, 1)
        self.psn = start + count & 0xffffff
        for i in range(count):
            def again(i=i):
                reth = struct.pack(">QII", address + i * MTU, rkey,
                                   length - i * MTU)
                self.request(READ, start + i, reth, True)
            if not i:
                again()
            got += self.response(start + i, again, READ_FIRST, READ_MIDDLE,
                                 READ_LAST, READ_ONLY).data
        return got

    def atomic(self, opcode, psn, address, rkey, swap, compare=0):
        def again():
            body = struct.pack(">QIQQ", address, rkey, swap, compare)
            self.request(opcode, psn, body, True)
        again()
        return self.response(psn, again, ATOMIC_ACK).original

    def echoes(self, count):
        if len(self.messages) < count:
            self.wait(lambda packet: len(self.messages) >= count)
        return self.messages


class Tap:
    count = failed = 0

    def test(self, name, function, *args):
        self.count += 1
        try:
            held = function(*args)
        except (TimeoutError, OSError, IndexError, ValueError) as error:
            print("# %s: %s" % (type(error).__name__, error))
            held = False
        self.failed += not held
        print("%s %d - %s" % ("ok" if held else "not ok", self.count, name),
              flush=True)


def unpack(data, at):
    """A msgpack value at @at, of the kinds in descriptors, and its end."""
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind < 0xa0:		# a map or an array
        ret, count = [], (kind & 15) * (2 if kind < 0x90 else 1)
        for _ in range(count):
            value, at = unpack(data, at)
            ret.append(value)
        return (dict(zip(ret[::2], ret[1::2])) if kind < 0x90 else ret), at
    if kind == 0xc4:
        return data[at + 1:at + 1 + data[at]], at + 1 + data[at]
    size = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}[kind]
    return int.from_bytes(data[at:at + size], "big"), at + size


def memory_of(peer):
    """Address and key of the server's memory, from its descriptor."""
    fields, _ = unpack(peer.rep[36:], 16)
    return fields[3], fields[6][0][2]


def sends_come_back(peer):
    texts = [b"a text", bytes(range(256)) * 10, b"x" * MTU, b"y" * 4097]
    done = [peer.send(text) == 0x1f for text in texts]
    return all(done) and peer.echoes(len(texts)) == texts


def a_send_that_is_repeated_is_received_once(peer):
    peer.messages.clear()
    start = peer.psn
    peer.send(b"once")
    for _ in range(3):
        peer.request(SEND_ONLY, start, b"once", True)
        if peer.response(start, None, ACK).syndrome != 0x1f:
            return False
    peer.send(b"and then")
    return peer.echoes(2) == [b"once", b"and then"]


def what_is_written_is_read(peer, address, rkey):
    for length in (0, 1, 7, MTU - 1, MTU, MTU + 1, 5000, 60000):
        data = random.randbytes(length)
        if peer.write(address + 8, rkey, data) != 0x1f or \
                peer.read(address + 8, rkey, length) != data:
            return False
    return True


def atomics_are_executed_once(peer, address, rkey):
    word = address + 65536
    found = []
    peer.write(word, rkey, (1000).to_bytes(8, sys.byteorder))
    for opcode, swap, compare in ((ADD, 5, 0), (SWAP, 77, 1005),
                                  (SWAP, 88, 1005), (ADD, 1, 0)):
        for _ in range(3):	# the last two are duplicates
            found.append(peer.atomic(opcode, peer.psn, word, rkey, swap,
                                     compare))
        peer.psn = peer.psn + 1 & 0xffffff
    last = int.from_bytes(peer.read(word, rkey, 8), sys.byteorder)
    return found == [1000] * 3 + [1005] * 3 + [77] * 6 and last == 78


def a_packet_too_early_is_refused(peer):
    due = peer.psn
    peer.messages.clear()
    peer.request(SEND_ONLY, due + 3, b"early", True)
    nak = peer.response(due, None, ACK).syndrome
    return nak == 0x60 and peer.send(b"due") == 0x1f and \
        peer.echoes(1) == [b"due"]


def damaged_packets_are_ignored(peer):
    peer.messages.clear()
    for i in range(8):
        peer.request(SEND_ONLY, peer.psn, b"damaged", True, 1 << i)
    return peer.send(b"whole") == 0x1f and peer.echoes(1) == [b"whole"]


def congestion_notifications_do_no_harm(peer):
    peer.messages.clear()
    for _ in range(20):
        peer.transmit(peer.server, bth(CNP, peer.peer_qpn, 0, byte4=0x40) +
                      b"\0" * 16)
    return peer.send(b"after them") == 0x1f and \
        peer.echoes(1) == [b"after them"]


def marked_packets_draw_a_notification(peer):
    """A CNP for our QP has BECN, PSN 0 and 16 bytes of zero."""
    peer.messages.clear()
    before = list(peer.cnps)
    peer.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 3)	# CE
    good = peer.send(b"marked") == 0x1f and peer.echoes(1) == [b"marked"]
    peer.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0)
    return good and not before and len(peer.cnps) > 0 and \
        set(peer.cnps) == {bth(CNP, peer.qpn, 0, byte4=0x40) + b"\0" * 16}


def what_it_sends_may_be_marked(peer):
    return peer.classes == {2}		# ECT(0)


def without_receives_a_send_waits(peer):
    """The server sends back what it has received before it receives more."""
    peer.messages.clear()
    peer.mute = True
    for i in range(64):
        if peer.send(b"%d" % i) != 0x1f:
            return False
    start = peer.psn
    peer.request(SEND_ONLY, start, b"64", True)
    rnr = peer.response(start, None, ACK).syndrome
    peer.mute = False
    peer.acknowledge()
    while peer.send(b"64") != 0x1f:
        peer.psn = start
    return rnr >> 5 == 1 and peer.echoes(65)[-1] == b"64" and \
        peer.messages == [b"%d" % i for i in range(65)]


def a_wrong_key_ends_a_connection(address, port):
    peer = Peer(address, port)
    peer.connect()
    where, rkey = memory_of(peer)
    start = peer.psn
    reth = struct.pack(">QII", where, rkey ^ 1, 4)
    peer.request(WRITE_ONLY, start, reth + b"evil", True)
    nak = peer.response(start, None, ACK).syndrome
    peer.request(WRITE_ONLY, start, struct.pack(">QII", where, rkey, 0), True)
    return nak == 0x62 and peer.disconnect()


def the_wrong_port_is_rejected(address, port):
    peer = Peer(address, port)
    peer.listener = (address, port)
    req = bytearray(peer.req())
    req[8:16] = struct.pack(">Q", 0x0106 << 16 | port ^ 1)

    def again():
        peer.mad(peer.listener, REQ, peer.tid, bytes(req))
    again()
    mad = peer.answer(REJ, again)
    return struct.unpack_from(">H", mad, 24 + 10)[0] == 8


def all_icrcs_were_right(peer):
    return not peer.bad_icrc


def main():
    address, port = sys.argv[1], int(sys.argv[2])
    peer, tap = Peer(address, port), Tap()
    tap.test("it connects by REQ, REP and RTU", peer.connect)
    memory = memory_of(peer)
    for function, args in (
            (sends_come_back, (peer,)),
            (a_send_that_is_repeated_is_received_once, (peer,)),
            (what_is_written_is_read, (peer, *memory)),
            (atomics_are_executed_once, (peer, *memory)),
            (a_packet_too_early_is_refused, (peer,)),
            (damaged_packets_are_ignored, (peer,)),
            (congestion_notifications_do_no_harm, (peer,)),
            (marked_packets_draw_a_notification, (peer,)),
            (what_it_sends_may_be_marked, (peer,)),
            (without_receives_a_send_waits, (peer,)),
            (a_wrong_key_ends_a_connection, (address, port)),
            (the_wrong_port_is_rejected, (address, port)),
            (all_icrcs_were_right, (peer,))):
        tap.test(function.__name__, function, *args)
    tap.test("it disconnects by DREQ and DREP", peer.disconnect)
    print("1..%d" % tap.count)
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())
