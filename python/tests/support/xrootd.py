"""An XRootD server on this machine, for tests."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

#: Seconds until the server must answer.
_PATIENCE = 20


def program() -> str | None:
    """Return where the program `xrootd` is, if it is installed."""
    return shutil.which("xrootd")


class Xrootd:
    """A server of one folder; Debian's package `xrootd-server`.

    Attributes
    ----------
    root
        The folder that is served.
    url
        The URL of the folder. What is behind it begins with a slash.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        with socket.create_server(("localhost", 0)) as probe:
            port = probe.getsockname()[1]
        config = folder / "server.cfg"
        config.write_text(
            f"oss.localroot {root}\nall.export /\nxrd.port {port}\n"
            f"all.adminpath {folder}\nall.pidpath {folder}\n"
        )
        command = [program() or "xrootd", "-c", str(config), "-l", str(folder / "log")]
        if os.getuid() == 0:
            # The server refuses to run as root, and must reach all folders above.
            nobody = pwd.getpwnam("nobody")
            for path in (root, folder):
                os.chown(path, nobody.pw_uid, nobody.pw_gid)
                for above in (path, *path.parents[:3]):
                    above.chmod(above.stat().st_mode | 0o055)
            command += ["-R", "nobody"]
        self.url = f"root://localhost:{port}/"
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
                return
            time.sleep(0.05)
        self.close()
        raise RuntimeError(f"no XRootD server: {config.read_text()}")

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()
