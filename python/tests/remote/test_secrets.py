"""Secrets of URLs are sent to the server, and appear in nothing that is printed or written."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import campaign
from support.ranges import RangeHandler
from support.xrootd import Xrootd

_SECRET = "Bearer%20s3cr3t"
_QUERIES = ("authz", "X-Amz-Signature", "access_token")


class _Handler(RangeHandler, SimpleHTTPRequestHandler):
    """Answers ranges as web servers do, and nothing without the secret in the query."""

    def do_GET(self) -> None:
        """Send a range of a file, or an error that repeats what was asked for."""
        path = Path(self.translate_path(self.path.partition("?")[0]))
        if _SECRET not in self.path or not path.is_file():
            return self.send(404, f"nothing at http://host{self.path} \x1b[31m".encode(), {})
        return self.send_range(path.read_bytes())


def _write(folder: Path) -> None:
    with uproot.recreate(folder / "secret.root") as file:
        file.mktree("tree", {"x": np.arange(100)})
        file.mkrntuple("ntuple", {"x": np.arange(100)})


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """Return the URL of the folder of a web server."""
    folder = tmp_path / "served"
    folder.mkdir()
    _write(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://user:s3cr3t-password@127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def grid(xrootd_server: Xrootd) -> str:
    """Return the URL of the folder of an XRootD server."""
    _write(xrootd_server.root)
    return xrootd_server.url.replace("root://", "root://user:s3cr3t-password@")


@pytest.fixture(params=["web", "grid"])
def folder(request: pytest.FixtureRequest) -> str:
    """Return the URL of a folder with a user and a password in it."""
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture(params=_QUERIES)
def query(request: pytest.FixtureRequest) -> str:
    """Return the query of a URL, with a secret in it."""
    return f"?{request.param}={_SECRET}"


def _commands(url: str, tree: str, ntuple: str) -> dict[str, list[list[str]]]:
    """Return the commands, by the words of `nyssa --help`."""
    return {
        "ls": [["ls", url], ["ls", url, url, "--json"]],
        "schema": [["schema", tree, "--json"], ["schema", tree, ntuple]],
        "cat": [["cat", tree], ["cat", ntuple, "--json", "--filter", "no"]],
        "inspect": [["inspect", ntuple, "--html", "page.html"], ["inspect", tree, "--json"]],
        "tune": [["tune", ntuple, "--budget", "1s", "--html", "tune.html", "--output", "p.json"]],
        "study": [["study", tree, "--vary", "compression=lz4", "--repeats", "1", "--json"]],
        "convert": [
            ["convert", tree, "c.root", "--force", "--report", "r.json", "--verify"],
            ["convert", tree, "--into", "many", "--force"],
            ["convert", ntuple, "t.root", "--to", "ttree", "--json", "--force"],
            ["convert", url, "all.root", "--force"],
        ],
        "merge": [["merge", ntuple, ntuple, "-o", "m.root", "--force"]],
        "rewrite": [["rewrite", ntuple, "w.root", "--force", "--json"]],
        "skim": [["skim", ntuple, "-o", "s.parquet", "--cut", "some=x >= 0", "--force", "--json"]],
        "draw": [["draw", ntuple, "x"], ["draw", tree, "x", "--json", "--output", "d.svg"]],
        "verify": [["verify", url], ["verify", url, "--json"]],
        "digest": [["digest", ntuple, "--json"], ["digest", ntuple, tree]],
        "diff": [["diff", tree, ntuple, "--json"], ["diff", tree, ntuple]],
        "profile": [["profile", "--output", "prof.json", "cat", tree]],
        "trace": [
            ["ls", url, "--record", "trace.jsonl", "--io-stats=io.json", "--monitor", "mon.txt"],
            ["trace", "show", "trace.jsonl", "--json", "--html", "trace.html"],
        ],
        "cache": [["ls", url, "--cache", "kept"], ["cache", "--cache", "kept", "list", "--json"]],
        # It takes local files only.
        "serve": [],
        "campaign": [
            ["campaign", "convert", tree, "-o", "camp", "--dry-run"],
            ["campaign", "convert", tree, "-o", "camp", "--workers", "1"],
            ["campaign", "status", "camp", "--json"],
        ],
    }


def _run(arguments: list[str], place: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "nyssa", *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, timeout=120, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def _check(place: Path, said: str) -> None:
    assert "s3cr3t" not in said
    assert "\x1b" not in said
    for path in place.rglob("*"):
        if path.is_file():
            assert b"s3cr3t" not in path.read_bytes(), path


def test_no_command_is_forgotten() -> None:
    """Every command of the help is tested here."""
    text = _run(["--help"], Path.cwd())[1]
    commands = text.partition("Commands:")[2].partition("Options:")[0]
    listed = re.findall(r"^  ([a-z]+)  ", commands, re.MULTILINE)
    assert set(listed) - {"help"} == set(_commands("", "", ""))


@pytest.mark.parametrize("command", list(_commands("", "", "")))
def test_commands(folder: str, tmp_path: Path, command: str) -> None:
    """No command prints or writes a secret, neither of a file nor of an error."""
    place = tmp_path / "place"
    place.mkdir()
    url, missing = (f"{folder}/{name}.root?authz={_SECRET}" for name in ("secret", "missing"))
    for number, arguments in enumerate(_commands(url, f"{url}:tree", f"{url}:ntuple")[command]):
        code, said = _run(arguments, place)
        assert code == 0 or number, said
        _check(place, said)
    for arguments in _commands(missing, missing, missing)[command]:
        _check(place, _run(arguments, place)[1])


def test_python(folder: str, query: str, tmp_path: Path) -> None:
    """What Python shows has no secret; what it opens again has."""
    url = f"{folder}/secret.root{query}"
    with nyssa.open(url) as file:
        tree, ntuple = file["tree"], file["ntuple"]
        shown = [repr(file), file.file_path, file._repr_html_(), repr(tree), tree._repr_html_()]
        shown += [str(nyssa.inspect(ntuple)), repr(nyssa.verify(url)), tree.file_path]
        shown += [str(nyssa.digest(tree)), str(nyssa.diff(f"{url}:tree", f"{url}:ntuple"))]
        shown += [repr(nyssa.chain([f"{url}:tree", f"{url}:tree"]))]
        with pytest.raises(KeyError) as caught:
            file["nothing"]
        shown.append(str(caught.value))
        assert pickle.loads(pickle.dumps(tree)).num_entries == 100
        assert list(tree.friends) == []
        nyssa.inspect(ntuple).to_html(tmp_path / "page.html")
    with pytest.raises(OSError, match="missing") as lost:
        nyssa.open(f"{folder}/missing.root{query}")
    shown += [str(lost.value), str(lost.value.filename), str(lost.value.strerror)]
    _check(tmp_path / "nothing", "\n".join(shown))
    assert b"s3cr3t" not in (tmp_path / "page.html").read_bytes()


def test_name_in_an_output(xrootd_server: Xrootd, grid: str) -> None:
    """A file on a server records its own name, without the query of its URL."""
    # All tests of a session share the server, so the name is of this test alone.
    nyssa.convert(f"{grid}/secret.root:tree", f"{grid}/recorded.root?authz={_SECRET}")
    written = xrootd_server.root / "recorded.root"
    assert b"s3cr3t" not in written.read_bytes()
    # The name is a string with its length before it.
    assert b"\x0drecorded.root" in written.read_bytes()


def test_campaign_with_a_secret_destination(tmp_path: Path) -> None:
    """The names of outputs are in the journal, so a secret in them is refused."""
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mktree("tree", {"x": np.arange(10)})
    with pytest.raises(nyssa.ArgumentError, match="by the environment, not in the URL") as caught:
        campaign.convert(
            str(tmp_path / "a.root"),
            "https://me:s3cr3t@host/out",
            journal=tmp_path / "journal.jsonl",
        )
    assert "s3cr3t" not in str(caught.value)
