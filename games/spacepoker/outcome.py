"""How a hand stands or ended, read off its steps: for the story and for its summary."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from games.contract import Hand, Position, Seat, Step, Terms
from games.counting import HandValue
from games.ending import Outcome, compared, cut_short
from games.spacepoker.hands import value_of_selection
from games.spacepoker.money import Money, money
from games.spacepoker.names import decided_by
from games.spacepoker.player import SpacePokerPlayer
from games.spacepoker.sight import Holding, Sight
from games.spacepoker.states import BeginRound, CommitA, CommitB, MidRound

STREETS = {4: "pre-flop", 3: "flop", 2: "turn", 1: "river"}
"""The streets by N."""

PARTS = ("deal", *STREETS.values(), "showdown")
"""What `street` says, in the order of play."""


class Shown(msgspec.Struct, frozen=True):
    """A player's hand at the showdown: what it holds, its best five and what they are worth."""

    holding: Holding
    mask: int
    five: tuple[int, ...]
    value: HandValue


def street(position: Position) -> str:
    """Which part of the hand a move at this position belongs to."""
    match position.state:
        case CommitA() | CommitB():
            return "deal"
        case BeginRound(street=n) | MidRound(street=n):
            return STREETS[n]
        case _:
            return "showdown"


def sight_of(player: object) -> Sight:
    """What a player of this game sees."""
    assert isinstance(player, SpacePokerPlayer)
    return player.sight


def money_after(terms: Terms, steps: Sequence[Step]) -> Money:
    """Pot and stacks after these steps; once the betting is over they stay as they are."""
    for step in reversed(steps):
        for position in (step.after, step.before):
            if not position.over:
                return money(terms, position)
    return Money(0, terms.stakes)


def showdown(hand: Hand) -> tuple[Shown, Shown] | None:
    """Both hands by seat, once they were shown; None before, and after a fold.

    Both are known to everybody then: the last call and the reveal carried both preimages.
    """
    for step in hand.steps:
        if step.action.verb == "show":
            sight = sight_of(step.players[step.seat])
            if sight.own is None or sight.other is None:
                return None
            own, other = shown(sight.own, sight.board), shown(sight.other, sight.board)
            return (own, other) if step.seat is Seat.ALICE else (other, own)
    return None


def shown(holding: Holding, board: tuple[int, ...]) -> Shown:
    """A player's best hand with all five community cards."""
    cards = holding.hole + board
    mask = holding.best(board)
    five = tuple(rank for i, rank in enumerate(cards) if mask >> i & 1)
    by_groups = sorted(five, key=lambda rank: (five.count(rank), rank), reverse=True)
    value = value_of_selection(cards, mask, holding.boost)
    return Shown(holding, mask, tuple(by_groups), value)


def outcome(hand: Hand) -> Outcome:
    """How the hand ended."""
    hands = showdown(hand)
    if hands is not None:
        alice, bob = hands[0].value, hands[1].value
        return compared(alice, bob, decided_by(max(alice, bob), min(alice, bob)))
    return cut_short(hand, street(hand.steps[-1].before) if hand.steps else "")
