"""The environment of the tests: none of what a user's terminal or a test runner sets."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("long", max_examples=200, deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Draw few examples for each property in quick tests, and many in long ones."""
    settings.load_profile("long" if config.option.markexpr == "long" else "quick")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no width or colours of whoever runs the tests decide what is printed."""
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
