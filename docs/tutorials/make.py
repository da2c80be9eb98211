"""Runs the tutorials, and writes them as notebooks with their results.

>>> python docs/tutorials/make.py              # all whose libraries are installed
>>> python docs/tutorials/make.py with_coffea

The source of a notebook is a program of this folder, in the form that editors and jupytext know:
`# %% [markdown]` begins a cell of text, in comments, and `# %%` a cell of Python.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
#: The tutorials, in the order in which they are read.
TUTORIALS = ("first_analysis", "from_uproot", "from_rdataframe", "with_coffea", "machine_learning")


@dataclass
class Cell:
    """A cell of a notebook."""

    kind: str
    source: str
    outputs: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self, number: int) -> dict[str, Any]:
        """Return the cell in the form of notebooks, version 4.5."""
        cell = {"cell_type": self.kind, "id": f"cell-{number}", "metadata": {}}
        cell["source"] = self.source.splitlines(keepends=True)
        if self.kind == "code":
            cell |= {"execution_count": None, "outputs": self.outputs}
        return cell


def cells(name: str) -> list[Cell]:
    """Return the cells of a tutorial."""
    text = (HERE / f"{name}.py").read_text()
    parts = re.split(r"^# %%( \[markdown\])?\n", text, flags=re.M)[1:]
    result = []
    for mark, source in zip(parts[::2], parts[1::2], strict=True):
        if mark:
            source = re.sub(r"^# ?", "", source, flags=re.M)
        result.append(Cell("markdown" if mark else "code", source.strip()))
    return result


def run(name: str, folder: Path) -> tuple[list[Cell], dict[str, Any]]:
    """Run a tutorial in a folder, and return its cells with their results, and its variables."""
    names: dict[str, Any] = {"__name__": "__main__"}
    done = cells(name)
    before = os.getcwd()
    sys.path.insert(0, str(HERE))
    os.chdir(folder)
    try:
        for number, cell in enumerate(done):
            if cell.kind == "code":
                cell.outputs = outputs(cell.source, f"{name}.py, cell {number}", names)
    finally:
        os.chdir(before)
        sys.path.remove(str(HERE))
    return done, names


def outputs(source: str, place: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell, and return what it prints, the value of its last line, and its figures."""
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    found = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    # Calls that draw return what they drew, which says less than the figure.
    if value is not None and not plt.get_fignums():
        found.append({**result(value), "output_type": "execute_result", "execution_count": None})
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=60, bbox_inches="tight")
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
        plt.close(number)
    return found


def result(value: object) -> dict[str, Any]:
    """Return the forms in which a notebook shows a value."""
    data = {"text/plain": lines(repr(value))}
    show = getattr(value, "_repr_html_", None)
    if show and (html := show()):
        data["text/html"] = lines(html)
    return {"data": data, "metadata": {}}


def lines(text: str) -> list[str]:
    """Return lines with their ends, as notebooks have them."""
    return text.splitlines(keepends=True)


def notebook(done: list[Cell]) -> str:
    """Return the text of a notebook."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": [cell.to_dict(number) for number, cell in enumerate(done)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the notebooks."""
    for name in sys.argv[1:] or TUTORIALS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                done, _ = run(name, Path(folder))
            except ImportError as error:
                print(f"{name}: not made: {error}")
                continue
        (HERE / f"{name}.ipynb").write_text(notebook(done))
        print(f"{name}: made")


if __name__ == "__main__":
    main()
