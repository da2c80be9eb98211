"""Defines `TTree`, the old columnar format of ROOT."""

from __future__ import annotations

from nyssa.read.related import Friend, Related

__all__ = ["Friend", "TTree"]


class TTree(Related):
    """A TTree, the old columnar format of ROOT."""
