"""What users of `hadd` expect of a merge: bad inputs, appending, compression, several outputs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root


def write(path: Path, number: int) -> str:
    """Write a file with an RNTuple, a TTree and a histogram."""
    with nyssa.recreate(path, compression="none") as file:
        file["Events"] = {
            "x": np.arange(20000) + number,
            "n": [[1.5] * (i % 3) for i in range(20000)],
            "lumi": np.full(20000, number),
            "byte": np.arange(20000).astype("u1"),
        }
        file.mktree("Muons", {"pt": np.arange(5000.0) + number, "q": np.ones(5000, "i4")})
        file["h"] = np.histogram([0.5 + number], bins=4, range=(0, 4))
    return str(path)


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Return four files."""
    return [write(tmp_path / f"in{number}.root", number) for number in range(4)]


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `nyssa merge` and return exit code, output and errors."""
    line = [sys.executable, "-m", "nyssa", "merge", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def damage(path: str) -> None:
    """Change a byte of a page, which has a checksum."""
    content = bytearray(Path(path).read_bytes())
    content[content.index(bytes(range(100, 200)))] ^= 1
    Path(path).write_bytes(content)


def test_bad_inputs_are_left_out_by_name(paths: list[str], tmp_path: Path, root: Root) -> None:
    """As ``hadd -k``: missing files, files that are no ROOT files, and damaged pages."""
    merged = str(tmp_path / "merged.root")
    Path(paths[1]).write_bytes(b"not a ROOT file" * 100)
    damage(paths[2])
    missing = str(tmp_path / "missing.root")
    inputs = [missing, *paths]
    with pytest.raises(errors.FileMissingError):
        nyssa.merge(inputs, merged)
    with pytest.raises(errors.FormatError):
        nyssa.merge(paths, merged)
    report = nyssa.merge(inputs, merged, skip_bad=True, verify=True)
    assert [one["file"] for one in report["bad"]] == [missing, paths[1], paths[2]]
    assert "No such file or directory" in report["bad"][0]["error"]
    assert "not a ROOT file" in report["bad"][1]["error"]
    assert "field byte, column 4, cluster 0, page 0" in report["bad"][2]["error"]
    assert report["notes"] == [
        f"left out the input {one['file']}: {one['error']}" for one in report["bad"]
    ]
    good = [paths[0], paths[3]]
    assert [one["file"] for one in report["inputs"]] == good
    found = root.call("numpy", merged, "Events", ["x"])["x"]
    assert found.tolist() == [*range(20000), *range(3, 20003)]
    code, said, _ = command(*inputs, "-o", merged, "--force", "-k")
    assert code == 1
    assert all(f"note: left out the input {one}: " in said for one in (missing, *paths[1:3]))
    # Without a good input it fails as the first input does; an unknown dataset is no bad input.
    nothing = r"nothing to merge: all inputs are missing or damaged"
    with pytest.raises(errors.FileMissingError, match=rf"{nothing}: {missing}: .*; {paths[1]}: "):
        nyssa.merge([missing, paths[1]], merged, skip_bad=True, force=True)
    for bad, exit_code in [((missing, paths[1]), 3), ((paths[1], missing), 1), (paths[2:3], 1)]:
        code, _, complained = command(*bad, "-o", merged, "--force", "-k")
        assert code == exit_code
        assert nothing in complained
    with pytest.raises(errors.NotFoundError, match="None"):
        nyssa.merge([f"{paths[0]}:None"], merged, skip_bad=True, force=True)


def test_a_damaged_basket_leaves_its_input_out(tmp_path: Path, root: Root) -> None:
    """Also when the entries of several inputs are packed into baskets together."""
    paths = [str(tmp_path / f"in{number}.root") for number in range(3)]
    for number, path in enumerate(paths):
        with nyssa.recreate(path, compression="zlib:1") as file:
            file.mktree("Muons", {"pt": np.arange(5000.0) + number})
    with uproot.open(paths[1]) as file:
        start = int(file["Muons/pt"].member("fBasketSeek")[0])
    content = bytearray(Path(paths[1]).read_bytes())
    content[start + 200 : start + 300] = bytes(100)
    Path(paths[1]).write_bytes(content)
    merged = str(tmp_path / "merged.root")
    for options in ({"auto_flush": 700}, {"basket_size": 3000}, {"compression": "lz4"}):
        with pytest.raises(errors.NyssaError) as caught:
            nyssa.merge(paths, merged, **options)
        assert f"file {paths[1]}" in str(caught.value)
        report = nyssa.merge(paths, merged, skip_bad=True, force=True, **options)
        assert [one["file"] for one in report["bad"]] == [paths[1]]
        found = root.call("numpy", merged, "Muons", ["pt"])["pt"]
        assert found.tolist() == [*range(5000), *range(2, 5002)]
        Path(merged).unlink()


def test_append(paths: list[str], tmp_path: Path, root: Root) -> None:
    """As ``hadd -a``: the datasets of the output come first, and it stays if the merge fails."""
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths[:1], merged, append=True)
    report = nyssa.merge(paths[1:], merged, append=True, verify=True)
    assert report["notes"] == []
    assert root.call("hadd", hadd, paths, 0)
    for file in (merged, hadd):
        assert root.call("numpy", file, "Events", ["lumi"])["lumi"].tolist() == [
            number for number in range(4) for _ in range(20000)
        ]
    trees = [root.call("tree_values", file, "Muons", ["pt"]) for file in (merged, hadd)]
    assert trees[0] == trees[1]
    assert root.call("histogram", merged, "h") == root.call("histogram", hadd, "h")
    before = Path(merged).read_bytes()
    damage(paths[1])
    with pytest.raises(errors.ChecksumError):
        nyssa.merge(paths[1:], merged, append=True)
    assert Path(merged).read_bytes() == before
    with pytest.raises(errors.ArgumentError, match="the output is the input file"):
        nyssa.merge([merged], merged, append=True)
    code, said, _ = command(paths[0], "-o", merged, "-a", "--json")
    assert (code, json.loads(said)["entries"]) == (0, 100000)


def test_append_of_one_dataset(paths: list[str], tmp_path: Path, root: Root) -> None:
    """All that was in the output stays, and what is appended keeps its path."""
    merged = str(tmp_path / "merged.root")
    nyssa.merge([f"{paths[0]}:Muons"], merged, carry=False)
    with nyssa.update(merged) as file:
        file["Other"] = {"y": np.arange(3)}
        file["dir/text"] = "a text"
    report = nyssa.merge(
        [f"{paths[0]}:Events", paths[1]], merged, append=True, carry=False, verify=True
    )
    found = {one["ntuple"]: (one["inputs"], one["entries"]) for one in report["ntuples"]}
    assert found == {"Other": (1, 3), "Events": (2, 40000)}
    assert report["notes"] == ["objects of the inputs are left out: Muons, h"]
    with nyssa.open(merged) as file:
        names = {"Muons", "Other", "Events", "dir", "dir/text"}
        assert set(file.keys(cycle=False)) == names
        assert str(file["dir/text"]) == "a text"
    assert root.call("entries", merged, "Other") == [{"y": 0}, {"y": 1}, {"y": 2}]
    assert len(root.call("tree_values", merged, "Muons", ["pt"])["pt"]) == 5000
    # An RNTuple that only some of the inputs have is refused as without append.
    with nyssa.recreate(tmp_path / "more.root") as file:
        file["More"] = {"z": np.arange(2)}
    with pytest.raises(errors.ArgumentError, match=f"no RNTuple Events, and {paths[0]} has one"):
        nyssa.merge([paths[0], tmp_path / "more.root"], merged, append=True)
    report = nyssa.merge([tmp_path / "more.root"], merged, append=True)
    assert [one["ntuple"] for one in report["ntuples"]] == ["Other", "Events", "More"]
    with pytest.raises(errors.ArgumentError, match="what is appended keeps its path"):
        nyssa.merge(paths, merged, append=True, name="x")


@pytest.mark.parametrize("compression", ["zlib:6", "lz4:4", "zstd:5", "lzma:2", "none"])
def test_other_compression(paths: list[str], tmp_path: Path, root: Root, compression: str) -> None:
    """As ``hadd -f505``: pages and baskets get the compression, and have the same values."""
    first = str(tmp_path / "first.root")
    nyssa.merge(paths, first, compression="zstd:1")
    merged, plain = str(tmp_path / "merged.root"), str(tmp_path / "plain.root")
    report = nyssa.merge([first], merged, compression=compression, verify=True)
    nyssa.merge(paths, plain)
    assert report["notes"] == []
    for file in (first, merged):
        sizes = Path(file).stat().st_size, Path(plain).stat().st_size
        assert sizes[0] < sizes[1] * 0.7 or (file == merged and compression == "none")
        assert not nyssa.verify(file).problems
    assert root.call("numpy", merged, "Events", ["x"])["x"].tolist() == [
        number + i for number in range(4) for i in range(20000)
    ]
    values = root.call("tree_values", merged, "Muons", ["pt", "q"])
    assert values == root.call("tree_values", plain, "Muons", ["pt", "q"])
    settings = {"zlib:6": 106, "lz4:4": 404, "zstd:5": 505, "lzma:2": 202, "none": 0}
    found = nyssa.inspect(f"{merged}:Events").compressions
    assert {one.name for one in found} == {compression.split(":")[0]}
    with uproot.open(merged) as file:
        tree = file["Muons"]
        assert {tree[name].member("fCompress") for name in ("pt", "q")} == {settings[compression]}
        assert tree["pt"].compressed_bytes == sum(
            int(tree["pt"].basket(number).compressed_bytes)
            for number in range(tree["pt"].num_baskets)
        )


def test_damage_is_found_when_pages_are_compressed_again(paths: list[str], tmp_path: Path) -> None:
    first = str(tmp_path / "first.root")
    nyssa.merge(paths[:1], first, compression="zstd:1")
    content = bytearray(Path(first).read_bytes())
    place = content.index(b"ZS\x01")
    content[place + 20 : place + 60] = b"\0" * 40
    Path(first).write_bytes(content)
    with pytest.raises(errors.FormatError) as no:
        nyssa.merge([first], tmp_path / "out.root", compression="lz4", checksums=False)
    assert no.value.place["file"] == first
    assert not (tmp_path / "out.root").exists()


def test_one_output_of_each_n_inputs(paths: list[str], tmp_path: Path) -> None:
    pattern = str(tmp_path / "part_{number}.root")
    reports = nyssa.merge(paths, pattern, condense=3)
    assert [len(one["inputs"]) for one in reports] == [3, 1]
    outputs = [str(tmp_path / f"part_{number}.root") for number in range(2)]
    assert [one["output"] for one in reports] == outputs
    assert [nyssa.open(f"{one}:Events").num_entries for one in outputs] == [60000, 20000]
    with pytest.raises(errors.OutputExistsError, match=r"part_0.root exists already"):
        nyssa.merge(paths, pattern, condense=3)
    with pytest.raises(errors.ArgumentError, match="a pattern such as all_{number}.root, not"):
        nyssa.merge(paths, tmp_path / "all.root", condense=3)
    # An output whose inputs are all bad is not made.
    missing = [str(tmp_path / f"missing{number}.root") for number in range(2)]
    reports = nyssa.merge(
        [*paths[:2], *missing, paths[2]], pattern, condense=2, force=True, skip_bad=True
    )
    assert [one["output"] for one in reports] == [outputs[0], str(tmp_path / "part_2.root")]
    assert [[it["file"] for it in one["bad"]] for one in reports] == [[], missing]
    assert reports[1]["notes"][-1] == f"no output {outputs[1]}: all of its inputs are left out"
    with pytest.raises(errors.FileMissingError, match="nothing to merge: all inputs are missing"):
        nyssa.merge(missing, pattern, condense=1, force=True, skip_bad=True)
    (tmp_path / "list.txt").write_text("\n".join(paths))
    code, said, _ = command(
        f"@{tmp_path}/list.txt", "-o", pattern, "--condense", 2, "--force", "--json"
    )
    assert (code, len(json.loads(said)["reports"])) == (0, 2)
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_outputs_before_a_failure_stay(paths: list[str], tmp_path: Path) -> None:
    """The error names the outputs that were made, and JSON has their reports."""
    pattern, bad = str(tmp_path / "part_{number}.root"), str(tmp_path / "bad.root")
    Path(bad).write_bytes(b"this is no ROOT file" * 10)
    made = [str(tmp_path / f"part_{number}.root") for number in range(2)]
    inputs = [*paths[:2], bad, *paths[2:]]
    message = rf"the 2 outputs before it are complete and stay: {made[0]}, {made[1]}"
    with pytest.raises(errors.FormatError, match=message):
        nyssa.merge(inputs, pattern, condense=1)
    assert [Path(path).exists() for path in made] == [True, True]
    code, said, complained = command(*inputs, "-o", pattern, "--condense", 1, "--force", "--json")
    document = json.loads(said)
    assert (code, document["error"]["exit_code"]) == (1, 1)
    assert [one["output"] for one in document["reports"]] == made
    assert made[1] in document["error"]["message"]
    assert made[1] in complained
    # The number of an output says which inputs it has.
    code, said, _ = command(*inputs, "-o", pattern, "--condense", 1, "--force", "--json", "-k")
    reports = json.loads(said)["reports"]
    names = [str(tmp_path / f"part_{number}.root") for number in (0, 1, 3, 4)]
    assert (code, [one["output"] for one in reports]) == (1, names)
    # The first output fails: there are no others.
    code, said, _ = command(bad, *paths, "-o", pattern, "--condense", 1, "--force", "--json")
    assert (code, list(json.loads(said))) == (1, ["version", "error"])


#: The flags of hadd on the page on other tools, and what nyssa has for them.
FLAGS = {
    "": [],
    "-f": ["--force"],
    "-f0": ["--compression", "none"],
    "-f6": ["--compression", "zlib:6"],
    "-f209": ["--compression", "209"],
    "-fk": [],
    "-ff": ["--compression", "404"],
    "-k": ["-k"],
    "-a": ["-a"],
    "-O": ["--basket-size", "32kB"],
    "-n 1": [],
    "-j 2": [],
    "-v 0": ["--quiet"],
    "-cachesize 1000000": [],
}


def test_the_flags_of_the_page(tmp_path: Path, root: Root) -> None:
    """The command line of hadd and that of nyssa make the same tree and the same histogram."""
    package = pytest.importorskip("ROOT", reason="no ROOT").__file__
    hadd = shutil.which("hadd") or str(Path(package).parent / "bin" / "hadd")
    if not Path(hadd).exists():
        pytest.skip("no hadd")
    inputs = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(inputs):
        with nyssa.recreate(path, compression="lz4:4") as file:
            file.mktree("T", {"x": np.arange(9000.0) + number})
            file["h"] = np.histogram([0.5 + number], bins=4, range=(0, 4))
    (tmp_path / "list").write_text("\n".join(inputs))
    (tmp_path / "bad.root").write_bytes(b"no ROOT file")
    for flag, options in FLAGS.items():
        outputs = [tmp_path / f"{tool}.root" for tool in ("hadd", "nyssa")]
        given = [str(tmp_path / "bad.root"), *inputs] if flag == "-k" else inputs
        for output in outputs:
            output.unlink(missing_ok=True)
            if flag in {"-a", "-f"}:
                shutil.copy(inputs[0], output)
        line = [hadd, *flag.split(), str(outputs[0]), *given]
        assert subprocess.run(line, capture_output=True, check=False).returncode == 0, flag
        code, said, complained = command(*given, "-o", outputs[1], *options)
        assert code == (flag == "-k"), (flag, complained)
        assert bool(said) == (flag != "-v 0")
        trees = [root.call("tree_values", str(output), "T", ["x"]) for output in outputs]
        assert trees[0] == trees[1], flag
        assert len(trees[0]["x"]) == (27000 if flag == "-a" else 18000)
        assert root.call("histogram", str(outputs[0]), "h") == root.call(
            "histogram", str(outputs[1]), "h"
        )
        described = root.call("tree_description", str(outputs[1]), "T")["branches"]["x"]
        changes = {"-f0": 0, "-f6": 106, "-f209": 209}
        assert described["compression"] % 1000 == changes.get(flag, 404), flag
    lists = [tmp_path / f"{tool}-list.root" for tool in ("hadd", "nyssa")]
    line = [hadd, str(lists[0]), f"@{tmp_path}/list"]
    subprocess.run(line, capture_output=True, check=True)
    assert command(f"@{tmp_path}/list", "-o", lists[1])[0] == 0
    found = [root.call("tree_values", str(one), "T", ["x"]) for one in lists]
    assert found[0] == found[1]
    # hadd takes it for 106, with a warning.
    code, said, _ = command(*inputs, "-o", tmp_path / "none.root", "--compression", "6")
    assert code == 2
