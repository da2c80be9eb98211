"""Tests files on a web server (nginx): the values are as in the local file."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import TESTDATA
from support.nginx import TLS, TOKEN, Nginx
from support.processes import check_other_processes
from support.root import Root
from support.written import write_both

_ENTRIES = 50_000
#: Those with many classes take long to compare, and are read in the same way.
_FILES = sorted(
    path.relative_to(TESTDATA)
    for path in TESTDATA.glob("**/*.root")
    if not path.name.startswith(("members", "objects"))
)


@pytest.fixture(scope="module")
def large(web: Nginx) -> Path:
    """Return a file of several MB, a TTree and an RNTuple that uproot wrote."""
    path = web.root / "large.root"
    random = np.random.default_rng(1)
    counts = random.integers(0, 5, _ENTRIES)
    arrays = {
        **{f"x{i}": random.random(_ENTRIES) for i in range(8)},
        "jagged": ak.unflatten(random.random(counts.sum()).astype(np.float32), counts),
    }
    return write_both(path, arrays, 1)


def _run(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with variables of the environment."""
    command = [sys.executable, "-m", "nyssa", *arguments]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_values(web: Nginx, large: Path, name: str) -> None:
    """All columns, some columns, and ranges of entries have the values that uproot reads."""
    expected = uproot.open(large)[name].arrays()
    events = nyssa.open(f"{web.url}/large.root:{name}")
    assert events.num_entries == _ENTRIES
    assert ak.array_equal(events.arrays(), expected, check_parameters=False)
    some = events.arrays(["x3", "jagged"], entry_start=30_000, entry_stop=30_100)
    assert ak.array_equal(some, expected[30_000:30_100][["x3", "jagged"]], check_parameters=False)
    steps = list(events.iterate(["x1"], step_size=20_000))
    assert ak.array_equal(ak.concatenate(steps), expected[["x1"]], check_parameters=False)


def test_one_column_is_one_part_of_the_file(web: Nginx, large: Path) -> None:
    """A read of one column does not fetch the other columns."""
    before = len(web.requests())
    nyssa.open(f"{web.url}/large.root:ntuple").arrays(["x0"], library="np")
    requests = web.requests()[before:]
    sent = sum(int(line.split('" ')[1].split()[1]) for line in requests)
    assert sent < large.stat().st_size // 3, requests
    assert all(line.split('" ')[1].startswith("206 ") for line in requests), requests


@pytest.mark.parametrize("name", _FILES, ids=str)
def test_every_file(web: Nginx, name: Path) -> None:
    """Files of all kinds have the same objects and values on a server."""
    url = f"{web.url}/testdata/{name}"
    local, remote = nyssa.open(TESTDATA / name), nyssa.open(url)
    assert remote.file_path == url
    assert remote.keys() == local.keys()
    assert remote.classnames() == local.classnames()
    for key, classname in local.classnames().items():
        if classname not in ("TTree", "ROOT::RNTuple"):
            continue
        here, there = local[key], remote[key]
        assert there.keys() == here.keys()
        try:
            values = here.arrays()
        except nyssa.NyssaError as error:
            with pytest.raises(type(error)):
                there.arrays()
            continue
        assert there.arrays().to_list() == values.to_list()


def test_chains(web: Nginx, large: Path) -> None:
    """Chains of URLs, and of URLs and paths, are read."""
    expected = uproot.open(large)["tree/x0"].array(library="np")
    url = f"{web.url}/large.root:tree"
    chain = nyssa.chain([url, f"{large}:tree", url])
    found = chain.arrays(["x0"], library="np")["x0"]
    assert np.array_equal(found, np.tile(expected, 3))


def test_commands(web: Nginx, large: Path, tmp_path: Path) -> None:
    """Commands take a URL wherever they take a path, and print the same."""
    url = f"{web.url}/large.root"
    for arguments in (
        ["ls", "{}"],
        ["schema", "{}:tree"],
        ["inspect", "{}:ntuple", "--json"],
        ["cat", "{}:tree", "-n", "3"],
        ["cat", "{0}:tree", "{0}:tree", "--entries", "49999:50002"],
        ["verify", "{}"],
        ["digest", "{}:ntuple"],
    ):
        remote = _run([argument.format(url) for argument in arguments])
        local = _run([argument.format(large) for argument in arguments])
        assert (remote.returncode, remote.stderr) == (0, local.stderr)
        shown = remote.stdout.replace(url, str(large))
        note = "note: keys that no directory lists were not looked for, because the file is remote"
        assert shown.replace(f"{note}\n", "") == local.stdout
        assert (note in shown) == (arguments[0] == "verify")
    assert _run(["diff", f"{url}:tree", f"{large}:tree"]).returncode == 0
    output = tmp_path / "out.root"
    done = _run(["convert", f"{url}:tree", str(output), "--verify"])
    assert done.returncode == 0, done.stderr
    expected = uproot.open(large)["tree/x5"].array(library="np")
    assert np.array_equal(nyssa.open(f"{output}:tree").arrays(["x5"], library="np")["x5"], expected)


@pytest.mark.parametrize("place", ["whole", "moved"])
def test_other_servers(web: Nginx, large: Path, place: str) -> None:
    """A server that sends only whole files is read, and so is one that redirects."""
    expected = uproot.open(large)["tree/x2"].array(library="np")
    found = nyssa.open(f"{web.url}/{place}/large.root:tree").arrays(["x2"], library="np")["x2"]
    assert np.array_equal(found, expected)


def _ranges(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return status and ranges of each request."""
    fields = [line.split('"') for line in lines]
    return [
        (status.split()[0], asked.removeprefix("bytes=").split(","))
        for _, _, status, asked, _ in fields
    ]


@pytest.mark.parametrize("place", ["", "/one"])
def test_several_ranges_in_one_request(web: Nginx, place: str, tmp_path: Path) -> None:
    """A server that answers requests for several ranges gets them; others get one such request."""
    random = np.random.default_rng(2)
    arrays = {f"c{i}": random.random(2_000) for i in range(200)}
    path = web.root / "columns.root"
    with nyssa.recreate(path, compression="none", force=True) as file:
        file["columns"] = arrays
    # Nothing is known of a server on another port.
    with contextlib.closing(Nginx(web.root, tmp_path)) as server:
        columns = nyssa.open(f"{server.url}{place}/{path.name}:columns")
        for name in list(arrays)[3::10]:
            assert np.array_equal(columns.arrays([name], library="np")[name], arrays[name])
        before = len(server.requests())
        names = list(arrays)[7::10]
        found = columns.arrays(names, library="np")
        assert all(np.array_equal(found[name], arrays[name]) for name in names)
        lines = server.requests()
    trials = [(status, len(asked)) for status, asked in _ranges(lines[:before]) if len(asked) > 1]
    requests = _ranges(lines[before:])
    if place:
        # The server ignores the ranges, and sends the whole file.
        assert trials == [("200", 3)]
        assert all(status == "206" and len(asked) == 1 for status, asked in requests), requests
    else:
        assert trials == [("206", 3)]
        assert len(requests) < len(names), requests
        assert max(len(asked) for _, asked in requests) > 1, requests
        assert all(status == "206" for status, _ in requests), requests


def test_gaps_are_little_of_all_bytes(web: Nginx, tmp_path: Path) -> None:
    """Every second column, with gaps of a few kB: the server sends what is needed, and little more.

    The server is on this machine, so that gaps would be faster to read over than to skip.
    """
    entries, clusters, names = 2_000, 12, [f"c{i}" for i in range(60)]
    path = web.root / "gaps.root"
    random = np.random.default_rng(3)
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("tree", dict.fromkeys(names, np.float64))
        ntuple = file.mkrntuple("ntuple", {name: np.zeros(0) for name in names})
        for _ in range(clusters):
            arrays = {name: random.random(entries) for name in names}
            tree.extend(arrays)
            ntuple.extend(arrays)
    chosen = names[::2]
    expected = uproot.open(path)["tree"].arrays(chosen, library="np")
    # A page has a checksum, a basket has its key.
    pages = len(chosen) * clusters * (entries * 8 + 8)
    baskets = sum(uproot.open(path)[f"tree/{name}"].compressed_bytes for name in chosen)
    for place in ("", "/one"):
        for name, needed in (("tree", baskets), ("ntuple", pages)):
            (tmp_path / f"{name}{place}").mkdir(parents=True)
            with contextlib.closing(Nginx(web.root, tmp_path / f"{name}{place}")) as server:
                events = nyssa.open(f"{server.url}{place}/{path.name}:{name}")
                opening = server.requests()
                before = events.io_stats()
                found = events.arrays(chosen, library="np")
                counted = events.io_stats()
                lines = server.requests()[len(opening) :]
            assert all(np.array_equal(found[column], expected[column]) for column in chosen)
            answers = [line.split('"')[2].split() for line in lines]
            # A server that cannot send several ranges begins to send the whole file, once.
            assert [status for status, _ in answers].count("200") == len(place) // 4
            sent = [int(size) for status, size in answers if status == "206"]
            # The last bytes of the file came when it was opened; some of them can be of a column.
            assert 0.97 * needed < sum(sent) <= 1.05 * needed, (place, name, sum(sent), needed)
            over_read = counted.over_read_bytes - before.over_read_bytes
            assert over_read <= 0.02 * needed, (place, name)
            # Several ranges come with one request, if the server has proven that it can.
            assert (len(sent) < len(chosen) * clusters / 4) == (not place), (place, name, len(sent))


def test_page_lists_of_other_entries(web: Nginx, root: Root, tmp_path: Path) -> None:
    """Of several cluster groups, only the page lists of the read entries are sent."""
    names = [f"c{i}" for i in range(200)]
    path = web.root / "groups.root"
    random = np.random.default_rng(4)
    arrays = {name: random.random(6_000) for name in names}
    with nyssa.recreate(path, compression="none", cluster_size="48 kB", force=True) as file:
        file["groups"] = arrays
    # 64 clusters have one page list.
    assert len(nyssa.open(f"{path}:groups").clusters) > 3 * 64
    by_root = root.call("numpy", str(path), "groups", ["c150"])["c150"]
    assert np.array_equal(by_root, arrays["c150"])
    with contextlib.closing(Nginx(web.root, tmp_path)) as server:
        groups = nyssa.open(f"{server.url}/{path.name}:groups")
        found = groups.arrays(["c150"], entry_start=5_000, entry_stop=5_010, library="np")
        assert np.array_equal(found["c150"], arrays["c150"][5_000:5_010])
        few = sum(int(line.split('"')[2].split()[1]) for line in server.requests())
        before = len(server.requests())
        found = groups.arrays(["c150"], library="np")
        assert np.array_equal(found["c150"], arrays["c150"])
        lines = server.requests()[before:]
    rest = sum(int(line.split('"')[2].split()[1]) for line in lines)
    # The page list of 64 clusters has 40 bytes for each page of 200 columns.
    lists = len(names) * 64 * 40
    assert few < 2 * lists < rest


def test_outputs_by_webdav(web: Nginx, large: Path, root: Root) -> None:
    """Jobs write to a server with WebDAV; a file appears when it is complete. ROOT reads it."""
    folder = web.root / "written"
    server = f"{web.url.replace('http://', 'dav://')}/dav/written"
    expected = uproot.open(large)["tree/x5"].array(library="np")

    def recreate(output: str) -> None:
        with nyssa.recreate(output) as file:
            file["tree"] = {"x5": expected}
            assert not folder.exists() or "recreate.root" not in os.listdir(folder)

    jobs: dict[str, Callable[[str], Any]] = {
        "recreate": recreate,
        "convert": lambda output: nyssa.convert(f"{large}:tree", output, verify=True),
        "rewrite": lambda output: nyssa.rewrite(f"{large}:ntuple", output, name="tree"),
        "merge": lambda output: nyssa.merge([f"{large}:ntuple"], output, name="tree"),
    }
    for name, job in jobs.items():
        job(f"{server}/{name}.root")
        found = root.call("numpy", str(folder / f"{name}.root"), "tree", ["x5"])["x5"]
        assert np.array_equal(found, expected), name
        if name == "recreate":
            continue
        with pytest.raises(FileExistsError) as caught:
            job(f"{server}/{name}.root")
        expected_error = (
            f"cannot create {server}/{name}.root: it exists already; force=True replaces it"
        )
        assert str(caught.value).startswith(expected_error)
    nyssa.convert(f"{large}:tree", f"{server}/merge.root", force=True)
    assert sorted(os.listdir(folder)) == sorted(f"{name}.root" for name in jobs)


def test_names_and_passwords(web: Nginx) -> None:
    """The name and password of a URL are sent, and not shown."""
    name = "testdata/rntuple/types.root"
    plain = f"{web.url}/basic/{name}"
    file = nyssa.open(plain.replace("http://", "http://user:pass%20word@"))
    assert file.file_path == plain
    assert file.keys() == nyssa.open(TESTDATA.parent / name).keys()
    with pytest.raises(nyssa.errors.AccessError) as caught:
        nyssa.open(plain.replace("http://", "http://user:wrong@"))
    assert str(caught.value) == (
        f"cannot open {plain}: the server answered 401 Unauthorized: 401 Authorization Required; "
        "check the name and password in the URL"
    )
    assert isinstance(caught.value, PermissionError)


def test_missing(web: Nginx) -> None:
    """A missing file is a `FileNotFoundError`."""
    url = f"{web.url}/no.root"
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open(f"{url}:Events")
    assert isinstance(caught.value, nyssa.errors.FileMissingError)
    assert str(caught.value) == f"cannot open {url}: the server answered 404 Not Found"


def test_replaced(web: Nginx, large: Path) -> None:
    """A file that is replaced while it is open gives an error, never mixed bytes."""
    path = web.root / "replaced.root"
    path.write_bytes(large.read_bytes())
    events = nyssa.open(f"{web.url}/replaced.root:tree")
    path.unlink()
    path.write_bytes(large.read_bytes()[::-1])
    os.utime(path, (1, 1))
    with pytest.raises(nyssa.errors.InputOutputError) as caught:
        events.arrays(["x4"])
    assert (
        str(caught.value)
        .split(": ", 1)[1]
        .startswith(
            "it was changed on the server after it was opened (it has another ETag); open it again"
        )
    )


def test_tls(web: Nginx, large: Path) -> None:
    """The authority and the name of a certificate are checked."""
    trusted = {"SSL_CERT_FILE": str(TLS / "authority.pem")}
    done = _run(["ls", f"{web.secure_url}/large.root", "--json"], **trusted)
    assert done.returncode == 0, done.stderr
    assert done.stdout == _run(["ls", str(large), "--json"]).stdout.replace(
        str(large), f"{web.secure_url}/large.root"
    )
    done = _run(["ls", f"{web.other_url}/large.root"], **trusted)
    assert done.returncode == 5
    assert done.stderr.startswith(
        f"error: cannot open {web.other_url}/large.root: no secure connection: invalid peer "
        'certificate: certificate not valid for name "localhost"'
    )
    done = _run(["ls", f"{web.secure_url}/large.root"])
    assert done.returncode == 5
    assert done.stderr.startswith(
        f"error: cannot open {web.secure_url}/large.root: no secure connection: invalid peer "
        "certificate: UnknownIssuer; set SSL_CERT_FILE or X509_CERT_DIR to the certificates of "
        "its authority"
    )


@pytest.mark.usefixtures("large")
def test_tokens(web: Nginx, tmp_path: Path) -> None:
    """Tokens are found as in the WLCG, and sent over TLS."""
    trusted = {"SSL_CERT_FILE": str(TLS / "authority.pem")}
    url = f"{web.secure_url}/token/large.root"
    assert _run(["ls", url], **trusted, BEARER_TOKEN=TOKEN).returncode == 0
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert _run(["ls", url], **trusted, BEARER_TOKEN_FILE=str(file)).returncode == 0
    done = _run(["ls", url], **trusted, BEARER_TOKEN="old")
    assert done.returncode == 5
    assert done.stderr.startswith(
        f"error: cannot open {url}: the server answered 401 Unauthorized: the token has expired; "
        "nyssa sent the token of BEARER_TOKEN: renew this token"
    )
    done = _run(["ls", f"{web.url}/token/large.root"], BEARER_TOKEN=TOKEN)
    assert done.stderr.startswith(
        f"error: cannot open {web.url}/token/large.root: the server answered 401 Unauthorized: the "
        "token has expired; nyssa sends tokens only over https://"
    )


@pytest.mark.usefixtures("large")
def test_other_processes(web: Nginx) -> None:
    """Datasets go to other processes, also by fork, and a forked process reads by itself."""
    check_other_processes(f"{web.url}/large.root:tree")
