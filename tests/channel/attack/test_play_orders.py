"""The orders in which a side sends and tells: right ones, and each that is wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.early_messages import is_asked_early, lost_early
from channelsim.channel.attack.play_orders import wrong_orders
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import (
    AcceptGames,
    Acted,
    Command,
    GameSettled,
    GameStarted,
    Moved,
    News,
    ProposeGames,
    Received,
    Send,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    DeckStep,
    Message,
    Offer,
    Propose,
    Request,
    encode,
)
from channelsim.channel.protocol.proposals import Wish
from channelsim.games.contract import Action

HALF = bytes(96)

GAME: Any = SimpleNamespace(id=4)
POSITION: Any = None
PLAYER: Any = None

STARTED = GameStarted(GAME, PLAYER)
ACTED = Acted(4, Action("check"), POSITION, POSITION, PLAYER)
MOVED = Moved(4, POSITION, PLAYER, 1, ())
SETTLED = GameSettled(4, True, 1, 1)
OTHER = GameSettled(6, True, 1, 1)

WISH = Wish("calpoker", {"amount": 2}, 99, True)
OFFER = Offer(0, "calpoker", {"amount": 2}, 99, True, 2, (1, 1), bytes(32), 1, 0)
FIRST, SECOND = ProposeGames((WISH,)), ProposeGames((replace(WISH, i_am_alice=False),))
FIRST_OFFER, SECOND_OFFER = Propose((OFFER,)), Propose((replace(OFFER, proposer_is_alice=False),))


def state(*queue: Command, phase: Phase = Phase.PLAYING, **fields: Any) -> Any:
    play = SimpleNamespace(queue=queue, state=SimpleNamespace(number=2), potato=True)
    return SimpleNamespace(phase=phase, play=play, resuming=False, **fields)


def batch(*actions: BatchAction, number: int = 3) -> Batch:
    return Batch(number, actions, HALF, HALF)


@pytest.mark.parametrize(
    ("news", "text"),
    [
        ((STARTED, ACTED, MOVED, SETTLED, OTHER), ""),
        ((OTHER, STARTED, ACTED, YourTurn(4)), ""),
        ((ACTED, STARTED), "before it begins"),
        ((SETTLED, MOVED), "after it has ended"),
        ((YourTurn(4), MOVED), "before it tells of the move"),
        ((YourTurn(6), MOVED), ""),
    ],
)
def test_news_of_a_game_come_in_their_order(news: tuple[News, ...], text: str) -> None:
    found = [*wrong_orders(Block(9), state(), [Tell(one) for one in news])]
    assert len(found) == bool(text)
    assert all(text in how for how in found)


@pytest.mark.parametrize(
    ("queue", "sent", "text"),
    [
        ((), (batch(), Request()), ""),
        ((), (Request(), batch()), "before it gives it away"),
        ((FIRST, SECOND), (batch(FIRST_OFFER, SECOND_OFFER),), ""),
        ((FIRST, SECOND), (batch(SECOND_OFFER),), ""),
        ((FIRST, SECOND), (batch(SECOND_OFFER, FIRST_OFFER),), "proposals in another order"),
        # A batch that is repeated has what was wanted before it.
        ((), (batch(FIRST_OFFER, number=2),), ""),
        ((AcceptGames(1), AcceptGames(3)), (batch(Accept(1), Accept(3)),), ""),
        ((AcceptGames(1), AcceptGames(3)), (batch(Accept(3), Accept(1)),), "accepts proposals in"),
    ],
)
def test_what_is_wanted_is_sent_in_its_order(
    queue: tuple[Command, ...], sent: tuple[Message, ...], text: str
) -> None:
    effects = [Send(encode(message)) for message in sent]
    found = [*wrong_orders(Block(9), state(*queue), effects)]
    assert len(found) == bool(text)
    assert all(text in how for how in found)


@pytest.mark.parametrize(
    ("early", "potato", "is_asked"),
    [
        ((batch(), Request()), False, True),
        ((Request(), batch()), False, False),
        ((Request(),), True, True),
        ((Request(),), False, False),
        ((), True, False),
    ],
)
def test_messages_before_play_are_heard_in_their_order(
    early: tuple[Message, ...], potato: bool, is_asked: bool
) -> None:
    waits = state(early=tuple((bytes(32), message) for message in early))
    waits.play.potato = potato
    assert is_asked_early(waits) is is_asked


@pytest.mark.parametrize(("is_kept", "phase"), [(True, Phase.FUNDING), (False, Phase.FUNDING)])
def test_a_step_of_a_deck_before_play_is_kept(is_kept: bool, phase: Phase) -> None:
    step = DeckStep(1, 1, b"step")
    before = state(phase=phase, early=())
    after = state(phase=phase, early=((bytes(32), step),) if is_kept else ())
    found = [*lost_early(Received(encode(step)), before, after)]
    assert found == ([] if is_kept else ["loses step 1 of deck 1, which comes before play"])
    # A second step has no place.
    assert [
        *lost_early(Received(encode(step)), state(phase=phase, early=((b"", step),)), after)
    ] == []
