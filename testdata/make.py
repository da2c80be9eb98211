"""Write the files of this folder with ROOT, and the values that ROOT reads from them.

usage: python testdata/make.py [FOLDER]

The files are written to FOLDER (default: this folder). ROOT 6.40 is needed. Times and UUIDs differ
each time, but the values do not: `python/tests/formats/test_testdata.py` writes all files again and
compares.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CPP = HERE / "cpp"
sys.path[:0] = [str(HERE), str(HERE.parent / "python" / "tests")]

import shapes  # noqa: E402
from support import types  # noqa: E402
from support.root import Root  # noqa: E402
from support.tree_reads import Reader  # noqa: E402

#: Split levels of classes, and the ways in which their containers are streamed.
SPLITS = (0, 1, 2, 99)
STREAMED = ("objects", "members")
#: Compression settings of ROOT.
CODECS = {"none": 0, "zlib": 101, "lzma": 207, "lz4": 404, "zstd": 505}
#: Number of entries at the start and at the end whose values are written, for large trees.
MOST = 30


def make_trees(to: Path) -> None:
    """Write the TTrees, and the values that ROOT reads from each top-level branch."""
    to.mkdir(parents=True, exist_ok=True)
    (to / "shapes").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        libraries = {name: Path(folder) / name for name in ("kinds", "evolved")}
        for name, statements in _statements(to).items():
            root = Root()
            if name in libraries:
                root.call("library", str(CPP / f"{name}.cxx"), str(libraries[name]))
            else:
                code = shapes.code() if name == "shapes" else (CPP / f"{name}.cxx").read_text()
                root.call("cpp", code, "")
            root.call("cpp", "", "".join(f"{one};" for one in statements))
            root.close()
        for path in to.glob("shapes/*.root.*"):
            path.unlink()  # What the shapes of several files were made of.
        _lines(to / "values.jsonl", _tree_values(to, libraries, Path(folder) / "read.jsonl"))


def _statements(to: Path) -> dict[str, list[str]]:
    """Return the C++ statements that write the files, by the classes that they need."""
    kinds = [
        f'write_objects("{to}/{way}{split}.root", {split}, {int(way == "members")})'
        for split in SPLITS
        for way in STREAMED
    ]
    for kind in ("leaves", "baskets", "references", "copied"):
        kinds.append(f'write_{kind}("{to}/{kind}.root")')
    kinds += [f'write_first("{to}/both{split}.root", {split})' for split in SPLITS]
    evolved = [f'write_evolved("{to}/evolved{split}.root", {split})' for split in SPLITS]
    evolved += [f'write_evolved("{to}/both{split}.root", {split}, "Second")' for split in SPLITS]
    trees = [
        f'trees::events("{to}/events-{name}.root", {setting}, 250)'
        for name, setting in CODECS.items()
    ]
    trees.append(f'trees::events("{to}/events-more.root", 505, 120, 250)')
    trees.append(f'trees::friends("{to}/friends.root", "{to}/friend.root")')
    trees.append(f'trees::old_branches("{to}/old_branches.root")')
    odd = [
        f'shape_{number}("{to}/shapes/{name}.root")' for number, name in enumerate(shapes.names())
    ]
    return {"kinds": kinds, "evolved": evolved, "trees": trees, "shapes": odd}


def _tree_values(to: Path, libraries: dict[str, Path], scratch: Path) -> Iterator[dict[str, Any]]:
    """Yield the values of branches, equal ones once: the places, the class, and the entries."""
    readers = {name: Reader(path.with_suffix(".so")) for name, path in libraries.items()}
    readers[""] = Reader()
    root = Root()
    known: dict[str, dict[str, Any]] = {}
    for path in sorted(to.glob("**/*.root")):
        if path.name.startswith("both"):
            continue  # It has the entries of two others; ROOT knows one version of a class.
        plain = path.name.startswith(("events", "friend", "leaves")) or path.parent != to
        library = "" if plain else "evolved" if path.name.startswith("evolved") else "kinds"
        file = str(path.relative_to(to))
        most = MOST if path.name == "baskets.root" else 1000
        names = _names(root, path, "TTree", "TNtuple")
        found = readers[library].read(path, names, scratch, most)
        for (tree, branch), one in found.items():
            if "error" in one:
                # ROOT crashes on its own offset maps of split branches.
                assert (path.name, tree) == ("baskets.root", "map99")
                continue
            # The order of the items of hash containers is arbitrary.
            value = {"class": one["class"], "entries": [_ordered(it) for it in one["entries"]]}
            known.setdefault(json.dumps(value), {"at": [], **value})["at"].append(
                [file, tree, branch]
            )
    root.close()
    for reader in readers.values():
        reader.close()
    yield from known.values()


def _ordered(entry: Any) -> Any:
    if isinstance(entry, dict) and "um" in entry and "us" in entry:
        entry["us"].sort()
        entry["um"].sort(key=str)
    return entry


def make_rntuples(to: Path) -> None:
    """Write the RNTuples, and the values that ROOT reads from each field by a typed view."""
    to.mkdir(parents=True, exist_ok=True)
    root = Root()
    root.call("dictionaries", types.DICTIONARIES, types.HEADERS)
    root.call("cpp", types.code(), f'support::write("{to}/types.root")')
    code = (CPP / "ntuples.cxx").read_text()
    root.call("cpp", code, f'reading::types("{to}/structures.root")')
    calls = [
        f'reals::write("{to}/reals.root")',
        f'projections::write("{to}/projections.root")',
        *[f'structure::{name}("{to}/{name}.root")' for name in ("late", "several", "attributes")],
        *[
            f'storage::{name}("{to}/{name}.root")'
            for name in ("plain", "cycles", "representations")
        ],
        *[f'storage::codec("{to}/codec-{name}.root", {CODECS[name]})' for name in CODECS],
    ]
    for size in (600, 5000):
        calls += [f'structure::keys("{to}/keys-{size}-{c}.root", {size}, {c})' for c in (0, 505)]
    for call in calls:
        root.call("cpp", "", call)
    events = to.parent / "ttree" / "events-zstd.root"
    root.call("import_tree", str(events), "Events", f"{to}/imported.root")
    _lines(to / "values.jsonl", _ntuple_values(root, to))
    root.close()


def _ntuple_values(root: Root, to: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(to.glob("*.root")):
        for name in _names(root, path, "ROOT::RNTuple"):
            fields = root.call("viewed", str(path), name)
            views = root.call("typed_views", str(path), name, fields)
            yield {
                "file": path.name,
                "name": name,
                "fields": {field: [kind, views[field]] for field, kind in fields},
            }
    path = to / "attributes.root"
    runs = root.call("attributes", str(path), "ntpl", "runs", ["run", "comment"])
    yield {"file": path.name, "name": "ntpl", "attributes": {"runs": runs}}


def _names(root: Root, path: Path, *classes: str) -> list[str]:
    """Return the paths of the objects of classes with this prefix."""
    return [name for name, kind in root.call("keys", str(path)).items() if kind.startswith(classes)]


def make_objects(to: Path) -> None:
    """Write histograms, graphs and other objects, and the values that ROOT reads from them."""
    to.mkdir(parents=True, exist_ok=True)
    root = Root()
    root.call("cpp", (CPP / "objects.cxx").read_text(), "")
    stems = ("histograms", "graphs", "others", "dimensions", "stored")
    for name in stems:
        root.call("cpp", "", f'nyssa_objects::{name}("{to}/{name}.root");')
    found: dict[str, Any] = {"histograms": {}, "members": {}}
    for name in ("histograms", "graphs"):
        found["histograms"][name] = root.call("histograms", f"{to}/{name}.root")
    for name in ("histograms", "graphs", "others"):
        path = f"{to}/{name}.root"
        found["members"][name] = root.call("as_json", path, _names(root, Path(path), "T"))
    path = f"{to}/dimensions.root"
    found["sparse"] = {
        name: [[list(place), *values] for place, values in root.call("sparse", path, name).items()]
        for name in ("sparse", "many", "dense")
    }
    found["efficiency"] = root.call("efficiency", path, "efficiency")
    root.close()
    _lines(to / "values.jsonl", ({name: value} for name, value in found.items()))


def _lines(path: Path, values: Iterator[dict[str, Any]]) -> None:
    """Write JSON with one value in each line."""

    def plain(value: Any) -> Any:
        return value.tolist()  # Of NumPy.

    with path.open("w") as file:
        for value in values:
            file.write(json.dumps(value, separators=(",", ":"), default=plain) + "\n")


def make(to: Path) -> None:
    """Write everything."""
    make_trees(to / "ttree")
    make_rntuples(to / "rntuple")
    make_objects(to / "objects")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
