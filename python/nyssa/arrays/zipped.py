"""Makes lists of records of the lists of awkward arrays that have the same lengths."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import ListOffsetArray

__all__ = ["zipped"]


def zipped(table: ak.Array) -> ak.Array:
    """Return a table in which lists of the same lengths are lists of records.

    Their name is what the names of the columns have in common up to ``_``, ``.`` or ``/``. Lists
    without a common name, and those whose name is taken, are ``jagged0`` and so on.
    """
    columns = {name: table[name] for name in table.fields}
    groups: list[tuple[Any, list[str]]] = []
    made = {}
    for name, column in columns.items():
        offsets = _offsets(column)
        if offsets is None:
            made[name] = column
            continue
        for known, names in groups:
            if offsets is known or np.array_equal(offsets, known):
                names.append(name)
                break
        else:
            groups.append((offsets, [name]))
    for number, (_, names) in enumerate(groups):
        common = _common(names)
        group = common.strip("_./")
        if not group or group in made:
            common, group = "", f"jagged{number}"
        parts = {name[len(common) :].strip("_./") if common else name: name for name in names}
        lists = {part: columns[name] for part, name in parts.items()}
        made[group] = ak.zip(lists, depth_limit=2)
    return ak.Array(made)


def _offsets(column: ak.Array) -> Any:
    """Return the offsets of lists, from 0 on; `None` for other columns."""
    layout = column.layout
    if not isinstance(layout, ListOffsetArray) or layout.parameter("__array__") is not None:
        return None
    offsets = np.asarray(layout.offsets.data)
    return offsets if offsets[0] == 0 else offsets - offsets[0]


def _common(names: list[str]) -> str:
    """Return the beginning that all names have, up to the last ``_``, ``.`` or ``/``."""
    first, last = min(names), max(names)
    same = (at for at, sign in enumerate(first) if not last.startswith(sign, at))
    common = first[: next(same, len(first))]
    return common[: 1 + max(common.rfind(sign) for sign in "_./")]
