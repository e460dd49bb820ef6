"""Two honest peers whose connection breaks play as if it did not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.interface import Ignored, Send
from channelsim.channel.protocol.messages import Batch, decode
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.driver import Delivery
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.session import Session
from channelsim.channel.session.session_events import Handled, NewsFor, SessionEvent
from channelsim.channel.session.setup import Setup
from channelsim.games.chance import Chance

REVEALS, DECK = "calpoker", "holdem"
"""A game with secrets of its own, and one with a prepared deck."""

Ending = tuple[tuple[int, int], tuple[bytes, ...]]
"""The balances, and the batches of both sides, in order."""


class Breaking(Delivery):
    """Breaks the connection at some of its messages, counted from 0."""

    def __init__(self, chain: FarmableChain, breaks_at: Callable[[int], bool]) -> None:
        super().__init__(chain)
        self.messages = self.broken = 0
        self._breaks_at = breaks_at

    def breaks(self) -> bool:
        broken = self._breaks_at(self.messages)
        self.messages += 1
        self.broken += broken
        return broken


def play(game: str, breaks_at: Callable[[int], bool]) -> tuple[Ending, Breaking]:
    """A session of two hands, or one with a deck; it fails if a peer goes on chain."""
    setup = Setup((game,), "cut", 1 + (game == REVEALS), 100, 10, 10_000, ("random", "random"))
    batches: dict[bytes, None] = {}
    chain = SimulatedChain(node_seed(setup.seed.encode()))
    line = Breaking(chain, breaks_at)

    def listen(event: SessionEvent) -> None:
        match event:
            case Handled(_, _, effects):
                sent = [one.message for one in effects if isinstance(one, Send)]
                batches.update((one, None) for one in sent if isinstance(decode(one), Batch))
            case NewsFor(_, Ignored(reason)):
                assert "PD-" not in reason

    session = Session(Deciders(setup), [listen], chain, delivery=line)
    return (session.run().balances, tuple(batches)), line


@cache
def undisturbed(game: str) -> tuple[Ending, int]:
    """How the session ends without a break, and how many messages it has."""
    ending, line = play(game, lambda number: False)
    return ending, line.messages


def same_end(game: str, breaks_at: Callable[[int], bool]) -> int:
    """The session ends as without breaks; the number of breaks."""
    ending, line = play(game, breaks_at)
    assert ending == undisturbed(game)[0]
    return line.broken


def by_chance(chance: Chance) -> Callable[[int], bool]:
    return lambda place: chance.chance(20)


@pytest.mark.parametrize("every", [5, 7])
def test_a_session_with_many_breaks_ends_as_it_does_without(every: int) -> None:
    assert same_end(REVEALS, lambda number: number % every == 0) > 7


def test_a_session_with_a_break_ends_as_it_does_without() -> None:
    chance = Chance(b"breaks")
    for _ in range(4):
        place = chance.below(undisturbed(REVEALS)[1])
        assert same_end(REVEALS, place.__eq__) == 1


@pytest.mark.long
@pytest.mark.parametrize("third", range(3))
@pytest.mark.parametrize("game", [REVEALS, DECK])
def test_a_session_with_a_break_at_any_message_ends_as_it_does_without(
    game: str, third: int
) -> None:
    for place in range(third, undisturbed(game)[1], 3):
        assert same_end(game, place.__eq__) == 1, place


@pytest.mark.long
@pytest.mark.parametrize("game", [REVEALS, DECK])
def test_a_session_with_breaks_by_chance_ends_as_it_does_without(game: str) -> None:
    for number in range(30 if game == REVEALS else 3):
        same_end(game, by_chance(Chance(b"breaks %d" % number)))
