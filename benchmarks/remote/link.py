"""A link with latency: a TCP proxy that hands every byte on after half a round trip.

Bytes also take the time that the bandwidth of the link gives them. The link counts what crosses it:
bytes in each direction, and turnarounds. A turnaround is a moment at which the client sends
something after the server has sent something; requests that are sent together count once.
"""

from __future__ import annotations

import collections
import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field

#: Bytes that are taken from a socket at once.
CHUNK = 1 << 18
#: Bytes that may be on the way in one direction of a connection.
WINDOW = 256 << 20


@dataclass
class Counts:
    """What crossed a link."""

    connections: int = 0
    #: Bytes from the server to the client.
    down: int = 0
    #: Bytes from the client to the server.
    up: int = 0
    turnarounds: int = 0


@dataclass
class _Connection:
    client: socket.socket
    server: socket.socket
    answered: bool = True
    done: threading.Event = field(default_factory=threading.Event)


class Link:
    """A link to `port` of this machine. `round_trip` in seconds, `bandwidth` in bytes a second."""

    def __init__(self, port: int, round_trip: float, bandwidth: float) -> None:
        self.delay = round_trip / 2
        self.bandwidth = bandwidth
        self.target = port
        self.counts = Counts()
        self._lock = threading.Lock()
        self._free_at = {"up": 0.0, "down": 0.0}
        self._listener = socket.create_server(("localhost", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def take_counts(self) -> Counts:
        """What crossed the link since this was asked last."""
        with self._lock:
            counts, self.counts = self.counts, Counts()
        return counts

    def close(self) -> None:
        """Takes no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            # The handshake of TCP takes a round trip as well.
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        time.sleep(2 * self.delay)
        server = socket.create_connection(("localhost", self.target))
        connection = _Connection(client, server)
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self.counts.connections += 1
        for way in ("up", "down"):
            _Way(self, connection, way).start()

    def _leaves_at(self, way: str, size: int) -> float:
        """When the last of `size` bytes that arrive now is at the other end; all share the link."""
        with self._lock:
            start = max(time.perf_counter(), self._free_at[way])
            self._free_at[way] = start + size / self.bandwidth
            return self._free_at[way] + self.delay

    def _count(self, connection: _Connection, way: str, size: int) -> None:
        with self._lock:
            if way == "down":
                self.counts.down += size
                connection.answered = True
            else:
                self.counts.up += size
                self.counts.turnarounds += connection.answered
                connection.answered = False


class _Way:
    """One direction of a connection: a thread that takes bytes and one that hands them on."""

    def __init__(self, link: Link, connection: _Connection, way: str) -> None:
        self.link, self.connection, self.way = link, connection, way
        ends = (connection.client, connection.server)
        self.source, self.target = ends if way == "up" else ends[::-1]
        self.queue: collections.deque[tuple[float, bytes]] = collections.deque()
        self.waiting = 0
        self.changed = threading.Condition()

    def start(self) -> None:
        for work in (self._take, self._hand_on):
            threading.Thread(target=work, daemon=True).start()

    def _take(self) -> None:
        data = b"begin"
        while data:
            try:
                data = self.source.recv(CHUNK)
            except OSError:
                data = b""
            at = self.link._leaves_at(self.way, len(data))
            if data and self.way == "up":
                self.link._count(self.connection, self.way, len(data))
            with self.changed:
                self.queue.append((at, data))
                self.waiting += len(data)
                self.changed.notify()
                self.changed.wait_for(lambda: self.waiting < WINDOW)

    def _hand_on(self) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.queue)
                at, data = self.queue.popleft()
                self.waiting -= len(data)
                self.changed.notify()
            time.sleep(max(0.0, at - time.perf_counter()))
            if data and self.way == "down":
                self.link._count(self.connection, self.way, len(data))
            try:
                if not data:
                    self.target.shutdown(socket.SHUT_WR)
                    return
                self.target.sendall(data)
            except OSError:
                with contextlib.suppress(OSError):
                    self.source.shutdown(socket.SHUT_RD)
                return
