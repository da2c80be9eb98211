"""Tests collection classes that ROOT reads with collection proxies."""

from __future__ import annotations

from pathlib import Path

import pytest

import nyssa
from support.root import Root

HEADER = Path(__file__).with_name("user_collection.hxx")
ITEMS = [[1.5 * i] * i for i in range(5)]


@pytest.fixture(scope="module")
def written(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that ROOT wrote."""
    path = tmp_path_factory.mktemp("user_collection") / "hits.root"
    root.call("cpp", HEADER.read_text(), "user_collection::prepare();")
    root.call("cpp", "", f'user_collection::write("{path}");')
    return path


def test_collections_read_as_lists(written: Path) -> None:
    events = nyssa.open(f"{written}:Events")
    assert events["one"].array().to_list() == ITEMS
    assert events["many"].array().to_list() == [[row] * (i % 3) for i, row in enumerate(ITEMS)]


@pytest.mark.parametrize("job", ["rewrite", "merge"])
def test_collections_stay_collections(written: Path, root: Root, tmp_path: Path, job: str) -> None:
    output = tmp_path / "out.root"
    if job == "rewrite":
        nyssa.rewrite(f"{written}:Events", output, compression="lz4", verify=True)
    else:
        nyssa.merge([f"{written}:Events"], output)
    assert root.call("described", str(output), "Events") == root.call(
        "described", str(written), "Events"
    )
    root.call("cpp", "", f'user_collection::check("{output}");')


def test_the_check_fails_on_other_values(written: Path, root: Root, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    nyssa.rewrite(f"{written}:Events", output, cut="len(one) != 2")
    with pytest.raises(RuntimeError, match="other entries"):
        root.call("cpp", "", f'user_collection::check("{output}");')
