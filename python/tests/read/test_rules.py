"""Read rules and evolved classes on files that ROOT wrote; expected values come from ROOT."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.root import Root

WRITE = """
import sys, ROOT
version, members, path = sys.argv[1:]
ROOT.gInterpreter.Declare(f'''
#include <Rtypes.h>
#include <optional>
#include <vector>
struct Base {{ float x = 0; ClassDefNV(Base, 1); }};
struct Jet : public Base {{ {members} ClassDefNV(Jet, {version}); }};
struct Event {{ std::vector<Jet> jets; Jet lead; ClassDefNV(Event, 1); }};
''')
model = ROOT.RNTupleModel.Create()
model.MakeField["std::vector<Jet>"]("jets")
model.MakeField["Event"]("event")
model.MakeField["std::optional<Jet>"]("best")
writer = ROOT.RNTupleWriter.Recreate(model, "Events", path)
entry = writer.CreateEntry()
for i in range(4):
    jets = entry["jets"]
    jets.clear()
    for k in range(i):
        jet = ROOT.Jet()
        jet.pt, jet.eta, jet.x = 10 * i + k, 0.5 * k, k
        jets.push_back(jet)
    entry["event"].lead.pt = i
    entry["event"].jets = jets
    if i % 2:
        entry["best"] = ROOT.std.optional["Jet"](jets[0])
    writer.Fill(entry)
del writer
"""
MEMBERS = {2: "float pt=0; float eta=0;", 3: "float eta=0; double pt=0; int n=0;"}


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return a file for each version of the class Jet."""
    assert root.call("version")
    folder = tmp_path_factory.mktemp("versions")
    script = folder / "write.py"
    script.write_text(WRITE)
    found = {}
    for version, members in MEMBERS.items():
        found[version] = folder / f"v{version}.root"
        command = [sys.executable, str(script), str(version), members, str(found[version])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        if not found[version].exists() or done.returncode:
            pytest.fail(done.stderr[-2000:])
    return found


@pytest.fixture(scope="module")
def entries(root: Root, files: dict[int, Path]) -> dict[int, list[Any]]:
    """Return the entries of each file as ROOT prints them."""
    return {version: root.call("entries", str(path), "Events") for version, path in files.items()}


def momentum(jet: dict[str, Any]) -> float:
    """Return pz in the precision of the members."""
    return float(np.float64(jet["pt"]) * np.sinh(np.float64(jet["eta"])))


@pytest.fixture
def rules() -> nyssa.ReadRules:
    """Return a rule for each version."""
    rules = nyssa.ReadRules()

    @rules.add("Jet", versions=2, sources=["pt", "eta"], target="pz")
    def pz(pt: Any, eta: Any) -> Any:
        assert isinstance(pt, np.ndarray)
        return pt.astype(np.float64) * np.sinh(eta.astype(np.float64))

    rules.add(
        "J*t",
        versions=(3, 9),
        sources=["x", "pt"],
        target={"pz": "float64", "n": "int16"},
        function=lambda x, pt: (pt * 0 - 1, (x * 2).astype(np.int32)),
    )
    assert len(rules) == 2
    assert repr(rules) == "<ReadRules Jet: pz; J*t: pz, n>"
    return rules


def test_rules_apply_wherever_the_class_is(
    files: dict[int, Path], entries: dict[int, list[Any]], rules: nyssa.ReadRules
) -> None:
    arrays = nyssa.open(files[2])["Events"].arrays(rules=rules)
    assert arrays.jets.fields == [":_0", "pt", "eta", "pz"]
    expected = entries[2]
    jets = [[momentum(jet) for jet in entry["jets"]] for entry in expected]
    assert arrays.jets.pz.to_list() == jets
    assert arrays.event.jets.pz.to_list() == jets
    assert arrays.event.lead.pz.to_list() == [
        momentum(entry["event"]["lead"]) for entry in expected
    ]
    best = [entry["best"] and momentum(entry["best"]) for entry in expected]
    assert arrays.best.pz.to_list() == best
    assert best[0] is None


def test_targets_replace_members_and_sources_of_bases(
    files: dict[int, Path], entries: dict[int, list[Any]], rules: nyssa.ReadRules
) -> None:
    arrays = nyssa.open(files[3])["Events"].with_rules(rules).arrays("jets")
    assert arrays.jets.fields == [":_0", "eta", "pt", "n", "pz"]
    assert str(arrays.jets.n.type) == "4 * var * int16"
    twice = [[2 * jet[":_0"]["x"] for jet in entry["jets"]] for entry in entries[3]]
    assert arrays.jets.n.to_list() == twice
    assert ak.all(arrays.jets.pz == -1)


def test_chain_of_versions(
    files: dict[int, Path], entries: dict[int, list[Any]], rules: nyssa.ReadRules
) -> None:
    """Each file has the rules of its version, then members are matched by name and widened."""
    chain = nyssa.chain(list(files.values()), schema="union", missing="default", rules=rules)
    jets = chain.arrays("jets").jets
    assert jets.fields == [":_0", "pt", "eta", "pz", "n"]
    both = [entry["jets"] for version in files for entry in entries[version]]
    assert jets.pt.to_list() == [[jet["pt"] for jet in entry] for entry in both]
    assert jets.eta.to_list() == [[jet["eta"] for jet in entry] for entry in both]
    assert str(jets.pt.type) == "8 * var * float64"
    assert ak.all(jets[4:].pz == -1)
    assert jets[:4].n.to_list() == [[0] * len(entry) for entry in both[:4]]
    with pytest.raises(nyssa.errors.ArgumentError, match="give them to the chain"):
        chain.arrays(rules=rules)


def test_evolved_classes_without_rules(
    files: dict[int, Path], entries: dict[int, list[Any]]
) -> None:
    back = nyssa.chain([files[3], files[2]], missing="default")
    assert back.readable == ["jets", "event", "best"]
    both = [entry for version in (3, 2) for entry in entries[version]]
    assert back.arrays().to_list() == [
        {
            "jets": [evolved(jet) for jet in entry["jets"]],
            "event": {
                "jets": [evolved(jet) for jet in entry["event"]["jets"]],
                "lead": evolved(entry["event"]["lead"]),
            },
            "best": entry["best"] and evolved(entry["best"]),
        }
        for entry in both
    ]
    strict = nyssa.chain([files[3], files[2]])
    assert "v2.root: jets.n: there is no" in strict.unreadable["jets"]
    assert "v2.root: event.jets.n: there is no" in strict.unreadable["event"]


def evolved(jet: dict[str, Any]) -> dict[str, Any]:
    """Return a jet in the form of version 3 of the class."""
    return {":_0": jet[":_0"], "eta": jet["eta"], "pt": jet["pt"], "n": jet.get("n", 0)}


def test_rules_through_arrow_and_lazily(files: dict[int, Path], rules: nyssa.ReadRules) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ruled = nyssa.open(files[2])["Events"].with_rules(rules)
    expected = ruled.arrays("jets").to_list()
    table = pyarrow.table(ruled)
    assert table.select(["jets"]).to_pylist() == expected
    assert ruled.arrays("jets", lazy=True).to_list() == expected


def test_rules_in_steps(files: dict[int, Path], rules: nyssa.ReadRules) -> None:
    """The functions run on the thread that reads ahead; a reader that stops early waits for it."""
    pyarrow = pytest.importorskip("pyarrow")
    ruled = nyssa.open(files[2])["Events"].with_rules(rules)
    expected = ruled.arrays().to_list()
    for size in (1, 3, "cluster", "1 kB"):
        steps = ruled.iterate(step_size=size)
        assert [entry for step in steps for entry in step.to_list()] == expected
    many = nyssa.iterate([files[2], files[2]], "jets", step_size=3, rules=rules)
    assert [len(step) for step in many] == [3, 1, 3, 1]
    both = nyssa.chain([files[2], files[2]], rules=rules)
    for leave in ("close", "drop", "drop batches"):
        slow = both.iterate(step_size=1)
        if leave == "drop batches":
            batches = pyarrow.RecordBatchReader.from_stream(both)
            batches.read_next_batch()
            del batches
        next(slow)
        if leave == "close":
            slow.close()
        del slow


def test_rules_that_are_wrong(files: dict[int, Path]) -> None:
    events = nyssa.open(files[2])["Events"]
    rules = nyssa.ReadRules()
    rules.add("Jet", sources="mass", target="m", function=lambda mass: mass)
    assert events.with_rules(rules).unreadable["jets"] == (
        'the rule for Jet needs the member "mass", which is missing'
    )
    twice = nyssa.ReadRules()
    for _ in range(2):
        twice.add("Jet", sources="pt", target="m", function=lambda pt: pt)
    assert 'two rules for Jet compute "m"' in events.with_rules(twice).unreadable["jets"]
    short = nyssa.ReadRules()
    short.add("Jet", sources="pt", target={"m": "float32"}, function=lambda pt: pt[:1])
    with pytest.raises(nyssa.errors.ArgumentError, match="returns 1 values for 6 objects"):
        events.arrays("jets", rules=short)
    failing = nyssa.ReadRules()
    failing.add("Jet", sources="pt", target={"m": "float32"}, function=lambda pt: pt[{}])
    with pytest.raises(nyssa.errors.ArgumentError, match="failed with IndexError"):
        events.arrays("jets", rules=failing)
    with pytest.raises(nyssa.errors.ArgumentError, match="versions"):
        rules.add("Jet", sources="pt", target="m", versions=(3, 2), function=lambda pt: pt)
    with pytest.raises(nyssa.errors.ArgumentError, match="target"):
        rules.add("Jet", sources="pt", target=[], function=lambda pt: pt)


def test_fields_of_a_class(files: dict[int, Path]) -> None:
    jets, event, best = nyssa.open(files[3])["Events"].fields
    assert [one.typename for one in (jets, event, best)] == [
        "std::vector<Jet>",
        "Event",
        "std::optional<Jet>",
    ]
    assert jets.columns == ("SplitIndex64",)
    found = {one.path: one for one in jets.walk()}
    assert list(found) == [
        "jets",
        "jets._0",
        "jets._0.:_0",
        "jets._0.:_0.x",
        "jets._0.eta",
        "jets._0.pt",
        "jets._0.n",
    ]
    assert (found["jets._0"].typename, found["jets._0"].version) == ("Jet", 3)
    assert found["jets._0.:_0"].version == 1
    assert found["jets._0.pt"].columns == ("SplitReal64",)


def test_what_rules_make_can_be_written(
    files: dict[int, Path],
    entries: dict[int, list[Any]],
    rules: nyssa.ReadRules,
    root: Root,
    tmp_path: Path,
) -> None:
    path = tmp_path / "ruled.root"
    with nyssa.recreate(path) as file:
        file["Events"] = nyssa.open(files[2])["Events"].arrays(["jets", "event"], rules=rules)
    back = root.call("entries", str(path), "Events")
    assert [[jet["pz"] for jet in entry["jets"]] for entry in back] == [
        [momentum(jet) for jet in entry["jets"]] for entry in entries[2]
    ]


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("encoding", ["default", "auto"])
def test_rewrite(
    version: int,
    encoding: str,
    files: dict[int, Path],
    entries: dict[int, list[Any]],
    root: Root,
    tmp_path: Path,
) -> None:
    """The members become members of the class, with the version that the rule states."""
    path = tmp_path / "rewritten.root"
    rules = nyssa.ReadRules()
    rules.add(
        "Jet",
        versions=(2, 3),
        sources=["pt", "eta"],
        target=["pz", "eta"],
        target_version=7,
        function=lambda pt, eta: (
            pt.astype(np.float64) * np.sinh(eta.astype(np.float64)),
            eta + np.float32(1),
        ),
    )
    nyssa.rewrite(files[version], path, rules=rules, encoding=encoding, verify=True)

    def made(jet: dict[str, Any]) -> dict[str, Any]:
        return {**jet, "eta": jet["eta"] + 1, "pz": momentum(jet)}

    assert root.call("entries", str(path), "Events") == [
        {
            "jets": [made(jet) for jet in entry["jets"]],
            "event": {
                "jets": [made(jet) for jet in entry["event"]["jets"]],
                "lead": made(entry["event"]["lead"]),
            },
            "best": entry["best"] and made(entry["best"]),
        }
        for entry in entries[version]
    ]
    described = {field[0]: field for field in root.call("described", str(path), "Events")}
    jets = ["jets._0", "event.jets._0", "event.lead", "best._0"]
    # The sixth element is the version of the class, the seventh its checksum.
    assert [described[jet][5:7] for jet in jets] == [(7, None)] * 4
    assert described["event"][5] == 1
    # The function is not called again.
    arrays = nyssa.open(path)["Events"].arrays("jets", rules=rules)
    assert arrays.jets.eta.to_list() == [
        [jet["eta"] + 1 for jet in entry["jets"]] for entry in entries[version]
    ]
    with pytest.raises(nyssa.errors.UnsupportedError, match='needs the member "pt"'):
        nyssa.rewrite(files[version], path, rules=rules, exclude="jets.pt", force=True)


def test_a_tree_is_refused(tmp_path: Path) -> None:
    """Rules would otherwise be ignored without a word."""
    path = tmp_path / "tree.root"
    with nyssa.recreate(path) as file:
        file.mktree("Events", {"x": np.arange(3)})
    rules = nyssa.ReadRules()
    rules.add("Jet", sources="x", target="y", function=lambda x: x)
    message = "rules apply to the classes of RNTuples, and not to branches of a TTree"
    tree = nyssa.open(f"{path}:Events")
    with pytest.raises(nyssa.UnsupportedError, match=message):
        tree.with_rules(rules)
    with pytest.raises(nyssa.UnsupportedError, match=message):
        tree.arrays(rules=rules)
    with pytest.raises(nyssa.UnsupportedError, match=message):
        nyssa.chain([f"{path}:Events"], rules=rules).arrays()
