"""Times of work, and figures with their spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import median
from time import perf_counter
from typing import Any

Figures = dict[str, Any]
"""JSON data of a measurement: figures by name, most with their spread."""


def spread(values: Iterable[float]) -> dict[str, float]:
    """The median, least and most of the measurements of one figure, as JSON data."""
    measured = tuple(values)
    figures = {"median": median(measured), "least": min(measured), "most": max(measured)}
    return {name: round(figure, 4) for name, figure in figures.items()}


def repeated(
    seconds: float, least: int, measure: Callable[[int], Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """The spread of each figure that `measure` returns, given how often it was called before.

    It is called for about this many seconds, and at least `least` times.
    """
    values: dict[str, list[float]] = {}
    until = perf_counter() + seconds
    number = 0
    while perf_counter() < until or number < least:
        for name, figure in measure(number).items():
            values.setdefault(name, []).append(figure)
        number += 1
    return {name: spread(measured) for name, measured in values.items()}


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that some work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start
