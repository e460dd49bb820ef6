"""What the quick tests take a few of: parameters, and examples of properties."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def one_in(every: int, values: Iterable[Any]) -> list[Any]:
    """All values; those between each `every`-th one are for `pytest -m long`."""
    return [
        pytest.param(value, marks=pytest.mark.long) if number % every else value
        for number, value in enumerate(values)
    ]


def one_row_in(every: int, rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    """As `one_in`, for rows of several parameters."""
    return [
        pytest.param(*row, marks=pytest.mark.long if number % every else ())
        for number, row in enumerate(rows)
    ]


def examples(times: int) -> settings:
    """So many times the examples of the profile: `--hypothesis-profile long` has five times as
    many as the quick tests."""
    return settings(max_examples=times * settings().max_examples, deadline=None)
