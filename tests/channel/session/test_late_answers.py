"""Answers of a slow player: one to a position that is no more is not made in another one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event as Flag
from types import SimpleNamespace
from typing import cast

import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.interface import Act, Command, Effect, Event, Proposed, Tell, YourTurn
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.games.contract import Action
from tests.channel.session.beating import GUARD

GAME = 3


@dataclass
class Turns:
    """A peer at the first of these positions, and its player, who answers once it may.

    As on chain, the peer asks once in each position; None is one in which nothing is to be decided.
    """

    positions: Sequence[str | None]
    asked: list[str] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    is_asked: Flag = field(default_factory=Flag)
    may_answer: Flag = field(default_factory=Flag)
    config: object = field(default_factory=lambda: SimpleNamespace(name="ann", side=0))
    pays_fees: bool = False
    at: int = 0

    def player(self, game_id: int) -> object:
        assert game_id == GAME
        position = self.positions[self.at]
        return SimpleNamespace(position=position) if position is not None else None

    def start(self, peak: int) -> list[Effect]:
        return [Tell(YourTurn(GAME))]

    def handle(self, event: Event) -> list[Effect]:
        if isinstance(event, Act):
            self.acts.append(event.action.verb)
        return []

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        position = self.positions[self.at]
        if position is None:
            return None
        self.asked.append(position)
        self.is_asked.set()
        assert self.may_answer.wait(GUARD)
        return Act(GAME, Action(position))

    def next_command(self) -> Command | None:
        return None


@pytest.mark.parametrize(
    ("positions", "asked", "acts"),
    [
        (["a bet", "a bet"], ["a bet"], ["a bet"]),
        (["a bet", "a raise"], ["a bet", "a raise"], ["a raise"]),
        (["a bet", None], ["a bet"], []),
    ],
)
def test_an_answer_to_a_move_that_a_reorganisation_replaced_is_asked_for_again(
    positions: Sequence[str | None], asked: list[str], acts: list[str]
) -> None:
    turns = Turns(positions)

    async def session() -> None:
        peer, chain = cast(Peer, turns), SimulatedChain(1)
        runner = PeerRunner(peer, turns, chain, turns, DeckThreads(), poll_time=0.01)
        run = asyncio.ensure_future(runner.run(lambda peer: False))
        await asyncio.to_thread(turns.is_asked.wait, GUARD)
        turns.at = 1
        turns.may_answer.set()
        while len(turns.asked) < len(asked) or len(turns.acts) < len(acts):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        run.cancel()

    asyncio.run(asyncio.wait_for(session(), GUARD))
    assert turns.asked == asked
    assert turns.acts == acts
