"""Clusters have the requested size on storage for any input, as ROOT's descriptor shows."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.root import Root

WRITE = r"""
void nyssa_write_sizes(const char *path, int setting) {
    TFile file(path, "RECREATE", "", setting);
    TTree tree("Events", "");
    TRandom3 random(7);
    int n;
    float list[40], other[40], flat[6];
    tree.Branch("n", &n, "n/I");
    tree.Branch("list", list, "list[n]/F");
    tree.Branch("other", other, "other[n]/F");
    for (int i = 0; i < 6; ++i) tree.Branch(Form("f%d", i), &flat[i], Form("f%d/F", i));
    for (int entry = 0; entry < 25000; ++entry) {
        n = random.Poisson(4);
        for (int i = 0; i < n; ++i) {
            list[i] = random.Exp(40);
            other[i] = int(list[i] / 8);
        }
        for (int i = 0; i < 6; ++i) flat[i] = i % 2 ? random.Gaus() : random.Poisson(3);
        tree.Fill();
    }
    tree.Write();
}
"""
SETTINGS = {"none": 0, "zlib": 101, "lz4": 404, "lzma": 207, "zstd": 505}
#: Relative tolerance of the size of a cluster.
TOLERANCE = 0.08
#: Tolerance for the first filled cluster, where only a sample tells how well data compress.
FIRST_FILLED = 0.12


@pytest.fixture(scope="module")
def trees(root: Root, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the same tree, compressed in several ways."""
    folder = tmp_path_factory.mktemp("sizes")
    root.call("cpp", WRITE, ";")
    for name, setting in SETTINGS.items():
        root.call("cpp", "", f'nyssa_write_sizes("{folder / name}.root", {setting})')
    return {name: folder / f"{name}.root" for name in SETTINGS}


def sizes(root: Root, path: Path) -> list[int]:
    """Return the stored bytes of the clusters."""
    columns = root.call("columns", str(path), "Events")
    clusters = [one["clusters"] for known in columns.values() for one in known]
    found = []
    for number in range(max(len(one) for one in clusters)):
        # Projected fields have the pages of others.
        pages = {page[2]: page[1] for one in clusters for page in one[number][1]}
        found.append((min(pages), sum(pages.values())))
    # ROOT returns them in no order.
    return [size for _, size in sorted(found)]


def check(found: list[int], asked: int, first: float = TOLERANCE) -> None:
    """All but the last are near the requested size; the last is at most a quarter larger."""
    *full, last = found
    assert len(full) > 2
    assert abs(full[0] / asked - 1) < first, found
    for size in full[1:]:
        assert abs(size / asked - 1) < TOLERANCE, found
    assert last < 1.3 * asked


@pytest.mark.parametrize("asked", [60_000, 150_000])
@pytest.mark.parametrize("name", SETTINGS)
def test_convert(name: str, asked: int, trees: dict[str, Path], tmp_path: Path, root: Root) -> None:
    """Neither the compression of the input nor the number of threads changes the sizes."""
    digests = set()
    for threads in [1, 3]:
        path = tmp_path / f"{threads}" / "out.root"
        path.parent.mkdir()
        report = nyssa.convert(
            trees[name], path, cluster_size=asked, threads=threads, reproducible=True
        )
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1
    assert not [note for note in report["notes"] if "cluster" in note]
    check(sizes(root, path), asked)


@pytest.mark.parametrize("compression", ["zstd", "lz4", "lzma:2"])
def test_other_outputs(
    compression: str, trees: dict[str, Path], tmp_path: Path, root: Root
) -> None:
    """The sizes are those with the output's compression, in conversions, rewrites and merges."""
    path, again = tmp_path / "out.root", tmp_path / "again.root"
    nyssa.convert(trees["zlib"], path, compression=compression, cluster_size=100_000)
    check(sizes(root, path), 100_000)
    nyssa.convert(trees["zlib"], path, compression="none", force=True)
    nyssa.rewrite(path, again, compression=compression, cluster_size=100_000)
    check(sizes(root, again), 100_000)
    merged = tmp_path / "merged.root"
    nyssa.merge([path], merged, recluster=100_000, compression=compression)
    check(sizes(root, merged), 100_000, FIRST_FILLED)


def test_fill(tmp_path: Path, root: Root) -> None:
    """Rows that are given in pieces of any size become clusters of this size, from the first on."""
    random = np.random.default_rng(1)
    data = {f"x{i}": random.normal(size=100_000).astype(np.float32) for i in range(6)}
    data["n"] = random.poisson(3, 100_000)
    counts = random.poisson(2, 100_000)
    data["list"] = ak.unflatten(random.exponential(size=counts.sum()).astype(np.float32), counts)
    for step in [100_000, 4321]:
        path = tmp_path / f"{step}.root"
        with nyssa.recreate(path, cluster_size="400 kB") as file:
            events = file.mkrntuple("Events", {name: one[:0] for name, one in data.items()})
            for start in range(0, 100_000, step):
                events.extend({name: one[start : start + step] for name, one in data.items()})
        found = sizes(root, path)
        assert len(found) > 4
        for size in found[:-1]:
            assert abs(size / 400_000 - 1) < TOLERANCE, found


def test_memory_is_a_budget(trees: dict[str, Path], tmp_path: Path, root: Root) -> None:
    """Clusters are smaller when the memory does not suffice, and a note says so."""
    path = tmp_path / "out.root"
    report = nyssa.convert(trees["none"], path, memory="1 MiB", cluster_size="1 MB")
    # One column may take a quarter of a MiB: 64 Ki floats.
    assert max(sizes(root, path)) < 800_000
    [note] = [note for note in report["notes"] if "memory" in note]
    assert "smaller than 1000000 bytes on storage: a memory of 1048576 bytes allows 262144" in note
    plain = tmp_path / "plain.root"
    nyssa.convert(trees["none"], plain)
    (report,) = nyssa.rewrite(plain, path, memory="1 MiB", cluster_size="1 MB", force=True)
    assert [note for note in report["notes"] if "a memory of 1048576 bytes allows 262144" in note]


def test_memory_of_merges(trees: dict[str, Path], tmp_path: Path, root: Root) -> None:
    """Merges into new clusters also give a note; the default memory is enough for any size."""
    plain, path = tmp_path / "plain.root", tmp_path / "out.root"
    nyssa.convert(trees["none"], plain)
    report = nyssa.merge([plain], path, recluster="1400 kB", memory="2 MiB", compression="none")
    found = sizes(root, path)
    assert max(found) < 1_100_000
    [note] = report["notes"]
    count = f"{len(found) - 1} clusters are" if len(found) > 2 else "1 cluster is"
    assert note == (
        f"{count} smaller than 1400000 bytes on storage: a memory of 2097152 bytes holds no more, "
        "469762048 are enough"
    )
    assert nyssa.merge([plain], path, recluster="100 kB", force=True)["notes"] == []
    check(sizes(root, path), 100_000, FIRST_FILLED)
    for size, total in [("1 MB", 192 << 20), ("128 MiB", 192 << 20), ("256 MiB", 384 << 20)]:
        types = {f"x{i}": "float" for i in range(1000)}
        estimate = nyssa.estimate_write_memory(types, cluster_size=size)
        assert estimate["file"] == total // 8


def test_clusters_of_many_columns(tmp_path: Path, root: Root) -> None:
    """A cluster is not smaller than its metadata."""
    data: dict[str, Any] = {f"x{i}": np.arange(3000.0) * i for i in range(50)}
    plain, path = tmp_path / "plain.root", tmp_path / "out.root"
    with nyssa.recreate(plain) as file:
        file["Events"] = data
    (report,) = nyssa.rewrite(plain, path, cluster_size=256, compression="none")
    assert report["notes"] == [
        "clusters have 3200 bytes, not 256: 64 bytes for each of 50 columns are the minimum, "
        "because the page list needs as much"
    ]
    assert sizes(root, path)[0] == 3200
    with nyssa.recreate(path, cluster_size=256, compression="none") as file:
        file["Events"] = data
    assert sizes(root, path)[0] == 3200
