"""Moves packets between two TUN devices, later. `tunnel.py` starts it in a process of its own.

Arguments: the process of the namespace of the server, that of the jobs, and bytes a second. It
reads questions from stdin: ``delay SECONDS`` and ``counts``, and answers each by one line.
"""

from __future__ import annotations

import collections
import ctypes
import fcntl
import json
import os
import select
import struct
import sys
import time

SERVER, CLIENT = "10.66.0.1", "10.66.0.2"
DEVICE, MTU = "nyssa0", 1500

CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
#: The kernel may hand over TCP segments of up to 64 KiB, which are packets of the MTU on a wire,
#: and leaves checksums to hardware: the other device is told the same, and nothing is lost on it.
TUN_F_CSUM, TUN_F_TSO4 = 0x01, 0x02
#: Bytes of the header that says so, before each packet.
OFFLOAD = 10
LARGEST = 65536 + OFFLOAD
TCP = 6


def open_device(process: int) -> int:
    """Makes a TUN device in the network namespace of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{process}/ns/net") as namespace:
        if libc.setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "cannot enter a network namespace")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), flags))
    fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
    return device


class Relay:
    """Two devices, and the packets that are on their way."""

    def __init__(self, devices: list[int], bandwidth: float) -> None:
        self.devices = devices
        self.bandwidth = bandwidth
        self.delay = 0.0
        #: For each device: the packets that go there, with the time at which they arrive.
        self.queues: list[collections.deque[tuple[float, bytes]]] = [
            collections.deque() for _ in devices
        ]
        self.free_at = [0.0, 0.0]
        self.counts: collections.Counter[str] = collections.Counter()
        #: Whether the server has sent the last byte, by the port of the client.
        self.answered: dict[int, bool] = {}

    def run(self) -> None:
        """Moves packets until stdin ends."""
        while True:
            due = min((queue[0][0] for queue in self.queues if queue), default=None)
            wait = None if due is None else max(0.0, due - time.perf_counter())
            ready, _, _ = select.select([*self.devices, sys.stdin], [], [], wait)
            if sys.stdin in ready and not self.answer():
                return
            for source, device in enumerate(self.devices):
                if device in ready:
                    self.take(source, 1 - source)
            now = time.perf_counter()
            for target, queue in enumerate(self.queues):
                while queue and queue[0][0] <= now:
                    self.write(target, queue.popleft()[1])

    def take(self, source: int, target: int) -> None:
        """Takes the packets that wait in a device."""
        for _ in range(64):
            try:
                packet = os.read(self.devices[source], LARGEST)
            except BlockingIOError:
                return
            self.count(packet, from_server=source == 0)
            start = max(time.perf_counter(), self.free_at[target])
            self.free_at[target] = start + (len(packet) - OFFLOAD) / self.bandwidth
            self.queues[target].append((self.free_at[target] + self.delay, packet))

    def write(self, target: int, packet: bytes) -> None:
        try:
            os.write(self.devices[target], packet)
        except OSError:
            # The device is not up yet, or takes no such packet: packets may be lost.
            self.counts["lost"] += 1

    def count(self, packet: bytes, *, from_server: bool) -> None:
        """Counts a packet: the bytes that TCP carries in it, and turnarounds."""
        if len(packet) < OFFLOAD + 40 or packet[OFFLOAD] >> 4 != 4:
            return
        ip = packet[OFFLOAD : OFFLOAD + 20]
        if ip[9] != TCP:
            return
        at = OFFLOAD + 4 * (ip[0] & 15)
        source, target = struct.unpack_from("!HH", packet, at)
        flags = packet[at + 13]
        size = len(packet) - at - 4 * (packet[at + 12] >> 4)
        client = target if from_server else source
        if not from_server and flags & 0x02:
            self.counts["connections"] += 1
            self.answered[client] = True
        if size <= 0:
            return
        if from_server:
            self.counts["down"] += size
            self.answered[client] = True
        else:
            self.counts["up"] += size
            self.counts["turnarounds"] += self.answered.get(client, False)
            self.answered[client] = False

    def answer(self) -> bool:
        """Answers one question. Returns false when there are no more."""
        words = sys.stdin.readline().split()
        if not words:
            return False
        if words[0] == "delay":
            self.delay = float(words[1])
            print("{}", flush=True)
        else:
            self.counts.pop("lost", None)
            print(json.dumps(self.counts), flush=True)
            self.counts.clear()
        return True


if __name__ == "__main__":
    Relay([open_device(int(one)) for one in sys.argv[1:3]], float(sys.argv[3])).run()
