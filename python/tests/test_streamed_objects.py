"""Streamer fields read to the values that ROOT reads.

The files in `streamed` were written by ROOT 6.40 with `streamed/objects.cxx`, which also wrote what
ROOT reads back as JSON, one entry a line.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import nyssa
from root_oracle import Root

pa = pytest.importorskip("pyarrow")

FOLDER = Path(__file__).parent / "streamed"
#: ROOT's JSON has these, nyssa has not: class names, and process ids, which are the process's own.
LEFT_OUT = {"_typename", "fPID"}
#: Nyssa has these, ROOT's JSON has not.
EXTRA = {"fName", "fLowerBound", "fUniqueID", "fBits", "fN"}


def _flat(value: Any) -> Any:
    """Put the members of base classes beside those of the class, as ROOT's JSON does."""
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for name, member in value.items():
            if name.startswith(":_"):
                base = _flat(member)
                # `TH1F` is a `TArrayF`, which is no record but a list.
                out.update(base if isinstance(base, dict) else {"fArray": base})
            elif name not in LEFT_OUT:
                out[name] = _flat(member)
        return out
    return [_flat(item) for item in value] if isinstance(value, list) else value


def _differences(ours: Any, theirs: Any, place: str = "") -> list[Any]:
    if isinstance(theirs, dict) and not isinstance(ours, dict):
        # `TArrayD` and the like are lists for nyssa.
        theirs = theirs.get("fArray")
    if isinstance(theirs, dict) and ("$pair" in theirs or "_1" in ours):
        theirs = {"_0": theirs["first"], "_1": theirs["second"]}
    if isinstance(theirs, dict) and "arr" in theirs:
        return _differences(ours["items"], theirs["arr"], place)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        named = set(theirs) - LEFT_OUT
        out: list[Any] = [(place, name) for name in named ^ set(ours) if name not in EXTRA]
        for name in named & set(ours):
            out += _differences(ours[name], theirs[name], f"{place}.{name}")
        return out
    if isinstance(theirs, list) and isinstance(ours, list):
        if ours and isinstance(ours[0], dict) and len(theirs) == 2 * len(ours):
            # A map of numbers inside a map: keys and values in turn.
            ours = [number for pair in ours for number in (pair["_0"], pair["_1"])]
        if len(ours) != len(theirs):
            return [(place, len(ours), len(theirs))]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (a, b) in pairs for d in _differences(a, b, f"{place}[{i}]")]
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        # ROOT's JSON has 7 digits of a float, 15 of a double.
        return [] if ours == pytest.approx(theirs, rel=2e-7, abs=1e-7) else [(place, ours, theirs)]
    return [] if ours == theirs else [(place, ours, theirs)]


def _read(name: str) -> tuple[list[Any], list[Any]]:
    table = pa.table(nyssa.open(FOLDER / f"{name}.root")["ntpl"])
    ours = [_flat(entry) for entry in table.column("f").to_pylist()]
    theirs = [json.loads(line) for line in (FOLDER / f"{name}.json").read_text().splitlines()]
    assert len(ours) == len(theirs) == 5
    return ours, theirs


@pytest.mark.parametrize("name", ["Numbers", "Root"])
def test_objects_equal_root(name: str) -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read(name), strict=True)):
        assert _differences(ours, theirs, f"entry {entry}") == []


def test_containers_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Stl"), strict=True)):
        # Hash maps come in any order.
        ours["um"].sort(key=lambda pair: pair["_0"])
        theirs["um"].sort(key=lambda pair: pair["first"])
        assert _differences(ours, theirs, f"entry {entry}") == []


def test_pointers_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Pointers"), strict=True)):
        if isinstance(theirs["again"], dict):
            # ROOT's JSON refers to the object by number; it is the one before.
            assert theirs["again"] == {"$ref": 2}
            theirs["again"] = theirs["poly"]
        assert _differences(ours, theirs, f"entry {entry}") == []


def test_deep_objects_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Nested"), strict=True)):
        # ROOT's JSON leaves out arrays of pointers, the number of a date, and bits that only matter
        # in memory; these are the values that `objects.cxx` gives.
        assert ours.pop("pair") == [list(range(entry)), [-i for i in range(entry)]]
        year, month, day, hour, minute, second = 2024 - 1995, 1, 2, 3, 4, 5
        date = year << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second
        assert ours.pop("date") == date
        del theirs["pair"], theirs["date"]
        if theirs["hist"] is not None:
            theirs["hist"]["fBits"] |= ours["hist"]["fBits"] & 8
        assert _differences(ours, theirs, f"entry {entry}") == []


def test_a_class_without_streamer_info_is_refused() -> None:
    table = nyssa.open(FOLDER / "Missing.root")["ntpl"]
    with pytest.raises(nyssa.UnsupportedError, match="no streamer info of class Plain"):
        table.arrays()


def test_raw_objects_are_bytes() -> None:
    raw = nyssa.open(FOLDER / "Numbers.root", streamer="raw")["ntpl"]
    objects = pa.table(raw).column("f").to_pylist()
    # A byte count, class version 1, then `bool` and `char`.
    assert [entry[:8] for entry in objects] == [
        bytes([0x40, 0, 0, 0x9D, 0, 1, k % 2, ord("a") + k]) for k in range(5)
    ]
    with pytest.raises(nyssa.ArgumentError, match="streamer is"):
        nyssa.open(FOLDER / "Numbers.root", streamer="bytes")


_HISTOGRAMS = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TBufferJSON.h>
#include <TH1F.h>
#include <fstream>
auto histograms() {
  auto model = ROOT::RNTupleModel::Create();
  model->AddField(std::make_unique<ROOT::RStreamerField>("h", "TH1F"));
  return model;
}
void write_histograms(const char *path) {
  auto writer = ROOT::RNTupleWriter::Recreate(histograms(), "ntpl", path);
  auto h = writer->GetModel().GetDefaultEntry().GetPtr<TH1F>("h");
  h->SetBins(3, 0, 3); h->SetDirectory(nullptr);
  for (int k = 0; k < 5; k++) { h->Fill(k * 0.7); writer->Fill(); }
}
void read_histograms(const char *path, const char *out) {
  auto reader = ROOT::RNTupleReader::Open(histograms(), "ntpl", path);
  auto h = reader->GetModel().GetDefaultEntry().GetPtr<TH1F>("h");
  std::ofstream json(out);
  for (auto entry : reader->GetEntryRange()) {
    reader->LoadEntry(entry);
    json << TBufferJSON::ConvertToJSON(h.get(), 3) << std::endl;
  }
}
"""


def test_root_reads_streamed_objects_that_were_rewritten(root: Root, tmp_path: Path) -> None:
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    root.call("cpp", _HISTOGRAMS, f'write_histograms("{source}")')
    command = [sys.executable, "-m", "nyssa", "rewrite", str(source), str(output)]
    subprocess.run(command, check=True, capture_output=True)
    texts = []
    for path in (source, output):
        out = tmp_path / f"{path.stem}.json"
        root.call("cpp", "", f'read_histograms("{path}", "{out}")')
        texts.append(out.read_text())
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) == 5
    # ROOT's bin contents are nyssa's.
    entries = pa.table(nyssa.open(output)["ntpl"]).column("h").to_pylist()
    for ours, line in zip(entries, texts[0].splitlines(), strict=True):
        assert ours[":_1"] == json.loads(line)["fArray"]
        assert ours[":_0"]["fEntries"] == json.loads(line)["fEntries"]
    # Their streamer infos become one.
    for options in ({}, {"recluster": "1 MB"}):
        merged, out = tmp_path / "merged.root", tmp_path / "merged.json"
        nyssa.merge([output, source], merged, force=True, **options)
        root.call("cpp", "", f'read_histograms("{merged}", "{out}")')
        assert out.read_text() == 2 * texts[0]
