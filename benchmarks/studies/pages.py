"""Says what the studies are: what was asked, the commands, and what their tables say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from filling import Case
from rows import Rows, beside_root, span

#: The columns of an analysis of data like an AOD: jets and vertices.
AOD = ["--columns", "jets,vertices"]
#: Those of the analysis of eight containers (`benchmarks/atlas_data.cxx`).
PHYS = ["--columns", "*_pt,*_eta,*_phi,*_m"]
LINK = ["--link-latency", "20ms"]
ROOT = ["--beside", "root"]
MB = 1_000_000


@dataclass
class Part:
    """One table of a page."""

    title: str
    says: Callable[[Rows], list[str]]
    command: list[str] = field(default_factory=list)
    """The words after ``nyssa study``."""
    cases: list[Case] = field(default_factory=list)
    """What filling.py writes, if this is no study of a file."""


@dataclass
class Page:
    """One study of the field."""

    name: str
    title: str
    asked: str
    """What the published study asked and found."""
    parts: list[Part]


def _compression(rows: Rows) -> list[str]:
    one = {"writer": "nyssa", "threads": 1}
    lz4, lzma = {"compression": "lz4:4"}, {"compression": "lzma:4"}
    size = rows.ratios("bytes", {**one, **lzma}, lz4)
    read = rows.ratios("read_seconds", {**one, **lzma}, lz4)
    write = rows.ratios("write_cpu_seconds", {**one, **lzma}, lz4)
    return [
        f"Written by nyssa with one thread, lzma:4 has {span(size)} of the size of lz4:4, takes "
        f"{span(write)} times its CPU time to write, and {span(read)} times its time to read.",
        beside_root(rows),
    ]


def _baskets(rows: Rows) -> list[str]:
    large, small = {"basket_size": "256kB", "writer": "nyssa"}, {"basket_size": "16kB"}
    return [
        "Baskets of 256 kB, divided by baskets of 16 kB (nyssa): size "
        f"{span(rows.ratios('bytes', large, small))}, time of the columns over the link "
        f"{span(rows.ratios('link_seconds', large, small))}, memory "
        f"{span(rows.ratios('write_memory_above', large, small))}.",
        beside_root(rows),
    ]


def _formats(rows: Rows) -> list[str]:
    one: dict[str, Any] = {"writer": "nyssa", "threads": 1}
    read = {name: rows.of("read_seconds", compression=name, **one) for name in _PHYS_CODECS}
    sizes = {name: rows.of("bytes", compression=name, **one) for name in _PHYS_CODECS}
    link = {name: rows.of("link_seconds", compression=name, **one) for name in _PHYS_CODECS}
    return [
        f"Written by nyssa, the smallest file is that of {min(sizes, key=sizes.__getitem__)}; "
        f"{min(read, key=read.__getitem__)} is read fastest from the cache of the system, and "
        f"{min(link, key=link.__getitem__)} over the link. lzma:7 takes "
        f"{read['lzma:7'] / read['lz4:4']:.1f} times the time of lz4:4 to read, and has "
        f"{sizes['lzma:7'] / sizes['lz4:4']:.2f} of its size.",
        beside_root(rows),
    ]


_PHYS_CODECS = ("lz4:4", "zstd:5", "lzma:7", "none")


def _buffers(rows: Rows) -> list[str]:
    two, one = {"threads": 2}, {"threads": 1}

    def scaling(writer: str) -> str:
        found = rows.ratios("write_seconds", {**one, "writer": writer}, two)
        return span(found)

    small, large = {"flush": "1 MB", "threads": 2}, {"flush": "16 MB"}
    memory = {
        name: span(
            rows.ratios("write_memory_above", {**small, "basket": "64 kB", "writer": name}, large)
        )
        for name in ("nyssa", "ROOT")
    }
    return [
        f"Two buffers are {scaling('nyssa')} times as fast as one with nyssa, and "
        f"{scaling('ROOT')} times with ROOT.",
        "Memory with flushes of 1 MB, divided by that with 16 MB (two buffers, baskets of 64 kB): "
        f"{memory['nyssa']} with nyssa, {memory['ROOT']} with ROOT.",
        beside_root(rows),
    ]


def _clusters(rows: Rows) -> list[str]:
    small, large = {"cluster_size": "5MB", "writer": "nyssa"}, {"cluster_size": "100MB"}
    page, pages = {"page_size": "16KiB", "writer": "nyssa"}, {"page_size": "1MiB"}
    return [
        "Clusters of 5 MB, divided by those of 100 MB (nyssa): size "
        f"{span(rows.ratios('bytes', small, large))}, memory "
        f"{span(rows.ratios('write_memory_above', small, large))}, time of the columns over the "
        f"link {span(rows.ratios('link_seconds', small, large))}. Pages of 16 KiB, divided by "
        f"pages of 1 MiB: size {span(rows.ratios('bytes', page, pages))}, time to read "
        f"{span(rows.ratios('read_seconds', page, pages))}.",
        beside_root(rows),
        "nyssa chose its encodings itself, which is its default.",
    ]


def _streamer(rows: Rows) -> list[str]:
    columns = {"streamer": None}

    def ratio(quantity: str, writer: str = "nyssa") -> str:
        return span(rows.ratios(quantity, {"streamer": "all", "writer": writer}, columns))

    return [
        "Everything streamed, divided by columns of the members: size "
        f"{ratio('bytes')} with nyssa, {ratio('bytes', 'ROOT')} with ROOT, time to write "
        f"{ratio('write_seconds')} with nyssa, "
        f"{ratio('write_seconds', 'ROOT')} with ROOT, to read everything {ratio('read_seconds')}, "
        f"to read the columns of the analysis {ratio('columns_seconds')} (files of nyssa).",
        beside_root(rows),
    ]


def _storage(rows: Rows) -> list[str]:
    columns = {"storage": "columns"}

    def ratio(storage: str, writer: str, quantity: str) -> str:
        wanted = {"storage": storage, "writer": writer, "threads": 1}
        return span(rows.ratios(quantity, wanted, columns))

    return [
        f"Unsplit encodings, divided by split ones: size {ratio('unsplit', 'nyssa', 'bytes')} with "
        f"nyssa, {ratio('unsplit', 'ROOT', 'bytes')} with ROOT. Streamer fields of ROOT, divided "
        f"by its columns: size {ratio('streamer', 'ROOT', 'bytes')}, time to write "
        f"{ratio('streamer', 'ROOT', 'write_seconds')}.",
        "Not buffered, divided by buffered: memory "
        f"{ratio('columns, not buffered', 'nyssa', 'write_memory_above')} with nyssa, "
        f"{ratio('columns, not buffered', 'ROOT', 'write_memory_above')} with ROOT.",
    ]


def _buffer_cases() -> list[Case]:
    chosen = [(flush * MB, 64_000) for flush in (1, 4, 16)]
    chosen += [(4 * MB, basket) for basket in (16_000, 256_000)]
    return [
        Case(writer, "TTree", threads, 505, flush, basket)
        for flush, basket in chosen
        for threads in (1, 2)
        for writer in ("nyssa", "ROOT")
    ]


def _storage_cases() -> list[Case]:
    def case(writer: str, threads: int = 1, **given: Any) -> Case:
        return Case(writer, "RNTuple", threads, 505, 10 * MB, **given)

    both = ("nyssa", "ROOT")
    return [
        *(case(writer, threads) for threads in (1, 2) for writer in both),
        *(case(writer, storage="unsplit") for writer in both),
        *(case(writer, buffered=False) for writer in both),
        case("ROOT", storage="streamer"),
    ]


PAGES = [
    Page(
        "2015-ttree",
        "Baskets, AutoFlush and compression of a TTree",
        "The field's study of 2015 varied the size of baskets, AutoFlush, and the algorithm and "
        "level of the compression of TTrees of classes. Its text was not at hand, so this page "
        "does not say what it found. A study of CHEP 2016, *Exploring compression techniques for "
        "ROOT IO*, says that a high level of DEFLATE makes files smaller and costs CPU time when "
        "they are read, and compares other algorithms.",
        [
            Part(
                "Algorithm and level",
                _compression,
                ["aod.root:Events", "--to", "ttree", "--vary",
                 "compression=zlib:6,lzma:4,lz4:4,zstd:5", "--threads", "1,2", *AOD, *LINK,
                 *ROOT],
            ),
            Part(
                "Baskets and AutoFlush",
                _baskets,
                ["aod.root:Events", "--to", "ttree", "--vary", "basket-size=16kB,64kB,256kB",
                 "--vary", "auto-flush=2MB,10MB", "--vary", "compression=zstd:5", *AOD, *LINK,
                 *ROOT],
            ),
        ],
    ),
    Page(
        "2017-buffers",
        "Buffers of several threads in one TTree",
        "ROOT's `TBufferMerger` lets several threads fill a TTree each, whose buffers it merges "
        "into one file. *Increasing Parallelism in the ROOT I/O Subsystem* (2017) and *Writing "
        "ROOT Data in Parallel with TBufferMerger* (CHEP 2018) describe it, and measure how "
        "writing scales with the threads, against writing by one. `nyssa study` has a job that "
        "reads a file, and no fill contexts, so `benchmarks/studies/filling.py` writes these "
        "files: from objects of the classes in memory, with a thread for each buffer. A buffer is "
        "merged, and a cluster ends, when it has so many compressed bytes.",
        [Part("Buffers, flushes and baskets", _buffers, cases=_buffer_cases())],
    ),
    Page(
        "2023-compression",
        "Compression of data like PHYS",
        "*Optimizing ATLAS data storage: the impact of compression algorithms on ATLAS physics "
        "analysis data formats* (CHEP 2023, EPJ Web of Conferences 295, 03027) varied lzma, lz4, "
        "zlib and zstd, and AutoFlush, of DAOD_PHYS and DAOD_PHYSLITE: file size, time to "
        "compress, compression factor, and speed of reading all or a part. Its abstract says that "
        "lz4 was read fastest.",
        [
            Part(
                "TTree",
                _formats,
                ["phys.root:CollectionTree", "--to", "ttree", "--vary",
                 f"compression={','.join(_PHYS_CODECS)}", "--threads", "1,2", *PHYS, *LINK,
                 *ROOT],
            ),
            Part(
                "RNTuple",
                _formats,
                ["phys.root:CollectionTree", "--vary", f"compression={','.join(_PHYS_CODECS)}",
                 "--threads", "1,2", *PHYS, *LINK, *ROOT],
            ),
        ],
    ),
    Page(
        "2024-rntuple",
        "RNTuples of classes: streamer fields, encodings, clusters, pages",
        "*RNTuple: A CMS Perspective* (CHEP 2024) compares RNTuple with TTree for the classes of "
        "CMS. *CMS Storage Performance with RNTuple* (CHEP 2026) announces file size, memory, "
        "rates of reading and writing for AOD and MiniAOD, and reads over networks, from recorded "
        "reads with an added latency. The texts that were at hand are abstracts without numbers.",
        [
            Part(
                "Clusters and pages",
                _clusters,
                ["aod.root:Events", "--vary", "cluster-size=5MB,100MB", "--vary",
                 "page-size=16KiB,1MiB", *AOD, *LINK, *ROOT],
            ),
            Part(
                "Streamer fields",
                _streamer,
                ["aod.root:Events", "--vary", "streamer=unset,all", "--vary", "encoding=default",
                 "--threads", "1,2", *AOD, *LINK, *ROOT],
            ),
            Part(
                "From objects in memory",
                _storage,
                cases=_storage_cases(),
            ),
        ],
    ),
]  # fmt: skip
