"""Runs uproot's own tests, unchanged, with `nyssa.uproot` in place of `uproot`, and counts.

    pip download --no-deps --no-binary :all: uproot && tar xzf uproot-*.tar.gz
    python benchmarks/uproot_tests.py uproot-*/tests --data FOLDER

Each test runs first with uproot. Those that pass there are the ones that can be compared; the
others need servers, packages or files that are not at hand. A test that uses parts of uproot
which are no feature of reading or writing (`_INTERNAL`) is counted apart. The files of
scikit-hep-testdata are taken from FOLDER.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

_INTERNAL = re.compile(
    r"\buproot\.(source|sink|interpretation|containers|const|models?|streamers|deserialization"
    r"|serialization|behaviors|reading|language|cache|compression\.|classes|class_named"
    r"|has_class_named|classname_|writing\._|writing\.writable|_|graphed|extras|unknown_class"
    r"|register_interpretation|unregister_interpretation|Model\b|streamers|Cursor\b)"
    r"|\.interpretation\b|\.basket\(|\.cursor\b|\._[a-z]|\.streamer|\.chunk\b|\.source\b"
)
"""What tests of uproot's insides have in their text."""

_PLUGIN = """
import os, sys, types
from pathlib import Path
import pytest

if os.environ["UPROOT_TESTS_MODULE"] != "uproot":
    import importlib
    import pkgutil
    import uproot
    # Test files may import uproot's insides. What uses them is counted apart.
    for one in pkgutil.walk_packages(uproot.__path__, "uproot."):
        try:
            importlib.import_module(one.name)
        except ImportError:
            pass
    found = importlib.import_module(os.environ["UPROOT_TESTS_MODULE"])
    for name, module in list(sys.modules.items()):
        if name == found.__name__ or name.startswith(found.__name__ + "."):
            place = "uproot" + name[len(found.__name__):]
            inside = sys.modules.get(place)
            sys.modules[place] = module
            # Names of uproot's insides that test files import are uproot's. Tests that use them are
            # counted apart.
            if inside is not None and getattr(module, "__file__", None) is None:
                for item, value in vars(inside).items():
                    if not item.startswith(("__", "Model_")):
                        module.__dict__.setdefault(item, value)
    for name, module in list(sys.modules.items()):
        above, _, last = name.rpartition(".")
        if name.startswith("uproot.") and not hasattr(sys.modules[above], last):
            setattr(sys.modules[above], last, module)

files = {one.name: str(one) for one in Path(os.environ["UPROOT_TESTS_DATA"]).rglob("*")}

def data_path(name, *args, **kwargs):
    if name not in files:
        pytest.skip(f"data not at hand: {name}")
    return files[name]

data = types.ModuleType("skhep_testdata")
data.data_path = data_path
data.known_files = set(files)
sys.modules["skhep_testdata"] = data

@pytest.fixture
def reset_classes():
    yield

@pytest.fixture
def tests_directory():
    return os.getcwd()

for one in ("http_server", "s3_server", "xrootd_server", "server"):
    def fixture():
        pytest.skip("server not at hand")
    globals()[one] = pytest.fixture(fixture, name=one)

import json
results = {}

def pytest_runtest_logreport(report):
    old = results.get(report.nodeid)
    if report.when == "call" or report.outcome != "passed":
        if old is None or old[0] != "failed":
            why = report.longrepr
            if isinstance(why, tuple):
                why = why[2]
            elif why is not None:
                crash = getattr(why, "reprcrash", None)
                why = crash.message if crash else str(why)[-300:]
            results[report.nodeid] = (report.outcome, str(why or ""))

def pytest_collectreport(report):
    if report.outcome != "passed":
        results[report.nodeid] = (report.outcome, str(report.longrepr)[-600:])

def pytest_sessionfinish(session):
    Path(os.environ["UPROOT_TESTS_OUT"]).write_text(json.dumps(results))
"""


def main() -> None:
    """Run the tests with both packages and print the counts and the causes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("tests", type=Path, help="the folder of uproot's tests")
    options.add_argument("--data", type=Path, required=True, help="the files of the tests")
    options.add_argument("--oracle", type=Path, help="a file that keeps the results of uproot")
    options.add_argument("--report", type=Path, help="a file for all results, JSON")
    options.add_argument("-k", default="", help="as in pytest")
    given = options.parse_args()
    if given.oracle and given.oracle.exists():
        oracle = json.loads(given.oracle.read_text())
    else:
        oracle = run("uproot", given.tests, given.data, given.k)
        if given.oracle:
            given.oracle.write_text(json.dumps(oracle))
    found = run("nyssa.uproot", given.tests, given.data, given.k)
    internal = uses_of_insides(given.tests)
    if given.report:
        given.report.write_text(
            json.dumps({"uproot": oracle, "nyssa": found, "internal": sorted(internal)})
        )
    show(oracle, found, internal)


def run(module: str, tests: Path, data: Path, chosen: str) -> dict[str, tuple[str, str]]:
    """Return the outcome of each test, and its reason."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "tests")
        shutil.copytree(tests, copy)
        (copy / "conftest.py").write_text(_PLUGIN)
        (copy / "pytest.ini").write_text(
            "[pytest]\nmarkers =\n slow\n network\n distributed\n xrootd\n"
        )
        out = Path(folder, "results.json")
        places = {"MODULE": module, "DATA": data.resolve(), "OUT": out}
        environment = {f"UPROOT_TESTS_{name}": str(value) for name, value in places.items()}
        command = [
            "pytest",
            "-q",
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
            "--tb=short",
            "--continue-on-collection-errors",
        ]
        command += ["-m", "not network and not distributed and not xrootd", "-k", chosen]
        subprocess.run(
            [sys.executable, "-m", *command, f"--basetemp={folder}/tmp", "."],
            cwd=copy,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        results: dict[str, tuple[str, str]] = json.loads(out.read_text())
        return results


def uses_of_insides(tests: Path) -> set[str]:
    """Return the tests, as ``file::function``, whose text has something of `_INTERNAL`."""
    found = set()
    for path in tests.glob("test_*.py"):
        text = path.read_text()
        tree = ast.parse(text)
        imported = [
            alias.asname or alias.name
            for one in tree.body
            if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("uproot.")
            for alias in one.names
        ]
        named = re.compile(rf"\b({'|'.join(imported)})\b") if imported else None
        for one in ast.walk(tree):
            if isinstance(one, ast.FunctionDef) and one.name.startswith("test"):
                body = ast.get_source_segment(text, one) or ""
                if _INTERNAL.search(body) or (named and named.search(body)):
                    found.add(f"{path.name}::{one.name}")
    return found


def show(
    oracle: dict[str, tuple[str, str]], found: dict[str, tuple[str, str]], internal: set[str]
) -> None:
    """Print the counts, and why tests fail, the most frequent reasons first."""

    def is_internal(test: str) -> bool:
        return test.partition("[")[0] in internal

    missing = {why for _, why in oracle.values() if "data not at hand" in why}
    passed = [test for test, (outcome, _) in oracle.items() if outcome == "passed"]
    relevant = [test for test in passed if not is_internal(test)]
    good = [test for test in relevant if found.get(test, ("",))[0] == "passed"]
    other = [test for test in passed if is_internal(test)]
    other_good = [test for test in other if found.get(test, ("",))[0] == "passed"]
    without = sum("data not at hand" in why for _, why in oracle.values())
    print(f"tests that uproot passes here: {len(passed)}")
    print(f"  of what is not uproot's insides: {len(relevant)}, nyssa passes {len(good)}")
    print(f"  of uproot's insides: {len(other)}, nyssa passes {len(other_good)}")
    print(f"tests without their data: {without} ({len(missing)} files)")
    causes = Counter(
        _cause(found.get(test, ("", "not collected"))[1])
        for test in relevant
        if test not in set(good)
    )
    for cause, count in causes.most_common(80):
        print(f"{count:5}  {cause}")


def _cause(why: str) -> str:
    return " ".join(re.sub(r"0x[0-9a-f]+|/tmp/\S+", "…", why).split())[:150]


if __name__ == "__main__":
    main()
