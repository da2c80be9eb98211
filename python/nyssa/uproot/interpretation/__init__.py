"""Interpretations: how uproot reads branches, as objects that can be printed, compared and passed.

nyssa reads by the types in the file, so that they are needed only to read numbers as others.
"""

from __future__ import annotations

from nyssa.uproot.interpretation import grouped, jagged, numerical, objects, strings
from nyssa.uproot.interpretation.base import Interpretation

__all__ = ["Interpretation", "grouped", "jagged", "numerical", "objects", "strings"]
