"""What a player hears of the fees of its spends: each mistake is found, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.fee_news import FeeNews
from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.fees.answers import MOST_ANSWERS
from channelsim.channel.peer.fees.fee_state import FeeState, Offer
from channelsim.channel.peer.fees.fee_wallet import SPLIT
from channelsim.channel.peer.interface import Dropped, Effect, FeeTooLow, Push, SpendDropped, Tell
from channelsim.channel.protocol.half_signed import NO_SIGNATURE

SPEND = Spend(Coin(bytes(32), bytes(32), 7), b"\x01", b"\x80")
BUNDLE = Bundle((SPEND,), NO_SIGNATURE)
PUSH = Push("claim", BUNDLE)

DROPPED = Dropped(BUNDLE, "claim")
TOLD = Tell(SpendDropped("claim"))

UNTOLD = "its player does not hear that its claim is dropped"
TOLD_AGAIN = "its player hears again that its claim is dropped"
TOO_LOW = "its player does not hear that the fee of its claim is too low"


def state(*offers: Offer) -> Any:
    return SimpleNamespace(fees=FeeState(offers=offers), block=Block(5))


@pytest.mark.parametrize(
    ("event", "effects", "found"),
    [
        (DROPPED, [TOLD], []),
        (DROPPED, [PUSH], []),
        (DROPPED, [], [UNTOLD]),
        (DROPPED, [Push("move", Bundle((), NO_SIGNATURE))], [UNTOLD]),
        (Dropped(BUNDLE, SPLIT), [], []),
        (Block(6), [], []),
    ],
)
def test_a_dropped_spend_is_offered_anew_or_told(
    event: Any, effects: list[Effect], found: list[str]
) -> None:
    assert [*FeeNews().follow(event, state(), state(), effects)] == found


def test_it_is_told_once() -> None:
    news = FeeNews()
    effects: list[list[Effect]] = [[TOLD], [], [TOLD]]
    found = [[*news.follow(DROPPED, state(), state(), said)] for said in effects]
    assert found == [[], [], [TOLD_AGAIN]]


@pytest.mark.parametrize(("answers", "found"), [(MOST_ANSWERS - 1, [UNTOLD]), (MOST_ANSWERS, [])])
def test_what_was_offered_anew_often_enough_waits_for_a_block(
    answers: int, found: list[str]
) -> None:
    before = state(Offer(PUSH, 3, height=5, answers=answers))
    assert [*FeeNews().follow(DROPPED, before, before, [])] == found


def test_a_fee_that_cannot_rise_is_told_when_it_is_noted() -> None:
    before, after = state(Offer(PUSH, 3)), state(Offer(PUSH, 3, reported=True))
    told, other = Tell(FeeTooLow("claim", 0)), Tell(FeeTooLow("claim", 1))
    assert [*FeeNews().follow(Block(6), before, after, [told])] == []
    assert [*FeeNews().follow(Block(6), before, after, [other])] == [
        "its player hears of a fee of 1 for its claim"
    ]
    assert [*FeeNews().follow(Block(6), before, after, [])] == [TOO_LOW]
    assert [*FeeNews().follow(Block(6), after, after, [])] == []
