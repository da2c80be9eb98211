"""uproot's names of compressions, for the options of `nyssa.uproot.recreate`."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["LZ4", "LZMA", "ZLIB", "ZSTD", "Compression", "setting"]


class Compression:
    """A compression of ROOT with a level from 0 to 9; 0 stores without compression."""

    name: ClassVar[str]

    def __init__(self, level: int) -> None:
        if not isinstance(level, int) or not 0 <= level <= 9:
            raise ValueError(f"the compression level is a number from 0 to 9, not {level!r}")
        self.level = level

    @property
    def code_pair(self) -> tuple[int, int]:
        """Return ROOT's number of the algorithm, and the level."""
        return {"zlib": 1, "lzma": 2, "lz4": 4, "zstd": 5}[self.name], self.level

    @property
    def code(self) -> int:
        """Return ROOT's ``fCompress``: a hundred times the algorithm, plus the level."""
        algorithm, level = self.code_pair
        return 100 * algorithm + level

    def __eq__(self, other: object) -> bool:
        """Compare algorithm and level."""
        return isinstance(other, Compression) and self.code == other.code

    def __hash__(self) -> int:
        """Hash algorithm and level."""
        return hash(self.code)

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"{type(self).__name__}({self.level})"


class ZLIB(Compression):
    """Deflate, ROOT's default before version 6.32."""

    name = "zlib"
    library: ClassVar[str] = "zlib"
    """The library that uproot uses. nyssa has its own."""


class LZMA(Compression):
    """The densest and slowest algorithm of ROOT."""

    name = "lzma"


class LZ4(Compression):
    """The fastest algorithm of ROOT."""

    name = "lz4"


class ZSTD(Compression):
    """Zstandard, the default of RNTuple."""

    name = "zstd"


def setting(compression: Compression | int | str | None) -> int | str:
    """Return what the option `compression` of `nyssa.recreate` takes; `None` is uncompressed."""
    if compression is None:
        return 0
    if isinstance(compression, Compression):
        return compression.code if compression.level else 0
    return compression


def of_setting(given: Compression | int | str | None) -> Compression | None:
    """Return the compression that the option `compression` of `recreate` names; see `setting`."""
    if given is None or isinstance(given, Compression):
        return given
    algorithm, _, level = str(given).partition(":")
    if algorithm.isdigit():
        return of_code(int(algorithm))
    kinds: dict[str, type[Compression]] = {item.name: item for item in (ZLIB, LZMA, LZ4, ZSTD)}
    return kinds[algorithm](int(level or 1)) if algorithm in kinds else None


def checked(compression: object) -> Compression | None:
    """Return a compression that is set.

    Raises
    ------
    TypeError
        for something else than a compression of uproot.
    """
    if compression is None or isinstance(compression, Compression):
        return compression
    raise TypeError(f"a compression is None, or such as ZLIB(4), not {compression!r}")


def of_code(code: int) -> Compression | None:
    """Return the compression of ROOT's ``fCompress``; `None` if nothing is compressed."""
    algorithm, level = divmod(code, 100)
    kinds: dict[int, type[Compression]] = {0: ZLIB, 1: ZLIB, 2: LZMA, 4: LZ4, 5: ZSTD}
    return kinds[algorithm](level) if level and algorithm in kinds else None
