"""Reads the numbers of the leaves of a tree by ROOT, by the position of branch and leaf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.root import Root

DUMP = r"""
#ifndef NYSSA_LEAVES  // Several modules declare it in one process.
#define NYSSA_LEAVES
#include <fstream>
void nyssa_leaves(const char *path, const char *name, const char *json) {
  TFile file(path);
  auto *tree = file.Get<TTree>(name);
  std::ofstream out(json);
  out.precision(17);
  auto *branches = tree->GetListOfBranches();
  out << "[";
  for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
    tree->GetEntry(entry);
    out << (entry ? ",\n[" : "\n[");
    for (int b = 0; b < branches->GetEntries(); ++b) {
      auto *leaves = ((TBranch *)branches->At(b))->GetListOfLeaves();
      out << (b ? ",[" : "[");
      for (int l = 0; l < leaves->GetEntries(); ++l) {
        auto *leaf = (TLeaf *)leaves->At(l);
        out << (l ? ",[" : "[");
        for (int i = 0; i < leaf->GetLen(); ++i) out << (i ? "," : "") << leaf->GetValue(i);
        out << "]";
      }
      out << "]";
    }
    out << "]";
  }
  out << "]";
}
#endif
"""


def leaves_of_root(root: Root, path: Path, tree: str = "t") -> list[list[list[list[Any]]]]:
    """Return the numbers of each leaf of each branch of each entry; `DUMP` must be declared."""
    output = path.with_suffix(".json")
    root.call("cpp", "", f'nyssa_leaves("{path}", "{tree}", "{output}")')
    found: list[list[list[list[Any]]]] = json.loads(output.read_text())
    return found


def leaves(value: Any) -> list[list[Any]]:
    """Return the numbers of each leaf of one entry of a branch that nyssa read."""
    return [_flat(one) for one in value.values()] if isinstance(value, dict) else [_flat(value)]


def _flat(value: Any) -> list[Any]:
    return [one for item in value for one in _flat(item)] if isinstance(value, list) else [value]
