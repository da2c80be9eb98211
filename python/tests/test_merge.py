"""Merged RNTuples: ROOT and nyssa read the values of the inputs, one after the other."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa import errors
from root_oracle import Root

COUNT = 300


def events(first: int, count: int = COUNT) -> dict[str, object]:
    """Return entries that can be told from those of another file."""
    numbers = np.arange(first, first + count)
    counts = numbers % 4
    return {
        "number": numbers.astype(np.int64),
        "x": (numbers / 7).astype(np.float32),
        "flag": numbers % 3 == 0,
        "name": ak.Array([f"event {n}" * (n % 3) for n in numbers]),
        "values": ak.unflatten(np.arange(counts.sum(), dtype=np.float64) + first, counts),
        "jets": ak.zip(
            {"pt": ak.unflatten(np.arange(counts.sum(), dtype=np.float32) * 2 + first, counts)}
        ),
        "fixed": np.stack([numbers, numbers + 1], axis=1).astype(np.int32),
    }


def write(path: Path, first: int, count: int = COUNT, drop: str = "", **options: object) -> Path:
    """Write a file of two clusters, or of none."""
    data = {name: column for name, column in events(first, count).items() if name != drop}
    with nyssa.recreate(path, **options) as file:
        if count:
            file["Events"] = data
        else:
            file["Events"] = {name: column[:0] for name, column in data.items()}
    return path


def expected(root: Root, paths: list[Path], name: str = "Events") -> list[object]:
    """Return what ROOT reads of the inputs."""
    return [entry for path in paths for entry in root.call("entries", str(path), name)]


def same_in_nyssa(paths: list[Path], merged: Path, name: str = "Events") -> None:
    """Compare all values as nyssa reads them."""
    one = nyssa.open(f"{merged}:{name}").arrays()
    parts = [nyssa.open(f"{path}:{name}").arrays() for path in paths]
    whole = ak.concatenate([part[ak.fields(one)] for part in parts])
    assert ak.to_list(one) == ak.to_list(whole)


def test_same_schema(tmp_path: Path, root: Root) -> None:
    """Every value, in order, by ROOT and by nyssa; the report counts what there is."""
    paths = [write(tmp_path / f"{i}.root", 1000 * i) for i in range(3)]
    merged = tmp_path / "merged.root"
    calls: list[tuple[int, int]] = []
    report = nyssa.merge(paths, merged, progress=lambda *args: calls.append(args))
    assert report["entries"] == 3 * COUNT
    assert report["clusters"] == 3
    assert report["output_bytes"] == merged.stat().st_size
    assert report["verified"]
    assert calls[-1][0] == calls[-1][1] > 0
    assert root.call("entries", str(merged), "Events") == expected(root, paths)
    assert root.call("fields", str(merged), "Events") == root.call(
        "fields", str(paths[0]), "Events"
    )
    same_in_nyssa(paths, merged)


def test_other_compression_and_encodings(tmp_path: Path, root: Root) -> None:
    """Fields get a representation for each encoding; ROOT's own merger refuses these files."""
    settings = [505, 0, "lz4", "zlib:1", "lzma"]
    paths = [
        write(tmp_path / f"{i}.root", 1000 * i, compression=setting)
        for i, setting in enumerate(settings)
    ]
    merged = tmp_path / "merged.root"
    nyssa.merge(paths, merged)
    assert root.call("entries", str(merged), "Events") == expected(root, paths)
    same_in_nyssa(paths, merged)
    # The merged file can be merged again, with its suppressed columns.
    again = tmp_path / "again.root"
    nyssa.merge([paths[1], merged], again)
    assert root.call("entries", str(again), "Events") == expected(root, [paths[1], merged])


@pytest.mark.parametrize("lacking", [0, 1])
@pytest.mark.parametrize("field", ["number", "x", "flag", "name", "values", "jets", "fixed"])
def test_union(field: str, lacking: int, tmp_path: Path, root: Root) -> None:
    """A field that one input lacks reads as zero or empty there."""
    paths = [
        write(tmp_path / f"{i}.root", 1000 * i, 20, drop=field if i == lacking else "")
        for i in range(2)
    ]
    merged = tmp_path / "merged.root"
    with pytest.raises(errors.ArgumentError, match=f'field "{field}" is in .* and not in'):
        nyssa.merge(paths, merged)
    assert not merged.exists()
    nyssa.merge(paths, merged, "union")
    zero = {
        "number": 0,
        "x": 0.0,
        "flag": False,
        "name": "",
        "values": [],
        "jets": [],
        "fixed": [0, 0],
    }
    entries = expected(root, paths)
    for entry in entries[20 * lacking : 20 * lacking + 20]:
        entry[field] = zero[field]
    assert root.call("entries", str(merged), "Events") == entries
    only = tmp_path / "filtered.root"
    report = nyssa.merge(paths, only, "filter")
    assert report["notes"] == [f"left out field {field}, which some input lacks"]
    for entry in entries:
        del entry[field]
    assert root.call("entries", str(only), "Events") == entries


def test_real_files(data: Path, tmp_path: Path) -> None:
    """Files that ROOT and others wrote, with themselves."""
    tried = 0
    for path in sorted((data / "rntuple").glob("*.root")):
        file = nyssa.open(path)
        for name in file.keys(filter_classname="ROOT::RNTuple", cycle=False):
            one = f"{path}:{name}"
            merged = tmp_path / f"{tried}.root"
            report = nyssa.merge([one, one], merged)
            entries = nyssa.open(one).num_entries
            assert report["entries"] == 2 * entries
            tried += 1
            before, after = nyssa.open(one), nyssa.open(f"{merged}:{name}")
            keys, stop = before.keys(), min(entries, 100)
            for key in keys[:: max(1, len(keys) // 10)]:
                try:
                    array = before[key].array(entry_stop=stop)
                except NotImplementedError:
                    continue
                values = str(ak.to_list(array))
                assert str(ak.to_list(after[key].array(entry_stop=stop))) == values, (path, key)
                second = after[key].array(entry_start=entries, entry_stop=entries + stop)
                assert str(ak.to_list(second)) == values, (path, key)
    assert tried > 10
