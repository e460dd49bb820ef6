"""Time the preparation of a deck against its floor, the multiplications that it makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

from channelsim.channel.errors import InvariantError
from channelsim.games.chance import Chance
from channelsim.games.deck.group import observed, real_group
from channelsim.games.deck.terms import LEAST_ROUNDS, DeckTerms
from channelsim.games.deck.work import DeckResult, DeckWork, compute
from scripts.tools.bench.measuring import Figures, repeated, seconds_of

POSITIONS = 26
ROUNDS = LEAST_ROUNDS
"""The positions and proof rounds of a channel's decks by default."""

BARE = 1000
"""Multiplications of a bare loop."""

ALIKE = 5
"""Those of one point in it."""


def measure_deck(seed: str, seconds: float, least: int) -> Figures:
    """Compare the time of both sides' steps with that of their multiplications alone."""
    multiplications: list[int] = []

    def measure(number: int) -> dict[str, float]:
        """Measure one preparation, and bare multiplications around it."""
        multiplications.clear()
        before = bare_multiplication()
        with observed(lambda products: multiplications.append(len(products))):
            elapsed = seconds_of(partial(_prepare, f"{seed} {number}"))
        bare = (before + bare_multiplication()) / 2
        return {"ratio": elapsed / (sum(multiplications) * bare), "seconds": elapsed}

    return {**repeated(seconds, least, measure), "multiplications": sum(multiplications)}


def _prepare(seed: str) -> None:
    """Prepare a deck: all steps of both sides, one after the other."""
    terms = DeckTerms(bytes(32), 1, POSITIONS, ROUNDS)
    random = Chance(seed.encode()).bytes
    sides: list[DeckResult | None] = [None, None]
    message = b""
    for step in range(6):
        before = sides[step % 2]
        result = compute(
            DeckWork(real_group(), terms, step, message, before.after if before else None), random
        )
        sides[step % 2], message = result, result.answer
    if not all(side and side.after and side.after.finished for side in sides):
        raise InvariantError(f"a preparation failed: {sides}")


def bare_multiplication(
    of_base: bool = False, count: int = 0, clock: Callable[[], float] = perf_counter
) -> float:
    """The seconds of one multiplication in a bare loop, many (`count`, or `BARE`) in one call.

    The group has a table for its base; nearly all points of a preparation are others, of which it
    makes tables only where there are many products.
    """
    group, count = real_group(), count or BARE
    points = [group.base if of_base else group.map(at.to_bytes(2)) for at in range(count // ALIKE)]
    products = [(group.order - 1 - at, point) for at, point in enumerate(points * ALIKE)]
    start = clock()
    group.multiply(products)
    return (clock() - start) / count
