"""Starts a real proxy, squid, for tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

from support.ports import free_port

#: The rules of squid's own configuration: tunnels go to the port of `https://` only.
_CONFIG = """
http_port 127.0.0.1:{port}
acl SSL_ports port {secure}
http_access deny CONNECT !SSL_ports
http_access allow localhost
http_access deny all
access_log stdio:{folder}/access.log
cache_log {folder}/cache.log
pid_filename {folder}/pid
coredump_dir {folder}
visible_hostname localhost
shutdown_lifetime 0 seconds
"""


def program() -> str | None:
    """Return the path of squid, if it is installed."""
    return shutil.which("squid", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Squid:
    """A proxy.

    Attributes
    ----------
    url
        What `http_proxy` is to be.
    """

    def __init__(self, folder: Path, secure: int) -> None:
        """Start the proxy, which allows tunnels to the port `secure`."""
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._log = folder / "access.log"
        config = folder / "squid.conf"
        config.write_text(_CONFIG.format(port=port, secure=secure, folder=folder))
        if os.getuid() == 0:
            # It runs as another user then.
            user = pwd.getpwnam("proxy")
            os.chown(folder, user.pw_uid, user.pw_gid)
        self._process = subprocess.Popen(
            [str(program()), "-N", "-f", str(config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(400):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        self.close()
        raise RuntimeError((folder / "cache.log").read_text())

    def requests(self) -> list[tuple[str, str]]:
        """Return the method and the target of each request, when it has ended."""
        self.close()
        lines = [line.split() for line in self._log.read_text().splitlines()]
        # A connection without a request is a line, too.
        return [(line[5], line[6]) for line in lines if line[5] != "-"]

    def close(self) -> None:
        """End the proxy."""
        self._process.terminate()
        self._process.wait()
