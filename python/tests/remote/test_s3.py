"""Tests objects of a real S3 server, versitygw, which checks the signatures of requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core
from support import s3 as server
from support.data import TESTDATA
from support.s3 import KEY, S3, SECRET

_ENTRIES = 200_000


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    """Return a server, or skip."""
    if server.program() is None:
        pytest.skip("no versitygw (go install github.com/versity/versitygw/cmd/versitygw@latest)")
    s3 = S3(tmp_path_factory.mktemp("s3"))
    yield s3
    s3.close()


@pytest.fixture
def s3(running: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> S3:
    """Return the server, which the environment names."""
    for name, value in {
        "AWS_ENDPOINT_URL": running.endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    """Return columns that do not become small."""
    random = np.random.default_rng(2)
    return {f"x{i}": random.random(_ENTRIES) for i in range(20)}


@pytest.fixture(scope="module")
def large(running: S3, columns: dict[str, np.ndarray]) -> Path:
    """Return the file of an object of 30 MB that uproot wrote: ``s3://bucket/dir/large.root``."""
    path = running.folder / "dir" / "large.root"
    path.parent.mkdir(exist_ok=True)
    with uproot.recreate(path, compression=None) as file:
        file.mkrntuple("ntuple", columns)
    return path


@pytest.mark.usefixtures("s3")
def test_values(large: Path, columns: dict[str, np.ndarray]) -> None:
    """Columns are what was written; keys may have spaces and letters of all kinds."""
    found = nyssa.open("s3://bucket/dir/large.root:ntuple").arrays(["x0", "x19"], library="np")
    assert np.array_equal(found["x0"], columns["x0"])
    assert np.array_equal(found["x19"], columns["x19"])
    odd = large.parent / "a b+c%20é.root"
    odd.write_bytes((TESTDATA / "rntuple" / "types.root").read_bytes())
    url = f"s3://bucket/dir/{odd.name}"
    assert nyssa.open(url).keys() == nyssa.open(odd).keys()
    assert nyssa.open(url).file_path == url


@pytest.mark.usefixtures("s3", "large")
def test_globs(running: S3, capfd: pytest.CaptureFixture[str]) -> None:
    """Folders and globs of a bucket."""
    for run in ("run1", "run2"):
        for name in ("a", "b"):
            path = running.folder / "globs" / run / f"{name}.root"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((TESTDATA / "rntuple" / "codec-zstd.root").read_bytes())
    one = nyssa.open("s3://bucket/globs/run1/a.root")
    [name] = [key for key, kind in one.classnames(cycle=False).items() if kind == "ROOT::RNTuple"]
    entries = one[name].num_entries
    urls = [f"s3://bucket/globs/{run}/{name}.root" for run in ("run1", "run2") for name in "ab"]
    assert _core.files("s3://bucket/globs/*/?.root") == []
    assert _core.files("s3://bucket/globs/run*/[ab].root") == urls
    assert _core.files("s3://bucket/globs/run1") == urls[:2]
    assert nyssa.chain(f"s3://bucket/globs/run*/*.root:{name}").num_entries == 4 * entries
    assert _core.run_cli(["nyssa", "ls", "s3://bucket/globs/run1/a.root"]) == 0
    assert name in capfd.readouterr().out


@pytest.mark.parametrize("size", [1_000, _ENTRIES])
def test_writing(s3: S3, columns: dict[str, np.ndarray], size: int) -> None:
    """A file is an object when it is complete: by one request, or in parts."""
    url = f"s3://bucket/out/{size}.root"
    path = s3.folder / "out" / f"{size}.root"
    with nyssa.recreate(url, compression=0) as file:
        file["ntuple"] = {name: values[:size] for name, values in columns.items()}
        assert not path.exists()
    found = uproot.open(path)["ntuple"].arrays(library="np")
    for name, values in columns.items():
        assert np.array_equal(found[name], values[:size])
    assert s3.parts() == []
    assert nyssa.open(f"{url}:ntuple").num_entries == size


@pytest.mark.usefixtures("large")
def test_jobs_write(s3: S3) -> None:
    """Jobs read and write objects, check what they wrote, and replace only with `force`."""
    url = "s3://bucket/jobs/out.root"
    nyssa.rewrite("s3://bucket/dir/large.root:ntuple", url, include=["x1"], verify=True)
    written = (s3.folder / "jobs" / "out.root").read_bytes()
    with pytest.raises(nyssa.errors.OutputExistsError) as caught:
        nyssa.rewrite("s3://bucket/dir/large.root:ntuple", url, include=["x2"])
    assert str(caught.value) == (f"cannot create {url}: it exists already; force=True replaces it")
    assert (s3.folder / "jobs" / "out.root").read_bytes() == written
    nyssa.rewrite("s3://bucket/dir/large.root:ntuple", url, include=["x2"], force=True)
    assert nyssa.open(f"{url}:ntuple").keys() == ["x2"]


def test_what_is_not_finished_leaves_nothing(s3: S3) -> None:
    """An exception while writing leaves no object and no parts."""

    def write() -> None:
        with nyssa.recreate("s3://bucket/none.root") as file:
            file["x"] = {"x": np.arange(10)}
            raise KeyboardInterrupt

    before = s3.objects()
    with pytest.raises(KeyboardInterrupt):
        write()
    assert (s3.objects(), s3.parts()) == (before, [])


def _message(url: str) -> str:
    with pytest.raises(OSError, match="cannot open") as caught:
        nyssa.open(url)
    return str(caught.value)


@pytest.mark.usefixtures("large")
def test_errors(s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing, and who may not read."""
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open("s3://bucket/no.root")
    assert str(caught.value) == (
        "cannot open s3://bucket/no.root: the server answered 404 Not Found: NoSuchKey: The "
        "specified key does not exist."
    )
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open("s3://none/no.root")
    assert str(caught.value) == (
        "cannot open s3://none/no.root: the server answered 404 Not Found: NoSuchBucket: The "
        "specified bucket does not exist."
    )
    url = "s3://bucket/dir/large.root"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert _message(url).startswith(
        f"cannot open {url}: the server answered 403 Forbidden: SignatureDoesNotMatch: "
    )
    assert _message(url).endswith(f"; the request was signed with the key {KEY}")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(nyssa.ArgumentError) as half:
        nyssa.open(url)
    assert str(half.value) == (
        f"cannot open {url}: AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not: set both "
        "or none"
    )
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert _message(url).endswith(
        "; no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
        "AWS_PROFILE"
    )
    aws = Path(s3.folder.parents[1])
    credentials = aws / "credentials"
    credentials.write_text(f"[tests]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_PROFILE", "tests")
    assert nyssa.open(url).keys() == ["ntuple;1"]
    monkeypatch.setenv("AWS_PROFILE", "typo")
    with pytest.raises(
        nyssa.ArgumentError, match=r'there is no profile "typo" \(AWS_PROFILE\) in '
    ):
        nyssa.open(url)


@pytest.mark.usefixtures("s3", "large")
def test_globs_in_a_missing_bucket(capfd: pytest.CaptureFixture[str]) -> None:
    """A bucket that does not exist is not taken for an empty one."""
    for files in ("s3://none/run*.root", ["s3://bucket/dir/*.root", "s3://none/run*.root"]):
        with pytest.raises(OSError, match='the bucket "none" does not exist at http'):
            nyssa.chain(files)
    assert _core.run_cli(["nyssa", "ls", "s3://none/run*.root"]) != 0
    assert 'the bucket "none" does not exist at http' in capfd.readouterr().err


@pytest.mark.usefixtures("s3")
def test_names_with_colons(running: S3) -> None:
    """What a glob finds is a file, also if its name looks like the object of another one."""
    folder = running.folder / "colons"
    folder.mkdir()
    for name, value in (("run.root", 1), ("run.root:Events", 2)):
        with uproot.recreate(folder / "local.root") as file:
            file.mktree("Events", {"x": np.array([value])})
        (folder / "local.root").rename(folder / name)
    found = nyssa.chain("s3://bucket/colons/run*:Events").arrays(library="np")["x"]
    assert found.tolist() == [1, 2]
    found = nyssa.chain("s3://bucket/colons/*ents").arrays(library="np")["x"]
    assert found.tolist() == [2]


def test_replaced(s3: S3, large: Path) -> None:
    """An object that is replaced while it is open is an error."""
    with nyssa.recreate("s3://bucket/replaced.root", compression=0) as file:
        file["x"] = {"x": np.arange(1_000_000)}
    column = nyssa.open("s3://bucket/replaced.root:x")
    with nyssa.recreate("s3://bucket/replaced.root", compression=0) as file:
        file["x"] = {"x": np.arange(1_000_000)[::-1]}
    with pytest.raises(nyssa.errors.InputOutputError, match="was changed on the server"):
        column.arrays()
    assert s3.folder.exists()
    assert large.exists()
