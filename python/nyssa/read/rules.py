"""Declares read rules, which compute members of classes from others while they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arrays import forms, to_numpy
from nyssa.errors import ArgumentError

__all__ = ["ReadRules"]

Versions = int | tuple[int, int] | range | None
"""A version of a class, the first and the last one, or a range of them; `None` for all."""

_LAST = 2**32 - 1


class ReadRules:
    """Rules that compute members of classes on reading, as ROOT's customisation rules do.

    >>> with nyssa.recreate("jets.root") as file:
    ...     jet = {"pt": "float", "eta": "float"}
    ...     ntuple = file.mkrntuple("Events", {"lead": "Jet"}, classes={"Jet": jet})
    ...     ntuple.extend({"lead": [{"pt": 2.0, "eta": 0.0}]})
    >>> rules = nyssa.ReadRules()
    >>> @rules.add("Jet", sources=["pt", "eta"], target="p")
    ... def momentum(pt, eta):
    ...     return pt * np.cosh(eta)
    >>> nyssa.open("jets.root:Events").arrays(rules=rules).lead.p.to_list()
    [2.0]

    A function is called with the source members of all objects that are read, wherever the class
    appears in the fields (in lists too): flat NumPy arrays of numbers, else awkward arrays. It
    returns one value for each object. Target members are added, or replace members of the same
    name; sources stay. Members of inner objects are computed before members of outer ones. Rules
    apply to the classes of RNTuples, and with a TTree they are an error; a function may be called
    without any object to learn its type. Rules are pickled with their functions: pickle takes
    functions that it can import, cloudpickle all.
    """

    def __init__(self) -> None:
        self._rules: list[_Rule] = []

    # Functions take and return arrays of any library: `Any`.
    @checked
    def add(
        self,
        class_name: str,
        *,
        sources: str | Iterable[str],
        target: str | Iterable[str] | Mapping[str, object],
        versions: Versions = None,
        target_version: int | None = None,
        function: Callable[..., Any] | None = None,
    ) -> Callable[..., Any]:
        """Add a rule; without `function`, return a decorator that adds it.

        Parameters
        ----------
        class_name
            C++ class name, or a glob such as ``"xAOD::*"``.
        sources
            Names of members of the class or its base classes, passed to the function in this order.
        target
            Name of the member to make; or several names, for which the function returns as many
            arrays; or a dict from names to types, as for `WritableFile.mkrntuple`. Without types
            the function is called with empty arrays.
        versions
            Class version, or first and last one, or a `range`; default all.
        target_version
            Version that the class has when `nyssa.rewrite` writes it with the targets; default that
            which it had. With one outside `versions` the rule does not apply to the new file again.
        function
            Makes the values of the target from the values of the sources.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for versions or targets that cannot be.
        """
        if function is None:

            def decorate(given: Callable[..., Any]) -> Callable[..., Any]:
                self.add(
                    class_name,
                    sources=sources,
                    target=target,
                    versions=versions,
                    target_version=target_version,
                    function=given,
                )
                return given

            return decorate
        names = (sources,) if isinstance(sources, str) else tuple(sources)
        targets = _named(target)
        _typed(targets)
        rule = _Rule(class_name, _versions(versions), target_version, names, targets, function)
        self._rules.append(rule)
        return function

    @property
    def _core(self) -> list[CoreRule]:
        """Return the rules as the core takes them."""
        return [rule.core() for rule in self._rules]

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self._rules)

    def __repr__(self) -> str:
        """Return the classes and targets."""
        rules = [f"{rule.class_name}: {', '.join(rule.targets)}" for rule in self._rules]
        return f"<ReadRules {'; '.join(rules) or 'none'}>"


@dataclass(frozen=True)
class CoreRule:
    """One rule as the core takes it."""

    class_name: str
    versions: tuple[int, int]
    """The first and the last one."""
    target_version: int | None
    sources: list[str]
    targets: list[tuple[str, _core.Array | None]]
    """The names, each with an empty column of its type if the type is stated."""
    function: Callable[[list[_core.Array]], list[_core.Array]]


@dataclass(frozen=True)
class _Rule:
    """One rule, as it was given."""

    class_name: str
    versions: tuple[int, int]
    target_version: int | None
    sources: tuple[str, ...]
    targets: dict[str, object]
    function: Callable[..., Any]

    def core(self) -> CoreRule:
        """Return the rule as the core takes it."""
        return CoreRule(
            class_name=self.class_name,
            versions=self.versions,
            target_version=self.target_version,
            sources=list(self.sources),
            targets=_typed(self.targets),
            function=self._call,
        )

    def _call(self, columns: list[_core.Array]) -> list[_core.Array]:
        """Return the targets of source columns."""
        # It imports awkward, which jobs without rules do not need.
        from nyssa.arrays import from_data

        made = self.function(*(_flat(column) for column in columns))
        values = [made] if len(self.targets) == 1 else list(made)
        if len(values) != len(self.targets):
            count = len(self.targets)
            raise ArgumentError(f"the function returns {len(values)} arrays, not {count}")
        pairs = zip(self.targets, values, strict=True)
        return [from_data.column(name, _array(value)) for name, value in pairs]


def _versions(versions: Versions) -> tuple[int, int]:
    if versions is None:
        return 0, _LAST
    if isinstance(versions, range):
        if versions.step != 1 or not versions:
            raise ArgumentError(f"versions are a range without gaps, not {versions}")
        return versions[0], versions[-1]
    if isinstance(versions, Sequence) and not isinstance(versions, (str, bytes)):
        pair: tuple[Any, ...] = tuple(versions)
    else:
        pair = (versions, versions)
    if len(pair) != 2 or not all(isinstance(item, int) for item in pair):
        raise ArgumentError(
            f"versions are a number, a range, or a first and a last one, not {versions!a}"
        )
    first, last = pair
    if not 0 <= first <= last <= _LAST:
        raise ArgumentError(f"versions are a first and a last one, not {versions}")
    return first, last


def _named(target: str | Iterable[str] | Mapping[str, object]) -> dict[str, object]:
    """Return the targets by name, each with its type, or `None` where that is not stated."""
    if isinstance(target, Mapping):
        return dict(target)
    names = [target] if isinstance(target, str) else list(target)
    if not names:
        raise ArgumentError("a rule needs a target")
    return dict.fromkeys(names)


def _typed(targets: dict[str, object]) -> list[tuple[str, _core.Array | None]]:
    """Return the targets, each with an empty column of its type where that is stated."""
    if targets and all(target is None for target in targets.values()):
        return [(name, None) for name in targets]
    from nyssa.arrays import from_types

    columns = from_types.empty(targets)
    if columns is None:
        raise ArgumentError(f"targets are names with types, not {targets!r}")
    return [(column.name, column) for column in columns]


def _flat(column: _core.Array) -> Any:
    """Return numbers as a NumPy array, all else as an awkward array."""
    if forms.of(column)["class"] == "NumpyArray":
        return to_numpy.view(column)
    from nyssa.arrays import to_awkward

    return to_awkward.view(column)


def _array(value: Any) -> Any:
    return value if hasattr(value, "__len__") else np.asarray(value)
