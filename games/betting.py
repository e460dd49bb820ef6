"""What betting games share: reading `all-in`, ways to play, and the money and actions of a hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from channelsim.games.amounts import amount_text
from channelsim.games.cards import LABEL
from channelsim.games.chance import Chance
from channelsim.games.choices import least_action, offered, random_action
from channelsim.games.contract import (
    Action,
    Amount,
    Choice,
    Hand,
    Line,
    Player,
    Policy,
    Position,
    Seat,
    Step,
    Terms,
)
from channelsim.games.errors import IllegalAction


def all_in(choices: tuple[Choice, ...], *, may_call: bool = True) -> Action:
    """The highest bet or raise, or the call if the opponent's bet leaves no room for a raise.

    Raises `IllegalAction` if there is neither.
    """
    for choice in choices:
        if isinstance(choice, Amount):
            return Action(choice.verb, choice.most)
    if may_call and any(choice.verb == "call" for choice in choices):
        return Action("call")
    raise IllegalAction(f"cannot go all-in now; possible: {offered(choices)}")


ALL_IN = {"all-in", "allin", "all in"}
"""How people write it."""


SIZES = ("half pot", "pot", "all-in")
"""Bets that people name by their size."""

_SIZES = {
    **dict.fromkeys(("half", "half pot", "half-pot"), "half pot"),
    **dict.fromkeys(("pot", "the pot"), "pot"),
    **dict.fromkeys(ALL_IN, "all-in"),
}
_VERBS = ("bet ", "raise ")


def size_named(text: str) -> str | None:
    """The size of `SIZES` that a text names, with `bet` or `raise` before it or not.

    >>> size_named("Raise half"), size_named("all in"), size_named("bet 2")
    ('half pot', 'all-in', None)
    """
    words = " ".join(text.lower().split())
    for verb in _VERBS:
        words = words.removeprefix(verb)
    return _SIZES.get(words)


def sized_bets(choices: tuple[Choice, ...], now: Money, seat: Seat) -> dict[str, Action]:
    """The bets or raises by their sizes, where an amount can be chosen; least and most bound them.

    A raise by the pot is as much on top of the call as the pot has after the call.
    """
    for choice in choices:
        if isinstance(choice, Amount) and choice.least < choice.most:
            due = max(0, now.put[seat.other] - now.put[seat])
            pot = now.pot + due
            amounts = dict(zip(SIZES, (pot // 2, pot, choice.most), strict=True))
            return {
                size: Action(choice.verb, _within(choice, amount))
                for size, amount in amounts.items()
            }
    return {}


def _within(choice: Amount, mojos: int) -> int:
    rounded = mojos - mojos % choice.step
    return min(max(rounded, choice.least), choice.most)


def read_size(choices: tuple[Choice, ...], size: str, now: Money, seat: Seat) -> Action:
    """The bet or raise of this size. Raises `IllegalAction` where none is possible."""
    bets = sized_bets(choices, now, seat)
    if size not in bets:
        raise IllegalAction(f"cannot bet {size} now; possible: {offered(choices)}")
    return bets[size]


def size_fields(choices: tuple[Choice, ...], now: Money, seat: Seat, unit: int) -> list[Line]:
    """The bets that a player at this seat can name by their sizes; none if there is no choice."""
    bets = sized_bets(choices, now, seat)
    due = max(0, now.put[seat.other] - now.put[seat])
    most = max((bet.amount for bet in bets.values()), default=0)
    left = min(now.stacks[seat] - due, now.stacks[seat.other])
    shown = [
        f"{size}: {amount_text(bet.amount, unit)}"
        for size, bet in bets.items()
        if (bet.amount < most if size != "all-in" else most >= left)
    ]
    return [field("shortcuts", "; ".join(shown))] if shown else []


# --- ways to play: a policy knows only what its player knows ---------------------------------

_RARELY = 4
"""The chance that the random player folds when it may, in per cent."""


def caller(player: Player, chance: Chance) -> Action:
    """Checks, calls and shows; never bets, never folds."""
    return least_action(player.choices()[0])


def random(player: Player, chance: Chance) -> Action:
    """Any legal action: folds rarely, otherwise every verb and every amount alike."""
    choices = player.choices()
    staying = [choice for choice in choices if choice.verb != "fold"]
    if len(staying) < len(choices) and chance.chance(_RARELY):
        return Action("fold")
    return random_action(chance.pick(staying), chance)


def aggressive(size: Callable[[Amount, Chance], int]) -> Policy:
    """Bets and raises three times in four, every third time all it may; otherwise stays.

    `size` is the amount of a usual bet or raise.
    """

    def policy(player: Player, chance: Chance) -> Action:
        for choice in player.choices():
            if isinstance(choice, Amount) and chance.chance(75):
                most = chance.below(3) == 0
                return Action(choice.verb, choice.most if most else size(choice, chance))
        return caller(player, chance)

    return policy


def folder(is_weak: Callable[[Player], bool]) -> Policy:
    """Folds a weak hand half the time and any other hand one time in sixteen; otherwise stays.

    At the showdown it shows no hand that loses.
    """

    def policy(player: Player, chance: Chance) -> Action:
        verbs = [choice.verb for choice in player.choices()]
        if "muck" in verbs:
            return Action("muck")
        if "fold" in verbs and chance.below(2 if is_weak(player) else 16) == 0:
            return Action("fold")
        return caller(player, chance)

    return policy


# --- the money and the actions of a hand -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Money:
    """What both players have put into the pot, and what they have left, by seat, in mojos."""

    put: tuple[int, int]
    stacks: tuple[int, int]

    @property
    def pot(self) -> int:
        """The whole pot, in mojos."""
        return sum(self.put)


def money_of(terms: Terms, mover: Seat, chips: tuple[int, int]) -> Money:
    """The money when the mover and the waiter have put in these amounts, in mojos."""
    put = chips if mover is Seat.ALICE else chips[::-1]
    return Money(put, (terms.stakes[0] - put[0], terms.stakes[1] - put[1]))


def live_position(steps: Sequence[Step]) -> Position | None:
    """The last position of these steps that is not over: the end of the betting fixes the money.

    None without a step.
    """
    for step in reversed(steps):
        for position in (step.after, step.before):
            if not position.over:
                return position
    return None


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


def bet_between(
    before: Money, now: Money, mover: Seat, unit: int, *, is_raise: bool | None = None
) -> str:
    """The mover's check, call, bet or raise, by the money before and after it.

    `is_raise` says that a bet would be a raise, None that it is one if a call is due.

    >>> bet_between(Money((100, 100), (900, 900)), Money((500, 100), (500, 900)), Seat.ALICE, 100)
    'bets 4 units (400 mojos)'
    >>> bet_between(Money((500, 100), (500, 900)), Money((500, 500), (500, 500)), Seat.BOB, 100)
    'calls 4 units (400 mojos)'
    """
    due = before.put[mover.other] - before.put[mover]
    raised = now.put[mover] - now.put[mover.other]
    if raised > 0:
        is_raise = due > 0 if is_raise is None else is_raise
        verb, mojos = ("raises by" if is_raise else "bets"), raised
    elif due > 0:
        verb, mojos = "calls", due
    else:
        return "checks"
    return f"{verb} {amount_text(mojos, unit)}{' and is all-in' if now.stacks[mover] == 0 else ''}"


def bet_phrase(hand: Hand, verb: str, mojos: int, now: Money) -> str:
    """A bet, a raise or a call of this many mojos, after which the players have `now`."""
    words = {"bet": "bets", "raise": "raises by", "call": "calls"}[verb]
    is_all_in = now.stacks[hand.steps[-1].seat] == 0
    return f"{words} {amount_text(mojos, hand.terms.unit)}{' and is all-in' if is_all_in else ''}"


def pot_line(hand: Hand, now: Money) -> Line:
    """The pot, and what both players have left."""
    (alice, bob), (alices, bobs) = hand.names, now.stacks
    pot = amount_text(now.pot, hand.terms.unit)
    return ((f"  pot {pot}; left: {alice} {alices:,}, {bob} {amount_text(bobs, 1)}", "dim"),)


def money_fields(now: Money, seat: Seat, unit: int) -> list[Line]:
    """Pot and stacks for a player at this seat."""
    mine, theirs = (amount_text(now.stacks[whose], unit) for whose in (seat, seat.other))
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
