"""Tests which files a file may name: for branches (`TBranch::SetFile`) and friends."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import nyssa
from support.root import Root

_WRITE = """
struct NyssaNamed : TBranch {
  static void name(TBranch *branch, const char *file) { branch->*&NyssaNamed::fFileName = file; }
};
void nyssa_named(const char *folder, const char *name, const char *branch, const char *pals) {
  TString before(gSystem->pwd());
  gSystem->cd(folder);
  TString out(name);
  TFile file(out + ".root", "RECREATE");
  TTree tree("tree", "");
  float here = 0, there = 0;
  tree.Branch("here", &here);
  auto b = tree.Branch("there", &there);
  TFile *other = nullptr;
  if (branch[0]) {
    other = new TFile(out + ".data", "RECREATE");
    b->SetFile(other);
  }
  for (int i = 0; i < 200; ++i) {
    here = i;
    there = i + .5f;
    tree.Fill();
  }
  tree.FlushBaskets();
  TFile unused(out + ".unused", "RECREATE");
  TTree pal("tree", "");
  if (pals[0]) tree.AddFriend(&pal, "pal")->SetTitle(pals);
  if (branch[0]) NyssaNamed::name(b, branch);
  file.cd();
  tree.Write();
  if (other) {
    other->Write();
    other->Close();
  }
  file.Close();
  gSystem->cd(before);
}
"""


class _Files(SimpleHTTPRequestHandler):
    """Serves a folder, and records each path with the header `Authorization`."""

    seen: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class Server:
    """A web server with the files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[tuple[str, str | None]] = []
        handler = type("Handler", (_Files,), {"seen": self.seen})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def paths(self) -> set[str]:
        """Return the paths that were requested since the last call."""
        paths = {path for path, _ in self.seen}
        self.seen.clear()
        return paths

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Return a server of the folder `other`."""
    (tmp_path / "other").mkdir()
    server = Server(tmp_path / "other")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def write(root: Root) -> Any:
    """Return a function that writes a tree with its branch `there` or a friend in another file."""
    root.call("cpp", _WRITE, "")

    def write(folder: Path, name: str, branch: str = "", friend: str = "") -> Path:
        folder.mkdir(exist_ok=True)
        root.call("cpp", "", f'nyssa_named("{folder}", "{name}", "{branch}", "{friend}")')
        return folder / f"{name}.root"

    return write


def _run(*arguments: object, **environment: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "nyssa", *map(str, arguments)]
    environment = {**os.environ, "NYSSA_HTTP_DEADLINE": "3", **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


#: The start of the reason of a branch whose file may not be read.
_ELSEWHERE = "there: its baskets are in another file, "


def test_nothing_is_contacted_until_the_branch_is_read(
    server: Server, write: Any, tmp_path: Path
) -> None:
    """A file on another server is named by all commands, and only read if the user allows it."""
    path = write(tmp_path / "own", "a", f"{server.url}/a.data")
    (tmp_path / "own" / "a.data").rename(tmp_path / "other" / "a.data")
    for command in ("ls", "schema", "verify", "inspect"):
        code, out, err = _run(command, f"{path}:tree" if command != "ls" else path)
        assert server.paths() == set(), command
        assert code == (4 if command == "verify" else 0), (command, out, err)
        if command in ("schema", "verify"):
            assert "another server" in out, command
        _, document, _ = _run(command, "--json", f"{path}:tree" if command != "ls" else path)
        if command in ("schema", "verify"):
            assert "another server" in json.dumps(json.loads(document)), command
    code, out, err = _run("cat", f"{path}:tree", "-n", "1")
    assert (code, json.loads(out)) == (0, {"here": 0})
    assert "there is left out" in err
    code, _, err = _run("cat", f"{path}:tree", "--filter", "there")
    assert code == 4
    assert "another server" in err
    code, _, err = _run("convert", f"{path}:tree", tmp_path / "out.root")
    assert code != 0
    assert "there" in err
    assert "another server" in err
    report = nyssa.convert(path, tmp_path / "out.root", "tree", skip_unsupported=True)
    assert "there" in json.dumps(report["skipped"])
    assert server.paths() == set()
    # With the option, the file is opened when the branch is read, and not before.
    for command in ("ls", "schema"):
        _run(command, path, "--allow-other-files")
    tree = nyssa.open(path, allow_other_files=True)["tree"]
    assert tree["here"].array()[199] == 199
    assert server.paths() == set()
    assert tree["there"].array()[199] == 199.5
    assert server.paths() == {"/a.data"}
    assert pickle.loads(pickle.dumps(tree))["there"].array()[0] == 0.5
    chain = nyssa.chain([f"{path}:tree"], allow_other_files=True)
    assert chain["there"].array()[1] == 1.5
    code, out, _ = _run("cat", f"{path}:tree", "-n", "1", "--allow-other-files")
    assert (code, json.loads(out)["there"]) == (0, 0.5)
    code, out, _ = _run("cat", f"{path}:tree", "-n", "1", NYSSA_ALLOW_OTHER_FILES="1")
    assert (code, json.loads(out)["there"]) == (0, 0.5)


def test_a_remote_file_reads_its_own_server_only(
    server: Server, write: Any, tmp_path: Path
) -> None:
    """Files of its server are read when the branch is read; no local file ever is."""
    other = tmp_path / "other"
    private = write(tmp_path / "own", "private", str(tmp_path / "own" / "private.data"))
    assert nyssa.open(private)["tree"]["there"].array()[0] == 0.5
    names = {"path": str(tmp_path / "own" / "private.data")}
    names["url"] = f"file://{names['path']}"
    names["short"] = f"file:{names['path']}"
    for kind, name in names.items():
        write(other, kind, name)
        for allow in (None, True):
            tree = nyssa.open(f"{server.url}/{kind}.root", allow_other_files=allow)["tree"]
            assert "of this machine" in tree.unreadable["there"], (kind, allow)
            with pytest.raises(nyssa.UnsupportedError, match="of this machine"):
                tree["there"].array()
            report = nyssa.convert(
                f"{server.url}/{kind}.root",
                tmp_path / "out.root",
                skip_unsupported=True,
                force=True,
            )
            assert "there" in json.dumps(report["skipped"])
    write(other, "near", "near.data")
    server.paths()
    tree = nyssa.open(f"{server.url}/near.root")["tree"]
    assert server.paths() == {"/near.root"}
    assert tree["there"].array().to_list() == [i + 0.5 for i in range(200)]
    assert server.paths() == {"/near.data"}
    # A file that is missing is named when the branch is read, and by verify.
    (other / "near.data").unlink()
    tree = nyssa.open(f"{server.url}/near.root")["tree"]
    assert tree["here"].array()[3] == 3
    with pytest.raises(nyssa.UnsupportedError, match=r"another file, \"near.data\".*404"):
        tree["there"].array()
    code, out, _ = _run("verify", f"{server.url}/near.root")
    assert code == 4
    assert "near.data" in out


def test_a_local_file_reads_its_own_folder_only(write: Any, tmp_path: Path) -> None:
    """Other folders need the option; links are resolved before the folder is compared."""
    elsewhere = tmp_path / "elsewhere"
    for name, branch in (
        ("up", "../elsewhere/up.data"),
        ("absolute", str(elsewhere / "absolute.data")),
        ("url", f"file://{elsewhere}/url.data"),
        ("link", "link.data"),
    ):
        path = write(tmp_path / "own", name, branch)
        elsewhere.mkdir(exist_ok=True)
        (tmp_path / "own" / f"{name}.data").rename(elsewhere / f"{name}.data")
        if name == "link":
            (tmp_path / "own" / "link.data").symlink_to(elsewhere / "link.data")
        tree = nyssa.open(path)["tree"]
        assert "own folder" in tree.unreadable["there"], name
        code, out, _ = _run("verify", path)
        assert code == 4, name
        assert "own folder" in out, name
        allowed = nyssa.open(path, allow_other_files=True)["tree"]
        assert allowed["there"].array()[199] == 199.5, name


def test_a_file_object_names_no_file(write: Any, tmp_path: Path) -> None:
    """Where a file object comes from is not known."""
    path = write(tmp_path / "own", "a", "a.data")
    with path.open("rb") as file:
        tree = nyssa.open(file)["tree"]
        assert "file object" in tree.unreadable["there"]
        assert tree["here"].array()[1] == 1


def test_friends(server: Server, write: Any, tmp_path: Path) -> None:
    """The same rule holds for friends; opening the tree alone asks nobody."""
    own, other = tmp_path / "own", tmp_path / "other"
    write(other, "pal")
    path = write(own, "far", friend=f"{server.url}/pal.root")
    with pytest.raises(nyssa.errors.AccessError, match=r'"pal".*another server'):
        nyssa.open(path)["tree"].with_friends()
    assert server.paths() == set()
    joined = nyssa.open(path, allow_other_files=True)["tree"].with_friends()
    assert joined["pal.there"].array()[2] == 2.5
    write(other, "near", friend="pal.root")
    joined = nyssa.open(f"{server.url}/near.root")["tree"].with_friends()
    assert joined["pal.there"].array()[2] == 2.5
    write(own, "pal")
    write(other, "local", friend=str(own / "pal.root"))
    for allow in (None, True):
        tree = nyssa.open(f"{server.url}/local.root", allow_other_files=allow)["tree"]
        with pytest.raises(nyssa.errors.AccessError, match="of this machine"):
            tree.with_friends()
    path = write(own, "up", friend="../other/pal.root")
    with pytest.raises(nyssa.errors.AccessError, match="own folder"):
        nyssa.open(path)["tree"].with_friends()


class _ToFile(BaseHTTPRequestHandler):
    """Redirects to a file of this machine."""

    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", "file:///etc/hostname")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def test_a_redirect_leads_to_no_local_file() -> None:
    """The target of a redirect is a server, too."""
    redirecting = ThreadingHTTPServer(("127.0.0.1", 0), _ToFile)
    Thread(target=redirecting.serve_forever, daemon=True).start()
    with pytest.raises(OSError, match="which is not an http:// or https:// URL"):
        nyssa.open(f"http://127.0.0.1:{redirecting.server_port}/a.root")
    redirecting.shutdown()
    redirecting.server_close()
