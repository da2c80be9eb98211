"""Runs commands with a small file system, to fill it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def run_on(folder: Path, size: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command that finds a file system of `size` bytes in `folder`."""
    mount = f"mount -t tmpfs -o size={size} none '{folder}' && exec \"$@\""
    inside = ["unshare", "-rm", "sh", "-c", mount, "-"]
    if shutil.which("unshare") is None or (
        subprocess.run([*inside, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("this user cannot mount a small file system")
    return subprocess.run([*inside, *command], check=False, capture_output=True, text=True)
