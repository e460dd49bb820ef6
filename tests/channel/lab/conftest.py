from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Compiled programs of these tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
