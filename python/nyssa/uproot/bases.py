"""Names the members of base classes, which uproot has among the members of the class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["is_base", "unique"]

_BASE = re.compile(r":_\d+")


def is_base(name: str) -> bool:
    """Return whether a name is nyssa's name of a base class."""
    return _BASE.fullmatch(name) is not None


def unique(members: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return names of members that tell them apart: ``Child::x`` and ``Parent::x``.

    Members are names, and the base classes that each is in, from the outermost on. As in uproot,
    names that are there once stay as they are.
    """
    names = [name for name, _ in members]
    for name, count in Counter(names).items():
        if count > 1:
            places = [place for place, other in enumerate(names) if other == name]
            prefixes = _prefixes([members[place][1] for place in places])
            for place, prefix in zip(places, prefixes, strict=True):
                names[place] = "".join(f"{base}::" for base in prefix) + name
    return names


def _prefixes(chains: list[Sequence[str]]) -> list[Sequence[str]]:
    """Return the first base classes that differ, as many as tell the chains apart."""
    while all(chain and chain[0] == chains[0][0] for chain in chains):
        chains = [chain[1:] for chain in chains]
    lengths = [0] * len(chains)
    for _ in range(max(map(len, chains))):
        prefixes = [tuple(chain[:length]) for chain, length in zip(chains, lengths, strict=True)]
        counts = Counter(prefixes)
        lengths = [
            length + (counts[prefix] > 1) for length, prefix in zip(lengths, prefixes, strict=True)
        ]
    return [chain[:length] for chain, length in zip(chains, lengths, strict=True)]
