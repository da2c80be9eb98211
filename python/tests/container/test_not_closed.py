"""Of files of crashed jobs, nyssa reads what ROOT recovers, and more, with the same values."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import nyssa
from support.root import Root

_JOB = """
import sys
import ROOT

ROOT.gInterpreter.Declare('''
#include <unistd.h>
void job(const char *path, bool flush, const char *directory, const char *save) {
  TFile *file = new TFile(path, "RECREATE");
  if (*directory) file->mkdir(directory)->cd();
  TTree *tree = new TTree("tree", "");
  int n = 0;
  float x[10];
  char text[32];
  tree->Branch("n", &n);
  tree->Branch("x", x, "x[n]/F");
  tree->Branch("text", text, "text/C");
  tree->SetAutoFlush(flush ? 100 : -30000000);
  for (int i = 0; i < 1000; i++) {
    n = i % 7;
    for (int j = 0; j < n; j++) x[j] = i + j / 8.f;
    snprintf(text, 32, "text %d", i);
    tree->Fill();
    if (i == 699 && std::string(save) == "Write") file->Write();
    else if (i == 699 && std::string(save) != "never") tree->AutoSave(save);
  }
  file->Flush();
  _exit(0);
}
''')
for number, (flush, directory, save) in enumerate(eval(sys.argv[2])):
    import os
    child = os.fork()
    if not child:
        ROOT.job(f"{sys.argv[1]}/{number}.root", flush, directory, save)
    os.waitpid(child, 0)
"""

#: Whether baskets were written before, the directory, and how the tree was saved after 700 entries.
JOBS = [
    (False, "", ""),
    (True, "", ""),
    (True, "", "FlushBaskets"),
    (False, "", "SaveSelf"),
    (True, "sub", ""),
    (False, "sub", "SaveSelf"),
    (True, "", "Write"),
    (True, "", "never"),
]


@pytest.fixture(scope="module")
def jobs(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of files whose writers ended without closing them."""
    assert root.call("version")
    folder = tmp_path_factory.mktemp("jobs")
    command = [sys.executable, "-W", "ignore", "-c", _JOB, str(folder), repr(JOBS)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=os.environ)
    return folder


@pytest.mark.filterwarnings("ignore:.*was not closed")
@pytest.mark.parametrize("number", range(len(JOBS) - 1), ids=lambda n: "-".join(map(str, JOBS[n])))
def test_all_that_was_saved(number: int, jobs: Path, tmp_path: Path, root: Root) -> None:
    """The entries up to the last save are read; ROOT reads them after a conversion."""
    path, output = jobs / f"{number}.root", tmp_path / "out.root"
    tree = f"{JOBS[number][1]}/tree".strip("/")
    arrays = nyssa.open(path)[tree].arrays()
    wanted = {
        "n": [i % 7 for i in range(700)],
        "x": [[i + j / 8 for j in range(i % 7)] for i in range(700)],
        "text": [f"text {i}" for i in range(700)],
    }
    assert {name: arrays[name].to_list() for name in wanted} == wanted
    if not JOBS[number][1]:  # ROOT does not look into directories without a list of keys
        assert root.call("numpy", str(path), tree, ["n"])["n"].tolist() == wanted["n"]
    report = nyssa.convert(path, output, tree, verify=True)
    closed = JOBS[number][2] in ("Write", "SaveSelf") and not JOBS[number][1]
    assert any("was not closed" in note for note in report["notes"]) is not closed
    values = root.call("numpy", str(output), tree, ["n"])
    assert values["n"].tolist() == wanted["n"]
    assert nyssa.open(output)[tree]["x"].array().to_list() == wanted["x"]


def test_said(jobs: Path) -> None:
    """There is a warning, or an error when nothing is complete; such files cannot be updated."""
    with pytest.warns(UserWarning, match="0.root: the file was not closed"):
        nyssa.open(jobs / "0.root")
    with pytest.raises(nyssa.FormatError, match="not closed, and no object in it is complete"):
        nyssa.open(jobs / f"{len(JOBS) - 1}.root")
    with pytest.raises(nyssa.UnsupportedError, match="was not closed: convert or rewrite"):
        nyssa.update(jobs / "0.root")


def test_what_an_update_moved_is_there_once(tmp_path: Path) -> None:
    """An updated file that lost its list of keys has its newest directories and trees."""
    path = tmp_path / "updated.root"
    trees = ("top", "a/tree", "b/c/tree")
    with nyssa.recreate(path) as file:
        for name in trees:
            file.mktree(name, {"x": [1, 2]})
    for number in range(2):
        with nyssa.update(path) as file:
            for name in trees:
                file[name].extend({"x": [number]})
            file[f"a/more{number}"] = {"y": [number]}
    listed = [sys.executable, "-m", "nyssa", "ls", "--json", str(path)]
    keys = json.loads(subprocess.check_output(listed))["keys"]
    data = bytearray(path.read_bytes())
    begin, nbytes_name = (struct.unpack(">i", data[at : at + 4])[0] for at in (8, 28))
    record = begin + nbytes_name
    assert struct.unpack(">i", data[record + 26 : record + 30])[0] > record
    data[record + 26 : record + 30] = bytes(4)
    path.write_bytes(data)
    found = json.loads(subprocess.check_output(listed))["keys"]
    assert sorted(key["path"] for key in found) == sorted(key["path"] for key in keys)
    with pytest.warns(UserWarning, match="was not closed"):
        file = nyssa.open(path)
    for name in trees:
        assert file[name]["x"].array().to_list() == [1, 2, 0, 1]
