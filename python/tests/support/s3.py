"""Starts a real S3 server, versitygw, for tests. It keeps objects as files of a folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from support.ports import free_port

KEY, SECRET = "test-key", "test-secret"


def program() -> str | None:
    """Return the path of versitygw, if it is installed."""
    return shutil.which("versitygw", path=f"{os.environ.get('PATH', '')}:{Path.home()}/go/bin")


class S3:
    """A server with one bucket.

    Attributes
    ----------
    folder
        The folder of the bucket ``bucket``.
    endpoint
        The URL of the server.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "root" / "bucket"
        self.folder.mkdir(parents=True)
        (folder / "sidecar").mkdir()
        port = free_port()
        self.endpoint = f"http://127.0.0.1:{port}"
        command = [str(program()), "--access", KEY, "--secret", SECRET, "--quiet"]
        command += ["--port", f"127.0.0.1:{port}", "posix", "--sidecar", str(folder / "sidecar")]
        self._log = (folder / "log").open("wb")
        self._process = subprocess.Popen(
            [*command, str(folder / "root")], stdout=self._log, stderr=self._log, cwd=folder
        )
        for _ in range(200):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        self.close()
        raise RuntimeError((folder / "log").read_text())

    def objects(self) -> list[str]:
        """Return the keys of all objects, without what the server keeps for itself."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        names = (str(path.relative_to(self.folder)) for path in files)
        return sorted(name for name in names if not name.startswith(".sgwtmp"))

    def parts(self) -> list[Path]:
        """Return the parts of uploads that were not completed."""
        return [path for path in (self.folder / ".sgwtmp").rglob("*") if path.is_file()]

    def close(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait()
        self._log.close()
