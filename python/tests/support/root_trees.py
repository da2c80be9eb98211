"""Reads trees in ROOT's process; `support.root` calls these functions by name."""

from __future__ import annotations

from typing import Any


def tree_values(path: str, name: str, names: list[str]) -> dict[str, list[Any]]:
    """Return the values of columns as RDataFrame reads them (`TTreeReader`)."""
    import ROOT

    frame = ROOT.RDataFrame(name, path)
    arrays = frame.AsNumpy(names)
    return {one: [_plain(value) for value in arrays[one]] for one in names}


def tree_leaves(path: str, name: str, names: list[str]) -> dict[str, list[list[Any]]]:
    """Return what `TTree::GetEntry` puts into each leaf of branches; strings as text."""
    import ROOT

    code = "std::string nyssa_text(TLeaf *leaf) { return (char *)leaf->GetValuePointer(); }"
    if not hasattr(ROOT, "nyssa_text"):
        ROOT.gInterpreter.Declare(code)
    with ROOT.TFile.Open(path) as file:
        tree = file.Get(name)
        leaves = [leaf for one in names for leaf in tree.GetBranch(one).GetListOfLeaves()]
        found: dict[str, list[list[Any]]] = {_path(leaf): [] for leaf in leaves}
        for entry in range(tree.GetEntries()):
            assert tree.GetEntry(entry) >= 0
            for leaf in leaves:
                if leaf.ClassName() == "TLeafC":
                    values = [str(ROOT.nyssa_text(leaf))]
                else:
                    values = [leaf.GetValue(at) for at in range(leaf.GetLen())]
                found[_path(leaf)].append(values)
        return found


def tree_vectors(path: str, name: str, names: list[str]) -> dict[str, tuple[str, list[Any]]]:
    """Return the class and the values of the branches `names`, which are `std::vector`."""
    import ROOT

    with ROOT.TFile.Open(path) as file:
        tree = file.Get(name)
        found: dict[str, tuple[str, list[Any]]] = {}
        for branch in tree.GetListOfBranches():
            if branch.GetName() in names:
                found[branch.GetName()] = (branch.GetClassName(), [])
        for entry in range(tree.GetEntries()):
            assert tree.GetEntry(entry) >= 0
            for one, (_, values) in found.items():
                values.append(_plain(getattr(tree, one)))
        return found


def tree_description(path: str, name: str) -> dict[str, Any]:
    """Return what the metadata of a tree say."""
    import ROOT

    with ROOT.TFile.Open(path) as file:
        tree = file.Get(name)
        branches = {}
        for branch in tree.GetListOfBranches():
            baskets = branch.GetWriteBasket()
            branches[branch.GetName()] = {
                "title": branch.GetTitle(),
                "leaves": [leaf.GetTitle() for leaf in branch.GetListOfLeaves()],
                "entries": branch.GetEntries(),
                "baskets": baskets,
                "bytes": [branch.GetBasketBytes()[at] for at in range(baskets)],
                "first": [branch.GetBasketEntry()[at] for at in range(baskets + 1)],
                "tot": branch.GetTotBytes(),
                "zip": branch.GetZipBytes(),
                "compression": branch.GetCompressionSettings(),
            }
        aliases = tree.GetListOfAliases() or []
        return {
            "title": tree.GetTitle(),
            "entries": tree.GetEntries(),
            "tot": tree.GetTotBytes(),
            "zip": tree.GetZipBytes(),
            "auto_flush": tree.GetAutoFlush(),
            "clusters": _clusters(tree),
            "aliases": {one.GetName(): one.GetTitle() for one in aliases},
            "user_info": {one.GetName(): one.GetTitle() for one in tree.GetUserInfo()},
            "branches": branches,
        }


def tree_branches(path: str, name: str) -> dict[str, dict[str, Any]]:
    """Return what a tree says of each branch, also below others, by the paths of the branches."""
    import ROOT

    found: dict[str, dict[str, Any]] = {}

    def walk(branches: Any, above: str) -> None:
        for branch in branches:
            path = above + str(branch.GetName())
            own: dict[str, Any] = {"branch": str(branch.ClassName())}
            if branch.InheritsFrom("TBranchElement"):
                numbers = (branch.GetType(), branch.GetID(), branch.GetStreamerType())
                own |= {"class": str(branch.GetClassName()), "numbers": numbers}
                own |= {"version": branch.GetClassVersion()}
                counter = branch.GetBranchCount()
                own |= {"counter": str(counter.GetName()) if counter else None}
            own |= {"split level": branch.GetSplitLevel(), "title": str(branch.GetTitle())}
            own["leaves"] = [_leaf_form(leaf) for leaf in branch.GetListOfLeaves()]
            found[path] = own
            walk(branch.GetListOfBranches(), path + "/")

    with ROOT.TFile.Open(path) as file:
        walk(file.Get(name).GetListOfBranches(), "")
    return found


def _leaf_form(leaf: Any) -> tuple[Any, ...]:
    counter = leaf.GetLeafCount()
    of = str(counter.GetName()) if counter else None
    names = (str(leaf.ClassName()), str(leaf.GetName()), str(leaf.GetTitle()))
    # Versions of ROOT state other sizes of the leaves of objects.
    size = 0 if leaf.InheritsFrom("TLeafElement") else leaf.GetLenType()
    return (*names, size, bool(leaf.IsUnsigned()), of)


def streamer_infos(path: str) -> dict[str, tuple[int, int]]:
    """Return version and checksum of the classes that a file describes."""
    import ROOT

    with ROOT.TFile.Open(path) as file:
        infos = [one for one in file.GetStreamerInfoList() if one.ClassName() == "TStreamerInfo"]
        return {one.GetName(): (one.GetClassVersion(), one.GetCheckSum()) for one in infos}


def streamer_elements(path: str) -> dict[str, list[list[Any]]]:
    """Return the elements of the classes that a file describes, apart from their comments."""
    import ROOT

    def element(one: Any) -> list[Any]:
        of_containers = one.InheritsFrom("TStreamerSTL")
        kinds = [one.GetSTLtype(), one.GetCtype()] if of_containers else []
        dimensions = [one.GetMaxIndex(at) for at in range(one.GetArrayDim())]
        own = [one.ClassName(), one.GetName(), one.GetTypeName(), one.GetType(), one.GetSize()]
        return [str(part) if isinstance(part, str) else part for part in own + dimensions + kinds]

    with ROOT.TFile.Open(path) as file:
        infos = [one for one in file.GetStreamerInfoList() if one.ClassName() == "TStreamerInfo"]
        return {one.GetName(): [element(item) for item in one.GetElements()] for one in infos}


def write_tree(path: str, entries: int, auto_flush: int) -> None:
    """Write a tree with one leaf of each type, in ROOT."""
    import numpy as np
    import ROOT

    with ROOT.TFile(path, "RECREATE") as file:
        tree = ROOT.TTree("tree", "")
        tree.SetAutoFlush(auto_flush)
        codes = {"B": "i1", "S": "i2", "I": "i4", "L": "i8", "F": "f4", "D": "f8", "O": "?"}
        buffers = {code: np.zeros(8, dtype) for code, dtype in codes.items()}
        for code, buffer in buffers.items():
            tree.Branch(code, buffer, f"{code}/{code}")
        text = np.frombuffer(b"text\0", dtype="i1").copy()
        tree.Branch("text", text, "text/C")
        for _ in range(entries):
            tree.Fill()
        file.WriteObject(tree, "tree")
        tree.SetDirectory(ROOT.nullptr)


_MANY_KINDS = """
void nyssa_many_kinds(const char *path, long first, long entries, int auto_flush, int compression,
                      bool in_memory, const std::string &columns, char letter)
{
   std::unique_ptr<TFile> file;
   if (in_memory) gROOT->cd();
   else file.reset(new TFile(path, "RECREATE", "", compression));
   auto tree = new TTree("Events", "its title");
   tree->SetAutoFlush(auto_flush);
   Long64_t number; int count; float pt[20], x4; double x8; char text[64];
   std::vector<float> vector; std::string string; TLorentzVector p4;
   TClonesArray clones("TLorentzVector", 10);
   auto has = [&](const char *name) {
      return columns.empty() || columns.find(std::string(",") + name + ",") != std::string::npos;
   };
   if (has("number")) tree->Branch("number", &number, "number/L");
   if (has("count")) tree->Branch("count", &count, "count/I");
   if (has("pt")) tree->Branch("pt", pt, "pt[count]/F");
   if (has("x") && letter == 'D') tree->Branch("x", &x8, "x/D");
   if (has("x") && letter == 'F') tree->Branch("x", &x4, "x/F");
   if (has("text")) tree->Branch("text", text, "text/C");
   if (has("vector")) tree->Branch("vector", &vector);
   if (has("string")) tree->Branch("string", &string);
   if (has("p4")) tree->Branch("p4", &p4, 32000, 99);
   if (has("whole")) tree->Branch("whole", &p4, 32000, 0);
   if (has("clones")) tree->Branch("clones", &clones, 1000, 99);
   for (long entry = first; entry < first + entries; entry++) {
      number = entry; count = entry % (first ? 9 : 5); x4 = x8 = entry / 4.;
      for (int at = 0; at < 20; at++) pt[at] = entry + at;
      snprintf(text, 64, "event %ld%s", entry, first ? " of a later file" : "");
      string = text;
      vector.assign(entry % 4, entry);
      p4.SetPxPyPzE(entry, 1, 2, 3);
      clones.Clear();
      for (int at = 0; at < entry % 3; at++)
         ((TLorentzVector *)clones.ConstructedAt(at))->SetPxPyPzE(entry, at, 2, 3);
      tree->Fill();
   }
   tree->SetAlias("twice", "x*2");
   tree->GetUserInfo()->Add(new TNamed("kept", "as it is"));
   if (!file) file.reset(new TFile(path, "RECREATE"));
   file->WriteTObject(tree);
   if (in_memory) delete tree;
   file->mkdir("d")->cd();
   auto runs = new TTree("Runs", "");
   int run = first;
   runs->Branch("run", &run, "run/I");
   runs->Fill();
   runs->Write();
   file->cd();
   TH1D histogram("h", "", 10, 0, 10);
   histogram.Fill(first % 10, 2);
   histogram.Write();
   // The trees use the variables above until here.
   file->Close();
}
"""


def write_many_kinds(path: str, first: int, entries: int, kinds: dict[str, Any]) -> None:
    """Write trees with baskets of many kinds: ``Events`` and ``d/Runs``, and a histogram.

    `kinds` are ``auto_flush``, ``compression``, ``in_memory`` (the baskets stay inside the tree),
    ``columns`` (a list of names) and ``type`` of ``x`` (a letter).
    """
    import ROOT

    if not hasattr(ROOT, "nyssa_many_kinds"):
        ROOT.gInterpreter.Declare("#include <TLorentzVector.h>\n#include <TClonesArray.h>")
        ROOT.gInterpreter.Declare(_MANY_KINDS)
    ROOT.nyssa_many_kinds(
        path,
        first,
        entries,
        kinds.get("auto_flush", 40),
        kinds.get("compression", 505),
        kinds.get("in_memory", False),
        "".join(f",{name}," for name in kinds.get("columns", [])),
        kinds.get("type", "D"),
    )


_TO_APPEND = """
struct NyssaList { int run; double weight[2]; };
void nyssa_to_append(const char *path, long first, long entries, int auto_flush, bool append,
                     int basket)
{
   TFile file(path, append ? "UPDATE" : "RECREATE", "", 404);
   int nJet; unsigned char nHit; float Jet_pt[20], x; double Jet_eta[20]; short fixed[2][3];
   float Hit_xy[20][2];
   char text[64]; NyssaList list; bool flag; Long64_t number; unsigned short small;
   std::vector<float> floats, *floats_p = &floats; std::vector<bool> bools, *bools_p = &bools;
   std::vector<std::string> strings, *strings_p = &strings;
   std::vector<std::vector<float>> nested, *nested_p = &nested;
   std::string string, *string_p = &string;
   TTree *tree = append ? file.Get<TTree>("d/Events") : nullptr;
   auto branch = [&](const char *name, void *address, const char *leaves) {
      if (append) tree->SetBranchAddress(name, address);
      else tree->Branch(name, address, leaves, basket);
   };
   if (!append) {
      file.mkdir("d")->cd();
      tree = new TTree("Events", "its title");
      tree->SetAutoFlush(auto_flush);
   }
   branch("nJet", &nJet, "nJet/I");
   branch("Jet_pt", Jet_pt, "Jet_pt[nJet]/F");
   branch("Jet_eta", Jet_eta, "Jet_eta[nJet]/D");
   branch("nHit", &nHit, "nHit/b");
   branch("Hit_xy", Hit_xy, "Hit_xy[nHit][2]/F");
   branch("x", &x, "x/F");
   branch("fixed", fixed, "fixed[2][3]/S");
   branch("text", text, "text/C");
   branch("list", &list, "run/I:weight[2]/D");
   branch("flag", &flag, "flag/O");
   branch("number", &number, "number/L");
   branch("small", &small, "small/s");
   if (append) {
      tree->SetBranchAddress("floats", &floats_p);
      tree->SetBranchAddress("bools", &bools_p);
      tree->SetBranchAddress("strings", &strings_p);
      tree->SetBranchAddress("nested", &nested_p);
      tree->SetBranchAddress("string", &string_p);
   } else {
      tree->Branch("floats", &floats);
      tree->Branch("bools", &bools);
      tree->Branch("strings", &strings);
      tree->Branch("nested", &nested);
      tree->Branch("string", &string);
      tree->GetBranch("x")->SetCompressionSettings(505);
      tree->GetBranch("number")->SetCompressionSettings(0);
      tree->SetAlias("twice", "x*2");
      tree->GetUserInfo()->Add(new TNamed("kept", "as it is"));
   }
   for (long entry = first; entry < first + entries; entry++) {
      nJet = entry % (first ? 9 : 5); nHit = entry % 3; x = entry / 4.; flag = entry % 2;
      number = entry << 33; small = entry; list.run = entry;
      list.weight[0] = entry / 8.; list.weight[1] = -entry;
      for (int at = 0; at < 20; at++) {
         Jet_pt[at] = entry + at; Jet_eta[at] = entry - at;
         Hit_xy[at][0] = at; Hit_xy[at][1] = entry;
      }
      for (int at = 0; at < 6; at++) fixed[at / 3][at % 3] = entry + at;
      snprintf(text, 64, "event %ld%s", entry, first ? " of a later file" : "");
      string = text;
      floats.assign(entry % 4, entry); bools.assign(entry % 3, entry % 2);
      strings.assign(entry % 3, text);
      nested.assign(entry % 3, std::vector<float>(entry % 2, entry));
      tree->Fill();
   }
   tree->GetDirectory()->cd();
   tree->Write("", TObject::kOverwrite);
   file.Close();
}
"""


def write_to_append(
    path: str, first: int, entries: int, auto_flush: int, append: bool, basket: int
) -> None:
    """Write a tree of all kinds of branches that nyssa fills, ``d/Events``; or add entries to it.

    With `append`, ROOT adds the entries to the tree of the file.
    """
    import ROOT

    if not hasattr(ROOT, "nyssa_to_append"):
        ROOT.gInterpreter.Declare(_TO_APPEND)
    ROOT.nyssa_to_append(path, first, entries, auto_flush, append, basket)


def write_references(path: str, entries: int) -> None:
    """Write a tree, ``Events``, whose branch ``ref`` refers to objects of this process."""
    import ROOT

    ref, one = ROOT.TRef(), ROOT.TNamed("one", "")
    with ROOT.TFile.Open(path, "recreate") as file:
        tree = ROOT.TTree("Events", "")
        tree.Branch("ref", ref)
        ref.SetObject(one)
        for _ in range(entries):
            tree.Fill()
        file.Write()


def tree_facts(path: str, name: str) -> dict[str, Any]:
    """Return what a merge of trees keeps or adds up."""
    import ROOT

    with ROOT.TFile.Open(path) as file:
        tree = file.Get(name)
        counter, text = tree.GetLeaf("count"), tree.GetLeaf("text")
        clones = tree.GetBranch("clones")
        return {
            "entries": tree.GetEntries(),
            "title": tree.GetTitle(),
            "clusters": _clusters(tree),
            "alias": tree.GetAlias("twice"),
            "kept": tree.GetUserInfo().At(0).GetTitle(),
            "maximum": counter.GetMaximum() if counter else None,
            "text": text.GetLen() if text else None,
            "clones": clones.GetMaximum() if clones else None,
            "tot": tree.GetTotBytes(),
            "zip": tree.GetZipBytes(),
            "selected": tree.Draw("p4.fP.fX:clones.fE", "number > 3", "goff") if clones else None,
        }


def _clusters(tree: Any) -> list[int]:
    """Return the first entries of the clusters."""
    iterator = tree.GetClusterIterator(0)
    starts = []
    start = iterator.Next()
    while start < tree.GetEntries():
        starts.append(start)
        start = iterator.Next()
    return starts


def _path(leaf: Any) -> str:
    branch = leaf.GetBranch().GetName()
    return branch if branch == leaf.GetName() else f"{branch}.{leaf.GetName()}"


def _plain(value: Any) -> Any:
    if isinstance(value, (str, int, float)):
        return value
    if type(value).__name__ == "string":
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__len__"):
        return [_plain(one) for one in value]
    return value


_QUANTIZED = """
void nyssa_quantized(const char *path, long entries)
{
   TFile file(path, "RECREATE", "", 505);
   auto tree = new TTree("Events", "");
   TRandom3 random(7);
   double byte, top, phi, wide, pt[8]; float half; int count;
   tree->Branch("byte", &byte, "byte/d[0,1,8]");
   tree->Branch("top", &top, "top/d[0,1,8]");
   tree->Branch("phi", &phi, "phi/d[-pi,pi,20]");
   tree->Branch("wide", &wide, "wide/d[-1000,1000]");
   tree->Branch("half", &half, "half/f[-3,3,16]");
   tree->Branch("count", &count, "count/I");
   tree->Branch("pt", pt, "pt[count]/d[0,100,12]");
   for (long entry = 0; entry < entries; ++entry) {
      byte = random.Rndm() * 0.99;
      top = entry == entries / 3 ? 1. : random.Rndm() * 0.99;
      phi = (random.Rndm() - 0.5) * 6.28;
      wide = random.Gaus() * 100;
      half = random.Rndm() * 5.9 - 2.9;
      count = random.Integer(8);
      for (int i = 0; i < count; ++i) pt[i] = random.Rndm() * 90;
      tree->Fill();
   }
   tree->Write();
}
"""


def write_quantized(path: str, entries: int) -> None:
    """Write a tree with numbers that are stored as integers; `top` has the highest value once."""
    import ROOT

    if not hasattr(ROOT, "nyssa_quantized"):
        ROOT.gInterpreter.Declare(_QUANTIZED)
    ROOT.nyssa_quantized(path, entries)


def tree_metadata(path: str, name: str) -> dict[str, Any]:
    """Return all that a tree says beside its values."""
    import ROOT

    with ROOT.TFile.Open(path) as file:
        tree = file.Get(name)
        index = tree.GetTreeIndex()
        named = [(one.GetName(), one.GetTitle()) for one in tree.GetListOfAliases() or []]
        friends = tree.GetListOfFriends() or []
        return {
            "title": tree.GetTitle(),
            "class": tree.ClassName(),
            "weight": tree.GetWeight(),
            "auto_flush": tree.GetAutoFlush(),
            "clusters": _clusters(tree),
            "aliases": named,
            "friends": [(one.GetName(), one.GetTreeName(), one.GetTitle()) for one in friends],
            "user_info": [str(ROOT.TBufferJSON.ToJSON(one).Data()) for one in tree.GetUserInfo()],
            "index": _index(index) if index else None,
            "branches": [
                (
                    branch.ClassName(),
                    branch.GetName(),
                    branch.GetTitle(),
                    branch.GetClassName(),
                    [_leaf(leaf) for leaf in branch.GetListOfLeaves()],
                )
                for branch in tree.GetListOfBranches()
            ],
        }


def _index(index: Any) -> tuple[str, str, list[int]]:
    entries = [index.GetIndex()[at] for at in range(index.GetN())]
    return index.GetMajorName(), index.GetMinorName(), entries


def _leaf(leaf: Any) -> tuple[Any, ...]:
    counter = leaf.GetLeafCount()
    return (
        leaf.ClassName(),
        leaf.GetName(),
        leaf.GetTitle(),
        None if leaf.ClassName() == "TLeafC" else leaf.GetLenStatic(),
        leaf.GetLenType(),
        leaf.IsUnsigned(),
        counter.GetName() if counter else None,
    )
