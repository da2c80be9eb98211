"""Runs the rounds of a study: each measurement of a trial in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nyssa import _core
from nyssa.campaign.progress import Progress
from nyssa.campaign.task import adler32
from nyssa.studies.grid import NYSSA, Trial
from nyssa.studies.journal import Round, RoundJournal
from nyssa.studies.measurements import Measurements
from nyssa.studies.subject import Subject

__all__ = ["Study"]

#: Bytes that are read at once so that the cache of the system has a file.
BLOCK = 1 << 20
#: The values of a combination were compared by the job itself, or by their digests.
BY_JOB, BY_DIGESTS = "every value by the job", "digests of all columns"


class _FailedError(Exception):
    """A measurement failed for the reason that the message says."""


@dataclass(frozen=True)
class Study:
    """The trials of a dataset, and what is measured of each."""

    subject: Subject
    trials: Sequence[Trial]
    measurements: Measurements
    folder: Path
    """The folder of the output that is measured, and of the journal."""

    def run(self, journal: RoundJournal, repeats: int, *, quiet: bool) -> list[Round]:
        """Measure what the journal does not have, and return all rounds of these trials.

        A round has one measurement of each trial, so that a machine that becomes slower or faster
        changes all trials alike.
        """
        key = self.measurements.key(self.subject)
        known = {
            (item.trial, item.threads, item.round): item
            for item in journal.rounds
            if item.study == key and item.is_complete
        }
        wanted = [
            (trial, (trial.combination, trial.job.threads, number))
            for number in range(repeats)
            for trial in self.trials
        ]
        missing = [trial for trial, place in wanted if place not in known]
        progress = Progress(missing, quiet=quiet)
        rounds: list[Round] = []
        for trial, place in wanted:
            if place not in known:
                made = self._round(trial, Round(key, *place, trial.name), rounds)
                journal.add(made)
                progress.add(made)
                known[place] = made
            rounds.append(known[place])
        return rounds

    def _round(self, trial: Trial, this: Round, before: Sequence[Round]) -> Round:
        this.begin, this.input_bytes = time.time(), trial.bytes
        same = (it for it in before if it.trial == this.trial and it.is_complete)
        verified = next((it for it in same if it.verified), None)
        try:
            self._measure(trial, this, verified)
        except _FailedError as error:
            this.error = str(error)
        finally:
            # A process that is killed leaves the file that it had begun.
            begun = self.folder.glob(f".{self._output.name}.nyssa-*.part")
            for path in (self._output, self._trace, *begun):
                path.unlink(missing_ok=True)
        return this

    @property
    def _output(self) -> Path:
        return self.folder / "nyssa-study-output.root"

    @property
    def _trace(self) -> Path:
        return self.folder / "nyssa-study-trace.jsonl"

    def _measure(self, trial: Trial, this: Round, verified: Round | None) -> None:
        """Write the output, read it in all requested ways, and fill the round."""
        if trial.writer == NYSSA:
            expected = verified.adler32 if verified else self._verified(trial, this)
        wrote = self._write(trial, verify=False)
        this.entries, this.notes = wrote["entries"], wrote["notes"]
        this.output_bytes = self._output.stat().st_size
        this.adler32 = adler32(str(self._output))
        if trial.writer != NYSSA and verified is None:
            self._compare(trial, this)
        elif trial.writer == NYSSA and this.adler32 != expected:
            raise _FailedError("the bytes of the output differ from the output that was verified")
        self._add(this, "write", wrote)
        self._add(this, "read", self._read(trial, []))
        if self.measurements.columns:
            self._add(this, "columns", self._read(trial, self.measurements.columns))
        if self.measurements.link_latency is not None:
            self._read(trial, self.measurements.columns, trace=str(self._trace))
            this.measured["link_seconds"] = self._replay()

    def _add(self, this: Round, what: str, measured: dict[str, Any]) -> None:
        """Add the times and the memory of a measurement, and its notes."""
        for name in ("seconds", "cpu_seconds", "memory", "memory_before"):
            this.measured[f"{what}_{name}"] = measured[name]
        this.notes += [note for note in measured["notes"] if note not in this.notes]

    def _verified(self, trial: Trial, this: Round) -> str | None:
        """Write the output once with a comparison of all values, and return its checksum."""
        self._write(trial, verify=True)
        this.verified = BY_JOB
        return adler32(str(self._output))

    def _compare(self, trial: Trial, this: Round) -> None:
        """Compare the output of another program with the input."""
        comparison = self._ask("compare", trial, input=self.subject.input.url)
        if not comparison["equal"]:
            raise _FailedError("the digests of the output differ from the digests of the input")
        this.verified = BY_DIGESTS

    def _write(self, trial: Trial, *, verify: bool) -> dict[str, Any]:
        self._prepare(self.subject.file)
        return self._ask(
            "write" if trial.writer == NYSSA else "write with ROOT",
            trial,
            job=trial.job.name,
            input=self.subject.input.url,
            dataset=self.subject.dataset,
            entries=self.subject.entries,
            options=trial.job.options,
            verify=verify,
        )

    def _read(
        self, trial: Trial, columns: Sequence[str], trace: str | None = None
    ) -> dict[str, Any]:
        self._prepare(str(self._output))
        return self._ask("read", trial, columns=columns, trace=trace)

    def _ask(self, what: str, trial: Trial, **request: Any) -> dict[str, Any]:
        """Let a new process do a piece of work, and return its result."""
        name = trial.job.options.get("name") or self.subject.dataset
        # A process that writes makes the file. Others name the dataset, which need not be alone.
        inner = "" if "write" in what else f":{name}"
        request |= {"what": what, "output": f"{self._output}{inner}", "threads": trial.job.threads}
        said = _said("nyssa.studies.measure", [], json.dumps(request))
        # ROOT may have said something before.
        answer: dict[str, Any] = json.loads(said.splitlines()[-1])
        if "error" in answer:
            raise _FailedError(answer["error"])
        return answer

    def _replay(self) -> float:
        """Return the seconds that the recorded reads and their job take over the link."""
        latency = self.measurements.link_latency or 0.0
        words = ["trace", "replay", str(self._trace), "--json"]
        words += ["--link-latency", f"{latency * 1e6:.0f}us"]
        if self.measurements.link_bandwidth is not None:
            words += ["--link-bandwidth", str(self.measurements.link_bandwidth)]
        replay: dict[str, float] = json.loads(_said("nyssa", words, ""))
        return replay["seconds"]

    def _prepare(self, path: str) -> None:
        """Bring a local file into the cache of the system, or ask the system to forget it."""
        if "://" in path:
            return
        with Path(path).open("rb") as file:
            if self.measurements.cold:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                return
            while file.read(BLOCK):
                pass


def _said(module: str, words: Sequence[str], request: str) -> str:
    """Run a module in a new process, and return its standard output."""
    command = [sys.executable, "-m", module, *words]
    # This Python, with a module of this package.
    ran = subprocess.run(  # noqa: S603
        command, input=request, capture_output=True, text=True, check=False
    )
    if ran.returncode < 0:
        name = signal.Signals(-ran.returncode).name
        raise _FailedError(f"the process was ended by {name}")
    if ran.returncode or not ran.stdout.strip():
        said = [line for line in ran.stderr.splitlines() if re.search(r"\w", line)]
        last = _core.printable(said[-1]) if said else "it says nothing"
        raise _FailedError(f"the process ended with exit code {ran.returncode}: {last}")
    return ran.stdout.strip()
