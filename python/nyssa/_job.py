"""Long jobs of the core that report as JSON, and the options that they share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from nyssa._field_options import FieldOptions
from nyssa._field_options import field_options as by_field
from nyssa._steps import bytes_of

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class OutputOptions:
    """The options of the output that all jobs have, as the core takes them: sizes in bytes."""

    name: str | None
    compression: str
    effort: str | None
    encoding: str
    field_options: list[tuple[str, list[tuple[str, str]]]]
    cluster_size: int | None
    page_size: int | None
    memory: int | None
    carry: bool
    verify: bool
    force: bool
    reproducible: bool

    @classmethod
    def of(
        cls,
        *,
        name: str | None,
        compression: int | str,
        effort: str | None,
        encoding: str,
        field_options: FieldOptions | None,
        cluster_size: int | str | None,
        page_size: int | str | None,
        memory: int | str | None,
        carry: bool,
        verify: bool,
        force: bool,
        reproducible: bool,
        cluster_name: str = "cluster_size",
    ) -> OutputOptions:
        """Return the options of what users give; they know the cluster size by `cluster_name`."""
        return cls(
            name=name,
            compression=str(compression),
            effort=effort,
            encoding=encoding,
            field_options=by_field(field_options),
            cluster_size=_bytes(cluster_size, cluster_name),
            page_size=_bytes(page_size, "page_size"),
            memory=_bytes(memory, "memory"),
            carry=carry,
            verify=verify,
            force=force,
            reproducible=reproducible,
        )


def _bytes(size: int | str | None, name: str) -> int | None:
    return None if size is None else bytes_of(size, name)


def globs(given: str | Iterable[str]) -> list[str]:
    """Return patterns as a list: one, or several."""
    return [given] if isinstance(given, str) else list(given)


def run(job: Callable[[Progress | None], str], progress: Progress | bool, done: str) -> Any:
    """Run `job` with a function for progress, and return its report.

    `progress` is `True` for a line on stderr, which says how much is `done` ("converted").
    """
    if progress is not True:
        return json.loads(job(progress or None))

    def line(now: int, total: int) -> None:
        sys.stderr.write(f"\r{done} {100 * now / max(total, 1):5.1f} %")
        sys.stderr.flush()

    text = job(line)
    sys.stderr.write("\n")
    return json.loads(text)
