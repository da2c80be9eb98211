"""Defines small classes of ROOT: collections, parameters, texts, matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.errors import FormatError
from nyssa.objects.object import Object

__all__ = ["Collection", "Matrix", "Parameter", "Text", "Undecoded"]


class Collection(Object, Sequence[Any]):
    """A ``TList``, ``TObjArray``, ``TClonesArray``, or a ``TMap`` as pairs.

    Items are objects, and `None` for null pointers.
    """

    @property
    def options(self) -> list[str] | None:
        """Return the options of the items, such as ``"hist e1"``; `None` if there are none."""
        options: list[str] | None = self._members.get("options")
        return options

    def __getitem__(self, index: Any) -> Any:
        """Return one item, or the items of a slice as a list."""
        return self.member("items")[index]

    def __len__(self) -> int:
        return len(self.member("items"))

    def _begin(self) -> Any:
        """Return the list of the items, as `to_py` does."""
        return []

    def _end(self, plain_list: Any, plain: Callable[[Any], Any]) -> None:
        plain_list.extend(plain(item) for item in self)

    def _json(self, value: Callable[[Any], Any]) -> dict[str, Any]:
        items = [value(item) for item in self]
        # A collection without a name has the name of its class.
        made = {"_typename": self.class_name, "name": self.name or self.class_name, "arr": items}
        if self.options is None:
            return made
        return {**made, "opt": [option or None for option in self.options]}


class Undecoded(Object):
    """An object inside another one that nyssa does not decode; `reason` says why.

    It has a class, but no members. ``nyssa verify`` reports it.
    """

    def __init__(self, class_name: str, reason: str) -> None:
        super().__init__(class_name, (), {}, ())
        self.reason = reason

    def _begin(self) -> Any:
        """Return class and reason."""
        return {"_typename": self.class_name, "_undecoded": self.reason}

    def _json(self, _value: Callable[[Any], Any]) -> dict[str, Any]:
        return {"_typename": self.class_name, "_undecoded": self.reason}

    def __repr__(self) -> str:
        """Return class and reason."""
        return f"<{self.class_name}, not decoded: {self.reason}>"


class Parameter(Object):
    """A ``TParameter``."""

    @property
    def value(self) -> float | int | bool:
        """Return the value: `float`, `int` or `bool`."""
        value: float | int | bool = self.member("fVal")
        return value

    def __int__(self) -> int:
        """Return the value as an integer."""
        return int(self.value)

    def __float__(self) -> float:
        """Return the value as a real number."""
        return float(self.value)


class Text(Object):
    """A ``TObjString``; `str` gives the text."""

    def __str__(self) -> str:
        """Return the text."""
        return str(self.member("fString"))

    def __eq__(self, other: object) -> bool:
        """Compare the text with another one, or with a `str`."""
        return isinstance(other, (str, Text)) and str(self) == str(other)

    def __hash__(self) -> int:
        """Hash the text."""
        return hash(str(self))


class Matrix(Object):
    """A ``TVectorT``, ``TMatrixT`` or ``TMatrixTSym``."""

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return the elements: shape ``(elements,)`` of a vector, ``(rows, columns)`` of a matrix.

        ``float32`` or ``float64``, read-only. Indices start at 0, not at ``fRowLwb``, ``fColLwb``.
        """
        elements = np.asarray(Object.member(self, "fElements"))
        if "fNcols" not in self._members:
            return elements
        shape = (self.member("fNrows"), self.member("fNcols"))
        if min(shape) < 0 or shape[0] * shape[1] != len(elements):
            raise FormatError(f"{self!r} has {len(elements)} elements, but its shape is {shape}")
        return elements.reshape(shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self.to_numpy()
        return np.array(array, dtype=dtype) if copy else np.asarray(array, dtype=dtype)
