"""What ROOT does with classes of a library, in its own process; see `support.root`."""

from __future__ import annotations

from typing import Any


def _load(library: str) -> Any:
    import ROOT

    if ROOT.gSystem.Load(library) < 0:
        raise RuntimeError(f"{library} cannot be loaded")
    return ROOT


def in_library(library: str, function: str, *arguments: str) -> str:
    """Call a function of `by_root.hpp`, and return its text."""
    text = getattr(_load(library), function)(*arguments)
    return "" if text is None else str(text)


def class_infos(library: str, path: str) -> dict[str, tuple[Any, ...]]:
    """Return the streamer infos of the classes in a file, by name."""
    file = _load(library).TFile(path)
    found = {}
    for info in file.GetStreamerInfoList():
        elements = []
        for one in info.GetElements():
            sizes = tuple(one.GetMaxIndex(at) for at in range(one.GetArrayDim()))
            is_list = one.ClassName().startswith("TStreamerSTL")
            items = (one.GetSTLtype(), one.GetCtype()) if is_list else ()
            is_base = one.ClassName() == "TStreamerBase"
            base = (one.GetBaseVersion(), one.GetBaseCheckSum()) if is_base else ()
            names = (str(one.ClassName()), str(one.GetName()), str(one.GetTypeName()))
            numbers = (one.GetType(), one.GetSize(), one.GetArrayLength())
            elements.append((*names, str(one.GetTitle()), *numbers, sizes, items, base))
        name = str(info.GetName())
        found[name] = (info.GetClassVersion(), info.GetCheckSum(), tuple(elements))
    return found
