"""Starts an XRootD server on this machine, for tests."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

from support.ports import free_port

#: Seconds until the server must answer.
_PATIENCE = 20


def program() -> str | None:
    """Return where the program `xrootd` is, if it is installed."""
    return shutil.which("xrootd")


class _Program:
    """A running `xrootd` or `cmsd` with a configuration, in a folder of its own."""

    def __init__(self, name: str, folder: Path, config: str) -> None:
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.cfg"
        path.write_text(f"all.export /\nall.adminpath {folder}\nall.pidpath {folder}\n{config}")
        self._command = [shutil.which(name) or name, "-c", str(path), "-l", str(folder / name)]
        if os.getuid() == 0:
            # The server refuses to run as root.
            _give_to_nobody(folder)
            self._command += ["-R", "nobody"]
        self.start()

    def start(self) -> None:
        """Start the program."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        """End the program at once."""
        self._process.kill()
        self._process.wait()

    def wait_until_open(self, port: int) -> None:
        """Wait until the program takes connections at a port."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
                return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"no XRootD server: {self._command}")


def give_to_server(path: Path) -> None:
    """Give a file to the user that servers run as."""
    if os.getuid() == 0:
        _give_to_nobody(path)


def _give_to_nobody(folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)


class Xrootd:
    """A server of one folder, of Debian's package `xrootd-server`.

    `config` has more lines of configuration.

    Attributes
    ----------
    root
        The folder that is served.
    port
        The port of the server.
    url
        The URL of the folder. What is behind it begins with a slash.
    """

    def __init__(self, root: Path, folder: Path, config: str = "") -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        if os.getuid() == 0:
            _give_to_nobody(root)
        for _ in range(3):
            self.port = free_port()
            self.url = f"root://localhost:{self.port}/"
            lines = f"oss.localroot {root}\nxrd.port {self.port}\n{config}"
            self._program = _Program("xrootd", folder, lines)
            # Another process may have taken the port.
            with contextlib.suppress(RuntimeError):
                self._program.wait_until_open(self.port)
                return
        raise RuntimeError("the XRootD server does not start")

    def start(self) -> None:
        """Start the server again after `close`."""
        self._program.start()
        self._program.wait_until_open(self.port)

    def close(self) -> None:
        """End the server."""
        self._program.kill()


class Proxy:
    """A proxy of XRootD, of Debian's package `xrootd-server-plugins`.

    `origin` is ``host:port``, or ``=root`` for a proxy that forwards to the URL in the path. If
    `cache` is a folder, blocks of the files are kept in it (XCache).

    Attributes
    ----------
    url
        The URL of the proxy. What is behind it begins with a slash.
    """

    def __init__(self, origin: str, folder: Path, cache: Path | None = None) -> None:
        port = free_port()
        config = f"xrd.port {port}\nofs.osslib libXrdPss.so\npss.origin {origin}\n"
        if cache is not None:
            cache.mkdir()
            give_to_server(cache)
            config += (
                f"oss.localroot {cache}\npss.cachelib libXrdPfc.so\npfc.ram 1g\npfc.blocksize 64k\n"
            )
        self.url = f"root://localhost:{port}/"
        self._program = _Program("xrootd", folder, config)
        self._program.wait_until_open(port)

    def close(self) -> None:
        """End the proxy."""
        self._program.kill()


class Cluster:
    """A redirector and data servers, each with a folder of its own.

    Attributes
    ----------
    url
        The URL of the redirector. What is behind it begins with a slash.
    servers
        The data servers.
    """

    def __init__(self, roots: list[Path], folder: Path) -> None:
        meeting = free_port()
        config = (
            f"all.manager localhost:{meeting}\ncms.allow host *\ncms.sched cpu 0\n"
            "cms.delay startup 1 servers 1 lookup 1 drop 1\n"
        )
        self._daemons: list[_Program] = []

        def node(role: str, root: Path) -> Xrootd:
            work = folder / f"node{len(self._daemons)}"
            lines = f"all.role {role}\n{config}"
            daemon = f"{lines}oss.localroot {root}\nxrd.port {free_port()}\n"
            self._daemons.append(_Program("cmsd", work, daemon))
            return Xrootd(root, work, lines)

        self._manager = node("manager", folder / "empty")
        self.servers = [node("server", root) for root in roots]
        self.url = self._manager.url

    def close(self) -> None:
        """End all servers."""
        for server in (self._manager, *self.servers):
            server.close()
        for daemon in self._daemons:
            daemon.kill()
