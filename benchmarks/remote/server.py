"""Starts an XRootD server on this machine, for the benchmark."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from link import Link

#: Seconds until a server must take connections.
PATIENCE = 20
#: The state of a socket that takes connections, in `/proc/net/tcp`.
LISTENS = "0A"


def free_port() -> int:
    """Returns a port that nobody uses at the moment."""
    with socket.create_server(("localhost", 0)) as probe:
        return probe.getsockname()[1]


def wait_until_open(port: int, process: subprocess.Popen) -> None:
    """Waits until a server takes connections in its network namespace."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        for table in ("tcp", "tcp6"):
            with contextlib.suppress(OSError):
                lines = Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]
                sockets = [line.split() for line in lines]
                if any(one[1].endswith(f":{port:04X}") and one[3] == LISTENS for one in sockets):
                    return
        time.sleep(0.05)
    process.kill()
    sys.exit("the server does not answer")


@contextlib.contextmanager
def started(
    folder: Path, lines: list[str], wrap: Callable[[list[str]], list[str]]
) -> Iterator[int]:
    """Runs a server of XRootD and gives its port.

    The server is Debian's package `xrootd-server`. It runs as nobody when this runs as root, which
    it refuses. `folder` is for its own files, `lines` are its configuration, and `wrap` makes the
    command that runs it at an end of a link.
    """
    program = shutil.which("xrootd")
    if program is None:
        sys.exit("no program `xrootd`: install the package xrootd-server")
    port = free_port()
    config = folder / "config"
    own = [f"all.adminpath {folder}", f"all.pidpath {folder}", f"xrd.port {port}"]
    config.write_text("\n".join([*lines, *own, ""]))
    command = [program, "-c", str(config), "-l", str(folder / "log")]
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        for path in (folder, *folder.iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
        command += ["-R", "nobody"]
    process = subprocess.Popen(wrap(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_open(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def xrootd(files: list[Path], link: Link) -> Iterator[str]:
    """Serves `files` by their names at the far end of a link; gives ``host:port`` of it."""
    with tempfile.TemporaryDirectory(prefix="nyssa-xrootd-") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        for path in files:
            (folder / "files" / path.name).symlink_to(path.resolve())
        lines = [f"oss.localroot {folder / 'files'}", "all.export / r/o"]
        with started(folder, lines, link.server_command) as port:
            yield link.connect(port)


@contextlib.contextmanager
def nginx(files: list[Path], link: Link) -> Iterator[str]:
    """Serves `files` by HTTP at the far end of a link; gives ``host:port`` of it."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        sys.exit("no program `nginx`: install the package nginx-light")
    with tempfile.TemporaryDirectory(prefix="nyssa-nginx-") as name:
        folder, port = Path(name), free_port()
        for path in files:
            (folder / path.name).symlink_to(path.resolve())
        user = "user root;" if os.getuid() == 0 else ""
        (folder / "nginx.conf").write_text(
            f"{user} daemon off; worker_processes 1; error_log {folder}/error; pid {folder}/pid;"
            " events {worker_connections 1024;} http {access_log off; keepalive_requests 1000000;"
            f" sendfile on; server {{listen {port}; root {folder};}} }}"
        )
        command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
        process = subprocess.Popen(
            link.server_command(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until_open(port, process)
            yield link.connect(port)
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def xcache(origin: str, link: Link) -> Iterator[str]:
    """Runs an empty XCache of `origin` at the near end of a link; gives ``host:port`` of it."""
    with tempfile.TemporaryDirectory(prefix="nyssa-xcache-") as name:
        folder = Path(name)
        (folder / "cache").mkdir()
        lines = [
            "all.export / r/o",
            "ofs.osslib libXrdPss.so",
            "pss.cachelib libXrdPfc.so",
            f"pss.origin {origin}",
            f"oss.localroot {folder / 'cache'}",
            "pfc.blocksize 64k",
            "pfc.ram 1g",
            "pfc.diskusage 0.9 0.95",
        ]
        with started(folder, lines, link.client_command) as port:
            yield f"localhost:{port}"
