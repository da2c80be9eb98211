"""Where the files of the tests are: those of the repository, and larger ones beside it."""

from __future__ import annotations

import os
from pathlib import Path

#: Files that ROOT 6.40 wrote, and the values that it reads of them. They are in every clone.
TESTDATA = Path(__file__).resolve().parents[3] / "testdata"
#: Files of many writers and versions, which not everybody has.
DATA = Path(
    os.environ.get("NYSSA_TEST_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")
)


def data_files(folder: str, recursive: bool = True) -> list[Path]:
    """Return the ROOT files in a folder of the test data; none when there are no data."""
    return sorted((DATA / folder).glob("**/*.root" if recursive else "*.root"))
