"""Fills histograms of hist and boost-histogram with expressions of many files."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from typing_extensions import Unpack

from nyssa.arguments.checks import checked
from nyssa.arguments.options import Evolution
from nyssa.arrays.libraries import optional
from nyssa.errors import ArgumentError
from nyssa.jobs import job
from nyssa.plotting.axes import FillPlan, fill_axis, is_axis
from nyssa.plotting.filling import Filled, fill
from nyssa.read.chain import Files, Schema, chain

if TYPE_CHECKING:
    import hist

__all__ = ["histograms"]

# An axis of boost-histogram or hist, or a tuple (bins, low, high): `Any`.
Planned: TypeAlias = tuple[str, Any] | Sequence[tuple[str, Any]]
"""The expression and the axis of a histogram, or a list of such pairs, one for each axis."""


class HistogramOptions(Evolution, total=False):
    """The options of `histograms`; see there."""

    weight: str | None
    storage: object
    aliases: Mapping[str, str] | None
    schema: Schema | None
    threads: int | None
    progress: job.Progress | bool


@overload
def histograms(
    files: Files,
    plans: Mapping[str, Planned],
    *,
    cut: str | None = None,
    **options: Unpack[HistogramOptions],
) -> dict[str, hist.Hist[Any]]: ...


@overload
def histograms(
    files: Files,
    plans: Mapping[str, Planned],
    *,
    cut: Mapping[str, str],
    **options: Unpack[HistogramOptions],
) -> dict[str, dict[str, hist.Hist[Any]]]: ...


@checked
def histograms(
    files: Files,
    plans: Mapping[str, Planned],
    *,
    cut: str | Mapping[str, str] | None = None,
    weight: str | None = None,
    storage: object = None,
    aliases: Mapping[str, str] | None = None,
    schema: Schema | None = None,
    threads: int | None = None,
    progress: job.Progress | bool = False,
    **evolution: Unpack[Evolution],
) -> dict[str, Any]:
    """Fill histograms of expressions with all entries of many files, on all cores.

    All histograms are filled in one pass, which reads each column once. In memory are the
    histograms and steps of entries, which take about 128 MB, however large the files are.

    >>> import hist
    >>> plans = {"jets": ("Jet_pt[abs(Jet_eta) < 2.4]", hist.axis.Regular(50, 0, 200))}
    >>> made = nyssa.histograms("events.root:Events", plans, cut="nMuon >= 2")
    >>> int(made["jets"].sum(flow=True))
    22748

    Parameters
    ----------
    files
        As in `nyssa.chain`: a path, URL, glob, folder, dataset, a list of these, or a dict from
        paths to names of objects.
    plans
        For each name of a histogram: an expression and its axis, or a list of such pairs for
        several dimensions. An axis is one of hist or boost-histogram (``Regular`` also with the
        transforms ``log``, ``sqrt`` and ``Pow``, ``Variable``, ``Integer``, ``Boolean``,
        ``IntCategory``, ``StrCategory``, which may grow as the first axis), or a tuple
        ``(bins, low, high)``. Lists are flattened: each of their items is a value. A value of an
        entry is repeated for the items of the lists that it is filled with.
    cut
        An expression that is true or false for each entry; the others are not filled. A dict from
        names of regions to cuts fills each histogram for each region.
    weight
        An expression of the weights: one for each entry, or one for each item. The default is 1.
    storage
        ``"Double"``, ``"Weight"``, ``"Int64"`` (without weights), or a storage of boost-histogram
        of these classes. The default is ``"Weight"`` with a `weight`, and ``"Double"`` otherwise.
    aliases
        Names for expressions, as in `Dataset.arrays`.
    schema, missing, narrowing, rules
        As in `nyssa.chain`.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the number of
        entries that are done and the total.

    Returns
    -------
    dict
        A ``hist.Hist`` for each name, or a ``boost_histogram.Histogram`` where hist is not
        installed. With several cuts, a dict of these for each region. ``fill`` of
        boost-histogram finds equal bins: NaN is in the overflow. Missing values are in no bin.
        Numbers of values are exact; sums of weights may differ in their last bits with the number
        of threads.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when an expression does not parse or does not fit its axis.
    nyssa.NotFoundError
        (a `KeyError`) when there is no such column; it suggests similar names.
    nyssa.UnsupportedError
        (a `NotImplementedError`) for circular axes, and axes of numbers that grow.
    ImportError
        when boost-histogram is not installed.
    """
    bh = optional("boost_histogram")
    made_storage = _storage(bh, storage, weight)
    pairs = {name: _pairs(bh, name, given) for name, given in plans.items()}
    cuts = cut if isinstance(cut, Mapping) else {"": cut}
    squares = isinstance(made_storage, bh.storage.Weight)
    requested = [
        FillPlan(
            [expression for expression, _ in axes],
            [fill_axis(axis) for _, axis in axes],
            weight,
            selection,
            squares=squares and weight is not None,
        )
        for selection in cuts.values()
        for axes in pairs.values()
    ]
    dataset = chain(files, schema=schema, threads=threads, **evolution)
    filled = iter(fill(dataset, requested, aliases, threads, progress) if requested else ())
    regions: dict[str, dict[str, Any]] = {
        region: {
            name: to_histogram([axis for _, axis in axes], next(filled), made_storage)
            for name, axes in pairs.items()
        }
        for region in cuts
    }
    return regions if isinstance(cut, Mapping) else regions[""]


# boost-histogram is only imported where it is needed: `Any`.
def to_histogram(axes: Sequence[Any], filled: Filled, storage: Any) -> Any:
    """Return the ``hist.Hist`` or ``boost_histogram.Histogram`` of filled bins."""
    bh = optional("boost_histogram")
    axes = [_grown(axis, filled.texts) if axis.traits.growth else axis for axis in axes]
    kind = optional("hist").Hist if importlib.util.find_spec("hist") else bh.Histogram
    histogram = kind(*axes, storage=storage)
    bins = tuple(_bins(axis) for axis in axes)
    view = histogram.view(flow=True)
    if isinstance(storage, bh.storage.Weight):
        view.value = filled.sums[bins]
        view.variance = (filled.sums if filled.squares is None else filled.squares)[bins]
    else:
        view[...] = filled.sums[bins]
    return histogram


def _grown(axis: Any, texts: Sequence[str]) -> Any:
    """Return a category axis with the texts that were met."""
    grown = type(axis)(texts, growth=True)
    grown.__dict__.update(axis.__dict__)
    return grown


def _bins(axis: Any) -> slice:
    """Return the bins that an axis has, of all bins of the core."""
    traits = axis.traits
    stop = None if traits.overflow or traits.growth else -1
    return slice(0 if traits.underflow else 1, stop)


def _pairs(bh: Any, name: str, given: Planned) -> list[tuple[str, Any]]:
    """Return the expressions and the axes of a histogram."""
    single = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str)
    pairs = [given] if single else given
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise _wrong(name)
    axes = []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
            raise _wrong(name)
        axes.append((pair[0], _axis(bh, name, pair[1])))
    if not axes:
        raise _wrong(name)
    return axes


def _wrong(name: str) -> ArgumentError:
    return ArgumentError(
        f"the histogram {name!r} is a pair of an expression and its axis, as in "
        '("Jet_pt", hist.axis.Regular(50, 0, 200)), or a list of such pairs'
    )


def _axis(bh: Any, name: str, given: Any) -> Any:
    if is_axis(given):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 3:
        return bh.axis.Regular(*given)
    raise ArgumentError(
        f"the axis of {name!r} is one of hist or boost-histogram, or a tuple (bins, low, high), "
        f"not {given!r}"
    )


def _storage(bh: Any, given: object, weight: str | None) -> Any:
    """Return a storage of boost-histogram."""
    if given is None:
        given = "Double" if weight is None else "Weight"
    names = ("Double", "Weight", "Int64")
    if isinstance(given, str):
        if given not in names:
            raise ArgumentError(f"storage is one of {', '.join(names)}, not {given!r}")
        given = getattr(bh.storage, given)()
    given = cast("Any", given)() if isinstance(given, type) else given
    if not isinstance(given, tuple(getattr(bh.storage, name) for name in names)):
        raise ArgumentError(
            f"a histogram of expressions has one of the storages {', '.join(names)}, not {given!r}"
        )
    if weight is not None and isinstance(given, bh.storage.Int64):
        raise ArgumentError("Int64 holds no weights; the storages Double and Weight do")
    return given
