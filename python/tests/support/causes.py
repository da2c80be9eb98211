"""Lists branches of the test data where nyssa differs from ROOT and uproot, examined by hand.

Each was settled by the bytes of the branch and by what ROOT's own code does with them. Where ROOT
reads a branch in another way too, that is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

__all__ = ["CAUSES", "Cause", "cause_of"]


@dataclass(frozen=True)
class Cause:
    """The reason why values differ, or why they cannot be read."""

    branches: tuple[tuple[str, str], ...]
    """Patterns of files, and of paths of branches in these files."""
    text: str
    """The reason, as a sentence of the page."""


CAUSES = (
    Cause(
        (
            ("uproot-issue371.root", "Model./Model.collimatorInfo"),
            ("uproot-issue404.root", "Model./Model.collimatorInfo"),
            ("uproot-issue-798.root", "McEventInfo"),
        ),
        "The items of a vector, streamed member by member, are of a class that the file does not "
        "describe. The vector is empty: behind the version of that class its byte count leaves "
        "room for the number 0 only. ROOT takes the unknown class for an enum, and the class's "
        "version or checksum for the number of items (65536, 20395).",
    ),
    Cause(
        (("*lhcb__lhcb.root", "Refs/m_refs"),),
        "Pointers to a class that the file does not describe. nyssa gives the streamed bytes of "
        "each object; ROOT takes the unknown class for an enum, and byte counts for its numbers; "
        "uproot gives nothing.",
    ),
    Cause(
        (
            ("*small_aod.pool.root", "EventStreamInfo_p1_StreamAOD/m_itemList*"),
            ("*KGrec.root", "event./event.fDetector/event.fDetector.fSDFDTimeOffset*"),
        ),
        "A split set or map of pairs, which ROOT without the library of the class leaves full of "
        "zeros. `TTree::Draw` of the members (`m_itemList.first`) gives nyssa's values.",
    ),
    Cause(
        (("*janbug.root", "event/bList*"),),
        "A `TClonesArray` of a class that has `TObject` as its second base class. ROOT 6 refuses "
        "to make such items, also with a library, and reads none.",
    ),
    Cause(
        (("*AliESD*.root", "ESDfriend./*"), ("*alice_ESDs.root", "ESDfriend./*")),
        "The baskets are in another file, `AliESDfriends.root`, which is not there. ROOT shows "
        "what the memory was before it read, uproot what happens to be at these places of this "
        "file.",
    ),
)
"""All causes."""


def cause_of(file: str, branch: str) -> int | None:
    """Return the index of the cause for a branch; `None` for a branch without one."""
    for index, cause in enumerate(CAUSES):
        for files, branches in cause.branches:
            if fnmatchcase(file, files) and fnmatchcase(branch, branches):
                return index
    return None
