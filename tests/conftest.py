"""What every test may ask for."""

import os
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

import capsrl

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from fsspec import AbstractFileSystem

    from capsrl.labeler import Labeler

# Before torch is imported. The matrices of most tests are so small that a second thread only makes
# them wait: on a busy machine with two cores some test files take four times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Nor does it say anything of the code when a busy machine, or the first run in a fresh clone, takes
# long to make examples. Where CI is set, as in .ci/run, hypothesis draws the same ones every time,
# but for some constants of the modules that happen to be loaded.
settings.register_profile("capsrl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("capsrl")

# What a developer made by `capsrl frames` must not change what the tests see.
os.environ["XDG_DATA_HOME"] = str(Path(__file__).parent / "fixtures" / "no_user_data")

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    """Hear Ctrl-C even where the tests run in the background: shells make such jobs deaf to it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> "Generator[None, Any, Any]":
    """Skip modules that import torch where it is not installed: `make test-light`."""
    report = yield
    if (
        report.failed
        and find_spec("torch") is None
        and "No module named 'torch'" in str(report.longrepr)
    ):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, "Skipped: needs torch")
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora and oracles beside the checkout; tests that need it skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no ../shared beside the checkout")
    return folder


@pytest.fixture(scope="session")
def labeler() -> "Labeler":
    """The English model that ships."""
    return capsrl.load()


@pytest.fixture
def memory_files() -> "Iterator[AbstractFileSystem]":
    """The files of memory:// URLs: none before a test, and none after it."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.rm("/", recursive=True)
    yield system
    system.rm("/", recursive=True)
