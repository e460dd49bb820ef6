"""The environment of the tests: none of what a user's terminal or a test runner sets."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Hundreds of tests start processes of ours: they all read the modules that one has compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("long", max_examples=200, deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Draw few examples for each property in quick tests, and many in long ones."""
    asked = config.getoption("--hypothesis-profile", None)
    settings.load_profile(asked or ("long" if config.option.markexpr == "long" else "quick"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is collected."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples only in files that have a prompt: few of the tests have any."""
    found = yield
    if file_path.suffix != ".py" or b">>> " in file_path.read_bytes():
        return found
    return [one for one in found if type(one) is pytest.Module]


def pytest_collection_finish() -> None:
    """Keep what was collected out of every garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True, scope="session")
def plain_environment() -> Iterator[None]:
    """Let no width or colours of whoever runs the tests decide what is printed."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled programs out of the user's cache; all workers share one."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield
