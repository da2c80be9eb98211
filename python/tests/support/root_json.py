"""Compares objects that nyssa reads with the JSON that ROOT makes of them."""

from __future__ import annotations

from typing import Any

from nyssa.objects.date import dates

#: Keys that only ROOT's JSON has: class names, and process ids, which differ between processes.
LEFT_OUT = {"_typename", "$pair", "fPID"}
#: Members that nyssa has, but ROOT's JSON only for some classes.
EXTRA = {"fName", "fLowerBound", "fUniqueID", "fBits", "fN"}
#: Keys of a `TObjArray` or a similar collection in ROOT's JSON.
COLLECTION = {"_typename", "name", "arr", "opt", "low", "sorted"}
#: Bits of a `TObject` that ROOT sets in memory: kMustCleanup, kIsOnHeap, kNotDeleted and more.
IN_MEMORY = ~0x00FF_FFF7
#: Bits of a `TRef` with the number of the action that ROOT runs when the reference is followed.
EXEC = 0x00FF_0000
#: Bit of a `TObject` that a `TRef` refers to. ROOT then puts its own number of the process that
#: made the object above the 24 bits of the object's number.
REFERENCED = 1 << 4
NUMBER = 0x00FF_FFFF
#: Placeholder for a value that ROOT does not show.
UNKNOWN = "?"


def differences(ours: Any, theirs: Any, place: str = "", digits: int = 17) -> list[tuple[Any, ...]]:
    """Return where `ours` (Python objects of an Arrow array) differs from `theirs` (ROOT's JSON).

    Each is the path with the two values. With fewer than 17 `digits` floats are compared as that.
    """
    ours = flat(ours)
    if theirs == UNKNOWN:
        return []
    if isinstance(theirs, dict) and "$ref" in theirs:
        return []  # An object shown before.
    if isinstance(theirs, dict):
        return _object(ours, theirs, place, digits)
    if theirs is None and ours == []:
        return []  # A counted array of nothing.
    if isinstance(theirs, str) and not isinstance(ours, str):
        text = _text(ours)
        return [] if text == theirs.partition("\0")[0] else [(place, ours, theirs)]
    if isinstance(theirs, list) and isinstance(ours, dict) and "items" in ours:
        ours = ours["items"]  # A `TClonesArray` that is not split.
    if isinstance(theirs, list) and isinstance(ours, list):
        if ours and isinstance(ours[0], dict) and len(theirs) == 2 * len(ours) and "_1" in ours[0]:
            # A map in a container has its keys and values in turn.
            ours = [number for pair in ours for number in (pair["_0"], pair["_1"])]
        if not theirs and not _values(ours):
            return []  # No array: of several dimensions nyssa has empty ones.
        if len(ours) != len(theirs):
            return [(place, f"{len(ours)} items", f"{len(theirs)} items")]
        found = []
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            found += differences(a, b, f"{place}[{i}]", digits)
        return found
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        # The JSON has 17 digits of a double and 9 of a float.
        if ours == theirs or float(f"{ours:.9g}") == theirs or (ours != ours and theirs != theirs):
            return []
        far = abs(ours - theirs) > max(abs(theirs), 1) * 10.0 ** (1 - digits)
        return [(place, ours, theirs)] if far or digits >= 17 else []
    if isinstance(ours, str) and isinstance(theirs, str):
        # ROOT's JSON has one character for each byte here.
        ours = ours if ours == theirs else ours.encode("utf-8", "surrogateescape").decode("latin-1")
    return [] if ours == theirs else [(place, ours, theirs)]


def _object(ours: Any, theirs: dict[str, Any], place: str, digits: int) -> list[tuple[Any, ...]]:
    if "arr" in theirs and set(theirs) <= COLLECTION:
        if isinstance(ours, dict) and "fUIDs" in ours:
            # ROOT shows the objects that the references refer to.
            numbers = [one and one.get("fUniqueID", UNKNOWN) for one in theirs["arr"]]
            return differences(ours["fUIDs"], numbers, place, digits)
        items = ours["items"] if isinstance(ours, dict) and "items" in ours else ours
        return differences(items, theirs["arr"], place, digits)
    if not isinstance(ours, dict):
        if theirs.get("_typename") == "TDatime":
            return differences(ours, dates(theirs["_blob"]).tolist()[0], place, digits)
        # nyssa reads `TArrayD` and similar classes as lists.
        return differences(
            ours, theirs.get("fArray", theirs.get("_blob", [None])[0]), place, digits
        )
    if "_blob" in theirs and "fElements" in ours:
        # Of a symmetric matrix ROOT shows the rows of one half.
        rows, size = theirs["_blob"], len(theirs["_blob"])
        full = [rows[min(i, j)][abs(i - j)] for i in range(size) for j in range(size)]
        theirs = {name: one for name, one in theirs.items() if name != "_blob"}
        theirs["fElements"] = full
    if {"first", "second"} <= set(theirs) and "_0" in ours:
        theirs = {"_0": theirs["first"], "_1": theirs["second"]}
    base = [name for name in theirs if name == "fVector" or name.startswith("vector<")]
    if "fArray" in ours and len(base) == 1 and base[0] not in ours:
        # This is the base class `vector<float>`.
        ours = {name if name != "fArray" else base[0]: one for name, one in ours.items()}
    named = set(theirs) - LEFT_OUT
    found: list[tuple[Any, ...]] = []
    for name in sorted(named ^ (set(ours) - LEFT_OUT)):
        # ROOT shows its own classes in their present version.
        newer = name not in ours and theirs.get("_typename", "").startswith("T")
        if name not in EXTRA and not newer and _values(ours.get(name, 0)):
            found.append((f"{place}.{name}", name in ours, name in theirs))
    for name in sorted(named & set(ours)):
        a, b = ours[name], theirs[name]
        if name == "fBits" and isinstance(a, int):
            memory = IN_MEMORY | (EXEC if "fPID" in ours else 0)
            a, b = a & ~memory, b & ~memory
        if name == "fUniqueID" and isinstance(a, int) and _bits(ours) & REFERENCED:
            a, b = a & NUMBER, b & NUMBER
        found += differences(a, b, f"{place}.{name}", digits)
    return found


def flat(value: Any) -> Any:
    """Put the members of base classes among the members of the class, as ROOT's JSON does."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if not isinstance(value, dict) or not any(name.startswith(":_") for name in value):
        return value
    out: dict[str, Any] = {}
    for name, member in value.items():
        if name.startswith(":_"):
            base = flat(member)
            # A `TH1F` is a `TArrayF`, and other classes are vectors: lists, not records.
            out.update(base if isinstance(base, dict) else {"fArray": base})
        else:
            out[name] = member
    return out


def _bits(value: dict[str, Any]) -> int:
    bits = value.get("fBits", 0)
    return bits if isinstance(bits, int) else 0


def _text(value: Any) -> Any:
    """Return a character, or a fixed array of characters up to its end, as text."""
    if isinstance(value, int):
        return chr(value & 0xFF)
    if isinstance(value, list) and all(isinstance(one, int) for one in value):
        return bytes(one & 0xFF for one in value).partition(b"\0")[0].decode("latin-1")
    return value


def _values(value: Any) -> int:
    """Return the number of values in nested lists."""
    if isinstance(value, list):
        return sum(map(_values, value))
    return sum(map(_values, value.values())) if isinstance(value, dict) else 1
