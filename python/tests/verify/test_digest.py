"""Digests are equal for a tree and its RNTuple, differ for other values, and are as documented."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
import xxhash

import nyssa

COUNT = 2000
SEED = 7


def values() -> dict[str, Any]:
    """Return columns of many kinds. Seven events have no items in them."""
    noise = np.random.default_rng(SEED)
    lengths = noise.integers(0, 5, COUNT)
    lengths[:7] = 0
    items = int(lengths.sum())
    return {
        "run": noise.integers(-5, 5, COUNT).astype(np.int16),
        "event": noise.integers(0, 2**63, COUNT).astype(np.uint64) * np.uint64(2),
        "good": noise.integers(0, 2, COUNT).astype(bool),
        # All bits are random, including NaN with payloads, so that nothing can be compressed.
        "mass": noise.integers(0, 2**64, COUNT, dtype=np.uint64).view(np.float64),
        "cov": noise.normal(size=(COUNT, 3)).astype(np.float32),
        "label": ak.Array([f"event {number}" * (number % 3) for number in range(COUNT)]),
        "Jet": ak.zip(
            {
                "pt": ak.unflatten(noise.normal(size=items).astype(np.float32), lengths),
                "id": ak.unflatten(noise.integers(0, 99, items).astype(np.uint8), lengths),
            }
        ),
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a TTree in small baskets, compressed with zstd, as ROOT does it."""
    path = tmp_path_factory.mktemp("digest") / "tree.root"
    data = values()
    types = {name: getattr(array, "dtype", None) for name, array in data.items()}
    types["Jet"] = data["Jet"].type.content
    types["cov"] = np.dtype((np.float32, (3,)))
    types["label"] = str
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        file.mktree("Events", types)
        for start in range(0, COUNT, 300):
            file["Events"].extend({name: a[start : start + 300] for name, a in data.items()})
    return path


def hexadecimal(form: str, array: np.ndarray[Any, Any]) -> str:
    """Return the XXH3 of the little-endian values, as the documentation defines it."""
    return xxhash.xxh3_128_hexdigest(np.ascontiguousarray(array, dtype=form).tobytes())


def line(path: str, array: Any, form: str) -> str:
    array = np.asarray(array)
    return f"{path} {array.size} {hexadecimal(form, array)}\n"


def text(strings: Any) -> str:
    """Return the lines of texts: all lengths, and all characters."""
    stored = [string.encode() for string in strings.to_list()]
    lengths = line("text", list(map(len, stored)), "<i8")
    return lengths + line("text/bytes", np.frombuffer(b"".join(stored), "u1"), "u1")


def expected() -> dict[str, str]:
    """Return the digests by their definition, by another implementation of XXH3."""
    data = values()
    jets = data["Jet"]
    empty = xxhash.xxh3_128_hexdigest(b"")
    lengths = ak.num(jets.pt)
    signed = data["event"].view(np.int64)
    lines = {
        "run": line("int", data["run"], "<i8"),
        "event": line("int", signed, "<i8"),
        "good": line("bool", data["good"], "u1"),
        "mass": line("float64", data["mass"], "<f8"),
        "cov": f"array[3] {COUNT} {empty}\n" + line("array[3]/float32", data["cov"], "<f4"),
        "label": text(data["label"]),
        "nJet": line("int", lengths, "<i8"),
        "Jet_pt": line("list", lengths, "<i8") + line("list/float32", ak.flatten(jets.pt), "<f4"),
        "Jet_id": line("list", lengths, "<i8") + line("list/int", ak.flatten(jets.id), "<i8"),
    }
    return {name: xxhash.xxh3_128_hexdigest(text.encode()) for name, text in lines.items()}


def digests(report: dict[str, Any]) -> dict[str, str]:
    """Return digests by name, from a report of digests or of a conversion."""
    if "digests" in report:
        return {column["name"]: column["digest"] for column in report["digests"]}
    return {field["branch"]: field["digest"] for field in report["fields"]}


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `nyssa` with these arguments; return exit code and outputs."""
    call = [sys.executable, "-m", "nyssa", *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_as_it_is_defined(tree: Path) -> None:
    assert digests(nyssa.digest(tree)) == expected()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layout": "vectors"},
        {"compression": "lz4", "cluster_size": "4 kB", "threads": 3},
        {"compression": "none", "cluster_size": "2 kB", "threads": 1, "memory": "2 MB"},
    ],
    ids=["importer", "vectors", "many clusters", "one thread"],
)
def test_a_conversion_reports_them(tree: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    """The digest does not depend on layout, compression, clusters, threads and format."""
    output = tmp_path / "out.root"
    report = nyssa.convert(tree, output, **options)
    assert digests(report) == expected()
    assert (report["first_entry"], report["entries"]) == (0, COUNT)
    found = nyssa.digest(output)
    assert found["hash"] == report["digest_hash"]
    assert digests(found) == expected()
    compared = nyssa.digest(output, compare=report)
    assert (compared["equal"], compared["compared"]) == (True, 9)
    assert nyssa.digest(tree, compare=report)["equal"]
    assert nyssa.digest(tree, compare=found)["equal"]


def test_a_range_of_entries(tree: Path, tmp_path: Path) -> None:
    report = nyssa.convert(tree, tmp_path / "out.root", entry_start=500, entry_stop=1234)
    assert (report["first_entry"], report["entries"]) == (500, 734)
    assert nyssa.digest(tmp_path / "out.root", compare=report)["equal"]
    assert nyssa.digest(tree, compare=report)["equal"]
    part = nyssa.digest(tree, entry_start=500, entry_stop=1234)
    assert digests(part) == digests(report)
    assert digests(nyssa.digest(tree, filter_name="mass")).keys() == {"mass"}


def test_all_branches_of_a_nanoaod(nano: Path, tmp_path: Path) -> None:
    report = nyssa.convert(f"{nano}:Events", tmp_path / "out.root")
    found = digests(report)
    assert len(found) == 947
    assert None not in found.values()
    assert digests(nyssa.digest(f"{nano}:Events")) == found
    fields = nyssa.digest(tmp_path / "out.root", compare=report)
    assert (fields["equal"], fields["compared"], fields["extra"]) == (True, 947, [])


def flipped(tree: Path, folder: Path) -> Path:
    """Return the tree with one byte of the noise in a basket of `mass` changed."""
    whole = bytearray(tree.read_bytes())
    value = values()["mass"][700]
    place = whole.find(np.array([value], dtype=">f8").tobytes())
    assert place > 0
    whole[place + 6] ^= 1
    damaged = folder / "damaged.root"
    damaged.write_bytes(whole)
    return damaged


def test_a_changed_value_that_still_decodes(tree: Path, tmp_path: Path) -> None:
    """Only a digest finds the change; `verify` reports that there is no checksum."""
    report = tmp_path / "report.json"
    code, _, err = command("convert", tree, tmp_path / "out.root", "--report", report)
    assert (code, err) == (0, "")
    damaged = flipped(tree, tmp_path)
    code, out, _ = command("verify", damaged)
    assert code == 0
    assert "sound" not in out
    assert out.splitlines()[-2] == "no problem found: 1 key checked"
    baskets = out.splitlines()[1].split()[3]
    assert out.splitlines()[-1] == (
        f"note: {baskets} of {baskets} pages and baskets have no checksum, so damage to their "
        f"values may stay unseen"
    )
    document = json.loads(command("verify", damaged, "--json")[1])
    assert document["sound"] is None
    assert document["checksums"] == {"present": 0, "absent": int(baskets)}
    assert document["datasets"][0]["decoded"] == int(baskets)

    code, out, err = command("digest", damaged, "--compare", report)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].split() == ["column", "in", "the", "report", "found"]
    assert lines[1].split()[:2] == ["mass", expected()["mass"]]
    assert lines[2] == "different: 1 of 9 columns, 2,000 entries compared"
    assert command("digest", damaged, "--compare", report, "--quiet")[1].splitlines() == lines[:2]
    for sound in (tree, tmp_path / "out.root"):
        code, out, err = command("digest", sound, "--compare", report)
        assert (code, out, err) == (0, "equal: 9 columns, 2,000 entries compared\n", "")
    assert command("digest", tree, "--compare", report, "--quiet") == (0, "", "")


def test_for_people_and_for_machines(tree: Path, tmp_path: Path) -> None:
    code, out, err = command("digest", tree, "--filter", "n*")
    assert (code, out, err) == (0, f"{expected()['nJet']}  nJet\n", "")
    earlier = tmp_path / "earlier.json"
    earlier.write_text(command("digest", tree, "--json")[1])
    code, out, _ = command("digest", tree, "--compare", earlier)
    assert (code, out) == (0, "equal: 9 columns, 2,000 entries compared\n")


def test_columns_that_one_side_lacks(tree: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    report = nyssa.convert(tree, output, exclude="mass")
    compared = nyssa.digest(tree, compare=report)
    assert (compared["equal"], compared["extra"]) == (True, ["mass"])
    compared = nyssa.digest(output, compare=nyssa.digest(tree))
    assert (compared["equal"], compared["missing"]) == (False, ["mass"])


def test_what_is_no_report(tree: Path, tmp_path: Path) -> None:
    for report in ({}, {"entries": 3}, nyssa.digest(tree) | {"hash": "md5"}):
        with pytest.raises(ValueError, match="report"):
            nyssa.digest(tree, compare=report)
    code, _, err = command("digest", tree, "--compare", tmp_path / "no.json")
    assert (code, err) == (
        3,
        f"error: cannot read {tmp_path / 'no.json'}: No such file or directory (os error 2)\n",
    )


def test_streamed_objects_have_digests(data: Path, tmp_path: Path) -> None:
    """The digest is that of the objects, not of their bytes."""
    source = data / "ttree" / "uproot-HZZ-objects.root"
    report = nyssa.convert(source, tmp_path / "out.root", streamer=["MET", "*P3*"])
    found = digests(report)
    assert found == digests(nyssa.digest(source))
    assert nyssa.digest(tmp_path / "out.root", compare=report)["equal"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_column_that_some_files_lack_is_named(tmp_path: Path, order: int) -> None:
    paths = [tmp_path / "one.root", tmp_path / "two.root"]
    for path, columns in zip(paths, (["x"], ["x", "y"]), strict=True):
        with uproot.recreate(path) as file:
            file.mktree("Events", dict.fromkeys(columns, np.arange(3)))
    code, out, _ = command("digest", *paths[::order], "--json")
    report = json.loads(out)
    assert code == 4
    assert [one["name"] for one in report["digests"]] == ["x"]
    (lacking,) = report["undigested"]
    assert lacking["name"] == "y"
    assert lacking["reason"].startswith(f'{paths[0]}: y: there is no "y"')
