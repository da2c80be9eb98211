"""Names in files and texts of servers do not move the cursor of a terminal, nor add lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import uproot

import nyssa
import nyssa.uproot as uproot_names

#: An escape of ANSI, one of 8 bits, a title, a line of its own, and text from right to left.
_BAD = "e\x1b[31mvil\x9b2J\x1b]0\x07\rerror: \nhint: run this\u202e\u2066\x7f"
_FORBIDDEN = [*map(chr, range(32)), *map(chr, range(127, 160)), "\u202e", "\u2066"]


def _check(text: str) -> None:
    for character in set(_FORBIDDEN) - {"\n"}:
        assert character not in text, repr(text)
    assert not any(line.startswith("hint: run this") for line in text.splitlines()), text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file whose names and titles have such characters."""
    path = tmp_path / "names.root"
    with uproot.recreate(path) as file:
        file.mktree(f"t{_BAD}", {f"b{_BAD}": np.arange(3)}, title=f"title{_BAD}")
        file[f"h{_BAD}"] = np.histogram([1.0, 2.0])
        file[f"s{_BAD}"] = f"text{_BAD}"
    return path


def _run(arguments: list[str], place: Path) -> bytes:
    command = [sys.executable, "-m", "nyssa", *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, timeout=120, check=False)
    _check(done.stderr.decode())
    _check(done.stdout.decode())
    return done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["ls"],
        ["ls", "--long"],
        ["schema"],
        ["schema", "--verbose"],
        ["cat"],
        ["inspect"],
        ["verify"],
        ["digest"],
        ["tune", "--budget", "1s"],
        ["convert", "o.root", "--force"],
        ["convert", "o.root", "--include", "nothing*"],
        ["rewrite", "r.root"],
        ["merge", "-o", "m.root", "--force"],
        ["diff", "other.root"],
        ["profile", "--output", "prof.txt", "cat"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_names(file: Path, command: list[str], as_json: bool) -> None:
    """No command sends the characters of a name to the terminal, and JSON has all of them."""
    with uproot.recreate(file.parent / "other.root") as other:
        other.mktree("tree", {f"b{_BAD}": np.arange(3), f"c{_BAD}": np.arange(3)})
    name, *options = command
    place = [file.name] if name != "profile" else []
    arguments = [name, *place, *options] if place else [*command, file.name]
    out = _run([*arguments, "--json"] if as_json else arguments, file.parent)
    if as_json and name != "profile":
        assert json.loads(out)["version"] == 1
    if as_json and name == "ls":
        assert any(key["path"].endswith(_BAD) for key in json.loads(out)["keys"])


def test_error_with_names(file: Path) -> None:
    """An error that lists names is one line, and says the same in Python."""
    _run(["cat", f"{file.name}:nothing"], file.parent)
    with nyssa.open(file) as opened, pytest.raises(KeyError) as caught:
        opened[f"u{_BAD}"]
    _check(str(caught.value))


def test_what_python_shows(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reprs, tables, pages of notebooks and messages have no such characters."""
    with nyssa.open(file) as opened:
        tree = opened[f"t{_BAD}"]
        column = tree[f"b{_BAD}"]
        shown = [opened, tree, column, opened[f"h{_BAD}"], nyssa.inspect(tree), nyssa.verify(file)]
        for one in shown:
            _check(repr(one))
            if hasattr(one, "_repr_html_"):
                _check(one._repr_html_())
        assert "<b>" not in opened._repr_html_()
        tree.show()
        old = uproot_names.open(file)
        old[f"t{_BAD}"].show()
        old.file.show_streamers()
        _check(capsys.readouterr().out)
        _check(repr(old) + repr(old[f"t{_BAD}"]) + repr(old[f"t{_BAD}"][f"b{_BAD}"]))


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Refuse with a text that would clear the screen."""
        body = f"<title>no\x1b[2J{_BAD}</title>".encode()
        self.send_response(403, "no\x1b[2J")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        """Send the headers of the same answer."""
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def server() -> Iterator[str]:
    """Return the URL of a server that refuses everything."""
    server = HTTPServer(("127.0.0.1", 0), _Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_texts_of_servers(server: str, tmp_path: Path) -> None:
    """The text of a server is printed without its escapes, by the command line and by Python."""
    out = _run(["ls", f"{server}/a.root", "--json"], tmp_path)
    assert json.loads(out)["error"]["kind"] == "Io"
    with pytest.raises(OSError) as caught:
        nyssa.open(f"{server}/a.root")
    _check(str(caught.value))
    _check(str(caught.value.strerror))
