"""Steps have the values of `arrays` and of uproot, for all sizes of steps and many files."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import platform
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.descriptors import descriptors
from support.root import Root
from support.same import layouts_differ

ENTRIES = 3000

_TREE = """
void nyssa_steps_tree(const char *path, int entries) {
  TFile file(path, "RECREATE");
  TTree tree("Events", "");
  tree.SetAutoFlush(0);
  int n, number;
  float x[7];
  double y[7];
  bool flag;
  std::vector<float> values;
  std::string text;
  tree.Branch("n", &n, "n/I", 700);
  tree.Branch("number", &number, "number/I", 1100);
  tree.Branch("x", x, "x[n]/F", 900);
  tree.Branch("y", y, "y[n]/D", 1700);
  tree.Branch("flag", &flag, "flag/O", 300);
  tree.Branch("values", &values, 1300, 0);
  tree.Branch("text", &text, 1000, 0);
  for (number = 0; number < entries; ++number) {
    n = number * 7 % 8 % 7;
    for (int i = 0; i < n; ++i) { x[i] = number + i / 8.f; y[i] = -number - i / 8.; }
    flag = number % 3 == 0;
    values.assign(number % 5, number);
    text.assign(number % 11, 'a' + number % 26);
    tree.Fill();
  }
  tree.Write();
}
"""


@pytest.fixture(scope="module")
def tree(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tree whose branches have baskets that end at different entries."""
    path = tmp_path_factory.mktemp("steps") / "tree.root"
    root.call("cpp", _TREE, f'nyssa_steps_tree("{path}", {ENTRIES})')
    branches = uproot.open(path)["Events"].branches
    assert len({tuple(branch.entry_offsets) for branch in branches}) == len(branches)
    return path


def columns(entries: int = ENTRIES, first: int = 0) -> dict[str, Any]:
    """Return columns of numbers, lists and strings."""
    number = np.arange(first, first + entries)
    counts = number % 4
    items = np.arange(counts.sum(), dtype=np.float32)
    return {
        "number": number,
        "x": ak.unflatten(items, counts),
        "y": ak.unflatten(-items, counts),
        "flag": number % 3 == 0,
        "text": ak.Array([f"{i:x}" for i in range(first, first + entries + 1)])[:entries],
    }


def ntuple(path: Path, entries: int = ENTRIES, first: int = 0) -> Path:
    """Write an RNTuple of several clusters, with small pages."""
    data = columns(entries, first)
    with nyssa.recreate(path, cluster_size=8000, page_size=700) as file:
        writer = file.mkrntuple("Events", {name: column[:0] for name, column in data.items()})
        for start in range(0, entries, 250):
            writer.extend({name: one[start : start + 250] for name, one in data.items()})
    return path


def sizes(seed: int) -> list[int | str]:
    """Return step sizes of every kind."""
    chance = random.Random(seed)
    some = [chance.randrange(1, ENTRIES) for _ in range(4)]
    return [*some, 1, ENTRIES, 10 * ENTRIES, "cluster", "20 kB", "100 kB", "1 GB"]


def same(steps: list[Any], whole: ak.Array, start: int, stop: int) -> None:
    """Check that pairs of arrays and entries are consecutive and are parts of `whole`."""
    at = start
    for arrays, (first, last) in steps:
        assert first == at
        at = last
        assert layouts_differ(arrays.layout, ak.to_packed(whole[first:last]).layout) is None
        # The arrays of a step hold no memory of other steps.
        assert layouts_differ(arrays.layout, ak.to_packed(arrays).layout) is None
        for content in arrays.layout.contents:
            if content.is_list and hasattr(content, "offsets"):
                assert content.offsets[0] == 0
                assert content.offsets[-1] == content.content.length
    assert at == stop


@pytest.mark.parametrize("threads", [1, 2])
def test_a_tree_in_steps_of_any_size(tree: Path, threads: int) -> None:
    events = nyssa.open(f"{tree}:Events")
    theirs = uproot.open(tree)["Events"].arrays(library="ak")
    chance = random.Random(threads)
    for size in sizes(threads):
        start = chance.choice([0, chance.randrange(ENTRIES)])
        stop = chance.choice([ENTRIES, chance.randrange(start, ENTRIES + 1)])
        found = list(
            events.iterate(
                step_size=size, entry_start=start, entry_stop=stop, report=True, threads=threads
            )
        )
        same(found, theirs, start, stop)
        if isinstance(size, int):
            assert all(last - first == size for _, (first, last) in found[:-1])


@pytest.mark.parametrize("threads", [1, 2])
def test_an_rntuple_in_steps_of_any_size(tmp_path: Path, threads: int) -> None:
    path = ntuple(tmp_path / "ntuple.root")
    events = nyssa.open(f"{path}:Events")
    assert len(events.clusters) > 2
    theirs = uproot.open(path)["Events"].arrays(library="ak")
    for size in sizes(threads + 10):
        found = list(events.iterate(step_size=size, report=True, threads=threads))
        same(found, theirs[events.keys()], 0, ENTRIES)


def test_libraries(tree: Path) -> None:
    events = nyssa.open(f"{tree}:Events")
    names = ["number", "x", "text"]
    for library in ("np", "pd", "arrow", "polars"):
        if library != "np":
            pytest.importorskip({"arrow": "pyarrow", "pd": "pandas"}.get(library, library))
        for arrays, (start, stop) in events.iterate(
            names, step_size=411, library=library, report=True
        ):
            alone = events.arrays(names, entry_start=start, entry_stop=stop, library=library)
            if library == "np":
                assert arrays["number"].tolist() == alone["number"].tolist()
                assert arrays["text"].tolist() == alone["text"].tolist()
                assert [one.tolist() for one in arrays["x"]] == [one.tolist() for one in alone["x"]]
            elif library == "pd":
                assert arrays.index.equals(alone.index)
                assert arrays["text"].equals(alone["text"])
            else:
                assert arrays.equals(alone)


def test_default_steps_end_with_clusters(tmp_path: Path) -> None:
    events = nyssa.open(f"{ntuple(tmp_path / 'ntuple.root')}:Events")
    ends = {stop for _, stop in events.clusters}
    spans = [span for _, span in events.iterate(step_size="200 kB", report=True)]
    assert len(spans) > 1
    assert all(stop in ends for _, stop in spans)
    assert [span for _, span in events.iterate(report=True)] == [(0, ENTRIES)]


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="memory is as glibc and /proc tell it"
)
@pytest.mark.parametrize("kind", ["tree", "rntuple"])
def test_steps_take_the_memory_that_is_stated(tmp_path: Path, kind: str) -> None:
    """Only some baskets of the tree fit into memory; the RNTuple has one cluster of pages."""
    chance = np.random.default_rng(1)
    counts = chance.integers(0, 8, 160_000)
    items = [chance.integers(0, 1000, counts.sum()).astype(np.float32) for _ in range(60)]
    data = {f"x{i}": ak.unflatten(one, counts) for i, one in enumerate(items)}
    path = tmp_path / "large.root"
    if kind == "tree":
        with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
            file["Events"] = data
    else:
        with nyssa.recreate(path, compression="zstd:1") as file:
            file["Events"] = data
    code = f"""
    import pathlib, awkward, nyssa

    def memory(what):
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))

    events = nyssa.open("{path}:Events")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # The peak is what there is now.
    base = memory("VmRSS")
    steps = events.iterate(step_size="50 MB", entry_stop=36_000)
    assert sum(map(len, steps)) == 36_000
    print(memory("VmHWM") - base)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NYSSA_NUM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1.05 * 50e6


def test_arrow_stream_of_clusters(tmp_path: Path, tree: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for path in (ntuple(tmp_path / "ntuple.root"), tree):
        events = nyssa.open(f"{path}:Events")
        batches = pyarrow.RecordBatchReader.from_stream(events)
        first = batches.read_next_batch()
        assert first.num_rows == events.clusters[0][1]
        del batches
        table = pyarrow.table(events)
        lengths = [len(chunk) for chunk in table.column("number").chunks]
        assert lengths == [stop - start for start, stop in events.clusters]
        assert table.column("number").to_pylist() == list(range(ENTRIES))


# Many files


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return files of one schema, one of them empty."""
    lengths = [700, 0, 1100, 3]
    starts = np.cumsum([0, *lengths]).tolist()
    paths = [tmp_path / f"{letter}.root" for letter in "abcd"]
    for path, length, start in zip(paths, lengths, starts[:-1], strict=True):
        ntuple(path, length, start)
    return [f"{path}:Events" for path in paths]


@pytest.mark.parametrize("schema", [None, "union"])
@pytest.mark.parametrize("size", [1, 97, 5000, "cluster", "50 kB", "250 MB"])
def test_many_files(files: list[str], size: int | str, schema: str | None) -> None:
    found = list(nyssa.iterate(files, step_size=size, report=True, schema=schema))
    paths = [path.removesuffix(":Events") for path in files]
    assert list(dict.fromkeys(file for _, (file, *_) in found)) == [paths[0], *paths[2:]]
    for file, length in zip(paths, [700, 0, 1100, 3], strict=True):
        spans = [(start, stop) for _, (name, start, stop) in found if name == file]
        if isinstance(size, int):
            starts = range(0, length, size)
            assert spans == [(start, min(start + size, length)) for start in starts]
        elif length:
            assert (spans[0][0], spans[-1][1]) == (0, length)
    whole = ak.concatenate([arrays for arrays, _ in found])
    assert ak.array_equal(whole, nyssa.concatenate(files, schema=schema))
    assert whole.number.to_list() == list(range(1803))


def test_the_index_of_pandas_runs_on(files: list[str]) -> None:
    """As in uproot, the entries of a report count in the file."""
    pd = pytest.importorskip("pandas")
    theirs = list(uproot.iterate(files, ["number"], step_size=400, library="pd"))
    for schema in (None, "union"):
        ours = list(
            nyssa.iterate(
                files, ["number"], step_size=400, library="pd", report=True, schema=schema
            )
        )
        assert [span[1:] for _, span in ours] == [
            (0, 400),
            (400, 700),
            (0, 400),
            (400, 800),
            (800, 1100),
            (0, 3),
        ]
        frames = [frame for frame, _ in ours]
        assert pd.concat(frames).index.tolist() == list(range(1803))
        assert pd.concat(frames).index.tolist() == pd.concat(theirs).index.tolist()
    assert nyssa.concatenate(files, ["number"], library="pd").index.tolist() == list(range(1803))


def test_columns_of_later_files_are_those_of_the_first(files: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other.root"
    with nyssa.recreate(other) as file:
        file["Events"] = {
            "x": ak.values_astype(ak.Array([[1.0]]), np.float32),
            "number": np.int16([5]),
        }
    names = ["number", "x"]
    steps = list(nyssa.iterate([files[0], other], names, step_size="cluster"))
    assert steps[-1].number.type == ak.types.ArrayType(ak.types.NumpyType("int64"), 1)
    assert steps[-1].to_list() == [{"number": 5, "x": [1.0]}]
    steps = nyssa.iterate([files[0], other], ["number", "y"], step_size=5000)
    assert len(next(steps)) == 700
    with pytest.raises(nyssa.UnsupportedError, match=r"other\.root.*y|y.*other\.root"):
        next(steps)


def test_globs_that_match_nothing(files: list[str], tmp_path: Path) -> None:
    """As in uproot, it is only an error when nothing matches."""
    globs = [f"{tmp_path}/none*.root:Events", f"{tmp_path}/[ab].root:Events"]
    assert len(nyssa.concatenate(globs, "number")) == 700
    assert len(uproot.concatenate(globs, "number")) == 700
    assert nyssa.chain(globs).num_entries == 700
    assert sum(map(len, nyssa.iterate(globs, "number"))) == 700
    message = f"no file matches {tmp_path}/none*.root or {tmp_path}/no*.root"
    for read in (nyssa.concatenate, nyssa.chain, nyssa.iterate):
        with pytest.raises(nyssa.errors.FileMissingError) as info:
            read([globs[0], f"{tmp_path}/no*.root:Events"])
        assert str(info.value) == message
    with pytest.raises(nyssa.errors.FileMissingError):
        nyssa.chain([*globs, tmp_path / "none.root"])
    by_url = nyssa.chain([f"file://{glob}" for glob in globs])
    expected = [f"file://{tmp_path}/{name}.root" for name in "ab"]
    assert [name for name, _, _ in by_url.files] == expected
    events = nyssa.open(files[0])
    assert events.arrays(["none_*", "num*"]).fields == ["number"]
    for names in (["none_*"], ["none_*", "/nothing/"], ["none", "num*"]):
        with pytest.raises(nyssa.NotFoundError, match=r"no 'none"):
            events.arrays(names)


def test_folders_and_lists_name_files(files: list[str], tmp_path: Path) -> None:
    """Globs work as on the command line; hidden files are not matched, as in a shell."""
    names = [os.path.basename(name.split(":")[0]) for name in files]
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(tmp_path / name)
    (folder / ".hidden.root").write_bytes(b"")
    (tmp_path / "list").write_text("".join(f"{folder}/{name}:Events\n" for name in names))
    for given in (f"{folder}:Events", f"{folder}/*.root:Events", f"@{tmp_path}/list"):
        assert len(nyssa.concatenate(given, "number")) == 1803
    with pytest.raises(nyssa.NotFoundError, match="cannot read the list"):
        nyssa.chain(f"@{tmp_path}/none")


# Errors, and steps that are not finished


def test_a_damaged_page_is_an_error_of_its_step(tmp_path: Path) -> None:
    path = ntuple(tmp_path / "ntuple.root")
    events = nyssa.open(f"{path}:Events")
    clusters = events.clusters
    content = bytearray(path.read_bytes())
    # Pages lie in the order of their clusters.
    middle = len(content) // 2
    content[middle : middle + 2000] = bytes(2000)
    path.write_bytes(content)
    events = nyssa.open(f"{path}:Events")

    def good(size: int | str) -> int:
        end = 0
        steps = events.iterate(step_size=size, report=True)
        with pytest.raises((nyssa.ChecksumError, nyssa.FormatError)):
            for _, (_, end) in steps:  # noqa: B007
                pass
        assert list(steps) == []
        return end

    whole_clusters = good("cluster")
    assert whole_clusters in {stop for _, stop in clusters}
    assert 0 < whole_clusters < ENTRIES
    assert good(1) >= whole_clusters
    assert good(7) >= whole_clusters - 7


CLOSES: dict[str, Callable[[str, str], tuple[Any, Any]]] = {}


def opens(function: Callable[[str, str], tuple[Any, Any]]) -> None:
    """Add a function that returns an iterator, and a function that closes its files."""
    CLOSES[function.__name__] = function


@opens
def dataset(path: str, _: str) -> tuple[Any, Any]:
    events = nyssa.open(f"{path}:Events")
    return events.iterate, events


@opens
def file_of_a_dataset(path: str, _: str) -> tuple[Any, Any]:
    file = nyssa.open(path)
    return file["Events"].iterate, file


@opens
def chain(path: str, other: str) -> tuple[Any, Any]:
    both = nyssa.chain([other, path])
    return both.iterate, both


@opens
def join(path: str, other: str) -> tuple[Any, Any]:
    both = nyssa.join(path, other, prefix="other.")
    return both.iterate, both


@opens
def many_files(path: str, _: str) -> tuple[Any, Any]:
    events = nyssa.open(f"{path}:Events")
    return functools.partial(nyssa.iterate, [events]), events


@opens
def many_files_of_one_schema(path: str, _: str) -> tuple[Any, Any]:
    events = nyssa.open(f"{path}:Events")
    return functools.partial(nyssa.iterate, [events], schema="union"), events


@pytest.mark.parametrize("size", [10, 1000, "cluster", "20 kB"])
@pytest.mark.parametrize("pause", [0.0, 0.2])
@pytest.mark.parametrize("way", CLOSES)
def test_steps_end_where_their_file_is_closed(
    tmp_path: Path, way: str, pause: float, size: int | str
) -> None:
    """Later steps fail, even if they were already read; earlier arrays stay valid."""
    paths = str(ntuple(tmp_path / "ntuple.root")), str(ntuple(tmp_path / "other.root"))
    iterate, closes = CLOSES[way](*paths)
    steps = iterate("number", step_size=size)
    first, second = next(steps), next(steps)
    time.sleep(pause)
    closes.close()
    with pytest.raises(nyssa.ArgumentError, match="is closed") as caught:
        next(steps)
    assert str(tmp_path) in str(caught.value)
    assert list(steps) == []
    assert first.number[0] == 0
    assert second.number[0] == len(first)
    if Path("/proc/self/fd").exists():
        assert nyssa_threads() == []
        assert descriptors(tmp_path) == []


def test_a_closed_file_ends_only_its_own_steps(files: list[str]) -> None:
    first, third = nyssa.open(files[0]), nyssa.open(files[2])
    for schema in (None, "union"):
        steps = nyssa.iterate([first, third], "number", step_size=700, schema=schema)
        assert len(next(steps)) == 700
        steps = nyssa.iterate([first, third], "number", step_size=700, schema=schema)
        assert [len(next(steps)), len(next(steps))] == [700, 700]
        if schema is not None:
            first.close()
        assert [len(step) for step in steps] == [400]


def test_arrow_streams_end_where_their_file_is_closed(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    events = nyssa.open(f"{ntuple(tmp_path / 'ntuple.root')}:Events")
    batches = pyarrow.RecordBatchReader.from_stream(events)
    batches.read_next_batch()
    events.close()
    with pytest.raises(Exception, match="it is closed; open it again"):
        batches.read_next_batch()


def nyssa_threads() -> list[str]:
    """Return the names of the threads that read ahead, after a delay in which they can end."""
    names = ["nyssa-ahead"]
    # The system lists a thread for a moment after it was joined.
    end = time.monotonic() + 2
    while "nyssa-ahead" in names and time.monotonic() < end:
        names = []
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):  # Others end meanwhile.
                names.append((task / "comm").read_text().strip())
    return [name for name in names if name == "nyssa-ahead"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_left_steps_leave_no_thread(tmp_path: Path) -> None:
    events = nyssa.open(f"{ntuple(tmp_path / 'ntuple.root')}:Events")
    for arrays in events.iterate(step_size=10):
        assert arrays.number.to_list() == list(range(10))
        break
    gc.collect()
    assert nyssa_threads() == []
    steps = events.iterate(step_size=10)
    next(steps)
    steps.close()
    assert nyssa_threads() == []
    assert list(steps) == []


def test_steps_inside_steps(tmp_path: Path) -> None:
    events = nyssa.open(f"{ntuple(tmp_path / 'ntuple.root')}:Events")
    pairs = [
        (outer.number[0], inner.number[0])
        for outer in events.iterate("number", step_size=1000)
        for inner in events.iterate("number", step_size=1500)
    ]
    assert pairs == [(0, 0), (0, 1500), (1000, 0), (1000, 1500), (2000, 0), (2000, 1500)]


def test_steps_from_many_threads(tmp_path: Path) -> None:
    events = nyssa.open(f"{ntuple(tmp_path / 'ntuple.root')}:Events")
    sums: list[int] = []

    def job(size: int) -> None:
        sums.append(sum(int(ak.sum(step.number)) for step in events.iterate(step_size=size)))

    threads = [threading.Thread(target=job, args=(size,)) for size in (50, 333, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [ENTRIES * (ENTRIES - 1) // 2] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_steps_go_on_in_a_fork(tmp_path: Path) -> None:
    """The child process has no thread that reads ahead: it reads on its own thread."""
    path = ntuple(tmp_path / "ntuple.root")
    code = f"""
    import os, warnings
    import nyssa
    warnings.simplefilter("ignore")
    steps = nyssa.open({str(path) + ":Events"!r}).iterate("number", step_size="cluster")
    first = next(steps)
    child = os.fork()
    rest = [number for step in steps for number in step.number.to_list()]
    assert first.number.to_list() + rest == list(range({ENTRIES})), rest[:5]
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("left", ["for", "steps", "batches"])
def test_steps_that_are_open_at_the_end_of_a_program(tmp_path: Path, left: str) -> None:
    path = ntuple(tmp_path / "ntuple.root")
    code = {
        "for": "for step in events.iterate(step_size=10): break",
        "steps": "steps = events.iterate(step_size='cluster'); next(steps)",
        "batches": (
            "import pyarrow; batches = pyarrow.RecordBatchReader.from_stream(events); "
            "batches.read_next_batch()"
        ),
    }[left]
    if left == "batches":
        pytest.importorskip("pyarrow")
    code = f"import nyssa; events = nyssa.open({str(path) + ':Events'!r}); " + code
    done = subprocess.run(
        [sys.executable, "-c", code.replace("; for", "\nfor")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
