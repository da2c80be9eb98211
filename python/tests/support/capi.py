"""Builds the C library, programs with it, and ROOT's dictionaries of their classes."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT_FOLDER = Path(__file__).parents[3]
CRATE = ROOT_FOLDER / "crates/nyssa-capi"
SOURCES = Path(__file__).with_name("cpp")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def _run(*command: str | Path, **options: object) -> str:
    """Run a program and return what it prints. A failure shows its errors."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command[0]}: {done.stdout}\n{done.stderr}"
    return str(done.stdout)


def library() -> Path:
    """Return the shared library. The variable NYSSA_CAPI_LIBRARY names one that is built."""
    if given := os.environ.get("NYSSA_CAPI_LIBRARY"):
        return Path(given)
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo to build the library")
    words = ["build", "--quiet", "--package", "nyssa-capi", "--message-format=json"]
    messages = _run("cargo", *words, cwd=ROOT_FOLDER)
    files = (json.loads(line).get("filenames", []) for line in messages.splitlines())
    made = [Path(file) for found in files for file in found if file.endswith("nyssa_capi.so")]
    if not made:
        pytest.skip("the libraries of this system have other names")
    return made[0]


class Programs:
    """Programs in C and C++ with the library, built in a folder."""

    def __init__(self, folder: Path) -> None:
        """Give the library the names under which it is installed."""
        self.folder = folder
        for name in ("libnyssa.so", "libnyssa.so.0"):
            (folder / name).symlink_to(library())

    def compile(self, source: Path, *options: str) -> Path:
        """Compile a program in C++, or in C."""
        name = "gcc" if source.suffix == ".c" else "g++"
        if (compiler := shutil.which(name)) is None:
            pytest.skip(f"there is no {name}")
        program = self.folder / source.stem
        places = [f"-I{CRATE / 'include'}", f"-L{self.folder}", f"-Wl,-rpath,{self.folder}"]
        _run(compiler, *STRICT, *options, *places, source, "-o", program, "-lnyssa", "-pthread")
        return program


def dictionary(folder: Path) -> Path:
    """Build a library with ROOT's dictionary of the classes and what ROOT does with them."""
    spec = importlib.util.find_spec("ROOT")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    rootcling = home / "bin/rootcling"
    if not rootcling.exists():
        pytest.skip("this ROOT has no rootcling")
    environment = os.environ | {"ROOTSYS": str(home), "LD_LIBRARY_PATH": str(home / "lib")}
    source, made = folder / "dictionary.cxx", folder / "libevent.so"
    headers = ["by_root.hpp", "link_def.h"]
    _run(rootcling, "-f", source, f"-I{SOURCES}", *headers, env=environment, cwd=folder)
    places = [f"-I{home / 'include'}", f"-I{SOURCES}", f"-L{home / 'lib'}"]
    files = [source, SOURCES / "by_root.cpp"]
    links = ["-lCore", "-lROOTNTuple", f"-Wl,-rpath,{home / 'lib'}"]
    _run("g++", "-std=c++17", "-fPIC", "-shared", *places, *files, "-o", made, *links)
    return made
