"""The page of `nyssa inspect --html` works in a browser and shows what ROOT and uproot count."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

#: The number of bytes of the checksum of each page, which ROOT's inspector does not count.
CHECKSUM = 8


@pytest.fixture(scope="module")
def chromium() -> str:
    """Return the browser."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium (apt-get install chromium)")
    return program


class Texts(HTMLParser):
    """Collects the cells of the rows of each table with an id, and counts elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.counts: dict[str, int] = {}
        self.drawn = False
        self._rows: list[list[str]] | None = None
        self._cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count an element, and begin a table, a row or a cell."""
        self.counts[tag] = self.counts.get(tag, 0) + 1
        given = dict(attrs)
        if tag == "html":
            self.drawn = given.get("data-drawn") == "yes"
        if tag == "table":
            self._rows = self.tables.setdefault(given.get("id") or "", [])
        if tag == "tr" and self._rows is not None:
            self._rows.append([])
        self._cell = tag in ("td", "th")
        if self._cell and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        """Add to the text of a cell."""
        if self._cell and self._rows:
            self._rows[-1][-1] += data

    def row(self, table: str, first: str) -> list[str]:
        """Return the row of a table whose first cell is this."""
        [found] = [one for one in self.tables[table] if one[0] == first]
        return found[1:]


def shown(chromium: str, page: Path) -> Texts:
    """Return what the browser makes of a page. The last line of its script marks the page."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={page.parent / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    texts = Texts(done.stdout.decode())
    assert texts.drawn, done.stderr.decode()
    return texts


def numbers(cells: list[str]) -> list[int]:
    return [int(cell.replace(",", "")) for cell in cells if re.fullmatch(r"[\d,]+", cell)]


def data_of(page: Path) -> dict:
    """Return the data on a page."""
    text = page.read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found is not None
    values: dict = json.loads(found[1])
    return values


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "tree.root"
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 4, 2_000)
    with uproot.recreate(path) as file:
        types = {"x": "float64", "n": "int32", "pt": "var * float32"}
        made = file.mktree("Events", types)
        for _ in range(3):
            pt = ak.unflatten(rng.random(np.sum(counts)).astype("f4"), counts)
            made.extend({"x": rng.normal(size=2_000), "n": np.arange(2_000), "pt": pt})
    return path


def test_the_page_of_an_rntuple(tree: Path, tmp_path: Path, root: Root, chromium: str) -> None:
    """The field pt is a collection: its offsets and its values are two columns."""
    path, page = tmp_path / "ntuple.root", tmp_path / "page.html"
    nyssa.convert(f"{tree}:Events", path, layout="vectors")
    nyssa.inspect(path).to_html(page, fields=["pt", "n"])
    expected = root.call("inspection", str(path), "Events")
    texts = shown(chromium, page)
    columns = nyssa.inspect(path).columns
    wanted = [one.id for one in columns if one.part.name in ("pt", "n")]
    pages = sum(expected["columns"][one][2] for one in wanted)
    stored = sum(expected["columns"][one][0] for one in wanted) + CHECKSUM * pages
    unpacked = sum(expected["columns"][one][1] for one in wanted)
    assert numbers(texts.row("touched", "chosen")) == [len(wanted), pages, stored, unpacked]
    # As they lie: requests, ranges, bytes, and no byte more.
    assert numbers(texts.row("touched", "as they lie"))[2:] == [stored, 0]
    assert sum(data_of(page)["pages"][1::4]) == nyssa.inspect(path).stored_bytes
    names = [name for name, _, _ in data_of(page)["metadata"]]
    assert names == ["header", "page list", "footer"]
    # A rectangle for each field and for each of two kinds of bytes in the cluster.
    assert texts.counts["rect"] == 4 + 2


def test_the_page_of_a_tree(tree: Path, tmp_path: Path, chromium: str) -> None:
    page = tmp_path / "page.html"
    nyssa.inspect(f"{tree}:Events").to_html(page, fields=["p*"])
    with uproot.open(tree) as file:
        branches = file["Events"].branches
        places = sorted(
            (int(key.fSeekKey), int(key.fNbytes))
            for branch in branches
            for key in map(branch.basket_key, range(branch.num_baskets))
        )
        read = {one.name: (one.num_baskets, one.compressed_bytes) for one in branches}
    values = data_of(page)["pages"]
    ends = np.cumsum(np.add(values[0::4], values[1::4]))
    assert [*zip(np.subtract(ends, values[1::4]).tolist(), values[1::4], strict=True)] == places
    texts = shown(chromium, page)

    def of(*names: str) -> list[int]:
        return [
            len(names),
            sum(read[name][0] for name in names),
            sum(read[name][1] for name in names),
        ]

    assert numbers(texts.row("touched", "chosen"))[:3] == of("pt")
    # Lists are read with their counter.
    assert numbers(texts.row("touched", "with offsets and counters"))[:3] == of("npt", "pt")
    # Three times four baskets: the baskets of both branches are neighbours or not.
    runs = numbers(texts.row("touched", "as they lie"))
    assert 3 <= runs[1] <= 6
    assert runs[2] == of("npt", "pt")[2]


def test_names_are_no_html(tmp_path: Path, chromium: str) -> None:
    """Neither names nor types end the script or add elements."""
    name, path, page = "<!--<script><b>", tmp_path / "a.root", tmp_path / "page.html"
    with nyssa.recreate(path) as file:
        file["events"] = {name: np.arange(10)}
    nyssa.inspect(path).to_html(page, fields=[name])
    assert name not in page.read_text()
    texts = shown(chromium, page)
    assert numbers(texts.row("touched", "chosen"))[0] == 1
    assert "b" not in texts.counts


def test_a_page_asks_nobody(tree: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    nyssa.inspect(f"{tree}:Events").to_html(page)
    text = page.read_text()
    assert not re.search(r"\b(src|href)=|@import|url\(|fetch\(|XMLHttp|import\(", text)
    assert data_of(page)["chosen"] == []
    with pytest.raises(nyssa.NotFoundError, match='no field matches "pq"'):
        nyssa.inspect(f"{tree}:Events").to_html(page, fields=["pq"])


def test_many_columns(tmp_path: Path, chromium: str) -> None:
    """A page of 1,000 columns and 10,000 pages is small, and the browser draws it."""
    path, page = tmp_path / "many.root", tmp_path / "page.html"
    names = [f"column_{number}" for number in range(1_000)]
    with nyssa.recreate(path, compression=0, cluster_size="40 kB") as file:
        file.mkrntuple("events", dict.fromkeys(names, "float32"))
        for cluster in range(10):
            file["events"].extend(
                {name: np.full(10, i + cluster, "f4") for i, name in enumerate(names)}
            )
    report = nyssa.inspect(path)
    report.to_html(page, fields=["column_1*"])
    data = data_of(page)
    assert len(data["pages"]) // 4 == report.pages.count >= 1_000
    # The columns, and the places of pages.
    assert page.stat().st_size < 60_000 + 400 * 1_000 + 25 * report.pages.count
    assert len(data["chosen"]) == 111
    texts = shown(chromium, page)
    assert numbers(texts.row("touched", "chosen"))[0] == 111
