"""Answers requests for a range of a file, as web servers do."""

from __future__ import annotations

import re
from http.server import BaseHTTPRequestHandler


class RangeHandler(BaseHTTPRequestHandler):
    """A handler of requests that keeps its connection, and says nothing.

    HEAD has the headers of the answer to GET, which is for a derived class.
    """

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        """Send the headers of the same answer."""
        self.do_GET()

    def send_range(self, content: bytes) -> None:
        """Send the requested range of a file, or the whole file."""
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if found is None:
            return self.send(200, content, {"Accept-Ranges": "bytes"})
        first, last = found.groups()
        start = int(first) if first else max(0, len(content) - int(last))
        stop = min(int(last) + 1 if first and last else len(content), len(content))
        place = {"Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"}
        return self.send(206, content[start:stop], place)

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """Send an answer, without its body to HEAD."""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""
