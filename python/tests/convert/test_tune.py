"""Tests `nyssa.tune`: what it expects is what conversions take, and ROOT reads what they write."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import reports
from support.root import Root

COUNT = 20_000


def data(seed: int) -> dict[str, np.ndarray]:
    """Return values for which encodings, codecs and baskets differ."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(0, 1, COUNT),
        "floats": rng.normal(0, 1, COUNT).astype(np.float32).astype(np.float64),
        "tenths": rng.integers(0, 800, COUNT) / 10,
        "flag": np.repeat(rng.integers(0, 1 << 30, COUNT // 10), 10).astype(np.int32),
        "n": rng.integers(0, 20, COUNT).astype(np.int32),
    }


def write_tree(path: Path, values: dict[str, np.ndarray], step: int = COUNT) -> Path:
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {name: one.dtype for name, one in values.items()})
        for start in range(0, COUNT, step):
            tree.extend({name: one[start : start + step] for name, one in values.items()})
        file["h"] = np.histogram([1, 2, 3])
    return path


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("tune") / "tree.root", data(1), 1000)


@pytest.fixture(scope="module")
def tuned(tree: Path) -> reports.TuneReport:
    return nyssa.tune(tree, objective="size", compression=["zstd", "zstd:9", "lz4:1"], budget=120)


def command(*args: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    full = [sys.executable, "-m", "nyssa", *map(str, args)]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    return ran


def test_the_best_of_all_that_are_possible(
    tree: Path, tuned: reports.TuneReport, tmp_path: Path, root: Root
) -> None:
    """All entries were tried, so that the expected bytes are the bytes of the real file."""
    sizes = {}
    for compression in ("zstd", "zstd:9", "lz4:1"):
        for encoding in ("default", "auto"):
            output = tmp_path / f"{compression}-{encoding}.root"
            options: dict[str, Any] = {"compression": compression, "encoding": encoding}
            nyssa.convert(tree, output, carry=False, reproducible=True, **options)
            sizes[compression, encoding] = output.stat().st_size
    least = min(sizes.values())
    assert tuned.expected.bytes <= least * 1.004
    assert tuned.recommended.encoding == "auto"
    assert tuned.expected.bytes_error == 0
    default = sizes["zstd", "auto"]
    assert tuned.expected_by_default.bytes == pytest.approx(default, rel=1e-3)
    profile, output = tmp_path / "options.toml", tmp_path / "out.root"
    tuned.write(profile)
    with pytest.raises(nyssa.errors.OutputExistsError, match=r"options\.toml exists already"):
        tuned.write(profile)
    report = nyssa.convert(tree, output, profile=str(profile), carry=False, verify=True)
    assert output.stat().st_size == pytest.approx(tuned.expected.bytes, rel=1e-3)
    assert {column["reason"] for column in report["columns"]} >= {"the profile"}
    values = data(1)
    read = root.call("numpy", str(output), "Events", list(values))
    for name, one in values.items():
        np.testing.assert_array_equal(read[name], one)


def test_the_profile_is_for_siblings(tuned: reports.TuneReport, tmp_path: Path) -> None:
    profile = tmp_path / "options.toml"
    tuned.write(profile)
    sibling = write_tree(tmp_path / "sibling.root", data(2), 1000)
    by = nyssa.convert(sibling, tmp_path / "by.root", profile=str(profile))
    own = nyssa.convert(sibling, tmp_path / "own.root", **tuned.options())
    assert by["compressed_bytes"] == pytest.approx(own["compressed_bytes"], rel=0.005)


def test_the_report_is_for_people_and_programs(tuned: reports.TuneReport, tree: Path) -> None:
    assert tuned.format == "TTree"
    assert tuned.entries == COUNT
    [recommended] = [one for one in tuned.trials if one.recommended]
    assert recommended.encoding == tuned.recommended.encoding
    assert min(one.bytes for one in tuned.trials if one.pareto) == min(
        one.bytes for one in tuned.trials
    )
    options = [field.name for field in dataclasses.fields(reports.TunedSettings)]
    assert [one.option for one in tuned.reasons] == options
    assert all(one.reason for one in tuned.reasons)
    assert "recommended" in str(tuned)
    tuned.to_html(tree.parent / "page.html")
    assert tuned._repr_html_() in (tree.parent / "page.html").read_text()
    assert tuned.to_dict()["recommended"] == {**tuned.options(), "streamer": None}
    given = ("--compression", "zstd", "--budget", "30s")
    found = json.loads(command("tune", tree, "--json", *given).stdout)
    assert found.pop("version") == 1
    assert found.keys() == tuned.to_dict().keys()
    text = command("tune", tree, *given, "--all").stdout
    assert re.search(r"^recommended \(\*\):\n  compression zstd:5: ", text, flags=re.MULTILINE)


def test_trials_are_drawn(tuned: reports.TuneReport, tree: Path, tmp_path: Path) -> None:
    plot, page = tmp_path / "plot.png", tmp_path / "page.html"
    tuned.plot(plot)
    assert plot.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(nyssa.ArgumentError, match="Format 'txt' is not supported"):
        tuned.plot(tmp_path / "plot.txt")
    given = ("--compression", "zstd,lz4:1", "--budget", "30s", "--json", "--html", page)
    found = json.loads(command("tune", tree, *given).stdout)
    trials, curves = found["trials"], found["curves"]
    text = page.read_text()
    # Each trial is a point of three plots and a row of the table. Each value of an option is a
    # point of four plots; one with a single value is not drawn.
    drawn = [one["points"] for one in curves if len(one["points"]) > 1]
    assert text.count("<circle ") == 3 * len(trials) + 4 * sum(map(len, drawn))
    assert text.count('class="best"') == 3 + 4 * len(drawn)
    assert text.count("<td>lz4:1</td>") == sum(one["compression"] == "lz4:1" for one in trials)
    assert "<script" not in text


def test_curves(tuned: reports.TuneReport) -> None:
    """One value of each curve is recommended, and that of an option is the recommended one."""
    clusters, pages, threads = tuned.curves
    assert [one.option for one in tuned.curves] == ["cluster_size", "page_size", "threads"]
    assert [one.value >> 20 for one in clusters.points] == [4, 16, 64, 128, 256]
    assert [one.value >> 10 for one in pages.points] == [64, 256, 1024, 4096]
    assert [one.value for one in threads.points] == [1, 2, 4][: len(threads.points)]
    for curve in tuned.curves:
        [best] = [one.value for one in curve.points if one.recommended]
        assert best == getattr(tuned.recommended, curve.option, best)
    # All data are in one cluster. More pages take more bytes.
    assert len({one.bytes for one in clusters.points}) == 1
    assert pages.points[0].bytes > pages.points[2].bytes
    # The process has its own memory.
    least = 10e6 + sum(one.nbytes for one in data(1).values()) / 5
    memory = [one.memory for one in threads.points]
    assert least < memory[0]
    # It is measured, and the allocator does not keep the same each time.
    assert all(0.8 * memory[0] < one < 2 * memory[0] for one in memory)


def test_streamer_fields_are_tried(nano: Path, tmp_path: Path) -> None:
    """The tree has vectors, of which the importer makes columns or streamer fields."""
    path = nano.with_name("uproot-HZZ-objects.root")
    found = nyssa.tune(f"{path}:events", objective="size", compression="zstd", budget=60)
    assert {one.streamer for one in found.trials} == {None, "auto"}
    [reason] = [one for one in found.reasons if one.option == "streamer"]
    assert reason.reason.startswith("compared with ")
    # What the profile states is what convert does, unless other words are given.
    profile = tmp_path / "options.toml"
    profile.write_text('format = 1\ncompression = "zstd:5"\n[options]\nstreamer = ["all"]\n')
    given: dict[str, Any] = {"carry": False, "skip_unsupported": True, "force": True}
    output = tmp_path / "out.root"
    by_profile = nyssa.convert(f"{path}:events", output, profile=str(profile), **given)
    by_option = nyssa.convert(f"{path}:events", output, streamer="all", **given)
    streamed = [one["branch"] for one in by_option["streamer_fields"] if one["streamer"]]
    assert len(streamed) > 5
    assert [one["branch"] for one in by_profile["streamer_fields"] if one["streamer"]] == streamed
    one_only = nyssa.convert(
        f"{path}:events", output, profile=str(profile), streamer=streamed[:1], **given
    )
    assert [one["branch"] for one in one_only["streamer_fields"] if one["streamer"]] == streamed[:1]
    profile.write_text(profile.read_text().replace('"all"', '"all", "x"'))
    with pytest.raises(nyssa.ArgumentError, match="streamer takes either all, or auto, or pattern"):
        nyssa.convert(f"{path}:events", output, profile=str(profile), **given)


def test_baskets_of_a_tree(tuned: reports.TuneReport) -> None:
    """Files of uproot have no clusters, and here 20 baskets for each branch."""
    found = tuned.baskets
    assert found is not None
    assert (found.baskets, found.clusters, found.cluster_entries) == (100, 1, COUNT)
    assert (found.per_cluster, found.sampled) == (20.0, 80)
    assert [one.factor for one in found.larger] == [4, 16]
    # A larger basket needs no other AutoFlush while several are in a cluster.
    assert (found.ended_by, found.larger[0].auto_flush) == ("basket size", COUNT)
    assert found.larger[1].memory == 4 * found.larger[0].memory == 16 * found.memory
    assert all(one.read_share > 0 for one in found.larger)
    # Keys are fewer, and repeated values are found.
    assert 1 > found.larger[0].share > found.larger[1].share > 0.5


def test_baskets_that_cannot_be_tried(tmp_path: Path) -> None:
    """Four baskets of a branch can become one, but no basket that is 16 times as large."""
    few = write_tree(tmp_path / "few.root", data(1), COUNT // 4)
    found = nyssa.tune(few, compression="zstd", budget=20).baskets
    assert found is not None
    assert (found.baskets, found.sampled) == (20, 20)
    assert [one.factor for one in found.larger] == [4]


def test_objectives(tree: Path, tmp_path: Path, root: Root) -> None:
    """An RNTuple: the cheapest writer and the least memory; a slow link prefers fewer bytes."""
    ntuple = tmp_path / "ntuple.root"
    nyssa.convert(tree, ntuple)
    memory = nyssa.tune(f"{ntuple}:Events", objective="memory", compression="zstd", budget=60)
    assert memory.format == "RNTuple"
    assert memory.baskets is None
    assert memory.recommended.cluster_size == 4 << 20
    assert memory.expected.writer_memory < memory.expected_by_default.writer_memory
    far = nyssa.tune(
        ntuple,
        objective="read",
        compression=["zstd", "lz4:1"],
        columns=["x", "f*"],
        link_latency=0.05,
        link_bandwidth="1 kB",
    )
    # Four requests take 0.2 s, and the link takes some 100 s for the bytes.
    assert far.expected.read_seconds > 10
    assert far.recommended.compression.startswith("zstd")
    profile, output = tmp_path / "options.toml", tmp_path / "out.root"
    memory.write(profile)
    nyssa.rewrite(ntuple, output, profile=str(profile), verify=True)
    values = data(1)
    read = root.call("numpy", str(output), "Events", list(values))
    for name, one in values.items():
        np.testing.assert_array_equal(read[name], one)


def test_writers_take_the_options(tmp_path: Path) -> None:
    profile, path = tmp_path / "options.toml", tmp_path / "out.root"
    profile.write_text(
        'format = 1\ncompression = "lz4:4"\n[options]\neffort = "full"\npage_size = 4096\n'
    )
    values = {"x": np.zeros(100_000)}
    with nyssa.recreate(path, profile=str(profile)) as file:
        file["Events"] = values
    found = nyssa.inspect(path)
    assert found.compressions[0].name == "lz4"
    assert found.fields[0].pages == 100_000 * 8 // 4096 + 1
    np.testing.assert_array_equal(nyssa.open(path)["Events"]["x"].array(library="np"), values["x"])
    with nyssa.recreate(path, profile=str(profile), compression="zlib:1") as file:
        file["Events"] = values
    assert nyssa.inspect(path).compressions[0].name == "zlib"
    with pytest.raises(nyssa.NotFoundError, match=r"there is no profile .*none\.toml"):
        nyssa.recreate(path, profile=str(tmp_path / "none.toml"))


def test_jobs_take_the_options(tree: Path, tmp_path: Path) -> None:
    """`convert`, `rewrite`, and a campaign of one worker write by the same file."""
    profile, folder = tmp_path / "options.toml", tmp_path / "campaign"
    profile.write_text(
        'format = 1\ncompression = "lz4:4"\n[options]\neffort = "full"\nencoding = "default"\n'
        "page_size = 8192\n"
    )
    converted, rewritten = tmp_path / "converted.root", tmp_path / "rewritten.root"
    command("convert", tree, converted, "--profile", profile)
    nyssa.convert(tree, tmp_path / "default.root")
    command("rewrite", tmp_path / "default.root", rewritten, "--profile", profile)
    outputs = [converted, rewritten]
    if importlib.util.find_spec("distributed") is not None:
        given = ("--profile", profile, "--workers", 1, "-q")
        command("campaign", "convert", tree, "--output", folder, *given)
        outputs += folder.glob("*.root")
        assert len(outputs) == 3
    for output in outputs:
        found = nyssa.inspect(f"{output}:Events")
        assert found.settings[0].name == "lz4:4"
        # 20,000 doubles take 160,000 bytes, in pages of at most 8192.
        assert found.fields[0].pages == 20


def test_what_is_given_counts_more_than_the_file(tree: Path, tmp_path: Path) -> None:
    profile, output = tmp_path / "options.toml", tmp_path / "out.root"
    text = 'format = 1\ncompression = "lz4:4"\n[options]\neffort = "full"\nencoding = "default"\n'
    profile.write_text(text)
    command("convert", tree, output, "--profile", profile)
    assert nyssa.inspect(f"{output}:Events").settings[0].name == "lz4:4"
    command("convert", tree, output, "--profile", profile, "--compression", "zlib:6", "-f")
    assert nyssa.inspect(f"{output}:Events").settings[0].name == "zlib:6"
    # Nothing was chosen by samples, so nothing was added.
    assert profile.read_text() == text


def test_wrong_files_and_options(tree: Path, tmp_path: Path) -> None:
    profile, output = tmp_path / "options.toml", tmp_path / "out.root"
    head = 'format = 1\ncompression = "zstd:5"\n'
    for text, message in (
        (
            head + "[options]\nclustersize = 1\n",
            "unknown field `clustersize`, expected one of `effort`, `encoding`, `cluster_size`, "
            "`page_size`, `streamer`",
        ),
        (head + "[option]\n", "unknown field `option`, expected one of"),
        (head + '[options]\neffort = "much"\n', 'effort "much" is not known: use auto or full'),
        (head + '[options]\nencoding = "best"\n', 'encoding "best" is not known'),
        (head + '[options]\ncluster_size = "1 MB"\n', 'invalid type: string "1 MB", expected u64'),
        (head.replace("zstd:5", "gzip"), 'compression "gzip" is not known'),
        (head.replace("1", "3"), "its format is 3, not 1"),
    ):
        profile.write_text(text)
        error = re.escape(f"the profile {profile}: {message}")
        with pytest.raises(nyssa.ArgumentError, match=error):
            nyssa.convert(tree, output, profile=str(profile))
    profile.write_text(head + "[options]\ncluster_size = 1\n")
    with pytest.raises(nyssa.ArgumentError, match="1 bytes is too small: at least 256"):
        nyssa.convert(tree, output, profile=str(profile))
    assert not output.exists()
    with pytest.raises(nyssa.ArgumentError, match='objective "speed" is not known: use size, read'):
        nyssa.tune(tree, objective="speed")  # type: ignore[arg-type]
    with pytest.raises(nyssa.ArgumentError, match="the budget is more than 0"):
        nyssa.tune(tree, budget=0)
    with pytest.raises(nyssa.NotFoundError, match='no branch matches "flags"'):
        nyssa.tune(tree, columns="flags")
    with uproot.recreate(tmp_path / "empty.root") as file:
        file.mktree("Events", {"x": "float64"})
    with pytest.raises(nyssa.ArgumentError, match="there are no entries"):
        nyssa.tune(tmp_path / "empty.root")
    page = tmp_path / "none" / "page.html"
    ran = command("tune", tree, "--budget", "1d", "--html", page, code=2)
    assert "not a time of a search" in ran.stderr
    ran = command("tune", tree, "--budget", 86400, "--html", page, code=3)
    assert "there is no folder" in ran.stderr
    profile.write_text("")
    ran = command("tune", tree, "--output", profile, code=2)
    assert "options.toml" in ran.stderr
