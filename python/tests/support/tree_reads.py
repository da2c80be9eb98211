"""Reads the values of TTrees by ROOT, with classes from libraries or from the files.

Run as a program it loads the libraries named as arguments and answers requests on stdin, JSON
``[path, trees, output, most, skip]``, with a line on stdout: ``ok``, ``crash``, ``timeout``,
``error``, or ``not shown`` where ROOT has read a branch but what shows its values here crashes.
Each file is read in a process of its own, since classes of one name differ between files, and since
ROOT can crash on such files.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.root import environment, strict

HEADER = Path(__file__).parent / "dump.hxx"
#: Exit codes of `dump.hxx`, and signals: stack overflow, and the time limit.
CODES = {0: "ok", 10: "crash", -11: "crash", 11: "not shown", -signal.SIGKILL: "timeout"}
#: Time limit of ROOT for one file, seconds.
LONGEST = 60


class Reader:
    """The running program."""

    def __init__(self, *libraries: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, *map(str, libraries)],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def read(
        self, path: Path, trees: list[str], scratch: Path, most: int = 50
    ) -> dict[tuple[str, str], Any]:
        """Return the values that ROOT reads from each top-level branch of `trees`.

        That is `data`, the paths of it and what is below it with bytes of their own, `class` and
        `entries`, or `error`: why ROOT does not read it.

        Of more than ``2 * most`` entries these are the first and the last `most`. A branch at which
        ROOT crashes is left out when the others are read again.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        found: dict[tuple[str, str], Any] = {}
        while True:
            scratch.unlink(missing_ok=True)
            skip = ["\n".join(branch) for branch in found]
            request = json.dumps([str(path), trees, str(scratch), most, skip])
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline().strip()
            lines = scratch.read_text().splitlines() if scratch.exists() else []
            for line in lines[: len(lines) - (answer != "ok")]:
                one = json.loads(strict(line))
                found[tuple(one.pop("branch"))] = one
            if answer == "ok":
                return found
            if not lines:
                raise RuntimeError(f"{path}: {answer}")
            # This part was written before ROOT reads: everything up to the second list.
            start = lines[-1].partition(',"class"')[0]
            one = json.loads(strict(start) + "}")
            found[tuple(one.pop("branch"))] = one | {"error": answer}

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(60)


def end_after(child: int, seconds: float) -> None:
    """Wait for the end of a child, and kill it after a time. ROOT would catch an alarm."""
    handle = os.pidfd_open(child)
    try:
        if not select.select([handle], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(handle)


def main() -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    for library in sys.argv[1:]:
        ROOT.gSystem.Load(library)
    ROOT.gInterpreter.Declare(f'#include "{HEADER}"')
    ROOT.nyssa_dump.dump("", [], "", 0, [])  # Compile it here, not in each process.
    for line in sys.stdin:
        path, trees, output, most, skip = json.loads(line)
        child = os.fork()
        if child == 0:
            ROOT.nyssa_dump.end_quietly()
            try:
                ROOT.nyssa_dump.dump(path, trees, output, most, skip)
                os._exit(0)
            except Exception:  # noqa: BLE001
                os._exit(3)
        end_after(child, LONGEST)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        answers.write(CODES.get(code, "error") + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
