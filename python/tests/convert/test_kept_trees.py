"""What a TTree says beside its values is in the RNTuple, and in the TTree that is made of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa
from support.data import TESTDATA
from support.root import Root

_WRITE = """
void nyssa_kept(const char *path, int first, const char *alias) {
  TFile file(path, "RECREATE");
  auto same = new TTree("same", "");
  double z; same->Branch("z", &z);
  auto tree = new TTree("Events", "a title of the tree");
  int run, n; unsigned m; ULong64_t event; float x, pt[8]; short q[24]; double y[6]; char s[20];
  struct { float a; int b; float c; } list; unsigned char b; bool o; float h16; double h32, d32;
  std::vector<float> vec; std::vector<std::vector<int>> deep; std::vector<std::string> texts;
  std::string text; TString old;
  tree->Branch("run", &run); tree->Branch("event", &event); tree->Branch("nJet", &n);
  tree->Branch("Jet_pt", pt, "Jet_pt[nJet]/F"); tree->Branch("Jet_q", q, "Jet_q[nJet][3]/S");
  tree->Branch("m", &m, "count/i"); tree->Branch("counted", pt, "counted[count]/F");
  tree->Branch("x", &x, "other/F")->SetTitle("written by a person");
  tree->Branch("y", y, "y[2][3]/D"); tree->Branch("s", s, "text/C");
  tree->Branch("list", &list, "a/F:b/I:c/F"); tree->Branch("b", &b); tree->Branch("o", &o);
  tree->Branch("vec", &vec); tree->Branch("deep", &deep); tree->Branch("texts", &texts);
  tree->Branch("text", &text); tree->Branch("old", &old); tree->Branch("dot.ted", &x, "ted/F");
  tree->Branch("h16", &h16, "h16/f[0,0,12]"); tree->Branch("h32", &h32, "h32/d[0,20,12]");
  tree->Branch("d32", &d32, "d32/d"); tree->Branch("packed", pt, "packed[nJet]/f[0,100,10]");
  Long_t g[2]; ULong_t u; struct { Long_t a; Int_t b; } longs;
  tree->Branch("g", g, "g[2]/G"); tree->Branch("u", &u, "u/g");
  tree->Branch("longs", &longs, "a/G:b/I");
  tree->SetAutoFlush(20);
  for (int i = first; i < first + 100; ++i) {
    g[0] = -i; g[1] = 1L << 40; u = -1UL - i; longs = {-2 * i, i};
    run = 1 + i / 50; event = i * 7 % 101; n = i % 5; m = i % 3; x = i / 3.f; z = i;
    for (int k = 0; k < 8; ++k) pt[k] = (i + k) % 90;
    for (int k = 0; k < 24; ++k) q[k] = i - k;
    for (int k = 0; k < 6; ++k) y[k] = i * k / 3.;
    snprintf(s, sizeof(s), "text %d", i);
    list = {i / 3.f, 2 * i, i / 7.f}; b = i; o = i % 2; h16 = i / 3.f; h32 = i / 20.; d32 = i / 3.;
    vec.assign(i % 4, i); deep.assign(i % 3, std::vector<int>(i % 2, i));
    texts.assign(i % 3, std::string(i % 5, 'x')); text = std::to_string(i); old = text;
    tree->Fill(); same->Fill();
  }
  tree->SetAlias("sum", alias); tree->SetAlias("twice", "run * 2");
  tree->AddFriend("same"); tree->AddFriend("other = same");
  auto info = tree->GetUserInfo();
  info->Add(new TNamed("key", "value")); info->Add(new TParameter<double>("luminosity", 3.5));
  info->Add(new TObjString("text"));
  auto hist = new TH1F("hist", "a histogram", 5, 0, 5); hist->SetDirectory(0); hist->Fill(2);
  info->Add(hist);
  tree->SetWeight(2.5); tree->BuildIndex("run", "event");
  tree->Write(); same->Write();
}
"""

_READ = """
void nyssa_reads(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto run = reader->GetView<int>("run");
  auto pt = reader->GetView<ROOT::RVecF>("Jet_pt");
  if (reader->GetNEntries() != 100 || run(60) != 2 || pt(3).size() != 3) throw 1;
  ROOT::Experimental::RNTupleInspector::Create("Events", path)->PrintColumnTypeInfo();
}
"""


@pytest.fixture(scope="module")
def folder(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three trees, of which the last has another alias."""
    folder = tmp_path_factory.mktemp("kept")
    root.call("cpp", _WRITE, "")
    for name, first, alias in (("a", 0, "x + 1"), ("b", 100, "x + 1"), ("c", 200, "x + 2")):
        root.call("cpp", "", f'nyssa_kept("{folder}/{name}.root", {first}, "{alias}")')
    return folder


@pytest.fixture(scope="module")
def ntuples(folder: Path) -> Path:
    """Return a folder with the RNTuples of these trees."""
    for name in "abc":
        nyssa.convert(folder / f"{name}.root", folder / f"n{name}.root", "Events", carry=False)
    return folder


def back(source: Path, path: Path, **options: Any) -> Any:
    """Make a TTree of an RNTuple again."""
    return nyssa.convert(source, path, "Events", to="ttree", verify=True, **options)


@pytest.mark.parametrize("layout", ["importer", "vectors"])
def test_there_and_back(layout: Any, folder: Path, tmp_path: Path, root: Root) -> None:
    """ROOT and uproot read the same tree."""
    source, ntuple, path = folder / "a.root", tmp_path / "n.root", tmp_path / "back.root"
    report = nyssa.convert(source, ntuple, "Events", layout=layout, carry=False)
    assert not [note for note in report["notes"] if "cannot" in note or "left out" in note]
    assert back(ntuple, path)["notes"] == []
    expected = root.call("tree_metadata", str(source), "Events")
    found = root.call("tree_metadata", str(path), "Events")
    assert found == expected
    assert expected["index"]
    assert len(expected["user_info"]) == 4
    plain = [one[1] for one in expected["branches"] if one[0] == "TBranch"]
    leaves = root.call("tree_leaves", str(source), "Events", plain)
    assert root.call("tree_leaves", str(path), "Events", plain) == leaves
    with uproot.open(source)["Events"] as old, uproot.open(path)["Events"] as new:
        assert new.keys() == old.keys()
        # uproot does not find the range behind a counter.
        for name in set(old.keys()) - {"packed"}:
            assert new[name].typename == old[name].typename
            assert new[name].array().to_list() == old[name].array().to_list(), name


_ODD = """
void nyssa_odd(const char *path) {
  TFile file(path, "RECREATE");
  auto tree = new TTree("Events", "");
  int n; Long_t k; ULong_t u; float x[9]; struct { double w; int a; int b; } list;
  tree->Branch("q/n", &n, "n/I"); tree->Branch("q/x", x, "x[n]/F");
  tree->Branch("ends here ", &n, "m/I"); tree->Branch("z[3]", x, "z[3]/F");
  tree->Branch("a:b;c,\\"d\\"", &n, "d/I");
  tree->Branch("k", &k, "k/G"); tree->Branch("by_k", x, "by_k[k]/F");
  tree->Branch("u", &u, "u/g"); tree->Branch("by_u", x, "by_u[u]/F");
  tree->Branch("list", &list, "w/D:a/I:b/I");
  tree->Branch("by_a", x, "by_a[a]/F"); tree->Branch("also", x, "also[a]/F");
  tree->Branch("by_b", x, "by_b[b][2]/F");
  for (int i = 0; i < 50; ++i) {
    n = i % 4; k = i % 3; u = i % 7; list = {i / 3., i % 5, i % 4};
    for (int j = 0; j < 9; ++j) x[j] = i + j / 8.f;
    tree->Fill();
  }
  tree->Write();
}
"""


@pytest.fixture(scope="module")
def odd(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a tree of odd names and counters."""
    path = tmp_path_factory.mktemp("odd") / "odd.root"
    root.call("cpp", _ODD, f'nyssa_odd("{path}")')
    return path


@pytest.mark.parametrize("layout", ["importer", "vectors"])
def test_names_and_counters(layout: Any, odd: Path, tmp_path: Path, root: Root) -> None:
    """Names that ROOT allows come back, and counters of the type `Long_t` or in leaf lists."""
    source, ntuple, path = odd, tmp_path / "n.root", tmp_path / "back.root"
    nyssa.convert(source, ntuple, "Events", layout=layout)
    assert back(ntuple, path)["notes"] == []
    expected, found = (root.call("tree_branches", str(one), "Events") for one in (source, path))
    assert found == expected
    assert list(found) == list(expected)
    names = [(leaf[1], leaf[-1]) for one in found.values() for leaf in one["leaves"]]
    assert ("by_a", "a") in names
    assert ("by_k", "k") in names
    of_others = nyssa.open(f"{source}:Events").keys()
    with uproot.open(source)["Events"] as old, uproot.open(path)["Events"] as new:
        assert new.keys() == old.keys()
        for name in of_others:
            assert new[name].array().to_list() == old[name].array().to_list(), name
    # Without the counter, a list gets a counter of its own.
    report = back(ntuple, path, include=["by_a", "by_b"], force=True)
    assert {"by_a", "by_b"} <= {one["branch"] for one in report["fields"]}
    assert report["notes"] == []
    with uproot.open(source)["Events"] as old, uproot.open(path)["Events"] as new:
        for name in ("by_a", "by_b"):
            assert new[name].array().to_list() == old[name].array().to_list()


def test_references_of_several_processes(tmp_path: Path) -> None:
    """A note names them, and the way back refuses them by name."""
    source = TESTDATA / "ttree" / "references.root"
    other, both, ntuple = (tmp_path / f"{name}.root" for name in ("other", "both", "n"))
    content = source.read_bytes()
    found = re.search(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", content)
    assert found
    other.write_bytes(content.replace(found[0], bytes([found[0][0] ^ 1]) + found[0][1:]))
    nyssa.merge([source, other], both)
    assert nyssa.convert(both, ntuple, "split")["notes"] == [
        "references between objects (TRef) cannot become references of a TTree again, because the "
        "file has 2 processes (TProcessID), and an RNTuple does not say which one an object "
        "belongs to"
    ]
    with pytest.raises(nyssa.UnsupportedError, match=r"their process \(TProcessID\) is not known"):
        nyssa.convert(ntuple, tmp_path / "back.root", "split", to="ttree")


def test_split_branches_of_the_old_class(tmp_path: Path, root: Root) -> None:
    """A note names a `TBranchObject` that is split; the values of its members come back."""
    source, ntuple, path = (tmp_path / f"{name}.root" for name in ("a", "n", "back"))
    code = """
void nyssa_old_split(const char *path) {
  TFile file(path, "RECREATE");
  auto tree = new TTree("Events", "");
  auto v = new TLorentzVector(1, 2, 3, 4);
  tree->BranchOld("v", "TLorentzVector", &v, 32000, 1);
  for (int i = 0; i < 5; ++i) { v->SetPxPyPzE(i, 2, 3, 4); tree->Fill(); }
  tree->Write();
}
"""
    root.call("cpp", code, f'nyssa_old_split("{source}")')
    assert nyssa.convert(source, ntuple, "Events")["notes"] == [
        "v: this TBranchObject cannot be kept, and the branches below it, such as "
        "v/fBits, become fields and branches of their own"
    ]
    back(ntuple, path)
    values = root.call("tree_values", str(path), "Events", ["v_fP_fX", "v_fE"])
    assert values == {"v_fP_fX": [*range(5)], "v_fE": [4] * 5}


def test_names_that_cannot_come_back(tmp_path: Path, root: Root) -> None:
    """A note says which names change."""
    source, ntuple, path = (tmp_path / f"{name}.root" for name in ("a", "n", "back"))
    code = """
void nyssa_named(const char *path) {
  TFile file(path, "RECREATE");
  auto tree = new TTree("Events", "");
  int a = 1; float x[3] = {1, 2, 3};
  tree->Branch("a", &a, "a/I"); tree->Branch("b", &a, "b/I")->SetName("a");
  tree->Branch("c", &a, "c/I")->SetName("c\\td");
  auto leaf = static_cast<TLeaf *>(tree->Branch("x", x, "x[3]/F")->GetListOfLeaves()->At(0));
  leaf->SetName("x[3]");
  tree->Fill();
  tree->Write();
}
"""
    root.call("cpp", code, f'nyssa_named("{source}")')
    nyssa.convert(source, ntuple, "Events")
    report = back(ntuple, path)
    assert sorted(report["notes"]) == [
        'a_2: its name was "a", and is "a_2": another branch has this name, too',
        'c\td: its name was "c\\td", and is "c_d": names have no control characters',
        'x: the name of its leaf was "x[3]", and is "x_3_": names of leaves have no brackets '
        "and no control characters",
    ]
    assert list(root.call("tree_branches", str(path), "Events")) == ["a", "a_2", "c_d", "x"]


def test_read_by_others(ntuples: Path, root: Root) -> None:
    """ROOT and uproot read the RNTuple as if there were no set."""
    path = ntuples / "na.root"
    root.call("cpp", _READ, f'nyssa_reads("{path}")')
    assert uproot.open(path)["Events"]["event"].array()[3] == 21


def test_size(tmp_path: Path) -> None:
    """A small RNTuple grows by less than 2 kB."""
    with nyssa.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"x": [1.0, 2.0], "y": [[1], [2, 3]]})
    nyssa.convert(tmp_path / "a.root", tmp_path / "b.root")
    nyssa.rewrite(tmp_path / "b.root", tmp_path / "c.root")
    with (
        nyssa.open(tmp_path / "b.root")["t"] as ntuple,
        nyssa.recreate(tmp_path / "d.root") as file,
    ):
        file["t"] = ntuple.arrays()
    size = (tmp_path / "b.root").stat().st_size
    assert size < (tmp_path / "d.root").stat().st_size + 2000
    assert (tmp_path / "c.root").stat().st_size < size + 200


def test_relations(ntuples: Path) -> None:
    """The tree has the aliases and friends of the RNTuple."""
    tree, ntuple = (
        nyssa.open(ntuples / "a.root")["Events"],
        nyssa.open(ntuples / "na.root")["Events"],
    )
    assert ntuple.aliases == tree.aliases == {"sum": "x + 1", "twice": "run * 2"}
    assert ntuple.friends == tree.friends
    assert ntuple.arrays(["twice"], cut="sum > 30")["twice"].to_list() == [4] * 12
    assert ntuple.with_cut("twice > 2").num_entries == 50


def test_merged(ntuples: Path, tmp_path: Path, root: Root) -> None:
    """Equal descriptions stay; the first of different ones stays, with a note."""
    path = tmp_path / "merged.root"
    report = nyssa.merge([ntuples / "na.root", ntuples / "nb.root"], path, verify=True)
    index = "the index of the TTree from which the data come is left out: it is for other entries"
    assert [one for one in report["notes"] if "TTree" in one] == [index]
    back(path, tmp_path / "back.root")
    expected = root.call("tree_metadata", str(ntuples / "a.root"), "Events")
    found = root.call("tree_metadata", str(tmp_path / "back.root"), "Events")
    expected |= {"index": None, "clusters": list(range(0, 200, 20))}
    assert found == expected
    for options in ({}, {"recluster": "1 MB"}):
        inputs = [ntuples / f"n{one}.root" for one in "abc"]
        report = nyssa.merge(inputs, path, force=True, **options)
        note = f"the aliases of its TTree differ from {ntuples}/na.root, which gives the output"
        assert f"{ntuples}/nc.root: {note} its own" in report["notes"]
        merged = nyssa.open(path)["Events"]
        assert merged.aliases["sum"] == "x + 1"
        assert {tuple(one) for one in merged.attribute_sets["nyssa_ttree"].ranges} == {(0, 300)}


def test_rewritten(ntuples: Path, tmp_path: Path) -> None:
    """A rewritten RNTuple describes the fields that it has, and the index of all entries."""
    path = tmp_path / "slim.root"

    def rows() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        with nyssa.open(path)["Events"] as ntuple:
            for row in ntuple.attribute_sets["nyssa_ttree"].attributes().to_list():
                found.setdefault(row["kind"], []).append(row["name"])
        return found

    nyssa.rewrite(ntuples / "na.root", path, include=["Jet_*", "x"])
    found = rows()
    assert found["branch"] == ["Jet_pt", "Jet_q", "x"]
    assert found["index"] == ["TTreeIndex"]
    [report] = nyssa.rewrite(ntuples / "na.root", path, entry_stop=10, force=True)
    assert "the index of the TTree from which the data come is left out" in report["notes"][-1]
    assert "index" not in rows()
    back(path, tmp_path / "back.root")
    assert uproot.open(tmp_path / "back.root")["Events"].num_entries == 10


def test_requests_count_more(ntuples: Path, tmp_path: Path) -> None:
    """What the user asks for is done, and a range of entries has no index."""
    path = tmp_path / "back.root"
    options = {"auto_flush": 50, "vectors": "Jet_pt", "entry_stop": 60}
    report = back(ntuples / "na.root", path, **options)
    assert "the index of the TTree" in report["notes"][0]
    tree = uproot.open(path)["Events"]
    assert tree["Jet_pt"].typename == "std::vector<float>"
    assert tree.member("fAutoFlush") == 50


def test_values_that_a_leaf_cannot_keep(ntuples: Path, tmp_path: Path) -> None:
    """Numbers that a Float16_t would change are refused, not changed."""
    with nyssa.open(ntuples / "na.root")["Events"] as ntuple:
        rows = ntuple.attribute_sets["nyssa_ttree"].attributes().to_list()
    rows = [row for row in rows if row["kind"] == "version" or row["name"] == "h16"]
    path = tmp_path / "other.root"
    _with_set(path, rows, {"h16": ak.values_astype([1 / 3, 0.5], "float32")})
    with pytest.raises(nyssa.ArgumentError, match="of a TLeafF16 would store 0.333"):
        back(path, tmp_path / "back.root")


def _with_set(path: Path, rows: list[dict[str, Any]], data: Any) -> None:
    """Write an RNTuple with these rows about a tree."""
    names = ("kind", "name", "value", "data")
    columns = {name: ak.Array([row[name] for row in rows]) for name in names}
    types = {name: one.type.content for name, one in columns.items()}
    with nyssa.recreate(path) as file:
        ntuple = file.mkrntuple("Events", data)
        made = ntuple.attribute_set("nyssa_ttree", types)
        entries = ntuple.num_entries
        made.extend([0] * len(rows), [entries] * len(rows), columns)


_VERSION = {"kind": "version", "name": "", "value": "1", "data": ""}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param([{"kind": "tree"}], "the first row about a TTree is no version", id="begin"),
        pytest.param(
            [{"kind": "version", "value": "2"}],
            'it has version "2" of the rows about a TTree, and this nyssa reads version 1',
            id="version",
        ),
        pytest.param(
            [_VERSION, {"kind": "colour"}], 'a row about a TTree of kind "colour"', id="kind"
        ),
        pytest.param(
            [_VERSION, {"kind": "branch", "name": "x", "value": "{}"}],
            'the row about the branch "x" of a TTree: missing field `basket_size`',
            id="branch",
        ),
        pytest.param(
            [_VERSION, {"kind": "tree", "name": "TTree", "value": "["}],
            'the row about the tree "TTree" of a TTree: ',
            id="json",
        ),
    ],
)
def test_strange_sets(rows: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
    """A set that nyssa does not write is an error where its content is needed."""
    path = tmp_path / "strange.root"
    full = [{"kind": "", "name": "", "value": "", "data": "", **row} for row in rows]
    _with_set(path, full, {"x": [1, 2]})
    ntuple = nyssa.open(path)["Events"]
    assert ntuple["x"].array().to_list() == [1, 2]
    with pytest.raises(nyssa.NyssaError) as error:
        _ = ntuple.aliases
    assert message in str(error.value)
    assert "attribute set nyssa_ttree" in str(error.value)


def test_objects_that_are_none(tmp_path: Path) -> None:
    """Bytes that are no object of their class do not become part of a tree."""
    path = tmp_path / "strange.root"
    row = {"kind": "user info", "name": "TNamed", "value": "", "data": "\x40\x00\x00\x02ab"}
    _with_set(path, [_VERSION, row], {"x": [1, 2]})
    with pytest.raises(nyssa.NyssaError, match="TNamed"):
        back(path, tmp_path / "back.root")
    assert not (tmp_path / "back.root").exists()
    report = back(path, tmp_path / "back.root", skip_unsupported=True)
    assert report["notes"][0].startswith(
        "the user information that the RNTuple keeps of a TTree is not used: "
    )
    assert uproot.open(tmp_path / "back.root")["Events"]["x"].array().to_list() == [1, 2]


def test_an_index_that_is_none(tmp_path: Path) -> None:
    """An index is checked before it becomes part of a tree."""
    path = tmp_path / "strange.root"
    value = '{"major":"x","minor":"0","entries":2}'
    row = {"kind": "index", "name": "TNamed", "value": value, "data": "?"}
    _with_set(path, [_VERSION, row], {"x": [1, 2]})
    with pytest.raises(nyssa.NyssaError, match='an index of a TTree has the class "TNamed"'):
        back(path, tmp_path / "back.root")


_OWN_STREAMERS = """
void nyssa_own_streamers(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("Events", "");
  TVector3 three; TLorentzVector four;
  tree.Branch("three", &three); tree.Branch("whole", &three, 32000, 0); tree.Branch("four", &four);
  for (int i = 0; i < 5; ++i) {
    three.SetXYZ(i, 5, 6); four.SetPxPyPzE(i, 1, 2, 3); tree.Fill();
  }
  tree.Write();
}
void nyssa_reads_members(const char *path) {
  TFile file(path);
  auto tree = file.Get<TTree>("Events");
  for (auto cut : {"three.fX == Entry$ && three.fZ == 6", "whole.fX == Entry$ && whole.fZ == 6",
                   "four.fP.fX == Entry$ && four.fE == 3"})
    if (tree->GetEntries(cut) != 5) throw 1;
}
"""


def test_classes_that_stream_themselves(tmp_path: Path, root: Root) -> None:
    """Branches of classes with streamers of their own come back, also as a `TBranchObject`."""
    source, ntuple, path = (tmp_path / f"{name}.root" for name in ("tree", "ntuple", "back"))
    root.call("cpp", _OWN_STREAMERS, f'nyssa_own_streamers("{source}")')
    nyssa.convert(source, ntuple, "Events")
    report = back(ntuple, path)
    root.call("cpp", "", f'nyssa_reads_members("{path}")')
    assert report["notes"] == []
    assert root.call("tree_branches", str(path), "Events")["whole"]["branch"] == "TBranchObject"
