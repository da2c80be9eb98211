"""Makes a link of a TCP proxy, for machines that have no tunnel (`tunnel.py`).

It hands every byte on after half a round trip and the time that the bandwidth gives it. TCP runs
without delay on both sides of the proxy, so its slow start and its windows are not seen.
"""

from __future__ import annotations

import collections
import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field

from link import Counts

#: Bytes that are taken from a socket at once.
CHUNK = 1 << 18
#: Bytes that may be on the way in one direction of a connection.
WINDOW = 256 << 20


@dataclass
class _Connection:
    client: socket.socket
    server: socket.socket
    answered: bool = True
    done: threading.Event = field(default_factory=threading.Event)


class Proxy:
    """A proxy on this machine. `bandwidth` is in bytes a second."""

    def __init__(self, bandwidth: float) -> None:
        self.description = (
            "a proxy that delays every byte by half a round trip (TCP itself sees no delay, so its "
            "slow start and its windows are not measured)"
        )
        self.delay = 0.0
        self.bandwidth = bandwidth
        self.target = 0
        self.counts = Counts()
        self._lock = threading.Lock()
        self._free_at = {"up": 0.0, "down": 0.0}
        self._listener = socket.create_server(("localhost", 0), backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()

    def server_command(self, command: list[str]) -> list[str]:
        """Returns the command itself: the server is on this machine."""
        return command

    def client_command(self, command: list[str]) -> list[str]:
        """Returns the command itself: the jobs are on this machine."""
        return command

    def connect(self, port: int) -> str:
        """Leads to the port of the server from now on, and returns the place of the proxy."""
        self.target = port
        return f"localhost:{self._listener.getsockname()[1]}"

    def set_round_trip(self, seconds: float) -> None:
        """Sets the delay of bytes from now on."""
        self.delay = seconds / 2

    def take_counts(self) -> Counts:
        """Returns the bytes and turnarounds that crossed the link since the last call."""
        with self._lock:
            counts, self.counts = self.counts, Counts()
        return counts

    def close(self) -> None:
        """Accepts no more connections."""
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
            _Direction(self, connection, way).start()

    def _leaves_at(self, way: str, size: int) -> float:
        """Returns when the last of `size` bytes that arrive now is at the other end."""
        # All connections share the link.
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


class _Direction:
    """One direction of a connection: a thread takes bytes, and another one hands them on."""

    def __init__(self, link: Proxy, connection: _Connection, way: str) -> None:
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
