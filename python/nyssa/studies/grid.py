"""Makes the combinations of the options that vary."""

from __future__ import annotations

import difflib
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nyssa.campaign.task import Job, check_options
from nyssa.errors import ArgumentError
from nyssa.jobs.rewrite import check_format
from nyssa.studies.subject import Subject

__all__ = ["NYSSA", "Trial", "check_name", "trials", "varied"]

#: The program that writes, unless another one is requested.
NYSSA = "nyssa"


@dataclass(frozen=True)
class Trial:
    """One combination of options, at a number of threads."""

    job: Job
    """The job with all its options."""
    options: Mapping[str, Any]
    """The options that vary."""
    bytes: int
    """The size of the input."""
    writer: str = NYSSA
    """The program that writes the output: ``"nyssa"`` or ``"ROOT"``."""

    @property
    def combination(self) -> str:
        """Return the options and the writer as text: outputs of equal ones have equal values."""
        return f"{self.writer} {self.job.key}"

    @property
    def name(self) -> str:
        """Return the trial as text for people."""
        shown = [f"{name}={text(value)}" for name, value in self.options.items()]
        threads = f"{self.job.threads} thread{'s' if self.job.threads > 1 else ''}"
        return ", ".join([*([] if self.writer == NYSSA else [self.writer]), *shown, threads])


def text(value: object) -> str:
    """Return the value of an option as text for people."""
    if value is None:
        return "unset"
    return value if isinstance(value, str) else json.dumps(value)


def varied(subject: Subject, vary: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """Return the values of each option that varies, as JSON values.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if nothing varies, or for a name that the job does not have, no values,
        equal values, and values that are no numbers, texts, lists or dicts.
    """
    if not vary:
        raise ArgumentError(
            "vary (--vary) names no option: a study needs at least one, with its values"
        )
    options = {}
    for name, given in vary.items():
        check_name(subject, name)
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise ArgumentError(f"vary (--vary): {name} needs a list of values, not {given!r}")
        values = [_plain(name, item) for item in given]
        if not values:
            raise ArgumentError(f"vary (--vary): {name} has no values")
        for at, item in enumerate(values):
            if item in values[:at]:
                raise ArgumentError(f"vary (--vary): {name} has the value {text(item)} twice")
        options[name] = values
    return options


def check_name(subject: Subject, name: str) -> None:
    """Raise an error for a name that is no option of the job.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) with a name that is close, if there is one.
    """
    if name in subject.kinds:
        return
    if name in subject.options:
        raise ArgumentError(f"vary (--vary): a study sets {name} itself")
    if name == "threads":
        raise ArgumentError(
            "vary (--vary): the numbers of threads are an option of the study: "
            "--threads 1,2 (threads=)"
        )
    close = difflib.get_close_matches(name, subject.kinds, 1)
    hint = f"; did you mean {close[0]}?" if close else f": {', '.join(sorted(subject.kinds))}"
    what = f"{subject.job} ({subject.format} to {subject.to})"
    raise ArgumentError(f"vary (--vary): {what} has no option {name!r}{hint}")


def _plain(name: str, value: Any) -> Any:
    """Return a value as JSON has it: trials run in processes of their own."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"vary (--vary): {name} has a value of type {type(value).__name__}, and only numbers, "
            "texts, lists and dicts can vary: trials run in processes of their own"
        ) from None


def trials(
    subject: Subject, values: Mapping[str, Sequence[Any]], threads: Sequence[int]
) -> list[Trial]:
    """Return all trials: each combination of values, at each number of threads.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) with the combination whose options the job refuses.
    """
    planned = []
    for chosen in itertools.product(*values.values()):
        options = dict(zip(values, chosen, strict=True))
        given = {name: value for name, value in options.items() if value is not None}
        for number in threads:
            job = Job(subject.job, {**subject.options, **given}, threads=number, force=True)
            planned.append(Trial(job, options, max(subject.input.size, 0)))
        _check(subject, planned[-1])
    return planned


def _check(subject: Subject, trial: Trial) -> None:
    try:
        check_options(trial.job)
        if trial.job.name == "rewrite":
            check_format(trial.job.options, subject.format)
    except (ArgumentError, TypeError) as error:
        shown = ", ".join(f"{name}={text(value)}" for name, value in trial.options.items())
        raise ArgumentError(f"vary (--vary): {shown}: {error}") from error
