"""What the betting games share where they tell of a hand: its money, its actions, its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from channelsim.games.amounts import amount_text
from channelsim.games.cards import LABEL
from channelsim.games.contract import Hand, Line, Position, Seat, Step, Terms


@dataclass(frozen=True, slots=True)
class Money:
    """What both players have put into the pot, and what they have left, by seat, in mojos."""

    put: tuple[int, int]
    stacks: tuple[int, int]

    @property
    def pot(self) -> int:
        """The whole pot, in mojos."""
        return sum(self.put)


MoneyAfter = Callable[[Terms, Sequence[Step]], Money]
"""The money of a hand after these steps."""


def action_lines(hand: Hand, phrase: str, money_after: MoneyAfter) -> list[Line]:
    """The newest action as a phrase, and below it pot and stacks, if money moved."""
    step = hand.steps[-1]
    name = (hand.names[step.seat], "bold")
    if step.action.verb == "fold":
        return [(name, (f" {phrase}", "red"))]
    before, now = money_after(hand.terms, hand.steps[:-1]), money_after(hand.terms, hand.steps)
    moved: list[Line] = [pot_line(hand, now)] if now != before else []
    return [(name, (f" {phrase}", "")), *moved]


def pot_line(hand: Hand, now: Money) -> Line:
    """The pot, and what both players have left."""
    (alice, bob), (alices, bobs) = hand.names, now.stacks
    pot = amount_text(now.pot, hand.terms.unit)
    return ((f"  pot {pot}; left: {alice} {alices}, {bob} {amount_text(bobs, 1)}", "dim"),)


def money_fields(now: Money, seat: Seat, unit: int) -> list[Line]:
    """Pot and stacks for a player at this seat."""
    mine, theirs = (amount_text(now.stacks[one], unit) for one in (seat, seat.other))
    left = f"you {mine}, the other player {theirs}"
    return [field("pot", amount_text(now.pot, unit)), field("left", left)]


def field(label: str, text: str) -> Line:
    """A line with a label."""
    return ((f"{label:<{LABEL}}", "dim"), (text, ""))


def actions_data(
    hand: Hand,
    street: Callable[[Position], str],
    amount: Callable[[Step], int],
    money_after: MoneyAfter,
    units: str,
) -> Iterator[dict[str, Any]]:
    """Every step as JSON data, with pot and stacks after it.

    `amount` is in mojos; the key `units` has it in units.
    """
    unit = hand.terms.unit
    for number, step in enumerate(hand.steps):
        mojos, now = amount(step), money_after(hand.terms, hand.steps[: number + 1])
        yield {
            "player": hand.names[step.seat],
            "verb": step.action.verb,
            "street": street(step.before),
            "amount": mojos,
            units: mojos // unit if mojos % unit == 0 else mojos / unit,
            "pot": now.pot,
            "stacks": {hand.names[seat]: now.stacks[seat] for seat in Seat},
        }
