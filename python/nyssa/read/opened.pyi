"""Declares what `open` returns for a name, for editors and type checkers."""

from typing import Any

from nyssa.read.file import File
from nyssa.read.rntuple import RNTuple
from nyssa.read.ttree import TTree

class Opened(TTree, RNTuple, File):  # type: ignore[misc]
    """What `open` returns for a name: only the name says whether it is a file or an object.

    It has the methods of files and datasets, and any member that an object may have. So editors
    offer these methods, and type checkers accept it where a `File`, `TTree` or `RNTuple` is needed.
    No object is of this class.
    """

    def __getitem__(self, where: Any) -> Any: ...
    def keys(self, *args: Any, **filters: Any) -> list[str]: ...  # type: ignore[override]
    def values(self, *args: Any, **options: Any) -> Any: ...
    def items(self, *args: Any, **options: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
