"""What ROOT writes beyond plain fields, nyssa reads: all types, all structures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.root import Root

TYPES = r"""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <variant>

namespace reading {
using Var = std::variant<std::int32_t, std::string>;
enum class Color : std::uint16_t { Red = 1, Blue = 700 };
struct Empty {};
struct Base { float x = 0; };
struct Hit : public Base {
  Var value;
  std::int16_t grid[2][3] = {};
  Double32_t low = 0;
  Color color = Color::Red;
  char letter = 'a';
  std::vector<float> weights;
};

template <typename T> auto make(ROOT::RNTupleModel &model, const char *name) {
  return model.MakeField<T>(name);
}

void types(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto vv = make<std::vector<Var>>(*model, "vv");
  auto ov = make<std::optional<Var>>(*model, "ov");
  auto nested = make<std::variant<Var, float>>(*model, "nested");
  auto same = make<std::variant<std::int64_t, double>>(*model, "same");
  auto ol = make<std::optional<std::vector<float>>>(*model, "ol");
  auto oo = make<std::optional<std::optional<std::int32_t>>>(*model, "oo");
  auto vo = make<std::vector<std::optional<std::string>>>(*model, "vo");
  auto bits = make<std::bitset<70>>(*model, "bits");
  auto vbits = make<std::vector<std::bitset<3>>>(*model, "vbits");
  auto abits = make<std::array<std::bitset<5>, 2>>(*model, "abits");
  auto tuple = make<std::tuple<std::int8_t, std::pair<float, std::string>>>(*model, "tuple");
  auto map = make<std::map<std::string, std::int32_t>>(*model, "map");
  auto set = make<std::set<std::int32_t>>(*model, "set");
  auto atomic = make<std::atomic<std::uint32_t>>(*model, "atomic");
  auto byte = make<std::byte>(*model, "byte");
  auto empty = make<Empty>(*model, "empty");
  auto empties = make<std::vector<Empty>>(*model, "empties");
  auto hit = make<Hit>(*model, "hit");
  auto hits = make<std::vector<Hit>>(*model, "hits");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  for (int i = 0; i < 30; i++) {
    vv->clear();
    hits->clear();
    for (int k = 0; k < i % 4; k++) {
      vv->push_back((i + k) % 2 ? Var(i * 10 + k) : Var(std::to_string(i)));
      Hit one;
      one.x = i + 0.5f * k;
      one.value = (i + k) % 3 ? Var(k) : Var("v" + std::to_string(k));
      one.grid[1][2] = i;
      one.low = 0.25 * k;
      one.color = k ? Color::Blue : Color::Red;
      one.letter = 'a' + k;
      if (k % 2) one.weights = {float(i), 1.5f};
      hits->push_back(one);
    }
    *hit = hits->empty() ? Hit() : hits->back();
    *ov = i % 3 == 0 ? std::optional<Var>() : std::optional<Var>(Var(i));
    *nested = i % 2 ? std::variant<Var, float>(Var("n")) : std::variant<Var, float>(2.5f);
    if (i % 2) *same = std::int64_t(1) << 60 | i; else *same = i * 0.5;
    if (i % 4) *ol = std::vector<float>(i % 4 - 1, i); else ol->reset();
    if (i % 3 == 0) oo->reset(); else *oo = std::optional<std::int32_t>();
    if (i % 3 == 2) *oo = std::optional<std::int32_t>(i);
    *vo = {std::nullopt, "s" + std::to_string(i)};
    bits->reset(); bits->set(i); bits->set(69);
    vbits->assign(i % 3, std::bitset<3>(i % 8));
    (*abits)[0] = i; (*abits)[1] = 31 - i;
    *tuple = {std::int8_t(-i), {i * 0.5f, std::string(i % 3, 'x')}};
    map->clear(); set->clear();
    for (int k = 0; k < i % 3; k++) { (*map)[std::to_string(k)] = i; set->insert(k); }
    *atomic = 4000000000u + i;
    *byte = std::byte(200 + i);
    empties->resize(i % 2);
    writer->Fill();
    if (i == 11) writer->CommitCluster();
  }
}
}
"""


def expected(i: int) -> dict[str, Any]:
    """Return entry `i` of the file that the C++ above writes."""

    def hit(i: int, k: int) -> dict[str, Any]:
        return {
            ":_0": {"x": i + 0.5 * k},
            "value": k if (i + k) % 3 else f"v{k}",
            "grid": [[0, 0, 0], [0, 0, i]],
            "low": 0.25 * k,
            "color": 700 if k else 1,
            "letter": 97 + k,
            "weights": [i, 1.5] if k % 2 else [],
        }

    none = {**hit(0, 0), "value": 0}
    hits = [hit(i, k) for k in range(i % 4)]

    def digits(value: int, size: int) -> list[bool]:
        return [bool(value >> bit & 1) for bit in range(size)]

    return {
        "vv": [i * 10 + k if (i + k) % 2 else str(i) for k in range(i % 4)],
        "ov": [i] if i % 3 else [],
        "nested": "n" if i % 2 else 2.5,
        "same": 1 << 60 | i if i % 2 else i * 0.5,
        "ol": [i] * (i % 4 - 1) if i % 4 else None,
        "oo": [[], [None], [i]][i % 3],
        "vo": [None, f"s{i}"],
        "bits": digits(1 << i | 1 << 69, 70),
        "vbits": [digits(i % 8, 3)] * (i % 3),
        "abits": [digits(i, 5), digits(31 - i & 31, 5)],
        "tuple": {"_0": -i, "_1": {"_0": i * 0.5, "_1": "x" * (i % 3)}},
        "map": [{"_0": str(k), "_1": i} for k in range(i % 3)],
        "set": list(range(i % 3)),
        "atomic": 4000000000 + i,
        "byte": 200 + i,
        "empty": {},
        "empties": [{}] * (i % 2),
        "hit": hits[-1] if hits else none,
        "hits": hits,
    }


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory, root: Root) -> Path:
    """Return a file with a field of every kind."""
    path = tmp_path_factory.mktemp("types") / "types.root"
    root.call("cpp", TYPES, f'reading::types("{path}")')
    return path


def test_every_type(types: Path) -> None:
    """All entries, and every kind of range that cuts a cluster."""
    dataset = nyssa.open(types)["ntpl"]
    assert dataset.unreadable == {}
    want = [expected(i) for i in range(30)]
    for start, stop in [(0, 30), (0, 5), (3, 12), (5, 17), (11, 13), (12, 30), (29, 30), (7, 7)]:
        arrays = dataset.arrays(entry_start=start, entry_stop=stop)
        assert arrays.fields == list(want[0])
        for field in arrays.fields:
            found = arrays[field].to_list()
            assert found == [one[field] for one in want[start:stop]], (field, start, stop)


def test_every_type_in_arrow_and_pandas(types: Path) -> None:
    """The same values through other libraries."""
    dataset = nyssa.open(types)["ntpl"]
    names = [name for name in dataset if not name.startswith("empt")]
    table = dataset.arrays(names, library="arrow").to_pylist()
    assert table == [{name: expected(i)[name] for name in names} for i in range(30)]
    frame = dataset.arrays(["ov", "vv", "same"], library="pd")
    assert frame["same"].tolist() == [expected(i)["same"] for i in range(30)]
    assert dataset.arrays(["same"], library="np")["same"].dtype == object


def test_entries_in_any_order(types: Path, nano: Path) -> None:
    """`take` gives what a full read gives at these entries, of RNTuples and of TTrees."""
    indices = [29, 0, 12, 12, 11, 3, 28, 0]
    for dataset in [nyssa.open(types)["ntpl"], nyssa.open(nano)["Events"]]:
        names = dataset.readable
        every, some = dataset.arrays(names), dataset.take(indices, names)
        for name in names:
            whole = every[name].to_list()
            assert repr(some[name].to_list()) == repr([whole[i] for i in indices]), name
        assert len(dataset.take([], names[:2])) == 0
        assert dataset.take(np.array(indices), names[:1], library="pd").shape == (8, 1)
        for wrong in ([-1], [dataset.num_entries], [0.5], [[1]]):
            with pytest.raises(nyssa.errors.ArgumentError):
                dataset.take(wrong)


def test_cat_prints_every_type(types: Path) -> None:
    """The notation of the validation suite."""
    run = [sys.executable, "-m", "nyssa", "cat", str(types), "--json"]
    found = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    assert len(found) == 30
    for i, entry in enumerate(found):
        want = expected(i)
        assert entry["vv"] == want["vv"]
        assert entry["ov"] == (i if i % 3 else None)
        assert entry["nested"] == ("n" if i % 2 else "0x1.4p+1")
        assert entry["oo"] == (i if i % 3 == 2 else None)
        assert entry["vo"] == want["vo"]
        assert entry["bits"] == f"{1 << i | 1 << 69:070b}"
        assert entry["abits"] == [f"{i:05b}", f"{31 - i & 31:05b}"]
        assert [entry["tuple"][0], entry["tuple"][1][1]] == [-i, "x" * (i % 3)]
        assert float.fromhex(entry["tuple"][1][0]) == i * 0.5
        assert entry["byte"] == 200 + i
        assert entry["hit"]["grid"] == want["hit"]["grid"]
        assert entry["hit"]["color"] == want["hit"]["color"]
        assert set(entry["hit"][":_0"]) == {"x"}


REALS = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <random>
namespace reals {
template <typename T>
std::shared_ptr<T> add(ROOT::RNTupleModel &model, const std::string &name, int kind, int bits) {
  auto field = std::make_unique<ROOT::RField<T>>(name);
  if (kind == 0) field->SetTruncated(bits);
  if (kind == 1) field->SetQuantized(-3.7, 11.3, bits);
  if (kind == 2) field->SetHalfPrecision();
  if (kind == 3) field->SetColumnRepresentatives({{ROOT::ENTupleColumnType::kSplitReal32}});
  model.AddField(std::move(field));
  return model.GetDefaultEntry().GetPtr<T>(name);
}
void write(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  std::vector<std::shared_ptr<float>> floats;
  std::vector<std::shared_ptr<double>> doubles;
  auto both = [&](const std::string &name, int kind, int bits) {
    floats.push_back(add<float>(*model, "f_" + name, kind, bits));
    doubles.push_back(add<double>(*model, "d_" + name, kind, bits));
  };
  for (int bits = 10; bits <= 31; bits++) both("trunc" + std::to_string(bits), 0, bits);
  for (int bits = 1; bits <= 32; bits++) both("quant" + std::to_string(bits), 1, bits);
  both("half", 2, 16);
  both("split32", 3, 32);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-3.7, 11.3);
  for (int i = 0; i < 1000; i++) {
    const double value = i == 0 ? -3.7 : i == 1 ? 11.3 : uniform(random);
    for (auto &one : floats) *one = std::max(-3.7f + 1e-6f, std::min(11.3f - 1e-6f, float(value)));
    for (auto &one : doubles) *one = value;
    writer->Fill();
    if (i == 333) writer->CommitCluster();
  }
}
}
"""


def test_low_precision_to_the_last_bit(tmp_path: Path, root: Root) -> None:
    """Truncated, quantised and half-precision reals in float and double fields."""
    path = tmp_path / "reals.root"
    root.call("cpp", REALS, f'reals::write("{path}")')
    dataset = nyssa.open(path)["ntpl"]
    assert len(dataset) == 2 * (22 + 32 + 2)
    ours = dataset.arrays(library="np")
    theirs = root.call("numpy", str(path), "ntpl", list(dataset))
    for name, array in ours.items():
        assert array.dtype == (np.float32 if name.startswith("f") else np.float64)
        assert array.tobytes() == np.asarray(theirs[name], dtype=array.dtype).tobytes(), name
    cut = dataset.arrays(entry_start=300, entry_stop=700, library="np")
    for name, array in cut.items():
        assert array.tobytes() == ours[name][300:700].tobytes(), name


STRUCTURE = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <variant>
namespace structure {
using Late = std::variant<std::int32_t, std::vector<float>>;
void keys(const char *path, unsigned long size, int compression) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<std::int64_t>("x");
  auto v = model->MakeField<std::vector<float>>("v");
  for (int i = 0; i < 40; i++) model->MakeField<float>("another_field_" + std::to_string(i));
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(compression);
  ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(options, size);
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path, options);
  for (int i = 0; i < 3000; i++) {
    *x = i * 1234567;
    v->assign(i % 5, i * 0.7f);
    writer->Fill();
    if (i % 1000 == 500) writer->CommitCluster(true);
  }
}
void late(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto n = model->MakeField<std::int32_t>("n");
  std::vector<std::unique_ptr<ROOT::RFieldBase>> members;
  members.push_back(std::make_unique<ROOT::RField<float>>("a"));
  model->AddField(std::make_unique<ROOT::RRecordField>("record", std::move(members)));
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  auto entry = writer->CreateEntry();
  auto number = entry->GetPtr<std::int32_t>("n");
  for (int i = 0; i < 25; i++) {
    if (i == 7) {
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate();
      updater->AddField(std::make_unique<ROOT::RField<Late>>("variant"));
      updater->AddField(std::make_unique<ROOT::RField<std::vector<std::string>>>("strings"));
      updater->AddField(std::make_unique<ROOT::RField<std::optional<double>>>("optional"));
      updater->AddField(std::make_unique<ROOT::RField<std::array<bool, 3>>>("array"));
      updater->CommitUpdate();
      entry = writer->CreateEntry();
      number = entry->GetPtr<std::int32_t>("n");
    }
    *number = i;
    if (i >= 7) {
      auto variant = entry->GetPtr<Late>("variant");
      if (i % 2) *variant = i; else *variant = std::vector<float>(i % 3, i);
      *entry->GetPtr<std::vector<std::string>>("strings") = {"late", std::to_string(i)};
      *entry->GetPtr<std::optional<double>>("optional") = i * 0.5;
      *entry->GetPtr<std::array<bool, 3>>("array") = {true, false, i % 2 == 0};
    }
    writer->Fill(*entry);
    if (i == 4 || i == 15) writer->CommitCluster(true);
  }
}
void several(const char *path) {
  auto file = std::unique_ptr<TFile>(TFile::Open(path, "RECREATE"));
  file->mkdir("a/b");
  for (int i = 0; i < 3; i++) {
    auto model = ROOT::RNTupleModel::Create();
    auto x = model->MakeField<std::int32_t>("x");
    auto *dir = i == 2 ? file->GetDirectory("a/b") : file.get();
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), "n" + std::to_string(i), *dir);
    for (int k = 0; k < 10; k++) { *x = 100 * i + k; writer->Fill(); }
  }
}
void attributes(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<std::int32_t>("x");
  auto file = std::unique_ptr<TFile>(TFile::Open(path, "RECREATE"));
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntpl", *file);
  auto about = ROOT::RNTupleModel::Create();
  auto number = about->MakeField<std::int32_t>("run");
  auto comment = about->MakeField<std::string>("comment");
  auto runs = writer->CreateAttributeSet(std::move(about), "runs");
  auto other = ROOT::RNTupleModel::Create();
  other->MakeField<double>("unused");
  auto empty = writer->CreateAttributeSet(std::move(other), "empty");
  for (int run = 0; run < 3; run++) {
    auto range = runs->BeginRange();
    *number = 1000 + run;
    *comment = std::string(run, '!');
    for (int i = 0; i < 10 * run; i++) { *x = i; writer->Fill(); }
    runs->CommitRange(std::move(range));
  }
}
}
"""


@pytest.fixture(scope="module")
def structure(root: Root) -> Root:
    """Return ROOT with the C++ above."""
    root.call("cpp", STRUCTURE, "1;")
    return root


@pytest.mark.parametrize("size", [600, 5000])
@pytest.mark.parametrize("compression", [0, 505])
def test_blobs_over_several_keys(
    tmp_path: Path, structure: Root, size: int, compression: int
) -> None:
    """Pages and envelopes that are larger than a key."""
    path = tmp_path / "keys.root"
    structure.call("cpp", "", f'structure::keys("{path}", {size}, {compression})')
    dataset = nyssa.open(path)["ntpl"]
    arrays = dataset.arrays()
    i = np.arange(3000)
    assert arrays["x"].to_list() == (i * 1234567).tolist()
    assert ak.num(arrays["v"]).to_list() == (i % 5).tolist()
    values = np.repeat((i * np.float32(0.7)).astype(np.float32), i % 5)
    assert np.array_equal(ak.flatten(arrays["v"]), values)
    assert dataset.arrays(["x"], entry_start=490, entry_stop=510)["x"].to_list() == [
        1234567 * entry for entry in range(490, 510)
    ]
    verify = [sys.executable, "-m", "nyssa", "verify", str(path)]
    assert subprocess.run(verify, capture_output=True).returncode == 0


def test_late_fields(tmp_path: Path, structure: Root) -> None:
    """Fields that were added while writing hold nothing before, in every range."""
    path = tmp_path / "late.root"
    structure.call("cpp", "", f'structure::late("{path}")')

    def want(i: int) -> dict[str, Any]:
        late = i >= 7
        return {
            "n": i,
            "record": {"a": 0},
            "variant": (i if i % 2 else [i] * (i % 3)) if late else None,
            "strings": ["late", str(i)] if late else [],
            "optional": i * 0.5 if late else None,
            "array": [True, False, i % 2 == 0] if late else [False] * 3,
        }

    dataset = nyssa.open(path)["ntpl"]
    for start in range(26):
        for stop in range(start, 26):
            found = dataset.arrays(entry_start=start, entry_stop=stop).to_list()
            assert found == [want(i) for i in range(start, stop)], (start, stop)


def test_several_in_directories(tmp_path: Path, structure: Root) -> None:
    """Each is found and read."""
    path = tmp_path / "several.root"
    structure.call("cpp", "", f'structure::several("{path}")')
    file = nyssa.open(path)
    assert sorted(file.datasets()) == ["a/b/n2", "n0", "n1"]
    for name, first in [("n0", 0), ("n1", 100), ("a/b/n2", 200)]:
        assert file[name]["x"].array().to_list() == list(range(first, first + 10))


def test_attribute_sets(tmp_path: Path, structure: Root) -> None:
    """Names, ranges and values, in Python and on the command line."""
    path = tmp_path / "attributes.root"
    structure.call("cpp", "", f'structure::attributes("{path}")')
    dataset = nyssa.open(path)["ntpl"]
    assert dataset.num_entries == 30
    sets = dataset.attribute_sets
    assert list(sets) == ["runs", "empty"]
    assert sets["empty"].num_entries == 0
    runs = sets["runs"]
    assert isinstance(runs, nyssa.RNTuple)
    # The range without entries is the last that ROOT keeps or none at all.
    by_range = dict(zip(runs.ranges, runs.attributes().to_list(), strict=True))
    assert by_range[(0, 10)] == {"run": 1001, "comment": "!"}
    assert by_range[(10, 30)] == {"run": 1002, "comment": "!!"}
    assert "run" in str(runs["_userData"].arrow_type)
    cat = [sys.executable, "-m", "nyssa", "cat", str(path), "--attributes"]
    lines = subprocess.run(
        [*cat, "--entries", "9:11"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    entries = [json.loads(line) for line in lines]
    assert entries[:2] == [{"x": 9}, {"x": 0}]
    about = [(tuple(e["entries"]), e["values"]["run"]) for e in entries[2:]]
    assert about == [((0, 10), 1001), ((10, 30), 1002)]
    with pytest.raises(KeyError):
        sets["run"]
    verify = [sys.executable, "-m", "nyssa", "verify", str(path), "--json"]
    report = json.loads(subprocess.run(verify, check=True, capture_output=True).stdout)
    assert [one["path"] for one in report["datasets"]] == [
        "ntpl",
        "ntpl, attribute set runs",
        "ntpl, attribute set empty",
    ]


PROJECTIONS = r"""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <bitset>
void nyssa_projections(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto bits = model->MakeField<std::bitset<9>>("bits");
  auto lists = model->MakeField<std::vector<std::vector<float>>>("lists");
  auto text = model->MakeField<std::string>("text");
  auto project = [&](const char *type, const char *name, std::map<std::string, std::string> at) {
    auto field = ROOT::RFieldBase::Create(name, type).Unwrap();
    model->AddProjectedField(std::move(field), [&](const std::string &to) { return at.at(to); });
  };
  project("std::bitset<9>", "p_bits", {{"p_bits", "bits"}});
  project("std::string", "p_text", {{"p_text", "text"}});
  project("std::vector<ROOT::RNTupleCardinality<std::uint32_t>>", "p_sizes",
          {{"p_sizes", "lists"}, {"p_sizes._0", "lists._0"}});
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntpl", path);
  for (int i = 0; i < 20; ++i) {
    *bits = std::bitset<9>(i * 37);
    lists->assign(i % 3, std::vector<float>(i % 5, i));
    *text = std::string(i % 4, 'x');
    writer->Fill();
    if (i % 7 == 6) writer->CommitCluster();
  }
}
"""


def test_projections_of_bitsets_texts_and_inner_sizes(tmp_path: Path, root: Root) -> None:
    """Whatever ROOT projects reads as its source, also once it is written again."""
    path, again = tmp_path / "projections.root", tmp_path / "again.root"
    root.call("cpp", PROJECTIONS, f'nyssa_projections("{path}")')
    nyssa.rewrite(path, again)
    for file in (path, again):
        events = nyssa.open(f"{file}:ntpl").arrays()
        expected = [[bool(i * 37 >> bit & 1) for bit in range(9)] for i in range(20)]
        assert events["bits"].to_list() == events["p_bits"].to_list() == expected
        assert events["p_text"].to_list() == ["x" * (i % 4) for i in range(20)]
        assert events["p_sizes"].to_list() == [[i % 5] * (i % 3) for i in range(20)]
    described = root.call("described", str(again), "ntpl")
    assert ("p_bits", "std::bitset<9>", "bits") in [(one[0], one[1], one[-1]) for one in described]
    views = root.call("typed_views", str(again), "ntpl", [("p_bits", "std::bitset<9>")])
    assert views["p_bits"] == expected
