"""Equal digests mean equal futures: states that are visited once behave alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from channelsim.channel.crypto.keyed_hash import fast_signatures
from channelsim.channel.explore.dispute_world import Choice, DisputeState, DisputeWorld
from channelsim.channel.explore.exploration import Root
from channelsim.channel.explore.fingerprints import Ages, chain_key, digest, side_key
from channelsim.channel.explore.search import search

ONE, TWO = ("spacepoker",), ("spacepoker", "spacepoker")

FINER = Ages(0, most=11, deep=5, replaced=2)
"""Ages of a search that tells more states apart."""


class FinerWorld:
    """A world whose states differ by more ages, with the futures of each by the digests of it."""

    def __init__(self, world: Any) -> None:
        assert isinstance(world, DisputeWorld)
        self.world = world
        self.futures: dict[bytes, dict[bytes, dict[str, bytes]]] = {}
        self.first, self.choices, self.is_end = world.first, world.choices, world.is_end
        self.broken_by_waiting = world.broken_by_waiting

    def fingerprint(self, state: DisputeState) -> bytes:
        ages = replace(FINER, peak=state.chain.height)
        own = (chain_key(state.chain, ages), side_key(state.honest, ages))
        rest = (side_key(state.thief, ages), state.may_leave)
        return digest((self.world.fingerprint(state), own, rest))

    def step(self, state: DisputeState, choice: Choice) -> DisputeState:
        after = self.world.step(state, choice)
        alike = self.futures.setdefault(self.world.fingerprint(state), {})
        alike.setdefault(self.fingerprint(state), {})[choice.text] = self.world.fingerprint(after)
        return after

    def broken_by_step(self, state: DisputeState) -> Iterator[str]:
        return iter(())

    broken_at_end = broken_by_step

    def merged(self) -> int:
        """Count the states that are visited once where this search visited several."""
        return sum(len(alike) - 1 for alike in self.futures.values())

    def different(self) -> int:
        """Count the states that have the digest of another one, and a different future."""
        return sum(
            future != next(iter(alike.values()))
            for alike in self.futures.values()
            for future in alike.values()
        )


def searched(games: tuple[str, ...], moment: int, most: int | None = None) -> FinerWorld:
    with fast_signatures():
        world = FinerWorld(Root(games, "alike", moment, thief=1).world())
        search(world, most)
    return world


@pytest.mark.long
def test_states_with_one_digest_have_the_same_futures() -> None:
    world = searched(ONE, 4)
    assert world.merged() > 500
    assert world.different() == 0


@pytest.mark.long
@pytest.mark.parametrize(("games", "moment"), [(ONE, 6), (TWO, 6)])
def test_many_states_with_one_digest_have_the_same_futures(
    games: tuple[str, ...], moment: int
) -> None:
    world = searched(games, moment, 20_000)
    assert world.merged() > 2000
    assert world.different() == 0


@pytest.mark.long
def test_a_digest_that_leaves_too_much_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that is replaced makes a coin unspent again, with its age."""
    right = Ages.of_coin
    monkeypatch.setattr(Ages, "of_coin", lambda ages, seen: right(replace(ages, replaced=0), seen))
    assert searched(ONE, 4).different() > 0
