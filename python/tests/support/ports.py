"""Finds ports for servers that tests start."""

from __future__ import annotations

import itertools
import os
import socket

#: Ports below those that systems give to connections by themselves. A server that starts late, or
#: again, finds its port free.
_PORTS = range(20_000, 32_000)
#: Processes of tests begin at places of their own.
_numbers = itertools.count(os.getpid() * 7919)


def free_port() -> int:
    """Return a port that nobody listens at, and that no other call of this process returned."""
    for number in itertools.islice(_numbers, len(_PORTS)):
        port = _PORTS[number % len(_PORTS)]
        with socket.socket() as asked:
            # A server that has ended may have left connections that wait for their end.
            asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                asked.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
