"""Compare what two builds of the command line print for all files of `testdata`.

    compare_outputs.py save OUTPUTS.json COMMAND
    compare_outputs.py check OUTPUTS.json COMMAND

`save` runs COMMAND with all subcommands that only read, and keeps exit codes, standard output and
standard error. `check` runs another COMMAND in the same way and names the
runs whose outputs differ.
"""

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
THREADS = 2
SECONDS = 120
#: One file in so many is read with every combination of options.
EVERY = 8


def run(command: str, arguments: list[str]) -> list[str | int]:
    """Return the exit code, and the digests of standard output and standard error."""
    done = subprocess.run(
        [command, "--threads", "1", *arguments], capture_output=True, cwd=ROOT, timeout=SECONDS
    )
    return [done.returncode, *(hashlib.sha1(it).hexdigest() for it in (done.stdout, done.stderr))]


def both(arguments: list[str]) -> list[list[str]]:
    """Return the arguments as they are, and with `--json`."""
    return [arguments, [*arguments, "--json"]]


def of_file(command: str, file: str, every_option: bool) -> list[list[str]]:
    """Return the arguments of all runs on one file."""
    cases = both(["ls", file]) + both(["ls", "-l", file]) + both(["verify", file])
    cases += both(["cat", file]) + both(["schema", file]) + both(["inspect", file])
    listed = subprocess.run([command, "ls", "--json", file], capture_output=True, cwd=ROOT)
    entries = json.loads(listed.stdout)["keys"] if listed.returncode == 0 else []
    for entry in entries:
        data = f"{file}:{entry['path']};{entry['cycle']}"
        cases += both(["cat", data])
        if entry.get("entries") is not None and every_option:
            cases += of_dataset(data)
    return cases


def of_dataset(data: str) -> list[list[str]]:
    """Return the arguments of all runs on one dataset."""
    cases = both(["schema", data]) + both(["schema", "-v", data, "--filter", "*[a-m]*"])
    for options in ([], ["--columns"], ["--pages"], ["--clusters"]):
        cases += both(["inspect", data, *options])
    for options in (
        ["--entries", "1:3"],
        ["--entries", "2:"],
        ["--entries", "0:100000000"],
        ["-n", "2", "--filter", "*[a-m]*"],
        ["--filter", "no such column"],
        ["--cut", "1 > 0"],
        ["--cut", "1 > 0", "--entries", "1:3"],
        ["--cut", "1 > 0", "--entries", "1:100000000"],
        ["--cut", "nothing > 0"],
        ["--friends"],
        ["--friends", "--cut", "1 > 0", "-n", "1"],
        ["--attributes"],
        ["--attributes", "--entries", "1:3"],
        ["--skip-unreadable"],
    ):
        cases += both(["cat", data, *options])
    cases += both(["cat", data, data, "-n", "100"]) + both(["cat", data, data, "--attributes"])
    cases += both(["diff", data, data]) + both(["diff", data, data, "--only-common"])
    return cases + both(["digest", data]) + both(["digest", data, "--entries", "1:3"])


def pairs(files: list[str]) -> list[list[str]]:
    """Return the arguments of runs on two neighbouring files."""
    cases = []
    for a, b in pairwise(files):
        cases += [["diff", a, b], ["diff", a, b, "--only-common", "--json"], ["cat", a, b]]
    return cases


def outputs(command: str) -> dict[str, list[str | int]]:
    """Return the outputs of all runs of a command."""
    found = sorted((ROOT / "testdata").rglob("*.root"))
    files = [str(file.relative_to(ROOT)) for file in found if file.stat().st_size < 1 << 20]
    cases = pairs(files)
    with ThreadPoolExecutor(THREADS) as pool:
        each = pool.map(lambda it: of_file(command, it[1], it[0] % EVERY == 0), enumerate(files))
        for listed in each:
            cases += listed
        results = pool.map(lambda arguments: run(command, arguments), cases)
        return {" ".join(case): result for case, result in zip(cases, results, strict=True)}


def main() -> int:
    """Save the outputs of a command, or compare them with saved ones."""
    match sys.argv[1:]:
        case ["save", saved, command]:
            Path(saved).write_text(json.dumps(outputs(command), indent=0))
            return 0
        case ["check", saved, command]:
            before, after = json.loads(Path(saved).read_text()), outputs(command)
            different = [case for case, result in after.items() if before.get(case) != result]
            print(*different, sep="\n")
            print(f"{len(different)} of {len(after)} outputs differ; {len(before)} were saved")
            return int(bool(different) or before.keys() != after.keys())
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())
