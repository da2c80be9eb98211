"""Interpretations of objects and containers, by uproot's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nyssa.uproot.interpretation.base import Interpretation

__all__ = ["AsObjects", "AsStridedObjects", "written"]


def written(model: Any) -> str:
    """Return how the model of an item is written: a class by its name."""
    return model.__name__ if isinstance(model, type) else repr(model)


class AsObjects(Interpretation):
    """Objects or containers of a `model`: a class, or such as ``AsVector``."""

    def __init__(self, model: Any, branch: Any = None, typename: str | None = None) -> None:
        self.model, self.branch, self.typename = model, branch, typename

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"AsObjects({written(self.model)})"


class AsStridedObjects(AsObjects):
    """Objects of numbers, all of one size."""

    def __init__(
        self, model: Any, inner_shape: Sequence[int] = (), typename: str | None = None
    ) -> None:
        super().__init__(model, typename=typename)
        self.inner_shape = tuple(inner_shape)

    def __repr__(self) -> str:
        """Return the call that makes it."""
        shape = f", {self.inner_shape}" if self.inner_shape else ""
        return f"AsStridedObjects({written(self.model)}{shape})"
