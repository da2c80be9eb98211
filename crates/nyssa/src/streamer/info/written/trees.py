"""Makes `trees.bin`: the list of streamer infos that ROOT writes beside a TTree, uncompressed.

Run it with ROOT in a folder where it may leave the file `trees.root`. Older versions of ROOT know
only version 9 of TStreamerInfo, which has the same bytes as version 10.
"""

import re
import struct
from pathlib import Path

import numpy as np
import ROOT

LEAVES = {"B": "i1", "S": "i2", "I": "i4", "L": "i8", "F": "f4", "D": "f8", "O": "?", "C": "i1"}

file = ROOT.TFile("trees.root", "RECREATE", "", 0)
tree = ROOT.TTree("tree", "")
vector = ROOT.std.vector("float")()
tree.Branch("vector", vector)
buffers = {code: np.zeros(8, dtype) for code, dtype in LEAVES.items()}
for code, buffer in buffers.items():
    tree.Branch(code, buffer, f"{code}/{code}")
tree.Fill()
tree.Write()
file.Close()

stored = Path("trees.root").read_bytes()
place, size = struct.unpack(">II", stored[37:45])
keylen = struct.unpack(">H", stored[place + 14 : place + 16])[0]
assert keylen == 64
payload = stored[place + keylen : place + size]
head = rb"(\x40\x00..\x00)\x0a(\x40\x00\x00.\x00\x01\x00\x01)"
payload = re.sub(head, lambda match: match[1] + b"\x09" + match[2], payload, flags=re.DOTALL)
Path(__file__).with_name("trees.bin").write_bytes(payload)
