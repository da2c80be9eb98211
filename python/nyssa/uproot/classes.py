"""Stands for C++ classes in ``isinstance``, by uproot's names of their models."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from nyssa.objects import Object

__all__ = [
    "class_named",
    "classname_decode",
    "classname_encode",
    "has_class_named",
    "model",
    "named",
]


class _Named(type):
    """The type of classes that stand for a C++ class."""

    classname: str

    def __instancecheck__(cls, item: object) -> bool:
        """Return whether an object is of the C++ class, or of a class that is derived from it."""
        bases = item.bases if isinstance(item, Object) else ()
        return cls.classname in (getattr(item, "classname", None), *bases)


@lru_cache(maxsize=4096)
def named(classname: str, name: str | None = None) -> type:
    """Return what stands for a C++ class in ``isinstance``."""
    return _Named(name or classname_encode(classname), (), {"classname": classname})


def classname_encode(classname: str, version: int | None = None, unknown: bool = False) -> str:
    """Return uproot's name of the model of a C++ class: ``Model_A_3a3a_B_v2`` for ``A::B``."""

    def hexadecimal(match: re.Match[str]) -> str:
        return f"_{match[0].encode().hex()}_"

    text = re.sub(r"[^A-Za-z0-9]+", hexadecimal, classname)
    suffix = "" if version is None else f"_v{version}"
    return f"{'Unknown' if unknown else 'Model'}_{text}{suffix}"


def classname_decode(encoded_classname: str) -> tuple[str, int | None]:
    """Return the C++ class and the version of a name of a model.

    Raises
    ------
    ValueError
        for a name that is not of a model.
    """
    match = re.fullmatch(r"(?:Model|Unknown)_(.*?)(?:_v(\d+))?", encoded_classname)
    if match is None:
        raise ValueError(f"not the name of a model: {encoded_classname}")

    def character(code: re.Match[str]) -> str:
        return bytes.fromhex(code[1]).decode()

    name = re.sub(r"_((?:[0-9a-f][0-9a-f])+)_", character, match[1])
    return name, None if match[2] is None else int(match[2])


def model(name: str) -> Any:
    """Return what stands for the class of a name such as ``Model_TH1F_v3``, of any version.

    Raises
    ------
    AttributeError
        for a name that is not of a model: it is an attribute of modules.
    """
    try:
        return named(classname_decode(name)[0], name)
    except ValueError as error:
        raise AttributeError(str(error)) from None


def class_named(classname: str, version: int | str | None = None) -> Any:
    """Return what stands for a C++ class in ``isinstance``, of any version."""
    number = version if isinstance(version, int) else None
    return named(classname, classname_encode(classname, number))


def has_class_named(classname: str, version: int | str | None = None) -> bool:
    """Return true: nyssa takes every class as its file describes it."""
    del classname, version
    return True
