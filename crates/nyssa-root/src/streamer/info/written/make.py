"""Makes the lists of streamer infos that ROOT writes beside the objects that nyssa writes.

`trees.bin` is the list for a TTree, `objects.bin` that for histograms, graphs, strings and
parameters. Both are uncompressed. Run it with ROOT in a folder where it may leave the files
`trees.root` and `objects.root`. Older versions of ROOT know only version 9 of TStreamerInfo, which
has the same bytes as version 10.
"""

import re
import struct
from pathlib import Path

import numpy as np
import ROOT

LEAVES = {
    "B": "i1",
    "S": "i2",
    "I": "i4",
    "L": "i8",
    "G": "i8",
    "F": "f4",
    "D": "f8",
    "O": "?",
    "C": "i1",
}


def trees():
    """Write a TTree with leaves of all types."""
    tree = ROOT.TTree("tree", "")
    vector = ROOT.std.vector("float")()
    tree.Branch("vector", vector)
    # With this split level it is a TBranchObject.
    named = ROOT.TNamed()
    tree.Branch("object", "TNamed", named, 32000, -1)
    buffers = {code: np.zeros(8, dtype) for code, dtype in LEAVES.items()}
    for code, buffer in buffers.items():
        tree.Branch(code, buffer, f"{code}/{code}")
    tree.Fill()
    tree.Write()


def objects():
    """Write an object of each class."""
    axis = (1, 0.0, 1.0)
    for letter in "CSIFD":
        for number in (1, 2, 3):
            name = f"TH{number}{letter}"
            histogram = getattr(ROOT, name)(name, "", *(number * axis))
            # Labels are a THashList of TObjString.
            histogram.GetXaxis().SetBinLabel(1, "label")
            histogram.Write()
    for name, number in (("TProfile", 1), ("TProfile2D", 2), ("TProfile3D", 3)):
        getattr(ROOT, name)(name, "", *(number * axis)).Write()
    for name in ("TGraph", "TGraphErrors", "TGraphAsymmErrors", "TGraph2D", "TGraph2DErrors"):
        getattr(ROOT, name)(1).Write(name)
    for name in ("bool", "int", "long", "Long64_t", "float", "double"):
        ROOT.TParameter(name)(name, 1).Write()
    ROOT.TObjString("text").Write("text")
    ROOT.TNamed("named", "").Write()


for name, write in (("trees", trees), ("objects", objects)):
    file = ROOT.TFile(f"{name}.root", "RECREATE", "", 0)
    write()
    file.Close()
    stored = Path(f"{name}.root").read_bytes()
    place, size = struct.unpack(">II", stored[37:45])
    keylen = struct.unpack(">H", stored[place + 14 : place + 16])[0]
    assert keylen == 64
    payload = stored[place + keylen : place + size]
    head = rb"(\x40\x00..\x00)\x0a(\x40\x00\x00.\x00\x01\x00\x01)"
    payload = re.sub(head, lambda match: match[1] + b"\x09" + match[2], payload, flags=re.DOTALL)
    Path(__file__).with_name(f"{name}.bin").write_bytes(payload)
