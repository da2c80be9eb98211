"""Runs the examples of the gallery, and makes their pictures.

>>> python docs/gallery/make.py
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tutorials"))

import sample

#: An example and its picture on the page.
EXAMPLE = re.compile(r"^```python\n((?:(?!^```).)*)^```\n\n!\[[^\]]*\]\(([\w.]+)\)", re.M | re.S)


def run(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the examples in a folder; give the picture of each, while its figure is open."""
    text = (HERE / "README.md").read_text()
    beginning = re.search(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert beginning
    before = os.getcwd()
    os.chdir(folder)
    try:
        sample.write("events.root")
        for number in range(3):
            sample.write(f"run{number}.root", 5_000, seed=number)
        names: dict[str, Any] = {}
        exec(compile(beginning[1], "README.md", "exec"), names)
        for source, picture in EXAMPLE.findall(text):
            plt.figure(figsize=(4.5, 3))
            used = dict(names)
            exec(compile(source, f"README.md, {picture}", "exec"), used)
            yield picture, used
            plt.close("all")
    finally:
        os.chdir(before)


def main() -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        for picture, _ in run(Path(folder)):
            path = HERE / picture
            plt.savefig(path, dpi=80, bbox_inches="tight")
            # A palette is enough for plots, and takes a third of the bytes.
            Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=32).save(path)
            print(picture)


if __name__ == "__main__":
    main()
