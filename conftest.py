"""Doctests are collected from the files that have some: reading all the others takes longer."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

Collectors = list[pytest.Collector]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Collectors, Collectors]:
    """Drop the collector of doctests of a file without a prompt."""
    collectors = yield
    if any(isinstance(one, DoctestModule) for one in collectors) and (
        b">>>" not in file_path.read_bytes()
    ):
        return [one for one in collectors if not isinstance(one, DoctestModule)]
    return collectors
