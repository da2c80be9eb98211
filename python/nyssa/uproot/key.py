"""`ReadOnlyKey`: the key of an object, by uproot's names."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReadOnlyKey"]


@dataclass(frozen=True)
class ReadOnlyKey:
    """The key of an object: what the file says of it before it is read."""

    fName: str
    fTitle: str
    fClassName: str
    fNbytes: int
    fVersion: int
    fObjlen: int
    fDatime: int
    fKeylen: int
    fCycle: int
    fSeekKey: int
    fSeekPdir: int

    def name(self, cycle: bool = False) -> str:
        """Return the name, with the cycle if ``cycle=True``."""
        return f"{self.fName};{self.fCycle}" if cycle else self.fName

    def classname(self) -> str:
        """Return the C++ class."""
        return self.fClassName

    @property
    def is_64bit(self) -> bool:
        """Return whether the key has positions of 64 bits."""
        return self.fVersion > 1000

    @property
    def data_compressed_bytes(self) -> int:
        """Return the size of the object in the file, without its key."""
        return self.fNbytes - self.fKeylen

    @property
    def data_uncompressed_bytes(self) -> int:
        """Return the size of the object before compression."""
        return self.fObjlen
