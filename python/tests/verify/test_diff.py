"""`nyssa diff` compares values that are not numbers, and NaN."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nyssa
from support.data import TESTDATA
from support.root import Root

STREAMED = TESTDATA / "streamed"


def diff(a: Path, b: Path) -> tuple[int, str]:
    """Return the exit code and what is printed."""
    command = [sys.executable, "-m", "nyssa", "diff", str(a), str(b)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


_NAN = float("nan")


@pytest.mark.parametrize(
    ("cpp", "same", "other", "entry"),
    [
        ("float", [1.0, _NAN], [1.0, 2.0], 1),
        ("std::vector<double>", [[_NAN, 1.0], []], [[_NAN], [1.0]], 0),
        ("std::variant<float,std::string>", [1.5, "x"], [1.5, "y"], 1),
        # This is another alternative.
        ("std::variant<std::string,float>", ["a", "", 1.0], ["a", 0.0, 1.0], 1),
        ("std::optional<float>", [None, 0.0], [0.0, 0.0], 0),
        ("std::set<std::int32_t>", [[1, 2], [3]], [[1, 2], [4]], 1),
        ("std::map<std::string,float>", [[("a", _NAN)], []], [[("b", _NAN)], []], 0),
    ],
)
def test_values(
    cpp: str, same: list[object], other: list[object], entry: int, tmp_path: Path
) -> None:
    a, b, c = (tmp_path / f"{name}.root" for name in "abc")
    for path, values in ((a, same), (b, same), (c, other)):
        with nyssa.recreate(path) as file:
            file.mkrntuple("Events", {"x": cpp}).extend({"x": values})
    assert diff(a, b)[0] == 0, diff(a, b)[1]
    code, talk = diff(a, c)
    assert code == 1
    assert f"{entry}" in talk


@pytest.mark.parametrize("name", ["Numbers", "Pointers", "Stl", "Root"])
def test_streamed_objects(name: str, tmp_path: Path) -> None:
    """Objects are decoded and compared member by member."""
    path = STREAMED / f"{name}.root"
    outputs = [tmp_path / f"{number}.root" for number in range(3)]
    total = nyssa.open(path)["ntpl"].num_entries
    for output, start in zip(outputs, (0, 0, 1), strict=True):
        nyssa.rewrite(path, output, entry_start=start, entry_stop=total - 1 + start)
    assert diff(outputs[0], outputs[1])[0] == 0
    assert diff(outputs[0], outputs[2])[0] == 1


_TREE = """
void nyssa_diff_tree(const char *path, bool change) {
  TFile file(path, "RECREATE");
  TTree tree("tree", "");
  int n, square[2][2];
  float list[4], three[3];
  double number;
  char text[16];
  bool flag;
  unsigned char byte;
  Long64_t large;
  tree.Branch("n", &n);
  tree.Branch("list", list, "list[n]/F");
  tree.Branch("three", three, "three[3]/F");
  tree.Branch("square", square, "square[2][2]/I");
  tree.Branch("number", &number);
  tree.Branch("text", text, "text/C");
  tree.Branch("flag", &flag);
  tree.Branch("byte", &byte);
  tree.Branch("large", &large);
  for (int i = 0; i < 100; ++i) {
    n = i % 4;
    for (int j = 0; j < n; ++j) list[j] = i + j;
    three[0] = i; three[1] = NAN; three[2] = -0.f;
    for (int j = 0; j < 4; ++j) square[j / 2][j % 2] = i * j;
    number = i / 3.;
    snprintf(text, 16, "%d \\xe9", i);
    flag = i % 3;
    byte = 3 * i;
    large = Long64_t(i) << 40;
    if (change && i == 57) list[0] = square[1][0] = number = 1000;
    tree.Fill();
  }
  tree.Write();
}
void nyssa_diff_snapshot(const char *path, const char *output) {
  ROOT::RDF::RSnapshotOptions options;
  options.fOutputFormat = ROOT::RDF::ESnapshotOutputFormat::kRNTuple;
  ROOT::RDataFrame("tree", path).Snapshot("tree", output, "", options);
}
"""


@pytest.fixture(scope="module")
def trees(root: Root, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a tree, one with other values in an entry, and RNTuples made of the first."""
    folder = tmp_path_factory.mktemp("diff")
    names = ("tree", "other", "importer", "snapshot", "layout_importer", "layout_vectors")
    paths = {name: folder / f"{name}.root" for name in names}
    root.call("cpp", _TREE, f'nyssa_diff_tree("{paths["tree"]}", false)')
    root.call("cpp", "", f'nyssa_diff_tree("{paths["other"]}", true)')
    root.call("import_tree", str(paths["tree"]), "tree", str(paths["importer"]))
    root.call("cpp", "", f'nyssa_diff_snapshot("{paths["tree"]}", "{paths["snapshot"]}")')
    for layout in ("importer", "vectors"):
        nyssa.convert(paths["tree"], paths[f"layout_{layout}"], layout=layout)
    return paths


@pytest.mark.parametrize("made", ["importer", "snapshot", "layout_importer", "layout_vectors"])
def test_trees_and_rntuples(made: str, trees: dict[str, Path]) -> None:
    """A tree is equal to its conversion; changed values are reported with branch and entry."""
    code, said = diff(trees["tree"], trees[made])
    if made == "snapshot":  # which writes what lies behind the end of C strings, too
        assert [line.split()[0] for line in said.splitlines()] == ["column", "text", "different:"]
    else:
        assert (code, said) == (0, "equal: 9 columns, 100 entries compared\n")
    code, said = diff(trees["other"], trees[made])
    assert code == 1
    rows = [line.split() for line in said.splitlines()]
    assert ["list", "1", "57", "[0]", "1000.0", "57.0"] in rows
    assert ["number", "1", "57", "1000.0", "19.0"] in rows
    assert [row[:3] for row in rows if row[0] == "square"] == [["square", "1", "57"]]
    assert " of 9 columns, 100 entries compared" in said.splitlines()[-1]
