"""Pointers, enums and bitsets in objects in TTrees have the bytes that ROOT writes for them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa
from support.root import Root
from write.test_tree_classes import BITS, MEMBERS, described, stored

HEADER = Path(__file__).with_name("tree_pointers.hxx")
LEVELS = [0, 1, 2, 99]
ENTRIES = 12
CHECKSUM = MEMBERS.index("fCheckSum")

NAME = "treepointers::"
CLASSES: dict[str, dict[str, Any]] = {
    f"{NAME}Deep": {"d": "int", "e": "float"},
    f"{NAME}Hit": {"id": "int", "q": "std::vector<float>"},
    f"{NAME}Owner": {
        "p": f"{NAME}Deep*",
        "u": f"std::unique_ptr<{NAME}Deep>",
        "h": f"{NAME}Hit *",
        "uh": f"std::unique_ptr<{NAME}Hit,std::default_delete<{NAME}Hit>>",
        "c": f"const {NAME}Deep*",
        "ap": f"{NAME}Deep*[2]",
        "vp": f"std::vector<{NAME}Deep*>",
        "lh": f"std::list<{NAME}Hit*>",
        "mp": f"std::map<int,{NAME}Deep*>",
        "after": "int",
    },
    f"{NAME}Sole": {"vu": f"std::vector<std::unique_ptr<{NAME}Hit>>", "after": "int"},
    f"{NAME}U8": {":enum": "std::uint8_t"},
    f"{NAME}S8": {":enum": "std::int8_t"},
    f"{NAME}U16": {":enum": "std::uint16_t"},
    f"{NAME}S16": {":enum": "short"},
    f"{NAME}U32": {":enum": "std::uint32_t"},
    f"{NAME}Plain": {":enum": "int"},
    f"{NAME}Kinds": {
        "u8": f"{NAME}U8",
        "s8": f"{NAME}S8",
        "u16": f"{NAME}U16",
        "s16": f"{NAME}S16",
        "u32": f"{NAME}U32",
        "plain": f"{NAME}Plain",
        "b8": "std::bitset<8>",
        "b70": "std::bitset<70>",
        "vb": "std::vector<std::bitset<3>>",
        "after": "int",
    },
    f"{NAME}Nest": {
        "o": f"{NAME}Owner",
        "vo": f"std::vector<{NAME}Owner>",
        "k": f"{NAME}Kinds",
        "vk": f"std::vector<{NAME}Kinds>",
    },
}
COLUMNS = {
    "owner.": f"{NAME}Owner",
    "owners": f"std::vector<{NAME}Owner>",
    "null.": f"{NAME}Owner",
    "nulls": f"std::vector<{NAME}Owner>",
    "sole.": f"{NAME}Sole",
    "kinds.": f"{NAME}Kinds",
    "many": f"std::vector<{NAME}Kinds>",
    "nest.": f"{NAME}Nest",
    "nests": f"std::vector<{NAME}Nest>",
    "deeps": f"std::vector<{NAME}Deep*>",
    "map": f"std::map<int,{NAME}Deep*>",
    "grid": f"std::vector<std::vector<{NAME}Hit>>",
}
ENUMS = ("U8", "S8", "U16", "S16", "U32", "Plain")

_REWRITE = """
#include <tuple>
template <int I, class Columns>
void treepointers_each(Columns &columns, std::vector<std::string> &names, TTree *from, TTree &to,
                       int level) {
   if constexpr (I < std::tuple_size<Columns>::value) {
      from->SetBranchAddress(names[I].c_str(), &std::get<I>(columns));
      to.Branch(names[I].c_str(), &std::get<I>(columns), 32000, level);
      treepointers_each<I + 1>(columns, names, from, to, level);
   }
}
void treepointers_rewrite(const char *in, const char *out) {
   using namespace treepointers;
   TFile source(in);
   TFile target(out, "recreate");
   std::vector<std::string> names{NAMES};
   for (int level : {0, 1, 2, 99}) {
      auto name = TString::Format("t%d", level);
      auto from = source.Get<TTree>(name);
      target.cd();
      TTree to(name, "");
      std::tuple<TYPES> columns{};
      treepointers_each<0>(columns, names, from, to, level);
      for (Long64_t i = 0; i < from->GetEntries(); i++) {
         if (from->GetEntry(i) <= 0) throw std::runtime_error("an entry cannot be read");
         to.Fill();
      }
      to.Write();
      from->ResetBranchAddresses();
   }
}
"""


def deep(i: int) -> dict[str, Any] | None:
    return {"d": i, "e": i + 0.25} if i % 3 else None


def hit(i: int) -> dict[str, Any] | None:
    return {"id": i, "q": [i + 0.5] * (i % 4)} if i % 4 else None


def owner(i: int) -> dict[str, Any]:
    return {
        "p": deep(i),
        "u": deep(i + 1),
        "h": hit(i),
        "uh": hit(i + 1),
        "c": deep(i + 2),
        "ap": [deep(i + 1), deep(i)],
        "vp": [deep(k) for k in range(i % 5)],
        "lh": [hit(i + k) for k in range(i % 3)],
        "mp": [{"_0": k, "_1": deep(i + k)} for k in range(i % 4)],
        "after": i,
    }


def null(i: int) -> dict[str, Any]:
    none = {"p": None, "u": None, "h": None, "uh": None, "c": None, "ap": [None, None]}
    items = {"vp": [None] * (i % 3), "lh": [], "mp": [{"_0": k, "_1": None} for k in range(i % 4)]}
    return {**none, **items, "after": i}


def kinds(i: int) -> dict[str, Any]:
    return {
        "u8": 255 - i,
        "s8": -128 + i,
        "u16": 65535 - i,
        "s16": -i,
        "u32": 2**31 - 1 - i,
        "plain": -i,
        "b8": [(i >> bit) % 2 == 1 for bit in range(8)],
        "b70": [(i + bit) % 3 == 1 for bit in range(70)],
        "vb": [[i % 2 == 1, False, True]] * (i % 3),
        "after": i,
    }


def nest(i: int) -> dict[str, Any]:
    owners = [owner(i + k) for k in range(i % 3)]
    return {"o": owner(i), "vo": owners, "k": kinds(i), "vk": [kinds(k) for k in range(i % 3)]}


def entries(start: int = 0, stop: int = ENTRIES) -> dict[str, Any]:
    numbers = range(start, stop)
    hits = [{"id": k, "q": [k + 0.5] * k} for k in range(4)]
    return {
        "owner.": [owner(i) for i in numbers],
        "owners": [[owner(i + k) for k in range(i % 4)] for i in numbers],
        "null.": [null(i) for i in numbers],
        "nulls": [[null(i + k) for k in range(i % 4)] for i in numbers],
        "sole.": [{"vu": [hit(i + k) for k in range(i % 4)], "after": i} for i in numbers],
        "kinds.": [kinds(i) for i in numbers],
        "many": [[kinds(k) for k in range(i % 4)] for i in numbers],
        "nest.": [nest(i) for i in numbers],
        "nests": [[nest(i + k) for k in range(i % 3)] for i in numbers],
        "deeps": [[deep(i + k) for k in range(i % 6)] for i in numbers],
        "map": [[{"_0": k, "_1": deep(i + k)} for k in range(i % 3)] for i in numbers],
        "grid": [[hits[:k] for k in range(i % 4)] for i in numbers],
    }


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a file of nyssa, and one that ROOT wrote of the objects that it read there."""
    folder = tmp_path_factory.mktemp("pointers")
    ours, theirs = folder / "nyssa.root", folder / "root.root"
    with nyssa.recreate(ours, compression="none") as file:
        for level in LEVELS:
            tree = file.mktree(f"t{level}", COLUMNS, classes=CLASSES, split_level=level)
            tree.extend(entries(0, 5))
            tree.extend(entries(5, ENTRIES))
    classes = [name for name in CLASSES if name.removeprefix(NAME) not in ENUMS]
    containers = [name for name in COLUMNS.values() if name.startswith("std::")]
    containers += [f"std::list<{NAME}Hit*>", f"std::vector<{NAME}Hit>"]
    root.call("dictionaries", [*classes, *dict.fromkeys(containers)], [str(HEADER)])
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    types = ", ".join(f"{name} *" for name in COLUMNS.values())
    code = _REWRITE.replace("NAMES", names).replace("TYPES", types)
    root.call("cpp", code, f'treepointers_rewrite("{ours}", "{theirs}")')
    return ours, theirs


@pytest.mark.parametrize("level", LEVELS)
def test_branches_and_baskets_are_those_of_root(files: tuple[Path, Path], level: int) -> None:
    """Class tags count from the key of the basket, and branches state whether an entry has any."""
    with uproot.open(files[0]) as ours, uproot.open(files[1]) as theirs:
        mine, its = ours[f"t{level}"], theirs[f"t{level}"]
        for own, other in zip(mine.branches, its.branches, strict=True):
            facts, of_root = described(own), described(other)
            if own.name == "map":
                # ROOT counts members that its C++ library gives the map, once it knows them.
                facts[CHECKSUM] = of_root[CHECKSUM]
            assert facts == of_root, own.name
            assert stored(own) == stored(other), own.name


def test_streamer_infos_are_those_of_root(files: tuple[Path, Path], root: Root) -> None:
    infos, expected = (root.call("streamer_infos", str(file)) for file in files)
    elements, of_root = (root.call("streamer_elements", str(file)) for file in files)
    for name in [*(name for name in CLASSES if name in expected), f"pair<int,{NAME}Deep*>"]:
        assert infos[name] == expected[name], name
        assert elements[name] == of_root[name], name


@pytest.mark.parametrize("level", LEVELS)
def test_values_come_back(files: tuple[Path, Path], level: int) -> None:
    for path in files:
        with nyssa.open(path) as file:
            arrays = file[f"t{level}"].arrays(list(COLUMNS))
            for name, expected in entries().items():
                assert arrays[name].to_list() == expected, (name, path.name)


@pytest.mark.parametrize("level", LEVELS)
def test_entries_are_added(
    tmp_path: Path, files: tuple[Path, Path], root: Root, level: int
) -> None:
    """Objects follow the null pointers of a tree of ROOT, and the branches state this."""
    path, again = (str(tmp_path / name) for name in ("updated.root", "root.root"))
    shutil.copy(files[1], path)
    more = entries(0, 6)
    more["null."], more["nulls"] = more["owner."], more["owners"]
    with nyssa.update(path) as file:
        for other in LEVELS:
            file[f"t{other}"].extend(more)
    root.call("cpp", "", f'treepointers_rewrite("{path}", "{again}")')
    for one in (path, again):
        found = nyssa.open(f"{one}:t{level}").arrays(list(COLUMNS))
        for name, expected in entries().items():
            assert found[name].to_list() == expected + more[name], (name, one)
    bits = [
        {name: branch.member("@fBits") & BITS for name, branch in items}
        for items in (
            uproot.open(one)[f"t{level}"].iteritems(recursive=True) for one in (path, again)
        )
    ]
    assert bits[0] == bits[1]


def test_merged_branches_state_that_they_have_objects(tmp_path: Path, root: Root) -> None:
    """ROOT forgets the classes of an entry only if the branch states that entries have some."""
    classes = {"Deep": {"d": "int"}, "Owner": {"p": "Deep*"}}
    paths = [tmp_path / name for name in ("null.root", "objects.root")]
    rows: list[list[Any]] = [[[{"p": None}]] * 3, [[{"p": {"d": i}}] * 2 for i in range(4)]]
    for path, data in zip(paths, rows, strict=True):
        with nyssa.recreate(path) as file:
            file.mktree("t", {"v": "std::vector<Owner>"}, classes=classes).extend({"v": data})
    nyssa.merge(paths, tmp_path / "ours.root")
    root.call("hadd", str(tmp_path / "root.root"), [str(path) for path in paths])
    for path in (tmp_path / "ours.root", tmp_path / "root.root"):
        with uproot.open(path) as file:
            assert file["t/v/v.p"].member("@fBits") & BITS == 1 << 17, path
        assert nyssa.open(f"{path}:t")["v"].array().to_list() == rows[0] + rows[1]


_DERIVED = """
namespace derivedpointers {
struct Hit { int id = 0; virtual ~Hit() {} };
struct Pixel : Hit { int row = 0; };
struct Owner { Hit *hit = nullptr; std::vector<Hit *> hits; };
}
void derivedpointers_fill(const char *path, const char *more) {
   using namespace derivedpointers;
   TFile target(path, "recreate");
   for (int level : {0, 99}) {
      auto name = TString::Format("t%d", level);
      Owner *owner = new Owner;
      TTree tree(name, "");
      tree.Branch("owner.", &owner, 32000, level);
      auto made = [](int i) -> Hit * {
         if (i % 3 == 0) return nullptr;
         Hit *hit = i % 3 == 1 ? new Hit : new Pixel;
         hit->id = i;
         if (auto pixel = dynamic_cast<Pixel *>(hit)) pixel->row = i + 1;
         return hit;
      };
      if (*more) {
         TFile source(more);
         auto from = source.Get<TTree>(name);
         from->SetBranchAddress("owner.", &owner);
         for (int i = 0; i < from->GetEntries(); i++) { from->GetEntry(i); tree.Fill(); }
         from->ResetBranchAddresses();
      } else {
         for (int i = 0; i < 7; i++) {
            owner->hit = made(i);
            owner->hits.clear();
            for (int k = 0; k < i; k++) owner->hits.push_back(made(i + k));
            tree.Fill();
         }
      }
      target.cd();
      tree.Write();
   }
}
"""


def test_objects_of_several_classes_are_added(tmp_path: Path, root: Root) -> None:
    """Objects of derived classes behind pointers are written with the names of their classes."""
    path, again, header = (tmp_path / name for name in ("ours.root", "root.root", "derived.hxx"))
    classes, function = _DERIVED.split("}\nvoid")
    header.write_text(f"#pragma once\n#include <vector>\n{classes}}}")
    types = [f"derivedpointers::{one}" for one in ("Hit", "Pixel", "Owner")]
    root.call("dictionaries", [*types, "std::vector<derivedpointers::Hit*>"], [str(header)])
    root.call("cpp", f"void{function}", f'derivedpointers_fill("{path}", "")')
    trees = ["t0", "t99"]
    old = {name: nyssa.open(f"{path}:{name}").arrays() for name in trees}
    with nyssa.update(path) as file:
        for name in trees:
            file[name].extend(old[name])
            file[name].extend({"owner.": old[name]["owner."].to_list()})
    root.call("cpp", "", f'derivedpointers_fill("{again}", "{path}")')
    for one in (path, again):
        for name in trees:
            assert nyssa.open(f"{one}:{name}").arrays().to_list() == old[name].to_list() * 3


_BELOW_NULLS = """
namespace belownulls {
struct Hit { int id = 0; virtual ~Hit() {} };
struct Pixel : Hit { int row = 0; };
struct Owner { Hit *hit = nullptr; int after = 0; };
struct Outer { Owner *owner = nullptr; };
}
void belownulls_fill(const char *path) {
   using namespace belownulls;
   TFile target(path, "recreate");
   TTree tree("t", "");
   Outer *outer = new Outer;
   tree.Branch("outer.", &outer, 32000, 0);
   for (int i = 0; i < 6; i++) {
      outer->owner = i % 3 == 1 ? nullptr : new Owner;
      if (outer->owner) {
         outer->owner->after = i;
         if (i == 0 || i == 3) outer->owner->hit = new Hit;
         if (i == 5) outer->owner->hit = new Pixel;
      }
      tree.Fill();
   }
   tree.Write();
}
void belownulls_check(const char *path, const std::string &expected) {
   using namespace belownulls;
   TFile file(path);
   auto tree = file.Get<TTree>("t");
   Outer *outer = nullptr;
   tree->SetBranchAddress("outer.", &outer);
   std::string found;
   for (int i = 0; i < tree->GetEntries(); i++) {
      tree->GetEntry(i);
      auto owner = outer->owner;
      if (owner) found += std::to_string(owner->after);
      if (!owner || !owner->hit) found += "- ";
      else found += dynamic_cast<Pixel *>(owner->hit) ? "P " : "H ";
   }
   if (found != expected) throw std::runtime_error(found);
}
"""


def test_objects_of_several_classes_below_null_pointers(tmp_path: Path, root: Root) -> None:
    """A null pointer may stand where other objects have a pointer to objects of several classes."""
    path, header = tmp_path / "tree.root", tmp_path / "below.hxx"
    classes, functions = _BELOW_NULLS.split("}\nvoid", 1)
    header.write_text(f"#pragma once\n{classes}}}")
    types = [f"belownulls::{one}" for one in ("Hit", "Pixel", "Owner", "Outer")]
    root.call("dictionaries", types, [str(header)])
    root.call("cpp", f"void{functions}", f'belownulls_fill("{path}")')
    old = nyssa.open(f"{path}:t").arrays()
    with nyssa.update(path) as file:
        file["t"].extend(old)
        file["t"].extend({"outer.": old["outer."].to_list()})
        file["t"].extend(old[[1, 4]])
    expected = "0H - 2- 3H - 5P " * 3 + "- - "
    root.call("cpp", "", f'belownulls_check("{path}", "{expected}")')
    rows = [*old.to_list() * 3, *old[[1, 4]].to_list()]
    assert nyssa.open(f"{path}:t").arrays().to_list() == rows


@pytest.mark.parametrize("level", LEVELS)
def test_the_way_there_and_back(tmp_path: Path, files: tuple[Path, Path], level: int) -> None:
    """The pointers of a TTree are optional records of an RNTuple, and pointers again."""
    there, back = tmp_path / "rntuple.root", tmp_path / "ttree.root"
    nyssa.convert(f"{files[1]}:t{level}", there, verify=True)
    nyssa.convert(there, back, to="ttree", verify=True, compression="none")
    with uproot.open(back) as ours, uproot.open(files[1]) as theirs:
        mine, its = (file[f"t{level}"].branches for file in (ours, theirs))
        for own, other in zip(mine, its, strict=True):
            assert stored(own) == stored(other), own.name
            assert described(own)[CHECKSUM + 1 :] == described(other)[CHECKSUM + 1 :], own.name


@pytest.mark.parametrize("level", LEVELS)
def test_uproot_reads_objects_behind_pointers(files: tuple[Path, Path], level: int) -> None:
    """The file of ROOT has the same objects for uproot."""

    def plain(value: Any) -> Any:
        members = getattr(value, "all_members", None)
        if members is not None:
            return {name: plain(member) for name, member in members.items()}
        if isinstance(value, (bool, int, float, str, bytes)) or value is None:
            return value
        if hasattr(value, "keys"):
            return [[plain(key), plain(value[key])] for key in value]
        return [plain(one) for one in value] if hasattr(value, "__len__") else value

    read = 0
    with uproot.open(files[0]) as ours, uproot.open(files[1]) as theirs:
        for name in theirs[f"t{level}"].keys(recursive=True):
            try:
                expected = theirs[f"t{level}"][name].array(library="np")
            except Exception:  # noqa: BLE001 (uproot cannot read all of them)
                continue
            found = ours[f"t{level}"][name].array(library="np")
            assert plain(found) == plain(expected), name
            read += 1
    assert read > 0


@pytest.mark.parametrize("level", [0, 99])
def test_arrow_arrays_with_nulls(tmp_path: Path, level: int) -> None:
    """Missing values of arrays are null pointers, wherever they are."""
    path = tmp_path / "nulls.root"
    classes = {"Deep": {"d": "int"}, "Pointers": {"p": "Deep*", "v": "std::vector<Deep*>"}}
    rows = [{"p": None, "v": []}, {"p": {"d": 2}, "v": [None, {"d": 3}]}, {"p": None, "v": [None]}]
    with nyssa.recreate(path) as file:
        types = {"one.": "Pointers", "none.": "Pointers"}
        tree = file.mktree("t", types, classes=classes, split_level=level)
        none = [{"p": None, "v": [None]}] * 3
        tree.extend({"one.": ak.Array(rows), "none.": ak.Array(none)})
        tree.extend({"one.": ak.Array(rows)[1:], "none.": none[1:]})
        with pytest.raises(nyssa.ArgumentError, match=r"value is missing|None where the type"):
            tree.extend({"one.": [{"p": {"d": None}, "v": []}], "none.": none[:1]})
    found = nyssa.open(f"{path}:t").arrays()
    assert found["one."].to_list() == rows + rows[1:]
    assert found["none."].to_list() == none + none[1:]


def test_objects_of_derived_classes(tmp_path: Path) -> None:
    """A pointer may lead to an object of a class that is derived from its class."""
    path = tmp_path / "derived.root"
    classes: dict[str, dict[str, Any]] = {
        "Hit": {"id": "int"},
        "Pixel": {":bases": ["Hit"], "row": "int"},
        "Owner": {"hit": "Hit*", "pixel": "Pixel*"},
    }
    rows = [{"hit": {"id": 1}, "pixel": {":_0": {"id": 2}, "row": 3}}, {"hit": None, "pixel": None}]
    with nyssa.recreate(path) as file:
        file.mktree("t", {"one.": "Owner"}, classes=classes).extend({"one.": rows})
    assert nyssa.open(f"{path}:t")["one."].array().to_list() == rows


_STATED = """
namespace statedpointers {
enum class Kind : std::uint8_t { kNone };
struct Hit { int id = 0; virtual ~Hit() {} };
struct Pixel : Hit { int row = 0; Kind kind{}; };
struct Deep : Pixel { Hit *next = nullptr; };
struct Owner { Hit *hit = nullptr; std::vector<Hit *> hits; };
}
std::string statedpointers_read(const char *path) {
   using namespace statedpointers;
   std::string found;
   TFile file(path);
   for (auto name : {"t0", "t99"}) {
      auto tree = file.Get<TTree>(name);
      Owner *owner = nullptr;
      tree->SetBranchAddress("one.", &owner);
      auto show = [&](Hit *hit) {
         if (auto deep = dynamic_cast<Deep *>(hit)) found += deep->next ? "D+" : "D";
         else if (auto pixel = dynamic_cast<Pixel *>(hit))
            found += "P" + std::to_string(pixel->row) + std::to_string(int(pixel->kind));
         else found += hit ? "H" + std::to_string(hit->id) : "-";
         found += " ";
      };
      for (int i = 0; i < tree->GetEntries(); i++) {
         tree->GetEntry(i);
         show(owner->hit);
         for (auto hit : owner->hits) show(hit);
      }
      tree->ResetBranchAddresses();
   }
   return found;
}
"""


def test_derived_classes_that_only_classes_states(tmp_path: Path, root: Root) -> None:
    """A pointer leads to classes that no column has, if they are stated."""
    path, header = tmp_path / "stated.root", tmp_path / "stated.hxx"
    name = "statedpointers::"
    classes: dict[str, dict[str, Any]] = {
        f"{name}Hit": {"id": "int"},
        f"{name}Kind": {":enum": "std::uint8_t"},
        f"{name}Pixel": {":bases": [f"{name}Hit"], "row": "int", "kind": f"{name}Kind"},
        f"{name}Deep": {":bases": [f"{name}Pixel"], "next": f"{name}Hit*"},
        f"{name}Owner": {"hit": f"{name}Hit*", "hits": f"std::vector<{name}Hit*>"},
    }
    pixel = {":_0": {"id": 2}, "row": 3, "kind": 4}
    deep = {":_0": pixel, "next": {"id": 5}}
    rows = [
        {"hit": {"id": 1}, "hits": [pixel, None, deep]},
        {"hit": pixel, "hits": []},
        {"hit": {**deep, "next": None}, "hits": [{"id": 6}]},
    ]
    with nyssa.recreate(path) as file:
        for level in (0, 99):
            tree = file.mktree(
                f"t{level}", {"one.": f"{name}Owner"}, classes=classes, split_level=level
            )
            tree.extend({"one.": rows})
            with pytest.raises(nyssa.ArgumentError, match="300"):
                tree.extend({"one.": [{"hit": {**pixel, "kind": 300}, "hits": []}]})
    for level in (0, 99):
        assert nyssa.open(f"{path}:t{level}")["one."].array().to_list() == rows
    types, function = _STATED.split("}\nstd::string statedpointers_read")
    header.write_text(f"#pragma once\n#include <cstdint>\n#include <vector>\n{types}}}")
    names = [one for one in classes if not one.endswith("Kind")]
    root.call("dictionaries", [*names, f"std::vector<{name}Hit*>"], [str(header)])
    code = f"std::string statedpointers_read{function}"
    expected = "H1 P34 - D+ P34 D H6 " * 2
    code += f"""void statedpointers_check(const char *path) {{
       auto found = statedpointers_read(path);
       if (found != "{expected}") throw std::runtime_error(found);
    }}"""
    root.call("cpp", code, f'statedpointers_check("{path}")')


def test_a_class_is_no_type_of_numpy(tmp_path: Path) -> None:
    """A class that is called like a type of NumPy is refused as a class."""
    with (
        nyssa.recreate(tmp_path / "x.root") as file,
        pytest.raises(nyssa.ArgumentError, match="does a class contain itself"),
    ):
        file.mktree("t", {"s": "S"}, classes={"S": {"next": "S*"}})


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("std::uint8_t", 256),
        ("std::int8_t", -129),
        ("unsigned short", -1),
        ("short", 2**15),
        ("int", 2**31),
        ("unsigned int", 2**31),
    ],
)
def test_values_that_an_enum_cannot_have(tmp_path: Path, number: str, value: int) -> None:
    classes: dict[str, dict[str, Any]] = {
        "Color": {":enum": number},
        "Hit": {"color": "Color", "more": "Owner*"},
        "Owner": {"colors": "Color"},
    }
    rows: list[dict[str, Any]] = [{"color": 1, "more": None}, {"color": 1, "more": {"colors": 2}}]
    with nyssa.recreate(tmp_path / "x.root") as file:
        tree = file.mktree("t", {"hits": "std::vector<Hit>"}, classes=classes)
        for wrong in ({**rows[0], "color": value}, {**rows[1], "more": {"colors": value}}):
            with pytest.raises(nyssa.ArgumentError, match=rf"{value}.*does not fit.*entry 1"):
                tree.extend({"hits": ak.Array([rows, [wrong]])})
        tree.extend({"hits": [rows]})
    assert nyssa.open(f"{tmp_path / 'x.root'}:t")["hits"].array().to_list() == [rows]


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("int*", "ROOT does not store what a pointer to a number leads to"),
        ("std::unique_ptr<std::string>", r'declare it as "std::string\*"'),
        ("std::unique_ptr<std::vector<float>>", "ROOT does not read what it writes"),
        ("std::list<std::vector<int>*>", r'declare the items as "vector<int>"'),
        ("Deep**", "of pointers and references, ROOT streams pointers to objects"),
        ("Deep&", "of pointers and references, ROOT streams pointers to objects"),
        ("std::array<Deep*,2>", "arrays of C of pointers: use a std::vector"),
        ("std::unique_ptr<Deep>[2]", "arrays of C of pointers: use a std::vector"),
        ("std::map<int,std::unique_ptr<Deep>>", "not in a pair or a map: use a pointer"),
        ("Class*", "does a class contain itself"),
        ("Long", "ROOT leaves members of an enum of the type std::int64_t out of trees"),
        (
            "std::optional<int>",
            r"ROOT streams no std::optional, .* an RNTuple can: a std::unique_ptr",
        ),
        ("std::variant<int,float>", r"ROOT streams no std::variant, .* a member for each type"),
        ("std::bitset<0>", '"0" is not the size of an array'),
    ],
)
def test_members_that_cannot_be_written(tmp_path: Path, member: str, message: str) -> None:
    classes = {"Deep": {"d": "int"}, "Long": {":enum": "std::int64_t"}, "Class": {"member": member}}
    with (
        nyssa.recreate(tmp_path / "x.root") as file,
        pytest.raises((nyssa.UnsupportedError, nyssa.ArgumentError), match=message) as error,
    ):
        file.mktree("t", {"x": "Class"}, classes=classes)
    assert "field member" in str(error.value)


_REFERENCES = """
namespace refpointers {
struct Inner { int i = 0; TRef r; };
struct Outer { Inner *p = nullptr; int after = 0; };
}
void refpointers_fill(const char *path) {
   refpointers::Outer object, *outer = &object;
   TFile file(path, "recreate");
   for (auto name : {"null", "objects"}) {
      TTree tree(name, "");
      tree.Branch("o.", &outer, 32000, 0);
      tree.Fill();
      tree.Write();
      outer->p = new refpointers::Inner;
   }
}
"""


def test_pointers_to_references_are_refused_at_once(tmp_path: Path, root: Root) -> None:
    """A tree with a pointer to a class with a TRef takes no entries, but branches."""
    path, header = tmp_path / "tree.root", tmp_path / "references.hxx"
    classes, function = _REFERENCES.split("}\nvoid")
    header.write_text(f"#pragma once\n#include <TRef.h>\n{classes}}}")
    root.call("dictionaries", ["refpointers::Inner", "refpointers::Outer"], [str(header)])
    root.call("cpp", f"void{function}", f'refpointers_fill("{path}")')
    before = path.read_bytes()
    message = r"refers to objects, and their process .* is not known\. .*object null, field o\."
    with pytest.raises(nyssa.UnsupportedError, match=message), nyssa.update(path) as file:
        file["null"].extend({"o.": []})
    assert path.read_bytes() == before
    with nyssa.update(path) as file:
        file["objects"].add_branches({"x": [1.5]})
    assert nyssa.open(f"{path}:objects")["x"].array().to_list() == [1.5]
