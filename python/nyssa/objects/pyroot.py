"""Converts objects of PyROOT, through a file in memory."""

from __future__ import annotations

import io
from typing import Any

from nyssa.arrays.libraries import optional
from nyssa.errors import ArgumentError
from nyssa.objects.object import Object

__all__ = ["from_pyroot", "is_pyroot"]


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
    root = optional("ROOT")
    with root.TDirectory.TContext():
        file = root.TMemFile("nyssa.root", "recreate")
        file.WriteObject(data, "object")
        file.Write()
        content = bytearray(file.GetSize())
        file.CopyTo(content, len(content))
        file.Close()
    # The file in memory stays open, so that objects of any class can be copied from it.
    copied = nyssa.open(io.BytesIO(content))["object"]
    if not isinstance(copied, Object):
        raise ArgumentError(f"this is no single object, but a {type(copied).__name__}")
    return copied
