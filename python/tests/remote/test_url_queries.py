"""The query and the password of a URL are a part of what is opened, in every job."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import campaign
from nyssa.campaign.plan import Input
from support.ranges import RangeHandler
from support.xrootd import Xrootd


class _Server:
    """A web server whose files depend on the query, as with many services.

    The name of a file is its path and the `version` of its query, which is 1 without a query.
    """

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        self.seen: list[tuple[str, str | None]] = []
        server = self

        class Handler(RangeHandler, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Send a range of a file."""
                server.seen.append((self.path, self.headers.get("Authorization")))
                split = urlsplit(self.path)
                version = parse_qs(split.query).get("version", ["1"])[0]
                path = unquote(split.path, errors="surrogateescape")
                content = server.files.get((path, version))
                if content is None:
                    return self.send(404, b"", {})
                return self.send_range(content)

            def do_PROPFIND(self) -> None:
                """Send the list of the folder /dir/."""
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if not self.path.rstrip("/").endswith("/dir"):
                    return self.send(404, b"", {})
                paths = [path for path, _ in server.files if path.startswith("/dir/")]
                names = [quote(path[5:], safe="", errors="surrogateescape") for path in paths]
                kind = "<d:prop><d:resourcetype>{}</d:resourcetype></d:prop></d:response>"
                kinds = [("", "<d:collection/>"), *((name, "") for name in names)]
                all_ = "".join(
                    f"<d:response><d:href>/dir/{name}</d:href>{kind.format(of)}"
                    for name, of in kinds
                )
                body = f'<d:multistatus xmlns:d="DAV:">{all_}</d:multistatus>'
                return self.send(207, body.encode(), {})

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


def _tree(folder: Path, value: int, kind: str = "tree") -> bytes:
    """Return a file with two entries of a value."""
    path = folder / "made.root"
    with uproot.recreate(path) as file:
        make = file.mktree if kind == "tree" else file.mkrntuple
        make("t", {"x": np.array([value, value])})
    return path.read_bytes()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[_Server]:
    """Return a server with two versions of the tree /data.root and of the RNTuple /n.root."""
    server = _Server()
    for value in (1, 2):
        server.files["/data.root", str(value)] = _tree(tmp_path, value)
        server.files["/n.root", str(value)] = _tree(tmp_path, value, "ntuple")
    yield server
    server.stop()


def _run(*arguments: object) -> tuple[int, str]:
    command = [sys.executable, "-m", "nyssa", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def _values(file: Path) -> list[int]:
    """Return the values as uproot reads them."""
    with uproot.open(file) as found:
        values: list[int] = found["t"].arrays()["x"].tolist()
        return values


def test_many_files_are_read_by_their_whole_urls(server: _Server, tmp_path: Path) -> None:
    """The query chooses the file, and the password opens it."""
    tree = f"http://me:s3cr3t@{server.host}/data.root?version=2"
    ntuple = tree.replace("data", "n")
    (tmp_path / "list").write_text(f"{tree}\n")
    code, said = _run("convert", tree, "--into", tmp_path / "a", "--verify")
    assert code == 0, said
    code, said = _run("convert", f"@{tmp_path}/list", "--into", tmp_path / "b")
    assert code == 0, said
    code, said = _run("convert", ntuple, "--into", tmp_path / "c", "--to", "ttree")
    assert code == 0, said
    nyssa.convert([tree], tmp_path / "d")
    outputs = ["a/data.root", "b/data.root", "c/n.root", "d/data.root"]
    assert [_values(tmp_path / one) for one in outputs] == [[2, 2]] * 4
    assert {path.partition("?")[2] for path, _ in server.seen} == {"version=2"}
    assert all(proof for _, proof in server.seen)


def test_a_recording_without_its_query_is_not_repeated(server: _Server, tmp_path: Path) -> None:
    """It would read another file."""
    url, trace = f"http://{server.host}/data.root?version=2", tmp_path / "trace"
    assert _run("cat", url, "--record", trace)[0] == 0
    server.seen.clear()
    code, said = _run("trace", "replay", trace)
    assert code != 0
    assert "a recording has no queries of URLs" in said
    assert "--url" in said
    assert server.seen == []
    assert _run("trace", "replay", trace, "--url", url)[0] == 0
    assert {path for path, _ in server.seen} == {"/data.root?version=2"}
    with pytest.raises(ValueError, match="its query is left out"):
        nyssa.open(f"http://{server.host}/data.root?...")


def test_an_output_of_another_query_is_not_taken(server: _Server, tmp_path: Path) -> None:
    """Another token is the same input."""
    url = f"http://{server.host}/data.root?"
    made, folder = tmp_path / "c/data.root", tmp_path / "c"
    campaign.convert([f"{url}version=1&authz=one"], str(folder), workers=1)
    assert _values(made) == [1, 1]
    before = made.stat().st_mtime_ns
    campaign.convert([f"{url}version=1&authz=two"], str(folder), workers=1)
    assert made.stat().st_mtime_ns == before
    with pytest.raises(FileExistsError, match="of other inputs"):
        campaign.convert([f"{url}version=2&authz=one"], str(folder), workers=1)
    assert _values(made) == [1, 1]
    assert "authz" not in (folder / "nyssa-campaign.jsonl").read_text()
    # The identity in the file says it where there is no journal.
    nyssa.convert([f"{url}version=1"], tmp_path / "1")
    code, said = _run("convert", f"{url}version=1&sig=x", "--into", tmp_path / "1", "--skip-done")
    assert (code, "1 found" in said) == (0, True), said
    code, said = _run("convert", f"{url}version=2", "--into", tmp_path / "1", "--skip-done")
    assert code != 0
    assert "is not the conversion of this input" in said
    assert _values(tmp_path / "1/data.root") == [1, 1]


def test_a_query_after_the_object_is_that_of_the_url(server: _Server, tmp_path: Path) -> None:
    """It is sent, and not shown as the name of an object."""
    url = f"http://{server.host}/data.root:t?version=2&authz=s3cr3t"
    assert nyssa.open(url).arrays()["x"].tolist() == [2, 2]
    assert _run("convert", url, tmp_path / "o.root")[0] == 0
    assert _values(tmp_path / "o.root") == [2, 2]
    code, said = _run("ls", url.replace(":t", ":no"))
    assert code != 0
    assert "s3cr3t" not in said
    assert {path for path, _ in server.seen} == {"/data.root?version=2&authz=s3cr3t"}


@pytest.mark.parametrize(
    "url",
    [
        "http://u:ab/s3cr3t@127.0.0.1:1/a.root",
        "http://u:ab?s3cr3t@127.0.0.1:1/a.root",
        "s3://KEY:ab/s3cr3t@bucket/a.root",
        "root://u:ab/s3cr3t@127.0.0.1:1//a.root",
        "http//u:s3cr3t@127.0.0.1:1/a.root",
        "http:/u:s3cr3t@127.0.0.1:1/a.root",
        "file://u:s3cr3t@host/a.root",
        "http://127.0.0.1:1/a.root;authz=s3cr3t",
        "http://127.0.0.1:1/a.root&authz=s3cr3t",
        "http://u:ab/s3cr3t@127.0.0.1:1",
    ],
)
def test_secrets_of_wrong_urls_are_not_shown(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by messages, nor by the journals and names of outputs."""
    monkeypatch.setenv("NYSSA_HTTP_DEADLINE", "1")
    monkeypatch.setenv("XRD_CONNECTIONWINDOW", "1")
    monkeypatch.setenv("XRD_CONNECTIONRETRY", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.chdir(tmp_path)
    for command in (["ls", url], ["convert", url, "--into", "o", "--skip-bad"]):
        code, said = _run(*command)
        assert code != 0
        assert "s3cr3t" not in said
    code, said = _run("campaign", "convert", url, "-o", "c", "--dry-run")
    assert "s3cr3t" not in said
    for path in tmp_path.rglob("*"):
        assert "s3cr3t" not in path.name
        assert not path.is_file() or b"s3cr3t" not in path.read_bytes()


def test_reprs_have_no_secrets(server: _Server) -> None:
    """Schedulers write the arguments of tasks into their logs."""
    url = f"http://me:s3cr3t@{server.host}/data.root?authz=s3cr3t"
    (part,) = nyssa.partitions(f"{url}:t")
    assert part.url == url
    shown = f"http://{server.host}/data.root?..."
    assert repr(part) == str(part) == f"Partition({shown!r}, 't', 0, 2)"
    assert "s3cr3t" not in repr(Input(url, "", 1))


@pytest.mark.parametrize("job", ["into", "campaign"])
def test_names_of_local_files_have_question_marks(job: str, tmp_path: Path) -> None:
    """They begin no query."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "q?x.root").write_bytes(_tree(tmp_path, 7))
    if job == "into":
        nyssa.convert([folder / "q?x.root"], tmp_path / "o")
    else:
        campaign.convert([str(folder / "q?x.root")], str(tmp_path / "o"), workers=1)
    assert _values(tmp_path / "o/q?x.root") == [7, 7]


def test_a_glob_opens_what_it_lists(server: _Server, tmp_path: Path) -> None:
    """Parsers of URLs change these names, so that they would name other files."""
    names = [
        "a\\b",
        "n\nl",
        "t\tb",
        "s ",
        "é",
        "p%41",
        "q?x",
        "h#x",
        "e/f",
        "x\\..\\..\\u",
        "\udcff",
    ]
    for value, name in enumerate(names):
        server.files = {(f"/dir/{name}", "1"): _tree(tmp_path, value)}
        found = nyssa.chain(f"dav://{server.host}/dir/*:t").arrays()["x"].tolist()
        assert found == [value, value], name


def test_a_name_that_leads_out_of_its_folder_is_refused(server: _Server) -> None:
    """A server may list what it likes."""
    server.files["/dir/..", "1"] = b""
    with pytest.raises(nyssa.NyssaError, match="which no URL can have"):
        nyssa.chain(f"dav://{server.host}/dir/**")


def test_xrootd_cannot_name_a_question_mark(xrootd_server: Xrootd, tmp_path: Path) -> None:
    """`q?x.root` would open the file `q` with parameters."""
    folder = xrootd_server.root / "odd"
    folder.mkdir()
    (folder / "q?x.root").write_bytes(_tree(tmp_path, 1))
    (folder / "q").write_bytes(_tree(tmp_path, 2))
    (folder / "a.root").write_bytes(_tree(tmp_path, 3))
    with pytest.raises(ValueError, match="a URL cannot name the file"):
        nyssa.chain(f"{xrootd_server.url}/odd/*.root")
    assert nyssa.chain(f"{xrootd_server.url}/odd/a*.root").arrays()["x"].tolist() == [3, 3]


@pytest.mark.parametrize("names", [("", ""), ("", ":t"), (":t", ":t;1"), (":/t", ":t"), (":t", "")])
@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_an_input_given_twice_is_named(names: tuple[str, str], kind: str, tmp_path: Path) -> None:
    """Whatever its object is called."""
    path = tmp_path / "a.root"
    path.write_bytes(_tree(tmp_path, 1, kind))
    inputs: list[Any] = [f"{path}{name}" for name in names]
    report = nyssa.merge(inputs, tmp_path / "m.root")
    assert any("is given twice" in note for note in report["notes"]), json.dumps(report)
