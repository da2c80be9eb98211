"""Defines values of keywords that are words of the command line already."""

from __future__ import annotations

__all__ = ["Words"]


class Words(tuple[str, ...]):
    """The values of a keyword as the command line has them. Only the core reads them."""

    __slots__ = ()
