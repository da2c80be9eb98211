"""An XRootD server on this machine, for the benchmark."""

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
from collections.abc import Iterator
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
def xrootd(files: list[Path], link: Link) -> Iterator[str]:
    """Serves `files` by their names at the far end of a link; gives ``host:port`` of it.

    The server is Debian's package `xrootd-server`. It runs as nobody when this runs as root, which
    it refuses.
    """
    program = shutil.which("xrootd")
    if program is None:
        sys.exit("no program `xrootd`: install the package xrootd-server")
    with tempfile.TemporaryDirectory(prefix="nyssa-xrootd-") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        for path in files:
            (folder / "files" / path.name).symlink_to(path.resolve())
        port = free_port()
        config = folder / "config"
        config.write_text(
            f"oss.localroot {folder / 'files'}\n"
            "all.export / r/o\n"
            f"all.adminpath {folder}\nall.pidpath {folder}\n"
            f"xrd.port {port}\n"
        )
        command = [program, "-c", str(config), "-l", str(folder / "log")]
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            for path in (folder, folder / "files", config):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
            command += ["-R", "nobody"]
        process = subprocess.Popen(
            link.server_command(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until_open(port, process)
            yield link.connect(port)
        finally:
            process.terminate()
            process.wait()
