"""`nyssa diff`: values that are not numbers, and numbers that are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nyssa

STREAMED = Path(__file__).with_name("streamed")


def diff(a: Path, b: Path) -> tuple[int, str]:
    """Return the exit code and what is printed."""
    command = [sys.executable, "-m", "nyssa", "diff", str(a), str(b)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


_NAN = float("nan")


@pytest.mark.parametrize(
    ("cpp", "same", "other", "entry"),
    [
        ("float", [1.0, _NAN], [1.0, 2.0], 1),
        ("std::vector<double>", [[_NAN, 1.0], []], [[_NAN], [1.0]], 0),
        ("std::variant<float,std::string>", [1.5, "x"], [1.5, "y"], 1),
        # Another alternative.
        ("std::variant<std::string,float>", ["a", "", 1.0], ["a", 0.0, 1.0], 1),
        ("std::optional<float>", [None, 0.0], [0.0, 0.0], 0),
        ("std::set<std::int32_t>", [[1, 2], [3]], [[1, 2], [4]], 1),
        ("std::map<std::string,float>", [[("a", _NAN)], []], [[("b", _NAN)], []], 0),
    ],
)
def test_values(
    cpp: str, same: list[object], other: list[object], entry: int, tmp_path: Path
) -> None:
    a, b, c = (tmp_path / f"{name}.root" for name in "abc")
    for path, values in ((a, same), (b, same), (c, other)):
        with nyssa.recreate(path) as file:
            file.mkrntuple("Events", {"x": cpp}).extend({"x": values})
    assert diff(a, b)[0] == 0, diff(a, b)[1]
    code, talk = diff(a, c)
    assert code == 1
    assert f"{entry}" in talk


@pytest.mark.parametrize("name", ["Numbers", "Pointers", "Stl", "Root"])
def test_streamed_objects(name: str, tmp_path: Path) -> None:
    """Decoded and compared member by member."""
    path = STREAMED / f"{name}.root"
    outputs = [tmp_path / f"{number}.root" for number in range(3)]
    total = nyssa.open(path)["ntpl"].num_entries
    for output, start in zip(outputs, (0, 0, 1), strict=True):
        nyssa.rewrite(path, output, entry_start=start, entry_stop=total - 1 + start)
    assert diff(outputs[0], outputs[1])[0] == 0
    assert diff(outputs[0], outputs[2])[0] == 1
