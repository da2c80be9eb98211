"""Tests the cache of remote files: values, numbers of requests, and errors."""

from __future__ import annotations

import json
import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa.files.cache import CacheAs
from support.nginx import Nginx
from support.written import write_both

_ENTRIES = 20_000
_FORMS = ["stored", "lz4", "raw"]


def _arrays(seed: int) -> dict[str, np.ndarray | ak.Array]:
    random = np.random.default_rng(seed)
    counts = random.integers(0, 5, _ENTRIES)
    return {
        **{f"x{i}": random.integers(0, 1000, _ENTRIES) for i in range(6)},
        "jagged": ak.unflatten(random.random(counts.sum()).astype(np.float32), counts),
    }


def _write(path: Path, seed: int) -> None:
    """Write a file with an RNTuple and a TTree by uproot."""
    write_both(path, _arrays(seed), 5)


@pytest.fixture(scope="module")
def large(web: Nginx) -> Path:
    """Return a file of the web server."""
    path = web.root / "cached.root"
    _write(path, 1)
    return path


@pytest.fixture
def url(web: Nginx, large: Path) -> str:
    """Return the URL of the file."""
    return f"{web.url}/{large.name}"


def _bytes_sent(web: Nginx, work: Callable[[], object]) -> int:
    """Return the number of bytes that the web server sends while `work` runs."""
    before = len(web.requests())
    work()
    return sum(int(line.split('" ')[1].split()[1]) for line in web.requests()[before:])


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_values(web: Nginx, large: Path, tmp_path: Path, name: str, form: CacheAs) -> None:
    """All columns are those that uproot reads, cold and warm; a warm cache fetches nothing."""
    expected = uproot.open(large)[name].arrays()
    sent = []
    for _ in ("cold", "warm"):
        events = nyssa.open(
            f"{web.url}/cached.root:{name}", cache=tmp_path / "cache", cache_as=form
        )
        read: list[ak.Array] = []
        sent.append(_bytes_sent(web, lambda events=events, read=read: read.append(events.arrays())))
        assert ak.array_equal(read[0], expected, check_parameters=False)
        some = events.arrays(["x3", "jagged"], entry_start=7_000, entry_stop=7_100)
        wanted = expected[7_000:7_100][["x3", "jagged"]]
        assert ak.array_equal(some, wanted, check_parameters=False)
    # nginx writes its log after it has sent the answer, so that the last line may be missing.
    assert sent[0] > 0
    assert sent[1] == 0
    stats = events.io_stats()
    assert stats.hit_bytes_read + stats.hit_bytes_readv > 0


def test_a_changed_file_is_read_anew(web: Nginx, tmp_path: Path) -> None:
    """A file that was replaced on its server gives its new values, and the old ones are gone."""
    path = web.root / "changing.root"
    for seed in (5, 6):
        _write(path, seed)
        os.utime(path, (seed * 1000, seed * 1000))
        events = nyssa.open(f"{web.url}/changing.root:ntuple", cache=tmp_path / "cache")
        assert np.array_equal(events.arrays(["x0"], library="np")["x0"], _arrays(seed)["x0"])


def test_a_chain_and_pickle_keep_the_cache(web: Nginx, url: str, tmp_path: Path) -> None:
    """The files of a chain are cached; a copy in another process opens them by the same cache."""
    url = f"{url}:tree"
    folder = tmp_path / "cache"
    chain = nyssa.chain([url, url], cache=folder, cache_as="raw")
    expected = np.concatenate([_arrays(1)["x1"]] * 2)
    assert np.array_equal(chain.arrays(["x1"], library="np")["x1"], expected)
    for dataset in (chain, nyssa.open(url, cache=folder, cache_as="raw")):
        copy = pickle.loads(pickle.dumps(dataset))
        read = lambda copy=copy: copy.arrays(["x1"], library="np")  # noqa: E731
        assert _bytes_sent(web, read) == 0


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nyssa", *arguments]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_command_line(web: Nginx, large: Path, tmp_path: Path) -> None:
    """Commands read through the cache; `nyssa cache` lists, checks and removes what is there."""
    url, folder = f"{web.url}/cached.root", str(tmp_path / "cache")
    plain = _run("digest", f"{url}:ntuple")
    for _ in range(2):
        cached = _run("digest", f"{url}:ntuple", "--cache", folder, "--cache-as", "raw")
        assert (cached.stdout, cached.returncode) == (plain.stdout, 0), cached.stderr
    by_environment = _run("digest", f"{url}:ntuple", NYSSA_CACHE=folder, NYSSA_CACHE_SIZE="1GB")
    assert by_environment.stdout == plain.stdout
    listed = json.loads(_run("cache", "ls", "--json", NYSSA_CACHE=folder).stdout)["resources"]
    assert [(one["url"], one["size"]) for one in listed] == [(url, large.stat().st_size)]
    assert listed[0]["unpacked_bytes"] > 0
    assert url in _run("cache", "ls", "--cache", folder).stdout
    stat = json.loads(_run("cache", "stat", "--json", "--cache", folder).stdout)
    assert stat["files"] == 1
    assert stat["disk_bytes"] == listed[0]["disk_bytes"]
    assert _run("cache", "verify", "--cache", folder).returncode == 0
    data = next(Path(folder).glob("*/data"))
    damaged = bytearray(data.read_bytes())
    damaged[1000] ^= 1
    data.write_bytes(damaged)
    report = _run("cache", "verify", "--cache", folder, "--json")
    assert report.returncode == 1
    assert json.loads(report.stdout)["files"][0]["damaged_blocks"] == 1
    assert _run("digest", f"{url}:ntuple", "--cache", folder).stdout == plain.stdout
    assert _run("cache", "clear", "root://*", "--cache", folder).stderr == "removed 0 files, 0 B\n"
    assert _run("cache", "clear", "--cache", folder).stderr.startswith("removed 1 file, ")
    assert json.loads(_run("cache", "ls", "--json", NYSSA_CACHE=folder).stdout) == {
        "version": 1,
        "resources": [],
    }


def test_what_cannot_be_a_cache(url: str, tmp_path: Path) -> None:
    """A wrong option and a folder that cannot be made are errors that say why."""
    (tmp_path / "file").write_text("text")
    with pytest.raises(OSError, match=r"cannot use the cache folder .*/file: it is not a folder"):
        nyssa.open(url, cache=tmp_path / "file")
    with pytest.raises(
        nyssa.ArgumentError, match=r"it has other files, such as file; name an empty folder"
    ):
        nyssa.open(url, cache=tmp_path)
    with pytest.raises(nyssa.ArgumentError, match='cache_as is "stored", "lz4" or "raw"'):
        nyssa.open(url, cache=tmp_path / "cache", cache_as="zstd")  # type: ignore[arg-type]
    with pytest.raises(nyssa.ArgumentError, match='cache_size: "much" is not a size'):
        nyssa.open(url, cache=tmp_path / "cache", cache_size="much")
    with pytest.raises(nyssa.ArgumentError, match="need a cache folder"):
        nyssa.open(url, cache_as="raw")
    nothing = _run("cache", "ls", NYSSA_CACHE="")
    assert nothing.returncode == 2
    assert "no cache folder is named" in nothing.stderr
    missing = _run("cache", "ls", "--cache", str(tmp_path / "missing"))
    assert missing.returncode == 3
    assert "cannot use the cache folder" in missing.stderr


def test_no_cache(web: Nginx, large: Path, tmp_path: Path) -> None:
    """The cache stores nothing of local files, and nothing with `cache=False`."""
    folder = tmp_path / "cache"
    nyssa.open(f"{large}:tree", cache=folder).arrays(["x0"])
    assert not list(folder.glob("*/data"))
    code = (
        f"import nyssa; nyssa.open({f'{web.url}/cached.root:tree'!r}, cache=False).arrays(['x0'])"
    )
    environment = {**os.environ, "NYSSA_CACHE": str(folder)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert not list(folder.glob("*/data"))


def _read(url: str, folder: Path) -> list[str]:
    """Return the command of a process that reads all through a cache and prints two sums."""
    code = (
        "import nyssa\n"
        "for _ in range(2):\n"
        f"    events = nyssa.open({f'{url}:ntuple'!r}, cache={str(folder)!r}, cache_as='raw')\n"
        "    arrays = events.arrays(library='np')\n"
        "    print(sum(int(arrays[f'x{i}'].sum()) for i in range(6)))\n"
    )
    return [sys.executable, "-c", code]


def _sums() -> list[str]:
    return [str(sum(int(np.sum(_arrays(1)[f"x{i}"])) for i in range(6)))] * 2


def test_a_full_disk(url: str, tmp_path: Path) -> None:
    """Data that do not fit are not stored; one warning says so, and the values are right."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    folder = tmp_path / "cache"
    command = _read(url, folder)
    full = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=limit)
    assert full.stdout.split() == _sums()
    [line] = full.stderr.splitlines()
    assert line.startswith(f"warning: nyssa stores no more data in the cache folder {folder}: ")
    assert _run("cache", "verify", "--cache", str(folder)).returncode == 0
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (again.stdout.split(), again.stderr) == (_sums(), "")


def _in_namespace(script: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command after a script, both in a mount namespace of their own."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", "/mnt"], check=False).returncode:
        pytest.skip("this machine allows no mount namespaces")
    command = [*unshare, "sh", "-ec", f'{script}\nexec "$@"', "sh", *command]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_a_full_file_system(url: str, tmp_path: Path) -> None:
    """A file system without free space has the same effect."""
    folder = tmp_path / "cache"
    folder.mkdir()
    command = _read(url, folder)
    full = _in_namespace(f"mount -t tmpfs -o size=200k none '{folder}'", command)
    assert full.stdout.split() == _sums()
    [line] = full.stderr.splitlines()
    assert line.startswith(f"warning: nyssa stores no more data in the cache folder {folder}: ")


def test_a_new_cache_on_a_full_file_system(url: str, tmp_path: Path) -> None:
    """There is no space even for the file that says what the folder is."""
    folder = tmp_path / "cache"
    folder.mkdir()
    fill = f"dd if=/dev/zero of='{folder}/fill' bs=4k status=none 2>/dev/null || true"
    mount = f"mount -t tmpfs -o size=64k none '{folder}'; {fill}"
    full = _in_namespace(mount, _read(url, folder / "cache"))
    assert full.stdout.split() == _sums()
    [line] = full.stderr.splitlines()
    place = f"cannot use the cache folder {folder}/cache: No space left on device"
    assert line.startswith(f"warning: nyssa goes on without a cache: {place}")


def test_a_folder_that_may_only_be_read(url: str, tmp_path: Path) -> None:
    """The data in the folder are used, and there is no warning."""
    folder = tmp_path / "cache"
    nyssa.open(f"{url}:ntuple", cache=folder, cache_as="raw").arrays(["x0", "x1"])
    before = {path: path.stat().st_mtime_ns for path in folder.glob("**/*")}
    script = f"mount --bind '{folder}' '{folder}'; mount -o remount,bind,ro '{folder}'"
    only_read = _in_namespace(script, _read(url, folder))
    assert (only_read.stdout.split(), only_read.stderr) == (_sums(), "")
    assert {path: path.stat().st_mtime_ns for path in folder.glob("**/*")} == before


def test_processes_share_a_cache(url: str, tmp_path: Path) -> None:
    """Four processes that begin together read the same values, and leave a sound cache."""
    command = _read(url, tmp_path / "cache")
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in processes:
        out, err = process.communicate()
        assert (out.split(), err) == (_sums(), "")
    assert _run("cache", "verify", "--cache", str(tmp_path / "cache")).returncode == 0
