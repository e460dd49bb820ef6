from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Compiled programs of these tests stay out of the user's cache; all workers share one."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield
