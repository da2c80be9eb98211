"""Defines the fixtures of the test data and of real ROOT, and the options of the tests."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import nginx, xrootd
from support.data import DATA, TESTDATA
from support.nginx import Nginx
from support.root import Root
from support.xrootd import Xrootd

#: Words in the reason of a test that is skipped because test data are missing.
NO_DATA = ("NYSSA_TEST_DATA", "empty parameter set")
_needed: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option that records which tests are skipped because test data are missing."""
    parser.addoption("--needs-data", help="a new file: tests that were skipped for lack of data")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record a test that is skipped because test data are missing."""
    if report.skipped and any(word in str(report.longrepr) for word in NO_DATA):
        _needed.add(report.nodeid.partition("[")[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the list of tests that need test data."""
    path = session.config.getoption("--needs-data")
    if path and not hasattr(session.config, "workerinput"):
        names = [f"{session.config.rootpath / name}" for name in sorted(_needed)]
        Path(path).write_text("\n".join(names))


def pytest_report_header() -> str:
    """Print where the test data are, or that there are none."""
    if DATA.is_dir():
        return f"test data: {DATA}"
    return f"test data: NONE at {DATA}; set NYSSA_TEST_DATA. Tests on real files are skipped"


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of test data, or skip the test."""
    if not DATA.is_dir():
        pytest.skip(f"no test data at {DATA}; set NYSSA_TEST_DATA")
    return DATA


@pytest.fixture(scope="session")
def nano(data: Path) -> Path:
    """Return a CMS NanoAOD file: 200 events in a TTree of 947 branches."""
    return data / "ttree" / "nanoAOD_2015_CMS_Open_Data_ttbar.root"


@pytest.fixture(scope="module")
def root() -> Iterator[Root]:
    """Return a running ROOT, or skip the test.

    Each module has its own: ROOT keeps what it knows of a class, so that another class of that name
    would make it crash.
    """
    server = Root()
    try:
        server.call("version")
    except RuntimeError as error:
        pytest.skip(f"no ROOT for this Python (pip install --pre root): {error}")
    yield server
    server.close()


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """Return a web server of a new folder, in which the folder `testdata` is; or skip."""
    if nginx.program() is None:
        pytest.skip("no nginx (apt-get install nginx-light)")
    root = tmp_path_factory.mktemp("served")
    (root / "testdata").symlink_to(TESTDATA)
    server = Nginx(root, tmp_path_factory.mktemp("nginx"))
    yield server
    server.close()


@pytest.fixture
def xrootd_folder() -> Iterator[Path]:
    """Return a new folder in which XRootD servers can be; or skip."""
    with _folder_for_servers() as folder:
        yield folder


@pytest.fixture(scope="module")
def xrootd_folder_of_module() -> Iterator[Path]:
    """Return a new folder in which the XRootD servers of a module can be; or skip."""
    with _folder_for_servers() as folder:
        yield folder


@pytest.fixture(scope="session")
def xrootd_server() -> Iterator[Xrootd]:
    """Return an XRootD server of a new folder, in which copies of `testdata` are; or skip."""
    with _folder_for_servers() as folder:
        shutil.copytree(TESTDATA, folder / "exported" / "testdata")
        server = Xrootd(folder / "exported", folder / "server")
        yield server
        server.close()


@contextlib.contextmanager
def _folder_for_servers() -> Iterator[Path]:
    """Return a folder that other users reach, such as the one that the servers run as.

    The folders of pytest are closed to them whenever another pytest starts.
    """
    if xrootd.program() is None:
        pytest.skip("no xrootd (apt-get install xrootd-server)")
    with tempfile.TemporaryDirectory(prefix="nyssa-xrootd-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
