"""The base of reports, and how a report is made of the JSON of the core."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from nyssa.show.table import Parts

__all__ = ["Report"]

R = TypeVar("R", bound="Report")


@dataclass(frozen=True, repr=False)
class Report(Parts):
    """The base of all reports that are dataclasses."""

    # JSON has no narrower type than `Any`.
    def to_dict(self) -> dict[str, Any]:
        """Return the report as the command line prints it with ``--json``."""
        return asdict(self)

    # JSON has no narrower type than `Any`.
    @classmethod
    def _of(cls: type[R], values: Mapping[str, Any]) -> R:
        """Return the report with the values that the core gives."""
        report: R = _made(cls, values)
        return report


def _made(kind: Any, value: Any) -> Any:
    """Return a JSON value as a value of `kind`, the type of a field of a report."""
    if value is not None and isinstance(kind, types.UnionType):
        kind = next(argument for argument in get_args(kind) if argument is not types.NoneType)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        return [_made(item, element) for element in value]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        named = {
            field.name: _made(hints[field.name], value.get(field.name)) for field in fields(kind)
        }
        return kind(**named)
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
