"""Runs the analysis, prints what it found and took, and writes histograms and plots if asked to.

>>> python -m agc.run --inputs ../build/agc/rntuple.json --executor threads --workers 4
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import nyssa
from agc import executors, reference
from agc.analysis import REGIONS
from agc.samples import Sample, read_samples

#: Entries of a part. Smaller parts than clusters would read pages of clusters twice.
STEP = 200_000


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--inputs", type=Path, required=True, help="list of files, as the AGC's")
    options.add_argument("--prefix", help="folder or URL where the files of the list are")
    options.add_argument("--converted", help="folder or URL of what `nyssa campaign convert` wrote")
    options.add_argument("--max-files", type=int, help="largest number of files of each sample")
    options.add_argument("--executor", choices=["threads", "processes", "dask"], default="threads")
    options.add_argument("--workers", type=int, default=os.cpu_count())
    options.add_argument("--scheduler", help="address of a Dask scheduler that runs")
    options.add_argument("--step-size", type=_step, default=STEP, help='entries, or "100 MB"')
    options.add_argument("--cache", help="folder that keeps what is read from servers")
    options.add_argument("--histograms", type=Path, help="ROOT file to write, with uproot")
    options.add_argument("--numbers", type=Path, help="JSON file to write, for --reference")
    options.add_argument("--plots", type=Path, help="folder of the plots, made with mplhep")
    options.add_argument("--note", default="", help="a note on top of the plots")
    options.add_argument("--reference", type=Path, help="histograms that must be equal")
    options.add_argument("--json", action="store_true", help="print what it took as JSON")
    return options


def _step(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def main() -> int:
    """Run the command and return its exit code."""
    arguments = parser().parse_args()
    if arguments.cache:
        os.environ["NYSSA_CACHE"] = str(Path(arguments.cache).absolute())
    samples = read_samples(
        arguments.inputs, arguments.prefix, arguments.max_files, arguments.converted
    )
    with workers(arguments) as started:
        outcome = executors.run(samples, started, arguments.step_size)
    if arguments.json:
        print(json.dumps(taken(outcome)))
    else:
        print_yields(samples, outcome)
    if arguments.histograms:
        write(outcome, arguments.histograms)
    if arguments.plots:
        from agc import plots

        for path in plots.draw(outcome.histograms, arguments.plots, arguments.note):
            print(f"drawn: {path}", file=sys.stderr)
    numbers = reference.to_numbers(outcome.histograms)
    if arguments.numbers:
        arguments.numbers.write_text(json.dumps({"histograms": numbers}))
    if arguments.reference:
        lines = reference.differences(numbers, arguments.reference)
        count = len(outcome.histograms)
        verdict = "; ".join(lines) or f"{count} histograms are equal to {arguments.reference}"
        print(verdict, file=sys.stderr)
        return bool(lines)
    return 0


def workers(arguments: argparse.Namespace) -> AbstractContextManager[executors.Map]:
    """Start the workers that the options name."""
    if arguments.scheduler or arguments.executor == "dask":
        return executors.dask(arguments.workers, arguments.scheduler)
    start = {"threads": executors.threads, "processes": executors.processes}
    return start[arguments.executor](arguments.workers)


def taken(outcome: executors.Outcome) -> dict[str, float]:
    """Return what the run took."""
    return {
        "seconds": outcome.seconds,
        "reading": outcome.reading,
        "cpu": outcome.cpu,
        "bytes": outcome.io("bytes_read", "bytes_readv"),
        "cached_bytes": outcome.io("hit_bytes_read", "hit_bytes_readv"),
        "requests": outcome.io("iops_read", "iops_readv"),
    }


def print_yields(samples: list[Sample], outcome: executors.Outcome) -> None:
    """Print a table of the samples, and what the run took."""
    print(f"{'sample':<28}{'events':>10}" + "".join(f"{region:>12}" for region in REGIONS))
    for sample in samples:
        label = f"{sample.process} {sample.variation}"
        suffix = sample.process + ("" if sample.nominal else f"_{sample.variation}")
        sums = [outcome.histograms[f"{region}_{suffix}"].sum(flow=True) for region in REGIONS]
        values = "".join(f"{one.value:>12.1f}" for one in sums)
        print(f"{label:<28}{sample.events:>10}{values}")
    events, used = sum(sample.events for sample in samples), taken(outcome)
    print(
        f"{len(outcome.histograms)} histograms of {events} events in {used['seconds']:.2f} s "
        f"({used['cpu']:.2f} s of CPU time, {used['bytes'] / 1e6:.1f} MB in "
        f"{used['requests']} requests, {used['cached_bytes'] / 1e6:.1f} MB from the cache)"
    )


def write(outcome: executors.Outcome, path: Path) -> None:
    """Write all histograms as TH1D."""
    with nyssa.recreate(path) as file:
        for name, histogram in outcome.histograms.items():
            file[name] = histogram


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, nyssa.errors.NyssaError) as error:
        sys.exit(f"error: {error}")
