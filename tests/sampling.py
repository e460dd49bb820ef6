"""Parameters of which the quick tests take a few, and `pytest -m long` the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, values: Iterable[Any]) -> list[Any]:
    """All values; those between each `every`-th one are for the long tests."""
    return [
        pytest.param(value, marks=pytest.mark.long) if number % every else value
        for number, value in enumerate(values)
    ]
