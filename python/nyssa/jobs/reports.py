"""Defines the reports of conversions, rewrites and merges, as ``--json`` prints them.

Sizes are in bytes, times in seconds.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from typing_extensions import NotRequired, TypedDict

from nyssa.jobs.shown import table_of_files
from nyssa.show.table import Parts, Table

__all__ = [
    "BadInput",
    "ColumnReport",
    "ConvertReport",
    "ConvertedBranch",
    "ConvertedFile",
    "ConvertedFiles",
    "ConvertedTotal",
    "MergeReport",
    "MergedInput",
    "MergedNTuple",
    "MergedTree",
    "ProcessUsage",
    "RenamedBranch",
    "RewriteReport",
    "RewrittenField",
    "SkippedBranch",
    "StreamerFieldReport",
    "Trial",
]


class Trial(TypedDict):
    """The size of a sample of a column that is stored in one way."""

    form: str
    effort: str
    bytes: int


class ColumnReport(TypedDict):
    """How one column of the output is stored, and why."""

    id: int
    field: str
    column_type: str
    bits: int
    codec: str
    effort: str
    reason: str
    tried: NotRequired[list[Trial]]
    uncompressed_bytes: int
    compressed_bytes: int


class ConvertedBranch(TypedDict):
    """A branch and the field that it became."""

    branch: str
    field: str
    type_name: str
    input_bytes: int
    output_bytes: int
    digest: str | None


# A branch of a class that became a streamer field, or could have. `class` is a keyword of Python.
StreamerFieldReport = TypedDict(
    "StreamerFieldReport",
    {
        "branch": str,
        "class": str,
        "streamer": bool,
        "reason": str,
        "columns_bytes": NotRequired[int],
        "streamer_bytes": NotRequired[int],
    },
)


class RenamedBranch(TypedDict):
    """A branch whose field has another name."""

    branch: str
    field: str


class SkippedBranch(TypedDict):
    """A branch that was left out, and why; or the path of a field, if an RNTuple was converted."""

    branch: str
    reason: str
    unreadable: bool


class ProcessUsage(TypedDict):
    """What the process used while a job wrote its output, without the verification.

    The CPU efficiency is the CPU time as a part of the wall-clock time of all worker threads. Rates
    are in megabytes (10⁶ bytes) per second.
    """

    seconds: float
    cpu_seconds: NotRequired[float]
    cpu_efficiency: NotRequired[float]
    read_bytes: int
    read_megabytes_per_second: float
    write_megabytes_per_second: float


class _Written(TypedDict):
    """The items that the reports of all jobs have."""

    output: str
    ntuple: str
    entries: int
    clusters: int
    output_bytes: int
    seconds: float
    megabytes_per_second: float
    peak_memory_bytes: NotRequired[int]
    memory_bytes: int
    needed_memory_bytes: int
    process: ProcessUsage
    verified: bool
    notes: list[str]


class _Reencoded(_Written):
    """The items of the reports of jobs that encode the data of one input file again."""

    input: str
    input_bytes: int
    uncompressed_bytes: int
    compressed_bytes: int
    threads: int
    verify_seconds: NotRequired[float]
    columns: list[ColumnReport]
    carried: list[str]
    left_out: list[str]


class ConvertReport(_Reencoded):
    """The report of `nyssa.convert`.

    `tree` and the branches belong to the TTree, and `ntuple` and the fields to the
    RNTuple, in both directions.
    """

    to: Literal["rntuple", "ttree"]
    tree: str
    first_entry: int
    digest_hash: str
    fields: list[ConvertedBranch]
    streamer_fields: list[StreamerFieldReport]
    renamed: list[RenamedBranch]
    skipped: list[SkippedBranch]


class RewrittenField(TypedDict):
    """One top-level field of the output of `nyssa.rewrite`."""

    name: str
    type_name: str
    projected: bool
    input_bytes: int
    output_bytes: int


class RewriteReport(_Reencoded):
    """The report of `nyssa.rewrite` on one RNTuple or TTree."""

    format: str
    source: str
    input_entries: int
    fields: list[RewrittenField]
    dropped: list[str]


class MergedInput(TypedDict):
    """One input of `nyssa.merge`."""

    file: str
    ntuple: str
    entries: int
    clusters: int


class MergedNTuple(TypedDict):
    """One RNTuple of the output of `nyssa.merge`."""

    ntuple: str
    inputs: int
    entries: int
    clusters: int
    fields: int
    pages: int
    shared_pages: int
    page_bytes: int


class MergedTree(TypedDict):
    """One TTree of the output of `nyssa.merge`, whose baskets were copied."""

    tree: str
    inputs: int
    entries: int
    clusters: int
    branches: int
    baskets: int
    basket_bytes: int


class BadInput(TypedDict):
    """An input of `nyssa.merge` that is missing or damaged."""

    file: str
    error: str


class MergeReport(_Written):
    """The report of `nyssa.merge`.

    `ntuple`, `entries` and `clusters` describe the only RNTuple, or of the only TTree if there
    is no RNTuple. If there are several, `ntuple` is empty, and the numbers are their sums.
    """

    inputs: list[MergedInput]
    ntuples: list[MergedNTuple]
    trees: list[MergedTree]
    mode: str
    fields: int
    pages: int
    shared_pages: int
    page_bytes: int
    left_out: list[str]
    """The other objects of the inputs that are not in the output, and why."""
    bad: list[BadInput]
    """The inputs that are missing or damaged and were left out."""
    reclustered: bool
    checksums_verified: bool


class ConvertedFile(TypedDict):
    """What became of one of many files. The journal ``nyssa-campaign.jsonl`` has this, too."""

    input: str
    input_bytes: int
    input_version: str | None
    """What tells this version of the input from others.

    It is what its server says, or its UUID and the time of its last change.
    """
    output: str
    output_bytes: int
    entries: int
    state: str
    """``"done"`` (converted now), ``"found"`` (was there already) or ``"failed"``."""
    error: str | None
    seconds: float
    job: str
    """The job, with the options that are not the defaults."""
    skipped: list[list[str]]
    """The branches that were left out, each with the reason."""
    bad: list[str]
    """What of the input is missing or damaged and was left out, with the reasons."""
    left_out: list[str]
    """The other objects of the input that are not in the output, with the reasons."""
    notes: list[str]
    """What was left out or changed, and why."""


class ConvertedTotal(TypedDict):
    """The sums over many files. Entries, bytes and seconds count the files converted now."""

    converted: int
    found: int
    """The files whose outputs were there already."""
    failed: int
    entries: int
    input_bytes: int
    output_bytes: int
    ratio: float | None
    """How many times smaller the outputs are."""
    seconds: float
    megabytes_per_second: float


class ConvertedFiles(Parts, list[ConvertedFile]):
    """What became of each of many files, and the sums over them (`total`)."""

    total: ConvertedTotal

    def __init__(self, files: Iterable[ConvertedFile], total: ConvertedTotal) -> None:
        super().__init__(files)
        self.total = total

    def _parts(self) -> Iterator[str | Table]:
        return table_of_files(self, self.total)
