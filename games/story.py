"""Stories: games shown to people and to programs, and the plain story that fits every game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from channelsim.games.amounts import amount_text
from channelsim.games.choices import Action, Amount, Choice, OneOf
from channelsim.games.players import Player, Position, Seat, Terms

Span: TypeAlias = tuple[str, str]
"""Text and its style: "" plain, or words among bold, dim, red, green, yellow, cyan."""

Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """An action of one seat, with both players before and after it.

    A settlement does not move: `after` equals `before`.
    """

    seat: Seat
    action: Action
    before: Position
    after: Position
    players_before: tuple[Player, Player]
    players: tuple[Player, Player]


@dataclass(frozen=True, slots=True)
class Hand:
    """A game as it was played so far. `names` and `payouts` are by seat.

    `payouts` is None until the game is settled.
    """

    terms: Terms
    names: tuple[str, str]
    steps: tuple[Step, ...]
    payouts: tuple[int, int] | None = None


class Story(Protocol):
    """A game in lines for people. With a `viewer`, only what that seat knows; None shows all."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step of the hand."""
        ...

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The result of the settled hand: both hands by name, the winner and the reason."""
        ...

    def view(self, player: Player) -> list[Line]:
        """Lines for a person at this seat before its next decision."""
        ...


@runtime_checkable
class ShowsMoves(Protocol):
    """A story that names the other player's moves by what both players see."""

    def move_between(self, terms: Terms, before: Position, after: Position) -> str:
        """The move that led from one position to another, as a phrase; empty if nobody sees it."""
        ...


class PlainStory:
    """Names the actions and the money, which every game has."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest action."""
        step = hand.steps[-1]
        taken = _choice_of(step)
        if isinstance(taken, Amount):
            number = f" {amount_text(step.action.amount, taken.unit)}"
        else:
            # A number of 0 is one, where the choice takes a number.
            is_one = isinstance(taken, OneOf) or step.action.amount
            number = f" {step.action.amount}" if is_one else ""
        return [((hand.names[step.seat], "bold"), (f": {step.action.verb}{number}", ""))]

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The payouts."""
        return payout_lines(hand)

    def view(self, player: Player) -> list[Line]:
        """The share of the player's seat."""
        return [(("share", "dim"), (f"  {amount_text(player.position.mover_share, 1)}", ""))]


def _choice_of(step: Step) -> Choice | None:
    """The choice that a step took; None if its player does not say."""
    choices = step.players_before[step.seat].choices()
    return next((choice for choice in choices if choice.verb == step.action.verb), None)


class HandResult(msgspec.Struct, frozen=True):
    """The result of a hand: `winner` is None in a tie, and while the hand is unfinished.

    `by` is a phrase: the tie-break that decided, or who folded and when. Of a "settled" hand no
    more is known than that it is over.
    """

    kind: Literal["showdown", "tie", "fold", "unfinished", "settled"]
    winner: Seat | None
    by: str


def tellers(hand: Hand, viewer: Seat | None) -> Iterator[tuple[Seat, Player | None, bool]]:
    """For each seat, the player that says which cards are there, and whether that is its own seat.

    With a viewer it is always the viewer; the player is None before the first step.
    """
    for seat in Seat:
        teller = seat if viewer is None else viewer
        yield seat, hand.steps[-1].players[teller] if hand.steps else None, teller is seat


def summary_of(
    hand: Hand,
    result: HandResult,
    cards: dict[str, Any],
    actions: Iterable[dict[str, Any]],
    best_hands: Iterable[dict[str, Any] | None],
) -> dict[str, Any]:
    """A hand as JSON data; `best_hands` are Alice's and Bob's."""
    return {
        "cards": cards,
        "actions": list(actions),
        "best_hands": dict(zip(hand.names, best_hands, strict=True)),
        "result": {
            "kind": result.kind,
            "winner": None if result.winner is None else hand.names[result.winner],
            "by": result.by,
        },
        "payouts": hand.payouts and dict(zip(hand.names, hand.payouts, strict=True)),
    }


def plain_summary(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """A hand of any game as JSON data: its actions and payouts; no cards."""
    paid = hand.payouts
    winner = None if paid is None or paid[0] == paid[1] else Seat(paid[0] < paid[1])
    actions = (
        {"player": hand.names[step.seat], **msgspec.to_builtins(step.action)} for step in hand.steps
    )
    result = HandResult("unfinished" if paid is None else "settled", winner, "")
    return summary_of(hand, result, {}, actions, (None, None))


def payout_lines(hand: Hand) -> list[Line]:
    """The payouts of a settled hand in a line; no line before that."""
    if hand.payouts is None:
        return []
    paid = ", ".join(
        f"{name} {amount_text(share, hand.terms.unit)}"
        for name, share in zip(hand.names, hand.payouts, strict=True)
    )
    return [((f"paid out: {paid}", ""),)]
