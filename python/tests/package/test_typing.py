"""Tests the types of the public functions, and the list of public names."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import nyssa
from support.data import REPOSITORY


def test_what_type_checkers_know() -> None:
    """Each `assert_type` holds, and each call that is marked as wrong is refused."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file", REPOSITORY / "mypy.ini"]
    file = Path(__file__).with_name("typed_api.py")
    ran = subprocess.run(
        [*command, file], cwd=REPOSITORY / "python", capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "Success: no issues found in 1 source file\n")


def test_every_public_name_is_there() -> None:
    assert len(set(nyssa.__all__)) == len(nyssa.__all__)
    for name in nyssa.__all__:
        assert getattr(nyssa, name) is not None
        assert name in dir(nyssa)


def test_what_modules_have_for_users_is_exported() -> None:
    """Only the public modules have names that the package does not export."""
    public = {"campaign", "coffea", "errors", "objects", "reports", "uproot"}
    for module in pkgutil.iter_modules(nyssa.__path__):
        if not module.name.startswith("_") and module.name not in public:
            assert not hasattr(import_module(f"nyssa.{module.name}"), "__all__"), module.name
    exported = {*nyssa.__all__, *nyssa.reports.__all__}
    for home in {*nyssa._HOMES.values()} - {"objects.make"}:
        assert {*import_module(f"nyssa.{home}").__all__} <= exported, home
