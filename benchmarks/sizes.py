"""Convert every ROOT file of a folder and print the sizes before and after as a table.

    python benchmarks/sizes.py ../shared/data/ttree > tables/converted.md

Each file is converted as a whole (`nyssa convert --verify --skip-unsupported`). Every TTree
becomes an RNTuple, every other object is copied, and every value is read back and compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HEAD = """# Files converted

`benchmarks/sizes.py` writes this page. It converts the files with TTrees under `ttree` of the test
data as a whole, with the default options (`nyssa convert --verify --skip-unsupported`). Every
value is read back and compared. Sizes are of whole files. *Left out* is the number of
branches that did not become a field. The report of the conversion names each with its reason.

| file | TTree, bytes | RNTuple, bytes | ratio | trees | fields | streamer fields | left out |
|---|---|---|---|---|---|---|---|"""


def convert(path: Path, output: Path) -> list[dict[str, Any]] | str:
    """Return the reports of all trees of a file, or why it is not converted."""
    options = ["--verify", "--force", "--skip-unsupported", "--json"]
    command = [sys.executable, "-m", "nyssa", "convert", str(path), str(output), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.splitlines() or ["no message"]
        return lines[1].strip() if lines[0].endswith(":") and len(lines) > 1 else lines[0]
    reports = json.loads(done.stdout)
    return reports if isinstance(reports, list) else reports.get("reports", [reports])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    before = after = 0
    refused: list[str] = []
    print(HEAD)
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "out.root"
        for path in sorted(folder.rglob("*.root")):
            reports = convert(path, output)
            if isinstance(reports, str):
                if "has no dataset" not in reports:
                    reason = reports.removeprefix("error: ").replace(str(path), path.name)
                    refused.append(f"- {path.name}: {reason.replace('|', '/')}")
                continue
            sizes = path.stat().st_size, output.stat().st_size
            before, after = before + sizes[0], after + sizes[1]
            count = {
                key: sum(len(report[key]) for report in reports) for key in ("fields", "skipped")
            }
            streamed = sum(
                one["streamer"] for report in reports for one in report["streamer_fields"]
            )
            print(
                f"| {path.name} | {sizes[0]} | {sizes[1]} | {sizes[1] / sizes[0]:.2f} | "
                f"{len(reports)} | {count['fields']} | {streamed} | {count['skipped']} |"
            )
    print(f"| all | {before} | {after} | {after / max(1, before):.2f} | | | | |")
    if refused:
        print("\nNot converted:\n", *refused, sep="\n")


if __name__ == "__main__":
    main()
