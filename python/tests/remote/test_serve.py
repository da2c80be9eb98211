"""`nyssa serve` offers what is in its folders, and nothing else, to clients of all kinds."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.nginx import TLS, TOKEN, Nginx
from support.root import Root

_CONTENT = np.random.default_rng(3).bytes(3_000_000)
_SECRET = b"a secret of another folder"


class _Served:
    """A running `nyssa serve`."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "nyssa", "serve", *arguments, "--port", "0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def raw(self, request: str) -> tuple[int, dict[str, str], bytes]:
        """Send the bytes of a request as they are. Return status, headers and body."""
        host, port = self.url.split("/")[2].rsplit(":", 1)
        with socket.create_connection((host, int(port)), 20) as connection:
            connection.sendall(request.encode("latin-1"))
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines[1:])
        headers = {name.lower(): value for name, value in pairs}
        return int(lines[0].split()[1]), headers, body

    def ask(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request whose path is not changed by any library."""
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", *lines]
        return self.raw("\r\n".join(head) + "\r\n\r\n")

    def close(self) -> str:
        """End the server as Ctrl-C does. Return what it has printed on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=20)
        return errors


@contextlib.contextmanager
def _served(*arguments: object) -> Iterator[_Served]:
    server = _Served(*map(str, arguments))
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files, links and secrets beside it."""
    top = tmp_path_factory.mktemp("serve")
    folder = top / "data"
    (folder / "sub").mkdir(parents=True)
    (top / "other").mkdir()
    (top / "other" / "secret").write_bytes(_SECRET)
    (folder / "content.bin").write_bytes(_CONTENT)
    (folder / "sub" / "a b#%é<.txt").write_text("odd")
    (folder / "empty").touch()
    (folder / ".hidden").write_bytes(_SECRET)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_bytes(_SECRET)
    (folder / "link").symlink_to("../other/secret")
    (folder / "absolute").symlink_to(top / "other" / "secret")
    (folder / "outside").symlink_to("../other")
    (folder / "unhide").symlink_to(".hidden")
    (folder / "inside").symlink_to("content.bin")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    arrays = {f"x{i}": np.arange(20_000) * 1.5 + i for i in range(30)}
    with uproot.recreate(folder / "events.root") as file:
        file.mktree("tree", dict.fromkeys(arrays, "float64")).extend(arrays)
        file.mkrntuple("ntuple", arrays)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[_Served]:
    """Return a server of the folder."""
    with _served(folder) as server:
        yield server


def test_whole_files_and_heads(server: _Served, folder: Path) -> None:
    """HEAD tells what GET brings, and says how versions differ."""
    status, headers, body = server.ask("/content.bin")
    assert (status, body == _CONTENT) == (200, True)
    assert headers["content-length"] == "3000000"
    assert headers["accept-ranges"] == "bytes"
    assert headers["content-type"] == "application/octet-stream"
    seconds = int((folder / "content.bin").stat().st_mtime)
    modified = subprocess.run(
        ["date", "-u", f"-d@{seconds}", "+%a, %d %b %Y %H:%M:%S GMT"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout.strip()
    assert headers["last-modified"] == modified
    status, head, body = server.ask("/content.bin", "HEAD")
    assert (status, body) == (200, b"")
    for name in ("content-length", "accept-ranges", "content-type", "last-modified"):
        assert head[name] == headers[name]
    assert head["etag"] == headers["etag"]
    assert server.ask("/empty")[::2] == (200, b"")
    assert server.ask("/inside")[2] == _CONTENT


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ("0-9", (0, 10)),
        ("2999990-", (2_999_990, 3_000_000)),
        ("-7", (2_999_993, 3_000_000)),
        ("2999999-9999999999", (2_999_999, 3_000_000)),
    ],
)
def test_one_range(server: _Served, ranges: str, expected: tuple[int, int]) -> None:
    status, headers, body = server.ask("/content.bin", Range=f"bytes={ranges}")
    start, stop = expected
    assert (status, body) == (206, _CONTENT[start:stop])
    assert headers["content-range"] == f"bytes {start}-{stop - 1}/3000000"
    status, headers, body = server.ask("/content.bin", "HEAD", Range=f"bytes={ranges}")
    assert (status, headers["content-length"], body) == (206, str(stop - start), b"")


def test_ranges_that_cannot_be(server: _Served) -> None:
    """Ranges behind the end, and far too many bytes, are refused; other units are ignored."""
    for ranges in ("3000000-", "-0", "0-,0-,0-", ",".join(["0-0"] * 4097)):
        status, headers, _ = server.ask("/content.bin", Range=f"bytes={ranges}")
        assert (status, headers["content-range"]) == (416, "bytes */3000000")
    for header in ("lines=0-1", "bytes=9-5", "bytes=x"):
        assert server.ask("/content.bin", Range=header)[0] == 200


def test_versions(server: _Served, folder: Path) -> None:
    """Conditions are kept; a file that has changed has another ETag."""
    path = folder / "changing"
    path.write_text("one")
    _, headers, _ = server.ask("/changing")
    etag, modified = headers["etag"], headers["last-modified"]
    assert server.ask("/changing", If_None_Match=etag)[0] == 304
    assert server.ask("/changing", If_Modified_Since=modified)[0] == 304
    assert server.ask("/changing", If_Match='"other"')[0] == 412
    assert server.ask("/changing", Range="bytes=0-0", If_Range=etag)[::2] == (206, b"o")
    path.write_text("two")
    assert server.ask("/changing")[1]["etag"] != etag
    assert server.ask("/changing", Range="bytes=0-0", If_Range=etag)[::2] == (200, b"two")
    assert server.ask("/changing", If_None_Match=etag)[::2] == (200, b"two")


@pytest.mark.parametrize(
    "path",
    [
        "/../other/secret",
        "/%2e%2e/other/secret",
        "/..%2fother/secret",
        "/..%2Fother%2Fsecret",
        "/sub/..%2f..%2fother/secret",
        "/sub/%2e%2e/%2e%2e/other/secret",
        "/..%5cother%5csecret",
        "/..\\other\\secret",
        "/%c0%ae%c0%ae/other/secret",
        "/%252e%252e/other/secret",
        "//../other/secret",
        "/{top}/other/secret",
        "//{top}/other/secret",
        "/%2f{top}/other/secret",
        "/content.bin%00",
        "/%00",
        "/link",
        "/absolute",
        "/outside",
        "/outside/",
        "/outside/secret",
        "/.hidden",
        "/%2ehidden",
        "/unhide",
        "/.git/config",
        "/.",
        "/./content.bin",
        "/loop",
        "/pipe",
        "/content.bin/",
        "/content.bin/x",
        "/" + "a" * 5000,
    ],
)
def test_nothing_else_is_reached(server: _Served, folder: Path, path: str) -> None:
    """Paths, links and hidden names lead to nothing, whoever asks in which way."""
    path = path.replace("{top}", str(folder.parent).lstrip("/"))
    for method in ("GET", "HEAD", "PROPFIND"):
        status, _, body = server.ask(path, method)
        assert (status, _SECRET in body) == (404, False), method
    assert server.ask("/content.bin", "HEAD")[0] == 200


def test_methods(server: _Served, folder: Path) -> None:
    """Nothing can be changed."""
    before = sorted(os.listdir(folder))
    for method in ("PUT", "POST", "DELETE", "MKCOL", "MOVE", "COPY", "PATCH", "TRACE"):
        status, headers, _ = server.ask("/new", method)
        assert (status, headers["allow"]) == (405, "GET, HEAD, OPTIONS, PROPFIND")
    assert server.ask("/", "OPTIONS")[1]["dav"] == "1"
    assert sorted(os.listdir(folder)) == before
    assert server.raw("nonsense\r\n\r\n")[0] == 400


def test_lists_of_folders(server: _Served) -> None:
    """People see a page, and programs a list; hidden names and links out are in neither."""
    status, headers, page = server.ask("/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    for name in ("content.bin", "inside", "events.root", "sub/"):
        assert f'href="./{name}"'.encode() in page
    for name in ("hidden", ".git", "link", "absolute", "outside", "unhide", "loop", "pipe"):
        assert name.encode() not in page
    assert 'href="./a%20b%23%25%C3%A9%3C.txt">a b#%é&lt;.txt<'.encode() in server.ask("/sub/")[2]
    assert server.ask("/sub")[1]["location"] == "/sub/"
    listed = server.ask("/", "PROPFIND", Depth="1")[2].decode()
    assert listed.count("<D:response>") == page.count(b"<tr>") + 1
    url = server.url
    assert nyssa.chain(f"{url}ev*.root:ntuple").num_entries == 20_000


def _curl(*arguments: str) -> bytes:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    return subprocess.run(["curl", "-sS", "-f", *arguments], capture_output=True, check=True).stdout


def test_curl(server: _Served) -> None:
    """Curl reads ranges, several at once, and goes on with a part of a file."""
    url = f"{server.url}content.bin"
    assert _curl("-r", "100-199", url) == _CONTENT[100:200]
    several = _curl("-r", "0-9,500-509,2999999-", url)
    for start, stop in ((0, 10), (500, 510), (2_999_999, 3_000_000)):
        part = f"Content-Range: bytes {start}-{stop - 1}/3000000\r\n\r\n".encode()
        assert part + _CONTENT[start:stop] + b"\r\n--" in several


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_readers(server: _Served, folder: Path, name: str) -> None:
    """Nyssa, uproot and fsspec read what is in the local file."""
    expected = uproot.open(f"{folder}/events.root:{name}").arrays()
    url = f"{server.url}events.root"
    read = nyssa.open(f"{url}:{name}").arrays()
    assert ak.array_equal(read, expected, check_parameters=False)
    columns = [f"x{i}" for i in range(0, 30, 7)]
    with uproot.open(f"{url}:{name}", handler=uproot.source.http.HTTPSource) as events:
        assert ak.array_equal(events.arrays(columns), expected[columns], check_parameters=False)


def test_fsspec(server: _Served, folder: Path) -> None:
    """Uproot reads by fsspec, too, where this knows http:// URLs."""
    pytest.importorskip("aiohttp")
    expected = uproot.open(f"{folder}/events.root:tree")["x7"].array()
    handler = uproot.source.fsspec.FSSpecSource
    with uproot.open(f"{server.url}events.root:tree", handler=handler) as events:
        assert ak.array_equal(events["x7"].array(), expected, check_parameters=False)


def test_root_reads(server: _Served, root: Root) -> None:
    """ROOT reads over HTTP, where it was built with that."""
    url = f"{server.url}events.root"
    try:
        entries = root.call("entries", url, "ntuple", 100, 2)
    except RuntimeError as error:
        pytest.skip(f"this ROOT reads no http:// URLs: {str(error).splitlines()[-1]}")
    assert entries == nyssa.open(f"{url}:ntuple").arrays(entry_start=0, entry_stop=2).to_list()


def test_many_clients(server: _Served) -> None:
    """Clients at the same time get the right bytes, even if another client reads nothing."""
    host, port = server.url.split("/")[2].rsplit(":", 1)
    wrong: list[int] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(20):
            start = int(random.integers(0, 2_900_000))
            stop = start + int(random.integers(1, 100_000))
            request = urllib.request.Request(f"{server.url}content.bin")
            request.add_header("Range", f"bytes={start}-{stop - 1}")
            with urllib.request.urlopen(request) as answer:
                if answer.read() != _CONTENT[start:stop]:
                    wrong.append(seed)

    with contextlib.ExitStack() as idle:
        for _ in range(80):
            one = idle.enter_context(socket.create_connection((host, int(port))))
            one.sendall(b"GET /content.bin HTTP/1.1\r\nHost: a\r\n\r\n")
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_tokens_and_tls(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only requests with a token are answered; nyssa shows it over TLS."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"first\n\n{TOKEN}\n")
    with _served(folder, "--token-file", tokens) as server:
        for given in (None, "", "Bearer", "Bearer ", "Bearer wrong", "Bearer firs", "Basic first"):
            headers = {} if given is None else {"Authorization": given}
            status, answer, body = server.ask("/content.bin", **headers)
            assert (status, len(body)) == (401, 17), given
            assert answer["www-authenticate"] == 'Bearer realm="nyssa"'
            assert server.ask("/.hidden", **headers)[0] == 401
        for given in ("Bearer first", f"bearer {TOKEN}"):
            assert server.ask("/content.bin", Authorization=given)[0] == 200
        tokens.write_text("third\n")
        assert server.ask("/content.bin", Authorization="Bearer first")[0] == 401
        assert server.ask("/content.bin", Authorization="Bearer third")[0] == 200
        tokens.unlink()
        assert server.ask("/content.bin", Authorization="Bearer third")[0] == 401
        errors = server.close()
        assert errors == "note: without --tls-cert, tokens are sent without encryption\n"
    tokens.write_text(TOKEN)
    arguments = ["--tls-cert", TLS / "localhost.pem", "--tls-key", TLS / "localhost.key"]
    with _served(folder, "--token-file", tokens, *arguments) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        assert url.startswith("https://localhost:")
        monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "authority.pem"))
        monkeypatch.setenv("BEARER_TOKEN", TOKEN)
        assert nyssa.open(f"{url}events.root:tree")["x1"].array(entry_stop=2).to_list() == [1, 2.5]
        monkeypatch.setenv("BEARER_TOKEN", "wrong")
        with pytest.raises(PermissionError):
            nyssa.open(f"{url}events.root:tree")


def test_an_origin_behind_a_cache(web: Nginx, tmp_path: Path) -> None:
    """A server offers the files of a URL; with a cache, a second reader causes no request to it."""
    (web.root / "origin" / "deep").mkdir(parents=True)
    (web.root / "origin" / "deep" / "a.bin").write_bytes(_CONTENT)
    (web.root / "origin" / "deep" / ".hidden").write_bytes(_SECRET)
    (web.root / "origin.secret").write_bytes(_SECRET)
    with _served(f"{web.url}/origin", "--cache", tmp_path / "cache") as server:
        assert server.ask("/deep/a.bin", Range="bytes=5-99")[::2] == (206, _CONTENT[5:100])
        _, headers, body = server.ask("/deep/a.bin")
        assert hashlib.sha256(body).digest() == hashlib.sha256(_CONTENT).digest()
        assert headers["etag"].startswith('"2dc6c0-')
        for path in (
            "/deep/.hidden",
            "/../origin.secret",
            "/..%2forigin.secret",
            "/no",
            "/deep%3fx",
        ):
            status, _, body = server.ask(path)
            assert (status, _SECRET in body) == (404, False), path
        before = len([line for line in web.requests() if "a.bin" in line])
        assert server.ask("/deep/a.bin")[2] == _CONTENT
        after = len([line for line in web.requests() if "a.bin" in line])
        assert after == before


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_uproot_reads_through_a_cache(web: Nginx, folder: Path, tmp_path: Path, name: str) -> None:
    """The first reader fills the cache. The second one causes no request to the origin."""
    (web.root / f"cached-{name}").mkdir()
    shutil.copy(folder / "events.root", web.root / f"cached-{name}" / "events.root")
    expected = uproot.open(f"{folder}/events.root:{name}").arrays()
    columns = [f"x{i}" for i in range(0, 30, 3)]

    def requests() -> int:
        # nginx writes its log after it has sent an answer.
        time.sleep(0.3)
        return len([line for line in web.requests() if f"cached-{name}" in line])

    with _served(f"{web.url}/cached-{name}", "--cache", tmp_path / "cache") as server:
        url = f"{server.url}events.root:{name}"
        counted = []
        for _ in range(2):
            with uproot.open(url, handler=uproot.source.http.HTTPSource) as events:
                found = events.arrays(columns)
            assert ak.array_equal(found, expected[columns], check_parameters=False)
            counted.append(requests())
        assert nyssa.open(url).arrays(columns).to_list() == expected[columns].to_list()
        assert 0 < counted[0] == counted[1] == requests()


def test_root_reads_through_a_cache(web: Nginx, folder: Path, tmp_path: Path, root: Root) -> None:
    """ROOT reads over HTTP, where it was built with that."""
    (web.root / "cached").mkdir()
    shutil.copy(folder / "events.root", web.root / "cached" / "events.root")
    with _served(f"{web.url}/cached", "--cache", tmp_path / "cache") as server:
        try:
            entries = root.call("entries", f"{server.url}events.root", "ntuple", 100, 2)
        except RuntimeError as error:
            pytest.skip(f"this ROOT reads no http:// URLs: {str(error).splitlines()[-1]}")
        expected = nyssa.open(f"{folder}/events.root:ntuple").arrays(entry_stop=2)
        assert entries == expected.to_list()


def test_a_file_that_changes_at_its_origin(web: Nginx) -> None:
    """A short answer that cannot be read is a status. The next request is for the new file."""
    folder = web.root / "changing"
    folder.mkdir()
    (folder / "a.bin").write_bytes(_CONTENT)
    with _served(f"{web.url}/changing") as server:
        first, second = "bytes=1000000-1000009", "bytes=1500000-1500009"
        assert server.ask("/a.bin", Range=first)[::2] == (206, _CONTENT[1_000_000:1_000_010])
        (folder / "new").write_bytes(_CONTENT[7:])
        (folder / "new").replace(folder / "a.bin")
        status, _, body = server.ask("/a.bin", Range=second)
        assert (status, body) == (502, b"502 Bad Gateway\n")
        assert server.ask("/a.bin", Range=second)[::2] == (206, _CONTENT[1_500_007:1_500_017])
        errors = server.close()
    assert errors.count("a.bin") == 1, errors


def test_an_origin_that_is_not_asked_again(web: Nginx, tmp_path: Path) -> None:
    """With an age, a server offers what is in the cache. A change shows at the first miss."""
    folder = web.root / "aged_origin"
    folder.mkdir()
    (folder / "a.bin").write_bytes(_CONTENT)
    options = ("--cache", tmp_path / "cache", "--cache-max-age", "1h")
    part = "bytes=1000000-1000009"
    with _served(f"{web.url}/aged_origin", *options) as server:
        assert server.ask("/a.bin", Range=part)[::2] == (206, _CONTENT[1_000_000:1_000_010])
    (folder / "new").write_bytes(_CONTENT[7:])
    (folder / "new").replace(folder / "a.bin")
    with _served(f"{web.url}/aged_origin", *options) as server:
        assert server.ask("/a.bin", Range=part)[::2] == (206, _CONTENT[1_000_000:1_000_010])
        other = "bytes=1500000-1500009"
        assert server.ask("/a.bin", Range=other)[::2] == (502, b"502 Bad Gateway\n")
        assert server.ask("/a.bin", Range=other)[::2] == (206, _CONTENT[1_500_007:1_500_017])


def test_several_roots_and_mistakes(folder: Path, tmp_path: Path) -> None:
    """Several roots have names; wrong options are refused before the server listens."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("x")
    with _served(folder, other, folder / "content.bin") as server:
        page = server.ask("/")[2]
        for name in (b"./data/", b"./other/", b"./content.bin"):
            assert b'href="' + name + b'"' in page
        assert server.ask("/other/file")[2] == b"x"
        assert server.ask("/content.bin", "HEAD")[1]["content-length"] == "3000000"
        assert server.ask("/data/../other/file")[0] == 404
        assert server.ask("/none/file")[0] == 404
    (tmp_path / "empty").touch()
    missing = tmp_path / "no"
    for arguments, why in (
        ([missing], f"cannot serve {missing}: No such file or directory (os error 2)"),
        (
            [other, other],
            f"cannot serve {other}: another of the folders and files has the same name",
        ),
        (
            [other, "--token-file", tmp_path / "empty"],
            f"cannot read tokens from {tmp_path / 'empty'}: it has no tokens",
        ),
        (
            [other, "--tls-cert", tmp_path / "empty", "--tls-key", tmp_path / "empty"],
            f"cannot read a key from {tmp_path / 'empty'}: no items found",
        ),
    ):
        command = [sys.executable, "-m", "nyssa", "serve", *map(str, arguments), "--port", "0"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (ran.returncode in (2, 3), ran.stdout) == (True, "")
        assert ran.stderr.startswith(f"error: {why}"), ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end(folder: Path, number: signal.Signals) -> None:
    """A signal ends the server after the answers that have begun, with the exit code 0."""
    server = _Served(str(folder))
    host, port = server.url.split("/")[2].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET /content.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        first = connection.recv(1 << 16)
        server.process.send_signal(number)
        rest = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert (first + rest).endswith(_CONTENT[-1000:])
    _, errors = server.process.communicate(timeout=20)
    assert (server.process.returncode, errors) == (0, "")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))
