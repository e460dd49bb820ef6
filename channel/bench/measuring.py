"""Times of work, and figures with their spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from time import perf_counter


def spread(values: Iterable[float]) -> dict[str, float]:
    """The median, least and most of the measurements of one figure, as JSON data."""
    every = tuple(values)
    figures = {"median": median(every), "least": min(every), "most": max(every)}
    return {name: round(figure, 4) for name, figure in figures.items()}


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that some work takes."""
    start = perf_counter()
    work()
    return perf_counter() - start
