"""Converts objects to those of PyROOT and back, through a file in memory."""

from __future__ import annotations

import io
from typing import Any

from nyssa.arrays import libraries
from nyssa.errors import ArgumentError
from nyssa.objects.object import Object

__all__ = ["from_pyroot", "is_pyroot", "to_pyroot"]

_KEY = "object"


def is_pyroot(data: object) -> bool:
    """Return whether an object comes from PyROOT."""
    kind = type(data)
    return hasattr(kind, "__cpp_name__") and hasattr(kind, "IsA")


def from_pyroot(data: Any) -> Object:
    """Return an object of PyROOT (a ``TH1D``, ...) as nyssa reads it.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for what is no object of a class that ROOT can write.
    """
    import nyssa

    if not is_pyroot(data):
        raise ArgumentError(f"this is no object of PyROOT that has a class of ROOT: {data!r}")
    root = _root()
    with root.TDirectory.TContext():
        file = root.TMemFile("nyssa.root", "recreate")
        file.WriteObject(data, _KEY)
        file.Write()
        content = bytearray(file.GetSize())
        file.CopyTo(content, len(content))
        file.Close()
    # The file in memory stays open, so that objects of any class can be copied from it.
    found = nyssa.open(io.BytesIO(content))[_KEY]
    if not isinstance(found, Object):
        raise ArgumentError(f"this is no single object, but a {type(found).__name__}")
    return found


def to_pyroot(found: Object, name: str | None = None) -> Any:
    """Return an object as one of PyROOT, maybe with another name (``fName``)."""
    import nyssa

    root = _root()
    content = io.BytesIO()
    with nyssa.recreate(content) as file:
        file[_KEY] = found
    data = content.getvalue()
    with root.TDirectory.TContext():
        view = root.TMemFile.ZeroCopyView_t(data, len(data))
        made = (opened := root.TMemFile("nyssa.root", view)).Get(_KEY)
        if hasattr(made, "SetDirectory"):
            made.SetDirectory(root.nullptr)
        root.SetOwnership(made, True)
        opened.Close()
    if hasattr(made, "SetName") and found.has_member("fName"):
        made.SetName(found.name if name is None else name)
    return made


def _root() -> Any:
    return libraries.optional("ROOT")
