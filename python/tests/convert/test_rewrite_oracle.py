"""ROOT reads the same values from rewritten RNTuples, by the same C++ types."""

from __future__ import annotations

import json
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA, data_files
from support.root import Root

FILES = [
    *data_files("rntuple-validation/write", recursive=False),
    *data_files("rntuple", recursive=False),
]
STAFF = DATA / "rntuple" / "ntpl001_staff_rntuple_v1-0-1-0.root"
NANO = next(iter(sorted((DATA / "rntuple").glob("cmsopendata2015*"))), Path("none"))
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA"
)

#: Number of entries that ROOT shows of each file.
CHUNK = 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_root_reads_the_same(path: Path, tmp_path: Path, root: Root) -> None:
    """The fields of the descriptor and the entries that ROOT shows are the same."""
    if path.stem == "structure.feature_flag":
        with pytest.raises(nyssa.UnsupportedError, match="feature: 137"):
            nyssa.rewrite(path, tmp_path / "out.root")
        return
    for compression in (505, 0):
        output = tmp_path / f"{compression}.root"
        for report in nyssa.rewrite(path, output, compression=compression, verify=True):
            assert report["verified"]
            name = report["source"]
            with uproot.open(path) as file:
                is_tree = file.classname_of(name) == "TTree"
            if is_tree:
                # Tests of rewritten TTrees compare them.
                continue
            before, after = (root.call("described", str(p), name) for p in (path, output))
            # ROOT 6.34 wrote some names with a space between the brackets.
            assert [(a, b.replace("> >", ">>"), *c) for a, b, *c in before] == [
                (a, b, *c) for a, b, *c in after
            ]
            wanted = show(root, path, name)
            if wanted is None:
                same_in_uproot(path, output, name)
            else:
                assert show(root, output, name) == wanted


def show(root: Root, path: Path, name: str) -> str | None:
    """Return the first entries as ROOT shows them; `None` if it cannot."""
    try:
        return json.dumps(root.call("entries", str(path), name, 17, CHUNK))
    except RuntimeError:
        return None


def same_in_uproot(path: Path, output: Path, name: str) -> None:
    """Compare every top-level field as uproot reads it."""
    with uproot.open(path) as before, uproot.open(output) as after:
        names = before[name].keys(recursive=False)
        assert after[name].keys(recursive=False) == names
        for field in names:
            one, two = (file[name][field].array() for file in (before, after))
            # uproot takes the type of a cardinality from its column.
            assert ak.array_equal(one, two, equal_nan=True, dtype_exact=False), field


def test_slim_and_skim_in_root(tmp_path: Path, root: Root) -> None:
    """Projected fields stay projected; ROOT reads the entries that pass a cut."""
    output = tmp_path / "out.root"
    cut = "nMuon >= 1 && any(Muon_pt > 10)"
    fields = ["nMuon", "Muon_pt", "Muon_eta", "run", "event"]
    (report,) = nyssa.rewrite(NANO, output, include=fields, cut=cut, verify=True)
    before = nyssa.open(f"{NANO}:Events").arrays(fields)
    mask = (before.nMuon >= 1) & ak.any(before.Muon_pt > 10, axis=1)
    wanted = before[mask]
    assert 0 < report["entries"] == len(wanted) < len(before)
    types = dict(root.call("fields", str(output), "Events"))
    assert types["Muon_pt"] == "ROOT::VecOps::RVec<float>"
    assert types["nMuon"] == "ROOT::RNTupleCardinality<std::uint32_t>"
    # `Show` fails for cardinalities, which RDataFrame can read.
    frame = root.call("numpy", str(output), "Events", ["event", "run", "nMuon"])
    for name in frame:
        np.testing.assert_array_equal(frame[name], wanted[name], name)
    with uproot.open(output) as file:
        for name in ("Muon_pt", "Muon_eta"):
            assert ak.array_equal(file["Events"][name].array(), wanted[name]), name


def test_a_cut_as_a_function(tmp_path: Path) -> None:
    """An expression chooses the entries, also inside a range."""
    one, two = tmp_path / "one.root", tmp_path / "two.root"
    options = {"reproducible": True, "entry_start": 100, "entry_stop": -7, "name": "S"}
    nyssa.rewrite(STAFF, one, cut="Age > 40 && Grade % 2 == 1", **options)
    seen = []

    def cut(staff: ak.Array) -> ak.Array:
        seen.append(staff.fields)
        return (staff.Age > 40) & (staff.Grade % 2 == 1)

    nyssa.rewrite(STAFF, two, cut=cut, cut_fields=["Age", "Grade"], **options)
    assert seen == [["Age", "Grade"]]
    first, second = (nyssa.open(f"{path}:S").arrays() for path in (one, two))
    assert len(first) > 100
    assert ak.array_equal(first, second)
    with pytest.raises(ValueError, match="must return 3354 values of true or false"):
        nyssa.rewrite(STAFF, tmp_path / "three.root", cut=lambda staff: staff.Age)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.root", "two.root"]


def test_errors_of_cuts_and_globs(tmp_path: Path) -> None:
    """Each error has the type that a user would catch, and says where it is."""
    output = tmp_path / "out.root"
    with pytest.raises(ValueError, match=r"Age >\n       \^"):
        nyssa.rewrite(STAFF, output, cut="Age >")
    with pytest.raises(KeyError, match="did you mean"):
        nyssa.rewrite(STAFF, output, cut="Agee > 1")
    with pytest.raises(KeyError, match="no field matches"):
        nyssa.rewrite(STAFF, output, include="Agee")
    assert not output.exists()


def test_cat_is_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`nyssa cat --json` prints the same before and after."""
    for path in FILES:
        if path.stem == "structure.feature_flag":
            continue
        output = tmp_path / path.name
        for report in nyssa.rewrite(path, output, compression="lz4:4"):
            shown = []
            for file in (path, output):
                arguments = ["nyssa", "cat", f"{file}:{report['source']}", "--json", "-n", "50"]
                assert nyssa._core.run_cli(arguments) == 0
                shown.append(capfd.readouterr().out)
            assert shown[0] == shown[1]


def test_attribute_sets_of_what_is_taken(tmp_path: Path, root: Root) -> None:
    """Ranges count the remaining entries; attributes without entries are dropped."""
    path, output = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", {"x": "int64", "y": "float32"})
        meta = events.attribute_set("meta", {"run": "int32"})
        events.extend({"x": np.arange(10), "y": np.arange(10, dtype=np.float32)})
        meta.extend([0, 4, 2, 5], [4, 10, 2, 6], {"run": [1, 2, 3, 4]})
    whole = [[0, 4, {"run": 1}], [2, 2, {"run": 3}], [4, 10, {"run": 2}], [5, 6, {"run": 4}]]
    for options, wanted in [
        # Entries 3, 4, 6, 7, 8 and 9 stay: 5 was the only entry of run 4.
        (
            {"cut": "x >= 3 && x != 5"},
            [[0, 0, {"run": 3}], [0, 1, {"run": 1}], [1, 6, {"run": 2}]],
        ),
        ({"include": "x"}, whole),
        (
            {"entry_start": 2, "entry_stop": 5},
            [[0, 0, {"run": 3}], [0, 2, {"run": 1}], [2, 3, {"run": 2}]],
        ),
    ]:
        nyssa.rewrite(path, output, force=True, **options)
        found = root.call("attributes", str(output), "Events", "meta", ["run"])
        assert sorted(found, key=str) == sorted(wanted, key=str)


_TREE = """
void beside_tree(const char *path) {
  TFile file(path, "UPDATE");
  TTree tree("tree", "beside");
  int number = 7;
  tree.Branch("number", &number);
  tree.Fill();
  tree.Write();
}
void check_beside(const char *path, int entries) {
  TFile file(path);
  auto tree = file.Get<TTree>("tree");
  int number = 0;
  if (tree) tree->SetBranchAddress("number", &number);
  if (!tree || tree->GetEntries() != entries || tree->GetEntry(0) <= 0 || number != 7)
    throw std::runtime_error("the tree is not that of the input");
}
"""


def test_other_objects_in_root(tmp_path: Path, root: Root) -> None:
    """A histogram of a directory is copied; a TTree is rewritten, and a merge joins it."""
    path = tmp_path / "in.root"
    root.call("write_events", str(path), ["Events"], 20)
    root.call("add_histogram", str(path), "deep/er", "h")
    root.call("cpp", _TREE, f'beside_tree("{path}")')
    events = root.call("entries", str(path), "Events")
    reports = nyssa.rewrite(path, tmp_path / "rewritten.root")
    assert {one["source"] for one in reports} == {"Events", "tree"}
    assert reports[0]["carried"] == ["deep/er/h;1 (TH1F)"]
    assert reports[0]["left_out"] == []
    nyssa.merge([path, tmp_path / "rewritten.root"], tmp_path / "merged.root")
    for name, files in (("rewritten", 1), ("merged", 2)):
        output = str(tmp_path / f"{name}.root")
        root.call("cpp", "", f'check_beside("{output}", {files})')
        assert root.call("entries", output, "Events") == files * events
        assert root.call("histogram", output, "deep/er/h") == [0.0, 3.0 * files, 0.0]


def write_cycles(root: Root, path: Path) -> None:
    """Let ROOT write two cycles of an RNTuple, with 5 and 7 entries."""
    code = """
    #ifndef NYSSA_CYCLES
    #define NYSSA_CYCLES
    #include <ROOT/RNTupleModel.hxx>
    #include <ROOT/RNTupleWriter.hxx>
    #include <TFile.h>
    void nyssa_cycles(const char *path) {
       TFile file(path, "RECREATE");
       for (int count : {5, 7}) {
          auto model = ROOT::RNTupleModel::Create();
          auto x = model->MakeField<int>("x");
          auto writer = ROOT::RNTupleWriter::Append(std::move(model), "N", file);
          for (int i = 0; i < count; i++) { *x = i; writer->Fill(); }
       }
       file.Close();
    }
    #endif
    """
    root.call("cpp", code, f'nyssa_cycles("{path}")')


@pytest.mark.parametrize(("taken", "other", "count"), [(1, 2, 5), (2, 1, 7)])
@pytest.mark.parametrize("carry", [True, False])
def test_other_cycles_are_named(
    tmp_path: Path, root: Root, taken: int, other: int, count: int, carry: bool
) -> None:
    """By `rewrite` and `merge`, in the report and in the text."""
    path, output = tmp_path / "cycles.root", tmp_path / "out.root"
    write_cycles(root, path)
    with nyssa.open(path) as file:
        assert [file[f"N;{cycle}"].num_entries for cycle in (1, 2)] == [5, 7]
    (report,) = nyssa.rewrite(path, output, f"N;{taken}", carry=carry)
    named = f"N;{other} (ROOT::RNTuple): cycle {taken} of it was"
    assert report["left_out"] == [f"{named} rewritten"]
    assert len(root.call("entries", str(output), "N")) == count
    again = tmp_path / "again.root"
    write_cycles(root, again)
    both = [f"{path}:N;{taken}", f"{again}:N;{taken}"]
    report = nyssa.merge(both, output, carry=carry, force=True)
    assert report["left_out"] == [f"{named} merged (in {path} and one more input)"]
    assert len(root.call("entries", str(output), "N")) == 2 * count
    report = nyssa.merge([f"{path}:N;{taken}", f"{path}:N;{other}"], output, force=True)
    assert report["left_out"] == []
    assert len(root.call("entries", str(output), "N")) == 12


def test_other_cycles_in_text(
    tmp_path: Path, root: Root, capfd: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "cycles.root", str(tmp_path / "out.root")
    write_cycles(root, path)
    assert nyssa._core.run_cli(["nyssa", "rewrite", str(path), output]) == 0
    text = capfd.readouterr().out
    assert "left out N;1 (ROOT::RNTuple): cycle 2 of it was rewritten" in text
    assert nyssa._core.run_cli(["nyssa", "merge", str(path), "-o", output, "--force"]) == 0
    text = capfd.readouterr().out
    assert f"left out ROOT::RNTuple N;1: cycle 2 of it was merged (in {path})" in text
