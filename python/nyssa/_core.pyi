"""The extension module: see the Rust sources in ``python/src``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from typing_extensions import Buffer as _HasBuffer
from typing_extensions import Self

from nyssa._convert import ConvertOptions
from nyssa._merge import MergeOptions
from nyssa._rewrite import RewriteOptions

__version__: str

Tree = tuple[Any, ...]
"""A tree of tuples and buffers; the grammar is in ``python/src/layout.rs``."""

ReadRule = tuple[
    str,
    tuple[int, int, int | None],
    list[str],
    list[tuple[str, Array | None]],
    Callable[[list[Array]], list[Array]],
]
"""A rule; see ``Given`` in ``python/src/rules.rs``."""

@final
class Buffer(_HasBuffer):
    """Read-only bytes that live as long as any view of them."""

    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int: ...
    def __len__(self) -> int: ...

@final
class Array:
    """One column in memory."""

    @staticmethod
    def from_layout(name: str, tree: Tree) -> Array: ...
    @staticmethod
    def from_arrow_array(name: str, schema: object, array: object) -> Array: ...
    @staticmethod
    def from_arrow_stream(name: str, stream: object) -> Array: ...
    @staticmethod
    def of_type(name: str, type_name: str, classes: Mapping[str, Mapping[str, Any]]) -> Array: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    def __len__(self) -> int: ...
    def layout(self, declared: bool = False) -> Tree: ...
    def columns(self) -> list[Array]: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Table:
    """Columns of one length, as an Arrow table of one batch."""

    def __new__(cls, arrays: Sequence[Array], rows: int) -> Self: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Dataset:
    """An open TTree or RNTuple."""

    @property
    def format(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def num_entries(self) -> int: ...
    def items(self, below: bool = False) -> list[tuple[str, str, str | None, str | None]]: ...
    def item(self, name: str) -> tuple[str, str, str | None, str | None] | None: ...
    def fields(self) -> list[tuple[int | None, str, str, int, list[str]]]: ...
    def clusters(self) -> list[tuple[int, int]]: ...
    def partitions(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        *,
        entries: int | None = None,
        memory: int | None = None,
        threads: int | None = None,
    ) -> list[tuple[int, int]]: ...
    def read(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        threads: int | None = None,
        layout: bool | None = None,
    ) -> list[Array]: ...
    def take(
        self,
        names: Sequence[str],
        indices: Sequence[int],
        threads: int | None = None,
        layout: bool | None = None,
    ) -> list[Array]: ...
    def read_sparing(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        threads: int | None = None,
        layout: bool | None = None,
    ) -> tuple[Dataset, list[str], list[Array], list[tuple[str, str]]]: ...
    def take_sparing(
        self,
        names: Sequence[str],
        indices: Sequence[int],
        threads: int | None = None,
        layout: bool | None = None,
    ) -> tuple[Dataset, list[str], list[Array], list[tuple[str, str]]]: ...
    def close(self) -> None: ...
    def attribute_sets(self) -> list[str]: ...
    def attribute_set(self, name: str) -> Dataset: ...
    def stream(
        self, names: Sequence[str], start: int, stop: int, threads: int | None = None
    ) -> object: ...
    def schema(self, names: Sequence[str]) -> object: ...

@final
class Steps:
    """Steps of a dataset or of several files, one read while the caller works on the one before."""

    def __new__(
        cls,
        dataset: Dataset,
        parts: Sequence[tuple[int, int, int, str]],
        names: Sequence[str],
        *,
        skip_unreadable: bool = False,
        entries: int | None = None,
        memory: int | None = None,
        links: Sequence[str | Dataset] | None = None,
        options: dict[str, Any] | None = None,
        threads: int | None = None,
        layout: bool | None = None,
        objects: int = 0,
    ) -> Self: ...
    def next(
        self,
    ) -> tuple[list[Array], str, int, int, int, list[tuple[str, str]]] | None: ...
    def prepare(self) -> None: ...
    def close(self) -> None: ...

@final
class File:
    """An open ROOT file."""

    @property
    def name(self) -> str: ...
    @property
    def not_closed(self) -> str | None: ...
    @property
    def raw(self) -> bool: ...
    def close(self) -> None: ...
    def keys(self) -> tuple[list[tuple[str, int, str, str]], list[str]]: ...
    def dataset(self, path: str | None = None) -> Dataset: ...
    def object(self, path: str) -> Array: ...
    def classes(self) -> dict[str, list[tuple[str, str, bool]]]: ...
    @staticmethod
    def by_heart(class_name: str) -> list[tuple[str, str, bool]]: ...

@final
class Writer:
    """A file being written."""

    def __new__(cls, path: str, options: Mapping[str, Any], force: bool) -> Self: ...
    @staticmethod
    def update(path: str, options: Mapping[str, Any]) -> Writer: ...
    def append(self, name: str) -> tuple[list[tuple[str, tuple[Any, ...] | None, bool]], int]: ...
    def table(
        self,
        name: str,
        columns: Sequence[Array],
        description: str,
        projections: Sequence[tuple[str, str]],
        classes: Mapping[str, Mapping[str, Any]],
        by_field: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    ) -> list[tuple[str, tuple[Any, ...] | None, bool]]: ...
    def rows(self, name: str, columns: Sequence[Array]) -> list[Array]: ...
    def extend(self, name: str, columns: Sequence[Array]) -> None: ...
    def fill_context(self, name: str) -> FillContext: ...
    def add_fields(
        self, name: str, columns: Sequence[Array]
    ) -> list[tuple[str, tuple[Any, ...] | None, bool]]: ...
    def attribute_set(self, name: str, set: str, columns: Sequence[Array]) -> None: ...
    def extend_attributes(
        self,
        name: str,
        set: str,
        ranges: tuple[Sequence[int], Sequence[int]],
        columns: Sequence[Array],
    ) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...

@final
class FillContext:
    """Takes the entries of one thread."""

    def extend(self, columns: Sequence[Array]) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def discard(self) -> int: ...
    def abandon(self) -> None: ...

def chain(
    links: Sequence[str | Dataset], options: Mapping[str, Any], threads: int | None = None
) -> tuple[Dataset, list[tuple[str, int, int]]]: ...
def join(
    left: Dataset,
    rights: Sequence[tuple[Dataset, str]],
    on: Sequence[str],
    threads: int | None = None,
) -> Dataset: ...
def relations(
    tree: Dataset,
) -> tuple[list[tuple[str, str]], list[tuple[str, str, str | None]]]: ...
def with_friends(tree: Dataset, threads: int | None = None) -> Dataset: ...
def with_rules(dataset: Dataset, rules: Sequence[ReadRule]) -> Dataset: ...
def open(path: str, raw: bool = False) -> File: ...
def did_you_mean(name: str, known: Sequence[str]) -> tuple[list[str], str]: ...
def split_path(path: str) -> tuple[str, str | None]: ...
def convert(
    input: str,
    output: str,
    options: ConvertOptions,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> str: ...
def rewrite(
    input: str,
    output: str,
    options: RewriteOptions,
    own: object,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> str: ...
def digest(
    dataset: Dataset,
    names: Sequence[str] | None,
    entries: tuple[int, int] | None = None,
    compare: str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str: ...
def verify(
    path: str,
    object: str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str: ...
def diff(
    a: Dataset,
    b: Dataset,
    named: Sequence[str] | None = None,
    only_common: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str: ...
def inspect(path: str, object: str | None = None) -> str: ...
def column_precision(column: str, double: bool) -> tuple[float, float, float, float]: ...
def estimate_write_memory(columns: Sequence[Array], options: Mapping[str, Any]) -> str: ...
def merge(
    inputs: Sequence[str],
    output: str,
    options: MergeOptions,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> str: ...
def run_cli(args: Sequence[str]) -> int: ...
