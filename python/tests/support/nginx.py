"""Starts a real web server for tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from support.ports import free_port

TLS = Path(__file__).resolve().parents[3] / "testdata" / "tls"
#: What the server asks for below ``/token/``.
TOKEN = "good-token"

_CONFIG = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
  log_format ranges '$remote_addr [$time_local] "$request" $status $body_bytes_sent "$http_range"';
  access_log {folder}/access.log ranges;
  client_body_temp_path {folder}/tmp1;
  proxy_temp_path {folder}/tmp2;
  fastcgi_temp_path {folder}/tmp3;
  uwsgi_temp_path {folder}/tmp4;
  scgi_temp_path {folder}/tmp5;
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{secure} ssl;
    ssl_certificate {tls}/localhost.pem;
    ssl_certificate_key {tls}/localhost.key;
    location / {{ root {root}; }}
    location /whole/ {{ alias {root}/; max_ranges 0; }}
    location /dav/ {{
      alias {root}/;
      dav_methods PUT DELETE MKCOL COPY MOVE;
      create_full_put_path on;
      client_max_body_size 0;
    }}
    location /one/ {{ alias {root}/; max_ranges 1; }}
    location /moved/ {{ rewrite ^/moved/(.*)$ http://localhost:{plain}/$1 redirect; }}
    location /basic/ {{ alias {root}/; auth_basic "tests"; auth_basic_user_file {folder}/users; }}
    location /token/ {{
      alias {root}/;
      if ($http_authorization != "Bearer {token}") {{ return 401 "the token has expired\\n"; }}
    }}
  }}
  server {{
    listen 127.0.0.1:{other} ssl;
    ssl_certificate {tls}/other.invalid.pem;
    ssl_certificate_key {tls}/other.invalid.key;
    location / {{ root {root}; }}
  }}
}}
"""


def program() -> str | None:
    """Return the path of nginx, if it is installed."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Nginx:
    """An nginx that serves one folder.

    Attributes
    ----------
    root
        The folder that is served.
    url, secure_url, other_url
        The folder over HTTP; over TLS with a certificate for localhost; with one for another name.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        plain, secure, other = free_port(), free_port(), free_port()
        # As `openssl passwd -apr1 -salt nyssa "pass word"` prints it.
        (folder / "users").write_text("user:$apr1$nyssa$HUQnitzl6UvEZMnp1QshY/\n")
        config = folder / "nginx.conf"
        values = {"folder": folder, "root": root, "tls": TLS, "token": TOKEN}
        config.write_text(_CONFIG.format(plain=plain, secure=secure, other=other, **values))
        self.root = root
        self._log = folder / "access.log"
        self._marks = 0
        self._process = subprocess.Popen(
            [str(program()), "-e", f"{folder}/error.log", "-p", str(folder), "-c", str(config)],
            stderr=subprocess.DEVNULL,
        )
        self.url = f"http://localhost:{plain}"
        self.secure_url = f"https://localhost:{secure}"
        self.other_url = f"https://localhost:{other}"
        for _ in range(200):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", plain)) == 0:
                    return
            time.sleep(0.05)
        self.close()
        raise RuntimeError((folder / "error.log").read_text())

    def requests(self) -> list[str]:
        """Return the lines of the log of requests.

        The server writes a line after it has sent the answer. This sends one more request and
        waits for its line: all lines before it are there then.
        """
        self._marks += 1
        mark = f"/mark-{self._marks}"
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(self.url + mark)
        for _ in range(200):
            lines = self._log.read_text().splitlines()
            if any(f"{mark} " in line for line in lines):
                return [line for line in lines if "/mark-" not in line]
            time.sleep(0.05)
        raise RuntimeError("the server writes no log")

    def close(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait()
