"""Runs a TCP proxy before a real server, which can damage, cut and stop what the server sends."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

Fault = Callable[[int, int, bytes], "bytes | None"]
"""Takes the number of the connection, the bytes that it has brought before, and the next ones.

It returns the bytes to be sent instead; `None` closes the connection.
"""


class Proxy:
    """A proxy to a port of this machine; `fault` sees all bytes from the server.

    Attributes
    ----------
    port
        The port of the proxy.
    connections
        The number of connections until now.
    """

    def __init__(self, target: int, fault: Fault) -> None:
        self.connections = 0
        self._target, self._fault = target, fault
        self._listener = socket.create_server(("localhost", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("localhost", self._target))
            except OSError:
                client.close()
                continue
            number = self.connections
            self.connections += 1
            for work in (
                lambda c=client, s=server: self._up(c, s),
                lambda c=client, s=server, n=number: self._down(n, c, s),
            ):
                threading.Thread(target=work, daemon=True).start()

    @staticmethod
    def _up(client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _down(self, number: int, client: socket.socket, server: socket.socket) -> None:
        before = 0
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 16):
                shown = self._fault(number, before, data)
                if shown is None:
                    break
                before += len(data)
                client.sendall(shown)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def at(place: int, change: Callable[[bytes, int], bytes | None], connections: int = 1) -> Fault:
    """Return a fault that meets byte `place` of each of the first connections.

    `change` gets the bytes that arrive together and the position of the byte in them.
    """

    def fault(number: int, before: int, data: bytes) -> bytes | None:
        inside = place - before
        if number < connections and inside < len(data):
            return change(data, max(inside, 0)) if inside >= 0 else change(data, -1)
        return data

    return fault


def flip(data: bytes, position: int) -> bytes:
    """Flip one bit of one byte; leave what comes after it."""
    if position < 0:
        return data
    return data[:position] + bytes([data[position] ^ 4]) + data[position + 1 :]


def cut(_data: bytes, _position: int) -> None:
    """Close the connection."""


def stop(data: bytes, position: int) -> bytes:
    """Send what is before the byte, and nothing more; the connection stays open."""
    return data[: max(position, 0)]
