"""Lists C++ statements that ROOT runs to write TTrees of odd shapes.

The name of a file is the name of its shape, with dashes instead of spaces.
"""

from __future__ import annotations

import re

#: C++ code that all shapes use.
COMMON = """
struct NyssaValues {
  int i = 0, n = 0;
  float x[24];
  double d = 0;
  void set(int entry) {
    i = entry;
    n = entry % 7;
    d = entry * .5;
    for (int k = 0; k < 24; ++k) x[k] = entry + k;
  }
  void branches(TTree &t) {
    t.Branch("n", &n);
    t.Branch("x", x, "x[n]/F");
    t.Branch("d", &d);
  }
  void fill(TTree &t, int from, int to) {
    for (int entry = from; entry < to; ++entry) { set(entry); t.Fill(); }
  }
};
void nyssa_plain(const char *path, int from, int to) {
  TFile file(path, "RECREATE");
  TTree t("t", "");
  NyssaValues v;
  v.branches(t);
  t.SetBasketSize("*", 300);
  v.fill(t, from, to);
  t.Write();
}
void nyssa_merge(std::vector<TString> from, const char *to) {
  TFileMerger merger(false);
  merger.OutputFile(to, "RECREATE");
  for (auto &file : from) merger.AddFile(file);
  merger.Merge();
}
"""

#: C++ statements that fill a new tree `t` with values `v`, before it is written.
TREES = {
    "no entries": "v.branches(t);",
    "no branches": "t.SetEntries(7);",
    "a branch that is never filled": 't.Branch("i", &v.i); v.fill(t, 0, 30); t.Branch("d", &v.d);',
    "a branch that ends early": """
        t.Branch("i", &v.i);
        v.fill(t, 0, 30);
        auto *d = t.Branch("d", &v.d);
        for (int e = 0; e < 12; ++e) { v.set(e); d->Fill(); }""",
    "a branch from midway on": """
        t.Branch("i", &v.i);
        v.fill(t, 0, 30);
        t.Branch("d", &v.d);
        v.fill(t, 30, 50);""",
    "a branch with more entries than the tree": """
        t.Branch("i", &v.i);
        auto *d = t.Branch("d", &v.d);
        v.fill(t, 0, 30);
        for (int e = 30; e < 40; ++e) { v.set(e); d->Fill(); }""",
    "a branch that is filled afterwards": """
        t.Branch("i", &v.i);
        t.SetAutoFlush(10);
        v.fill(t, 0, 33);
        auto *d = t.Branch("d", &v.d);
        for (int e = 0; e < 33; ++e) { v.set(e); d->BackFill(); }""",
    "fewer entries than its branches": """
        auto *i = t.Branch("i", &v.i);
        auto *d = t.Branch("d", &v.d);
        for (int e = 0; e < 30; ++e) { v.set(e); i->Fill(); if (e < 20) d->Fill(); }
        t.SetEntries(20);""",
    "counters in a leaf list": """
        struct { double w; int n, m; } head;
        t.Branch("head", &head, "w/D:n/I:m/I");
        t.Branch("x", v.x, "x[n]/F");
        t.Branch("y", v.x, "y[m][2]/F");
        t.Branch("n", &v.i);
        for (int e = 0; e < 40; ++e) {
          v.set(e);
          head = {e * .25, e % 7, e % 4};
          t.Fill();
          if (e % 9 == 0) t.FlushBaskets();
        }""",
    "a counter in its own leaf list": """
        struct { int n; float x[7]; } list;
        t.Branch("list", &list, "n/I:x[n]/F");
        for (int e = 0; e < 40; ++e) {
          list.n = e % 7;
          for (auto &x : list.x) x = e;
          t.Fill();
        }""",
    "an array beside its counter": """
        int n[3];
        t.Branch("n", n, "n[3]/I");
        t.Branch("m", &n[1], "m/I");
        t.Branch("x", v.x, "x[m]/F");
        for (int e = 0; e < 40; ++e) { v.set(e); n[0] = e; n[1] = e % 6; n[2] = 3; t.Fill(); }""",
    "slashes and dots in names": """
        t.Branch("p.n", &v.n, "n/I");
        t.Branch("p.x", v.x, "x[n]/F");
        t.Branch("q/n", &v.i, "n/I");
        t.Branch("q/x", v.x, "x[n]/F");
        v.fill(t, 0, 50);""",
    "baskets of other sizes midway": """
        v.branches(t);
        t.SetAutoFlush(0);
        v.fill(t, 0, 100);
        t.SetBasketSize("*", 200);
        v.fill(t, 100, 200);
        t.SetBasketSize("x", 64000);
        v.fill(t, 200, 300);
        t.SetBasketSize("*", 101);
        v.fill(t, 300, 500);""",
    "one branch flushed by itself": """
        v.branches(t);
        t.SetAutoFlush(0);
        t.SetBasketSize("*", 500);
        v.fill(t, 0, 30);
        t.GetBranch("n")->FlushBaskets();
        v.fill(t, 30, 77);""",
    "no entry offsets": """
        v.branches(t);
        t.GetBranch("x")->SetEntryOffsetLen(0);
        t.SetBasketSize("*", 300);
        v.fill(t, 0, 130);""",
    "generated entry offsets": """
        ROOT::TIOFeatures features;
        features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
        t.SetIOFeatures(features);
        v.branches(t);
        t.SetBasketSize("*", 300);
        v.fill(t, 0, 130);""",
    "another compression for each branch": """
        v.branches(t);
        t.Branch("i", &v.i)->SetCompressionSettings(505);
        t.GetBranch("n")->SetCompressionSettings(101);
        t.GetBranch("x")->SetCompressionSettings(207);
        t.GetBranch("d")->SetCompressionSettings(404);
        v.fill(t, 0, 600);
        t.FlushBaskets();
        t.GetBranch("d")->SetCompressionSettings(0);
        v.fill(t, 600, 900);""",
    "saved again and again": """
        v.branches(t);
        t.SetBasketSize("*", 400);
        for (int e = 0; e < 300; ++e) {
          v.fill(t, e, e + 1);
          if (e % 50 == 20) t.AutoSave();
          if (e % 70 == 3) t.AutoSave("SaveSelf FlushBaskets");
        }""",
    "circular": "v.branches(t); t.SetCircular(50); v.fill(t, 0, 333);",
    "circular with small baskets": """
        v.branches(t);
        t.SetDirectory(nullptr);
        t.SetBasketSize("*", 300);
        t.SetCircular(50);
        v.fill(t, 0, 333);""",
    "in memory": """
        v.branches(t);
        t.SetDirectory(nullptr);
        t.SetBasketSize("*", 300);
        v.fill(t, 0, 333);""",
    "reset": "v.branches(t); v.fill(t, 0, 30); t.Write(); t.Reset(); v.fill(t, 50, 70);",
}
#: C++ statements that write other files, to `path` and similar paths.
FILES = {
    "merged and merged again": """
        nyssa_plain(at + ".a", 0, 50);
        nyssa_plain(at + ".b", 50, 50);
        nyssa_plain(at + ".c", 50, 127);
        nyssa_merge({at + ".a", at + ".b", at + ".c"}, at + ".m");
        nyssa_merge({at + ".m", at + ".b", at + ".m", at + ".a"}, at);""",
    "cloned fast, sorted, and added to": """
        nyssa_plain(at + ".a", 0, 150);
        {
          TFile file(at + ".a");
          auto *t = file.Get<TTree>("t");
          TFile output(at + ".b", "RECREATE");
          auto *clone = t->CloneTree(-1, "fast SortBasketsByEntry");
          clone->CopyEntries(t, 20, "");
          clone->CopyEntries(t, -1, "fast");
          output.Write();
        }
        TFile file(at + ".b");
        auto *t = file.Get<TTree>("t");
        TFile output(at, "RECREATE");
        t->CloneTree(-1, "fast SortBasketsByOffset");
        output.Write();""",
    "copied without the counter": """
        nyssa_plain(at + ".a", 0, 150);
        TFile file(at + ".a");
        auto *t = file.Get<TTree>("t");
        t->SetBranchStatus("n", false);
        TFile output(at, "RECREATE");
        auto *clone = t->CloneTree(0);
        clone->CopyEntries(t);
        output.Write();""",
    "filled on, with a new branch": """
        nyssa_plain(at, 0, 60);
        TFile file(at, "UPDATE");
        auto *t = file.Get<TTree>("t");
        NyssaValues v;
        t->SetBranchAddress("n", &v.n);
        t->SetBranchAddress("x", v.x);
        t->SetBranchAddress("d", &v.d);
        v.fill(*t, 60, 131);
        t->Write();
        auto *i = t->Branch("i", &v.i);
        for (int e = 0; e < 131; ++e) { v.set(e); i->Fill(); }
        t->Write("", TObject::kOverwrite);""",
}


def code() -> str:
    """Return C++ with a function `shape_N(path)` for each of `names()`."""
    parts = [COMMON]
    for number, shape in enumerate([*TREES, *FILES]):
        if shape in TREES:
            new = 'TFile file(at, "RECREATE"); TTree t("t", ""); NyssaValues v;'
            write = "file.cd(); t.Write(); t.SetDirectory(nullptr);"
            body = f"{new} {TREES[shape]} {write}"
        else:
            body = FILES[shape]
        parts.append(f"void shape_{number}(TString at) {{ {body} }}")
    return "\n".join(parts)


def names() -> list[str]:
    """Return the names of the files, without folder and extension."""
    return [re.sub("[ ,]+", "-", shape) for shape in [*TREES, *FILES]]
