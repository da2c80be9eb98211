"""Defines `Graph` and `Graph2D`, for ``TGraph``, ``TGraph2D``, and those with errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.errors import ArgumentError, FormatError
from nyssa.objects.object import Object

__all__ = ["Graph", "Graph2D"]


class Graph(Object):
    """Points with x and y, and perhaps errors."""

    _letters = "xy"
    _all = "both"

    def __len__(self) -> int:
        """Return the number of points."""
        return int(self.member("fNpoints"))

    def values(self, axis: int | str = "both") -> Any:
        """Return the coordinates ``"x"`` (0) or ``"y"`` (1): shape ``(points,)``, ``float64``.

        ``"both"`` is a tuple of the two.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for another axis.
        """
        return self._both(lambda letter: np.asarray(self.member("f" + letter.upper())), axis)

    def errors(self, which: str = "mean", axis: int | str = "both") -> Any:
        """Return the errors on an axis (as for `values`): shape ``(points,)``, ``float64``.

        `which` is ``"low"``, ``"high"``, their ``"mean"``, or ``"diff"``, high less low. Several
        errors of a ``TGraphMultiErrors`` are summed as its ``fSumErrorsMode`` says.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when the class has no errors, and for other words.
        """
        if which not in ("low", "high", "mean", "diff"):
            raise ArgumentError(f'which={which!r} is not "low", "high", "mean" or "diff"')

        def errors(letter: str) -> npt.NDArray[np.float64]:
            low, high = self._low_and_high(letter)
            if which == "mean":
                return (high + low) / 2
            return {"low": low, "high": high}[which] if which != "diff" else high - low

        return self._both(errors, axis)

    @property
    def has_errors(self) -> bool:
        """Whether the class has errors: ``TGraph`` itself has none."""
        return any(name in self._members for name in ("fEX", "fEXlow", "fExL"))

    def _low_and_high(self, letter: str) -> tuple[npt.NDArray[np.float64], ...]:
        upper = letter.upper()
        for low, high in (
            (f"fE{upper}", f"fE{upper}"),
            (f"fE{upper}low", f"fE{upper}high"),
            (f"fE{letter}L", f"fE{letter}H"),
        ):
            if low in self._members:
                return self._summed(low), self._summed(high)
        raise ArgumentError(f"{self!r} has no errors")

    def _summed(self, member: str) -> npt.NDArray[np.float64]:
        errors = self.member(member)
        if isinstance(errors, np.ndarray):
            return errors
        if not errors:
            raise ArgumentError(f"{self!r} has no errors on this axis")
        if any(len(error) != len(self) for error in errors):
            raise FormatError(f"{self!r} has {len(self)} points, but not as many errors")
        each: npt.NDArray[np.float64] = np.array(errors, dtype=np.float64)
        if self.member("fSumErrorsMode") == 0:
            return np.asarray(each[0])
        total: npt.NDArray[np.float64] = each.sum(axis=0)
        if self.member("fSumErrorsMode") == 1:
            total = np.sqrt((each**2).sum(axis=0))
        return total

    def _both(self, of_letter: Any, axis: int | str) -> Any:
        letters = self._letters
        if axis == self._all:
            return tuple(of_letter(letter) for letter in letters)
        if isinstance(axis, str) and len(axis) == 1 and axis in letters:
            return of_letter(axis)
        if isinstance(axis, int) and -len(letters) <= axis < len(letters):
            return of_letter(letters[axis])
        named = ", ".join(f'"{letter}" ({index})' for index, letter in enumerate(letters))
        raise ArgumentError(f'axis={axis!r} is not {named} or "{self._all}"')


class Graph2D(Graph):
    """Points with x, y and z, and perhaps errors: the axes of a `Graph` and ``"z"`` (2)."""

    _letters = "xyz"
    _all = "all"

    def values(self, axis: int | str = "all") -> Any:
        """Return the coordinates ``"x"``, ``"y"`` or ``"z"``; ``"all"`` is a tuple of the three."""
        return super().values(axis)

    def errors(self, which: str = "mean", axis: int | str = "all") -> Any:
        """Return the errors on an axis, as `Graph.errors` does; ``"all"``: a tuple of the three."""
        return super().errors(which, axis)
